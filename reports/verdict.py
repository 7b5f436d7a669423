"""What is concluded of a benchmark, as its record says it: one level with its sentence, and the subsets by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from reports.index import POOLED, Index, arranged
from reports.schema import Level, Record, VerdictFacts
from reports.tabular import Grid, Head
from reports.text import Line, count, foreign, joined, line, name, percent, plural, visible

LEVELS: tuple[Level, ...] = (
    *("compromised", "weakened", "trained-text warning", "undecided"),
    "none larger found",
)
_ABOUT: dict[Level, str] = {
    "compromised": "a baseline that never saw this benchmark gets far without one side, or an able model is below",
    "weakened": "a blind baseline that never saw this benchmark gets some of the way without one side",
    "trained-text warning": "no zero-shot baseline is shown to get there; one trained on the benchmark's own folds is",
    "undecided": "too few instances to see even a large shortcut",
    "none larger found": "by none of the baselines that ran; smaller ones are not excluded",
}


_LONGEST = 34


class Group(NamedTuple):
    """Hold the subsets of one level.

    Attributes:
        level: Which.
        title: As it is shown.
        about: What the level means, in a few words.
        subsets: Names with what else is said of them (the smallest visible shortcut), in the order of the tables.
    """

    level: Level
    title: str
    about: str
    subsets: tuple[Line, ...]


class Verdict(NamedTuple):
    """Hold what is concluded.

    Attributes:
        level: Of all instances together.
        title: The level in words.
        sentence: What was measured.
        groups: The subsets by level, the gravest first.
        sentences: What was measured on each subset, in the order of the tables.
        rule: By which rule it was decided.
    """

    level: Level
    title: str
    sentence: Line
    groups: tuple[Group, ...]
    sentences: tuple[Line, ...]
    rule: tuple[Line, ...]

    @property
    def is_told(self) -> bool:
        """Return whether the sentence begins with the title's words: plain text need not say both."""
        return "".join(span.text for span in self.sentence).startswith(self.title.removesuffix(" found"))


def build_verdict(record: Record, index: Index) -> Verdict | None:
    """Return what is concluded, or None where a record says nothing of that."""
    found = {item["subset"]: item for item in record.get("verdicts", [])}
    if not found:
        return None
    order = arranged([subset for subset in found if subset != POOLED], index.subsets)
    pooled = found.get(POOLED)
    leading = pooled or min(found.values(), key=lambda item: LEVELS.index(item["level"]))
    groups = grouped([found[subset] for subset in order])
    sentences = [line(name(subset), ": ", foreign(found[subset]["sentence"])) for subset in order]
    where = () if pooled else line(name(leading["subset"]), ": ")
    sentence = (*where, *line(foreign(leading["sentence"])))
    return Verdict(leading["level"], _title(leading), sentence, groups, tuple(sentences), _rule(record))


def _title(item: VerdictFacts) -> str:
    if item["level"] != "none larger found":
        return item["level"].capitalize()
    return f"No shortcut larger than {_size(item)} found"


def _size(item: VerdictFacts) -> str:
    """Return the size that is stated: what no shortcut found exceeds, else what could have been seen."""
    size = item.get("not_larger_than") or item["smallest_visible"]
    if size is None:
        return "an unknown size" if item["level"] == "none larger found" else "nothing could have been seen"
    return f"{percent(size)} points"


def grouped(items: Sequence[VerdictFacts]) -> tuple[Group, ...]:
    """Return verdicts by level, the gravest first."""
    groups = []
    for level in LEVELS:
        own = [item for item in items if item["level"] == level]
        if own:
            sized = level in ("none larger found", "undecided")
            shown = tuple(line(name(item["subset"]), f" ({_size(item)})" if sized else "") for item in own)
            title = "no shortcut larger than the stated size found" if level == "none larger found" else level
            groups.append(Group(level, title, _ABOUT[level], shown))
    return tuple(groups)


def _rule(record: Record) -> tuple[Line, ...]:
    """Say over what p-values are corrected and which thresholds decide."""
    said = []
    family = record.get("family")
    if family is not None:
        text = f"p-values are corrected over {plural(family['size'], 'test')} ("
        said.append(
            line(text, foreign(family["method"]), f", alpha {family['alpha']:g}): ", foreign(family["what"]), ".")
        )
    thresholds = {key: value for key, value in record.get("thresholds", {}).items() if _decides(key, value)}
    if thresholds:
        shown = [line(name(key), " ", foreign(str(value))) for key, value in sorted(thresholds.items())]
        said.append(line("Thresholds: ", *joined(shown), "; all are in record.json."))
    return tuple(said)


def _decides(key: str, value: object) -> bool:
    """Return whether a threshold is one of verdicts: those of findings stand below a key of their own."""
    return key != "digest" and not isinstance(value, Mapping)


def verdict_grid(record: Record, index: Index) -> list[Grid]:
    """Return the table of verdicts: level, who decides it, what could have been seen, how many instances."""
    found = {item["subset"]: item for item in record.get("verdicts", [])}
    if len(found) < 2:
        return []
    order = [
        *arranged([subset for subset in found if subset != POOLED], index.subsets),
        *([POOLED] * (POOLED in found)),
    ]
    rows = tuple(Head(visible(subset)) for subset in order)
    heads = ("verdict", "smallest visible, points", "n", "clusters", "decided by")
    cells = tuple(_row(found[subset]) for subset in order)
    power = record.get("thresholds", {}).get("power")
    said = f" with power {power:g}" if isinstance(power, float) else ""
    notes = (f"Smallest visible: how far from chance a shortcut must lie to be seen{said} after correction.",)
    columns = tuple(Head(text, is_name=False) for text in heads)
    return [Grid("Verdict by subset", notes, rows, columns, cells, brief=True)]


def _row(item: VerdictFacts) -> tuple[str, ...]:
    deciding = [name(scorer, _LONGEST).text for scorer in item["by"]]
    more = f" and {len(deciding) - 1} more" if len(deciding) > 1 else ""
    size = item["smallest_visible"]
    by = f"{deciding[0]}{more}" if deciding else ""
    level = _title(item) if item["level"] == "none larger found" else item["level"]
    shown = "" if size is None else percent(size)
    return (level[:1].lower() + level[1:], shown, count(item["n"]), count(item["n_clusters"]), by)
