"""How much longer one side is than the other, in words and characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import fmean

from audits.findings.schema import Lean, Reading, Sides, Text, Thresholds, Worst
from reports.schema import Finding

_UNITS: Mapping[str, Callable[[Text], int]] = {
    "words": lambda text: len(text.raw.split()),
    "characters": lambda text: len(text.raw),
}


def cliffs_delta(first: Mapping[int, int], second: Mapping[int, int]) -> float:
    """Return Cliff's delta of two histograms: P(first > second) - P(first < second) over all pairs of values.

    Args:
        first: How often each value occurs.
        second: The same for the other side.

    Returns:
        -1 to 1; NaN where a side is empty.

    Source: cliff1993.

    >>> cliffs_delta({1: 1, 3: 1}, {2: 2})
    0.0
    >>> cliffs_delta({1: 1, 2: 1}, {2: 2})
    -0.5
    """
    n, m = sum(first.values()), sum(second.values())
    if not n or not m:
        return float("nan")
    below, dominance = 0, 0
    for value in sorted({*first, *second}):
        here = second.get(value, 0)
        above = m - below - here
        dominance += first.get(value, 0) * (below - above)
        below += here
    return dominance / (n * m)


@dataclass(slots=True)
class _Unit:
    positives: Counter[int] = field(default_factory=Counter)
    foils: Counter[int] = field(default_factory=Counter)
    difference: float = 0.0
    fewer: Lean = field(default_factory=Lean)

    def add(self, positives: list[int], foils: list[int]) -> float:
        """Take one instance into account; return the mean difference of its pairs."""
        self.positives.update(positives)
        self.foils.update(foils)
        difference = fmean(positives) - fmean(foils)
        self.difference += difference
        pairs = [(one < other) + (one == other) / 2 for one in positives for other in foils]
        self.fewer.add(fmean(pairs))
        return difference


@dataclass(slots=True)
class _Count:
    worst: Worst
    sides: Sides = field(default_factory=Sides)
    clusters: set[str] = field(default_factory=set)
    units: dict[str, _Unit] = field(default_factory=lambda: {name: _Unit() for name in _UNITS})


class Lengths:
    """Compare the lengths of both sides, per subset.

    Words are runs without white space, characters code points of the text as released. The mean difference is over
    instances (in each the mean over its pairs), Cliff's delta over all captions of both sides, the share of pairs in
    which the positive is the shorter one over instances, ties counted half.

    Source: cliff1993.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._counts: dict[str, _Count] = {}

    def add(self, reading: Reading) -> None:
        """Take one instance into account."""
        if not reading.is_pair:
            return
        count = self._counts.setdefault(reading.instance.subset, _Count(Worst(self._thresholds.shown)))
        count.sides.add(reading)
        count.clusters.add(reading.instance.cluster)
        differences = [
            count.units[name].add([size(text) for text in reading.positives], [size(text) for text in reading.foils])
            for name, size in _UNITS.items()
        ]
        if differences[-1]:
            count.worst.add(reading, abs(differences[-1]))

    def findings(self) -> list[Finding]:
        """Return one finding for each subset."""
        return [self._finding(subset, count) for subset, count in self._counts.items()]

    def _finding(self, subset: str, count: _Count) -> Finding:
        values: dict[str, float | int | str] = {}
        for name, unit in count.units.items():
            values["instances"] = unit.fewer.n
            values[f"mean_difference_{name}"] = unit.difference / unit.fewer.n
            values[f"cliffs_delta_{name}"] = cliffs_delta(unit.positives, unit.foils)
            values[f"positive_has_fewer_{name}"] = unit.fewer.share
        return Finding(
            kind="length_difference",
            severity=self._thresholds.distance(
                max(unit.fewer.distance(len(count.clusters)) for unit in count.units.values())
            ),
            sentence=_sentence(count, values),
            subset=subset,
            instances=count.worst.ids,
            values=values,
        )


def _sentence(count: _Count, values: Mapping[str, float | int | str]) -> str:
    parts = [
        f"{values[f'mean_difference_{name}']:+.2f} {name} (Cliff's delta {values[f'cliffs_delta_{name}']:+.2f})"
        for name in count.units
    ]
    one, other = count.sides.many
    shorter = [f"{100 * unit.fewer.share:.1f} % of pairs by {name}" for name, unit in count.units.items()]
    return (
        f"Length of {one} minus length of {other}, on average: {' and '.join(parts)}. The {count.sides.one[0]} is the "
        f"shorter one in {' and '.join(shorter)}, ties counted half."
    )
