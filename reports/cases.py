"""Pick instances of a run for the page's browser, with captions, images' keys, every score and who was right."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.errors import InputError
from reports.index import SANITY, Index
from reports.schema import Finding, Record
from reports.stored import read_table, table_problems
from reports.text import count, visible

MOST_INSTANCES = 2_000
MOST_BYTES = 5_000_000
STATES = ("right", "tied", "wrong", "unscored", "differs by order")
_CODES = {"win": 0, "tie": 1, "loss": 2, "unscored": 3}
_UNSCORED, _MIXED, _NOT_ASKED = 3, 4, 9
_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&"}


class Cases(NamedTuple):
    """Hold what the instance browser shows.

    Attributes:
        data: JSON that is safe inside a script element, or empty.
        note: Which instances are there, in words.
        problems: Why there are none, or what is wrong with the run's tables.
    """

    data: str
    note: str
    problems: tuple[str, ...]


def read_cases(folder: Path, record: Record, index: Index, findings: Sequence[Finding]) -> Cases:
    """Return the instances to browse: those that findings name, then as many of every subset as fit.

    Args:
        folder: The run folder.
        record: Its record.
        index: Its estimates.
        findings: Their instances come first.
    """
    problems = table_problems(folder)
    if problems:
        return Cases("", "", problems)
    try:
        return _read(folder, record, index, findings)
    except InputError as error:
        return Cases("", "", (f"{Path(error.where).name} cannot be read ({error.got}): run the audit again.",))
    except (ValueError, KeyError, TypeError) as error:
        return Cases(
            "", "", (f"The tables of the run do not hold what they should ({type(error).__name__}: {error}).",)
        )


def _read(folder: Path, record: Record, index: Index, findings: Sequence[Finding]) -> Cases:
    known = read_table(folder, "instances", columns=("instance", "subset")).drop_duplicates("instance")
    subset_of = {str(one): _text(name) for one, name in zip(known["instance"], known["subset"], strict=True)}
    named = [one for item in findings for one in item.instances]
    seed = int(record["statistics"]["seed"])
    chosen, first = pick(subset_of, named, seed=seed, most=MOST_INSTANCES)
    table = read_table(folder, "instances", ids=chosen).drop_duplicates("instance")
    rows = {str(row["instance"]): row for row in table.to_dict("records")}
    scorers = [item.scorer for item in index.contestants]
    outcomes = _outcomes(read_table(folder, "outcomes", ids=chosen), scorers, record)
    scores = _scores(read_table(folder, "scores", ids=chosen), scorers)
    subsets = list(dict.fromkeys(subset_of.values()))
    items: dict[str, str] = {}
    used = 0
    for one in chosen:
        text = _json(_item(rows[one], subsets, outcomes.get(one, {}), scores.get(one, {}), scorers))
        used += len(text) + 1
        if used > MOST_BYTES and items:
            break
        items[one] = text
    order = [one for one in subset_of if one in items]  # of the file, whatever they were chosen for
    head = {"subsets": [visible(name) for name in subsets], "states": STATES, "contestants": _contestants(index)}
    data = f'{_json(head)[:-1]},"items":[{",".join(items[one] for one in order)}]}}'
    return Cases(data, _note(len(order), len(subset_of), min(first, len(order))), ())


def _note(shown: int, total: int, first: int) -> str:
    if shown == total:
        return f"All {count(total)} instances are in this page, in the order of the benchmark."
    named = f"the {count(first)} that findings name, and " if first else ""
    return (
        f"{count(shown)} of {count(total)} instances are in this page: {named}a fixed sample that gives every subset "
        "its share, in the order of the benchmark. All are in instances.parquet, scores.parquet and outcomes.parquet "
        "beside it."
    )


def pick(subsets: Mapping[str, str], named: Sequence[str], *, seed: int, most: int) -> tuple[list[str], int]:
    """Return which instances to show, the most important first, and how many of them were named.

    Args:
        subsets: Subset by id.
        named: Ids that come first, at most half of all.
        seed: Of the sample.
        most: How many to return.

    >>> pick({"a": "x", "b": "x", "c": "y"}, ["c", "gone"], seed=1, most=2)[0][0]
    'c'
    """
    first = [one for one in dict.fromkeys(named) if one in subsets][: most if most >= len(subsets) else most // 2]
    rest: dict[str, list[str]] = {}
    for one in sorted(set(subsets) - set(first), key=lambda one: (_digest(one, seed), one)):
        rest.setdefault(subsets[one], []).append(one)
    turns = zip_longest(*(rest[subset] for subset in sorted(rest)))
    others = [one for turn in turns for one in turn if one is not None]
    return [*first, *others][:most], len(first)


def _digest(one: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\x1f{one}".encode("utf-8", "backslashreplace")).digest()


def _contestants(index: Index) -> list[dict[str, Any]]:
    leading = {columns[0].scorer for kind in ("blind", "trained") for columns in _columns(index, kind)}
    leading |= {item.scorer for item in index.contestants if item.kind == "model" and item.owner != SANITY}
    return [
        {"name": visible(item.scorer), "kind": item.kind, "lead": item.scorer in leading} for item in index.contestants
    ]


def _columns(index: Index, kind: str) -> Iterator[list[Any]]:
    yield from index.by_owner("blind" if kind == "blind" else "trained").values()


def _item(
    row: Mapping[Any, Any],
    subsets: Sequence[str],
    outcomes: Mapping[str, int],
    scores: Mapping[str, Any],
    names: Sequence[str],
) -> dict[str, Any]:
    captions = ["" if text is None else visible(str(text)) for text in json.loads(row["captions"])]
    found = {
        "i": visible(str(row["instance"])),
        "s": subsets.index(_text(row["subset"])),
        "c": captions,
        "m": [visible(str(key)) for key in json.loads(row["images"])],
        "g": json.loads(row["gold"]),
        "o": "".join(str(outcomes.get(name, _NOT_ASKED)) for name in names),
        "v": [scores.get(name) for name in names],
    }
    query = visible(_text(row["query"]))
    return {**found, "q": query} if query else found


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _outcomes(table: pd.DataFrame, scorers: Sequence[str], record: Record) -> dict[str, dict[str, int]]:
    """Return by instance and scorer what became of the one comparison that it is judged by."""
    frame = table[table["scorer"].astype(str).isin(scorers)]
    frame = frame.astype(dict.fromkeys(("instance", "scorer", "direction", "order", "comparison", "outcome"), str))
    sees = {owner: facts["sees"] for owner, facts in record["contestants"].items()}
    blind = {name for name in scorers if sees.get(_owner(name, sees), ["text"]) == ["image"]}
    wanted = frame["scorer"].isin(blind).map({True: "t2i", False: "i2t"})
    single = frame["comparison"].str.match(r"(image|caption)\d+$")
    rank = (~frame["comparison"].eq("accuracy_all")).astype(int) * (1 + ~single + 2 * frame["direction"].ne(wanted))
    frame = frame.assign(rank=rank).sort_values("rank", kind="stable")
    frame = frame.drop_duplicates(["instance", "scorer", "order"])
    found: dict[str, dict[str, int]] = {}
    for instance, scorer, outcome in zip(frame["instance"], frame["scorer"], frame["outcome"], strict=True):
        own = found.setdefault(instance, {})
        code = _CODES.get(outcome, _UNSCORED)  # an answer that was empty or could not be read says which
        other = own.get(scorer, code)
        own[scorer] = code if other == code else _UNSCORED if _UNSCORED in (code, other) else _MIXED
    return found


def _owner(scorer: str, owners: Mapping[str, Any]) -> str:
    """Return the contestant that a column belongs to: the longest name that it begins with."""
    fitting = [owner for owner in owners if scorer == owner or scorer.startswith(f"{owner}:")]
    return max(fitting, key=len, default="")


def _scores(table: pd.DataFrame, scorers: Sequence[str]) -> dict[str, dict[str, list[list[float | None]]]]:
    """Return by instance and scorer the scores, one row per image that it was shown."""
    frame = table[table["scorer"].astype(str).isin(scorers)].sort_values(["image", "caption"], kind="stable")
    found: dict[str, dict[str, dict[int, list[float | None]]]] = {}
    columns = (frame[name] for name in ("instance", "scorer", "image", "score"))
    for instance, scorer, image, score in zip(*columns, strict=True):
        rows = found.setdefault(str(instance), {}).setdefault(str(scorer), {})
        rows.setdefault(int(image), []).append(_number(score))
    return {one: {name: list(rows.values()) for name, rows in own.items()} for one, own in found.items()}


def _number(value: float) -> float | None:
    return float(f"{value:.5g}") if math.isfinite(value) else None


def _json(value: object) -> str:
    """Return JSON in ASCII in which no character can end a script element."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)
