"""What a reader must know beside the numbers: what is missing, what was cut, where it came from, how to repeat it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.index import POOLED, SANITY, Index, arranged
from reports.schema import ContestantFacts, Record
from reports.text import Line, Span, count, foreign, joined, line, name, percent, plural, visible

BANNER = "SAMPLE, not the released data: these numbers describe the bundled sample and say nothing about the benchmark."
_LISTED = 5
_SHORT_DIGEST = 12
_AT_CHANCE = ("accuracy", "caption_preference", "image_preference", "group_match")

Fact = tuple[str, Line]


def build_notices(record: Record, index: Index) -> tuple[Line, ...]:
    """Return everything that limits what the numbers mean, the gravest first."""
    notices = [*build_limits(record, index)]
    notices += [*_unscored(record, index), *_truncated(record, index)]
    said = [*record["benchmark"]["provenance"].get("notices", ()), *record["notices"]]
    notices += [line(foreign(str(text))) for text in dict.fromkeys(said)]
    return tuple(notices)


def build_limits(record: Record, index: Index) -> tuple[Line, ...]:
    """Return what says that numbers cannot be trusted, or are not those of the whole benchmark."""
    return (*_sanity(index), *_coverage(record), *_absent(record), *_counts(record, index))


def _sanity(index: Index) -> list[Line]:
    """Say so if the constant scorer, which must get exactly chance, does not."""
    found = [
        index.find(item.scorer, metric, subset)
        for item in index.contestants
        if item.owner == SANITY
        for metric in _AT_CHANCE
        for subset in (POOLED, *index.subsets)
    ]
    wrong = [item for item in found if item is not None and item.n and abs(item.value - item.chance) > 1e-9]
    return [
        line("The constant scorer must get exactly chance and does not on ", name(item.subset), ": ")
        + line(f"{percent(item.value)} % against {percent(item.chance)} %. Do not trust the other numbers.")
        for item in wrong
    ]


def _coverage(record: Record) -> list[Line]:
    coverage = record["benchmark"]["coverage"]
    if not coverage["missing"] and coverage["present"] == coverage["expected"]:
        return []
    share = coverage["present"] / coverage["expected"] if coverage["expected"] else 0.0
    text = f"Coverage {share:.2f}: {count(coverage['present'])} of {plural(coverage['expected'], 'instance')} "
    ids = few_names(coverage["missing"])
    effect = "" if coverage["needed"] else "; no contestant here needs them"
    return [line(text, f"have all their images{effect}", *(line(": without are ", *ids) if ids else ()), ".")]


def few_names(names: Sequence[str]) -> Line:
    """Return the first names of a list and how many more there are."""
    more = len(names) - _LISTED
    shown = joined([line(name(item)) for item in names[:_LISTED]])
    return (*shown, *line(f" and {count(more)} more" if more > 0 else ""))


def _absent(record: Record) -> list[Line]:
    absent = list(record["benchmark"]["provenance"].get("absent", ()))
    if not absent:
        return []
    return [line("Parts of the release that are not here and were not evaluated: ", *few_names(absent), ".")]


def _counts(record: Record, index: Index) -> list[Line]:
    """Say where the number of instances is not the one that the benchmark's card expects."""
    facts = record["benchmark"]
    absent = set(facts["provenance"].get("absent", ()))
    limit = _limit(record["config"])
    if limit:
        return [line(f"Only the first {plural(limit, 'instance')} (benchmark.limit={limit}), not the whole benchmark.")]
    wrong = []
    for subset in arranged(facts["expected"], index.subsets):
        expected = facts["expected"][subset]
        there = facts["n_by_subset"].get(subset, 0)
        if there != expected and subset not in absent:
            wrong.append(line(name(subset), f" {count(there)} (expected {count(expected)})"))
    if not wrong:
        return []
    return [line("The number of instances is not the expected one: ", *joined(wrong), ".")]


def _limit(config: Mapping[str, Any]) -> int:
    benchmark = config.get("benchmark")
    limit = benchmark.get("limit") if isinstance(benchmark, Mapping) else None
    return limit if isinstance(limit, int) else 0


def _in_order(record: Record, index: Index) -> list[tuple[str, ContestantFacts]]:
    contestants = record["contestants"]
    return [(owner, contestants[owner]) for owner in arranged(contestants, index.owners)]


