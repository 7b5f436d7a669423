"""The flat tables of the run folder: one row per instance, per score, per outcome; in parts, none of them large."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from audits.dataset import Roster
from audits.measured import Measured
from audits.scoring import Cells, chunks
from benchmarks.schema import Instance
from reports.scrub import scrub_text

PART = 1 << 17
"""Rows of a part, at most."""
FEW = 1 << 13
"""Instances of a part: their rows are larger."""


def instances(items: Iterable[Instance]) -> Iterator[pd.DataFrame]:
    """Yield one row per instance, in parts; lists and tags are JSON text, so that the table stays flat."""
    for some in chunks(map(_instance, items), FEW):
        yield pd.DataFrame(some)


def _instance(one: Instance) -> dict[str, str]:
    return {
        "instance": one.id,
        "subset": one.subset,
        "cluster": one.cluster,
        "group": one.group,
        "query": one.query,
        "images": json.dumps([image.key for image in one.images], ensure_ascii=False),
        "captions": json.dumps(list(one.captions), ensure_ascii=False),
        "gold": json.dumps(one.gold.astype(int).tolist()),
        "tags": json.dumps(dict(one.tags), ensure_ascii=False, sort_keys=True),
    }


def scores(measured: Sequence[Measured], roster: Roster) -> Iterator[pd.DataFrame]:
    """Yield the long table of scores, in parts; `image` or `caption` is -1 where the scorer did not see one.

    A contestant of which only outcomes are known has no rows; the first part is empty, so that there is always one.
    """
    ids = pd.array(roster.ids, dtype="str")
    numbers = {"image": np.int16, "caption": np.int16, "score": np.float64, "tokens": np.int32, "truncated": np.bool_}
    empty: dict[str, NDArray[Any]] = {name: np.zeros(0, kind) for name, kind in numbers.items()}
    scored = (one for one in measured if one.cells is not None)
    names = pd.Index(sorted(name for one in scored for name in one.outcomes), dtype="str")
    yield _scores(ids[:0], empty, _repeated("", 0, names), ids[:0])
    for one in measured:
        cells = one.cells
        if cells is None:
            continue
        notes = _notes(cells)
        for column, values in cells.columns.items():
            name = one.contestant.full_name(column)
            for start in range(0, len(values), PART):
                rows = slice(start, start + PART)
                whole = {"score": values, **{field: getattr(cells, field) for field in numbers if field != "score"}}
                part = {field: array[rows] for field, array in whole.items()}
                size = len(part["score"])
                yield _scores(ids.take(cells.instance[rows]), part, _repeated(name, size, names), notes[rows])


def _scores(instance: object, numbers: Mapping[str, NDArray[Any]], scorer: object, note: object) -> pd.DataFrame:
    """Return rows of the table of scores with its columns in their order."""
    return pd.DataFrame(
        {
            "instance": instance,
            "image": numbers["image"],
            "caption": numbers["caption"],
            "scorer": scorer,
            "score": numbers["score"],
            "tokens": numbers["tokens"],
            "truncated": numbers["truncated"],
            "note": note,
        }
    )


def _notes(cells: Cells) -> Any:
    notes = np.full(len(cells.instance), "", dtype=object)
    # A scorer's words may hold anything.
    cleaned = {reason: scrub_text(reason) for reason in set(cells.notes.values())}
    for cell, reason in cells.notes.items():
        notes[cell] = cleaned[reason]
    return pd.array(notes, dtype="str")


def _repeated(name: str, size: int, names: pd.Index[str]) -> pd.Categorical[str]:
    """Return a column that says one of the names throughout."""
    code = names.get_loc(name) if size else 0
    return pd.Categorical.from_codes(np.full(size, code, dtype=np.int32), categories=names)


def answers(measured: Sequence[Measured]) -> pd.DataFrame | None:
    """Return the answers of all prompted models, one row for each question in each order, or None without any."""
    own = [(one.contestant.full_name(""), one.answers) for one in measured]
    tables = [table.assign(scorer=name) for name, table in own if table is not None]
    if not tables:
        return None
    joined = pd.concat(tables, ignore_index=True)
    joined["note"] = [scrub_text(note) for note in joined["note"]]
    return joined[["instance", "scorer", *(name for name in joined.columns if name not in ("instance", "scorer"))]]


def outcomes(measured: Sequence[Measured], roster: Roster) -> Iterator[pd.DataFrame]:
    """Yield the long table of outcomes, in parts: one row per comparison of every scorer column."""
    ids = pd.array(roster.ids, dtype="str")
    names = pd.Index(sorted(name for one in measured for name in one.outcomes), dtype="str")
    for one in measured:
        for name, table in one.comparisons():
            for start in range(0, max(len(table), 1), PART):
                part = table.iloc[start : start + PART]
                part = part.assign(instance=ids.take(part["instance"].to_numpy()))
                part.insert(1, "scorer", pd.Series(_repeated(name, len(part), names), index=part.index))
                yield part