def _unscored(record: Record, index: Index) -> list[Line]:
    lines = []
    for owner, facts in _in_order(record, index):
        if facts["unscored"]:
            lines.append(line(name(owner), *_left_out(facts, record["benchmark"]["n"])))
        elif owner not in index.owners:
            lines.append(line(name(owner), " ran and has no estimate."))
    return lines


def _left_out(facts: ContestantFacts, total: int) -> Line:
    """Say how many instances a contestant could not score, and the reasons it gave, the commonest first."""
    number = facts["unscored"]
    are = "is left out, not counted as wrong" if number == 1 else "are left out, not counted as wrong"
    text = f": {count(number)} of {plural(total, 'instance')} could not be scored and {are}"
    reasons = sorted(facts.get("reasons", {}).items(), key=lambda item: (-item[1], item[0]))
    shown = [line(foreign(reason), f" ({count(times)})") for reason, times in reasons]
    told = line("; commonest reasons, with their instances: ", *joined(shown)) if shown else ()
    return line(text, *told, ".")


def _truncated(record: Record, index: Index) -> list[Line]:
    return [
        line(name(owner), f": {plural(facts['truncated'], 'caption')} did not fit its context and were cut.")
        for owner, facts in _in_order(record, index)
        if facts["truncated"]
    ]


def build_source(record: Record) -> tuple[Fact, ...]:
    """Return where the instances came from."""
    facts = record["benchmark"]
    card, provenance = facts["card"], facts["provenance"]
    origin = f"{provenance.get('origin', 'unknown')}: "
    revision = str(provenance.get("revision", ""))
    shapes = joined([line(name(str(shape))) for shape in sorted(facts["shapes"])])
    rows: list[Fact] = [
        ("benchmark", line(name(facts["name"]), " (", foreign(str(card.get("title", ""))), "), shape ", *shapes)),
        ("read from", line(origin, foreign(str(provenance.get("location", ""))))),
        ("instances", line(count(facts["n"]))),
        ("content digest", line(name(facts["digest"][:_SHORT_DIGEST]))),
        ("licence", line(foreign(str(card.get("licence", "unknown"))))),
    ]
    if revision:
        rows.insert(2, ("revision", line(name(revision))))
    if card.get("homepage"):
        rows.append(("homepage", line(foreign(str(card["homepage"])))))
    files = provenance.get("files", {})
    if files:
        rows.append(("files", line(f"{plural(len(files), 'file')}, SHA-256 of each in record.json")))
    return tuple(rows)


def build_contestants(record: Record, index: Index) -> tuple[Fact, ...]:
    """Return who scored: short signature, what it saw, cost, and what came from the cache."""
    rows = []
    for owner, facts in _in_order(record, index):
        cache = facts["cache"]
        text = f"sees {' and '.join(facts['sees']) or 'nothing'}; {facts['seconds']:.1f} s"
        measured = cache["hits"] + cache["computed"]
        if measured:
            text += f"; {count(cache['hits'])} of {count(measured)} measurements from the cache"
        if cache["reductions"]:
            text += f"; batch halved {plural(cache['reductions'], 'time')} for memory"
        told = [
            part
            for key, value in facts.get("facts", {}).items()
            for part in line("; ", foreign(str(key)), ": ", foreign(count(value) if isinstance(value, int) else value))
        ]
        rows.append((visible(owner), line(text, *told, "; signature ", name(facts["short"], 200))))
    return tuple(rows)


def build_setup(record: Record) -> tuple[Fact, ...]:
    """Return how to repeat the run and what it ran on."""
    statistics = record["statistics"]
    versions = ", ".join(f"{visible(key)} {visible(value)}" for key, value in sorted(record["versions"].items()))
    drawn = f"{count(statistics['bootstrap'])} bootstrap draws, seed {statistics['seed']}"
    rows: list[Fact] = [
        ("run", line(f"{visible(record['started'])} to {visible(record['finished'])}")),
        ("statistics", line(drawn)),
        ("configuration", line(name(record["config_digest"][:_SHORT_DIGEST]), ", in full in record.json")),
        ("signatures", line("in full in record.json under contestants")),
        ("versions", line(foreign(versions))),
    ]
    git = record["git"]
    if git and git.get("commit"):
        dirty = ", with changes that are not committed" if git.get("dirty") else ""
        rows.append(("git", line(name(str(git["commit"])), dirty)))
    command = record.get("command", "")
    if command:
        rows.insert(0, ("repeat it with", (Span(visible(command), "name"),)))
    return tuple(rows)
