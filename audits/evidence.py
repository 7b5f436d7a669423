"""The rows that verdicts and claims are made from, by who stands in them, and the one rule by which they say anything.

A row *differs* from its null (chance, or 0 for a paired difference) where its p-value, adjusted over the family, is at
most alpha and the interval that is printed beside it excludes the null: no sentence stands beside an interval that
contradicts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from audits.statistics.families import CROSSFITTED
from audits.statistics.layout import MACRO, POOLED
from reports.index import OPPOSITE
from reports.measures import excludes_chance
from reports.schema import Estimate, Kind


class Rows(NamedTuple):
    """Hold the rows that claims are made from, primary ones without a tag, and the kind of each contestant."""

    rows: list[Estimate]
    kinds: Mapping[str, Kind]

    def chance(self, kind: Kind, subset: str) -> list[Estimate]:
        """Return the tests of contestants of a kind against chance on a subset."""
        return [
            row
            for row in self.rows
            if not row.against and isfinite(row.p) and row.subset == subset and self.kinds.get(row.scorer) == kind
        ]

    def paired(self, metric: str, kind: Kind, model: str, subset: str) -> list[Estimate]:
        """Return a model's rows against baselines of a kind on a subset."""
        return [
            row
            for row in self.rows
            if (row.metric, row.scorer, row.subset) == (metric, model, subset) and self.kinds.get(row.against) == kind
        ]

    @property
    def subsets(self) -> list[str]:
        """Return the subsets in order, `all` last."""
        found = dict.fromkeys(row.subset for row in self.rows if row.subset not in (POOLED, MACRO))
        return [*found, POOLED]


def differs(row: Estimate, alpha: float) -> bool:
    """Say whether a row differs from its null: the adjusted p-value and the printed interval both say so."""
    return row.p <= alpha and excludes_chance(row)


def distance(row: Estimate, *, trained: bool = False) -> float:
    """Return how far the nearer end of the interval lies from chance, negative if chance is inside.

    The interval of a trained baseline is first widened about its value: cross-fitted values vary more than resampling
    shows (`CROSSFITTED`).
    """
    widened = CROSSFITTED if trained else 1.0
    low = row.value - widened * (row.value - row.low)
    high = row.value + widened * (row.high - row.value)
    return max(low - row.chance, row.chance - high)


def lies_away(row: Estimate, least: float, alpha: float, *, trained: bool = False) -> bool:
    """Say whether a baseline lies at least so far from chance: interval and adjusted p-value both say so."""
    return differs(row, alpha) and distance(row, trained=trained) >= least - 1e-12


def farthest(rows: Sequence[Estimate]) -> Estimate:
    """Return the row farthest from chance; for a description only, since its interval does not know of the choice.

    Of the two directions of a cue, which lie equally far, it is the one above chance.
    """
    return max(rows, key=lambda row: (round(abs(row.value - row.chance), 9), row.value > row.chance, row.scorer))


def cue(scorer: str) -> str:
    """Return what two directions of one cue have in common: they are one baseline, whichever way it is read.

    >>> cue("length:words:fewer") == cue("length:words:more"), cue("likelihood:x:norm")
    (True, 'likelihood:x:norm')
    """
    stem, _, direction = scorer.rpartition(":")
    return f"{stem}:{min(direction, OPPOSITE[direction])}" if direction in OPPOSITE else scorer


def cues(scorers: Iterable[str]) -> int:
    """Return how many baselines these are, a cue in both directions counted once.

    >>> cues(["length:words:fewer", "length:words:more", "likelihood:x:norm"])
    2
    """
    return len({cue(scorer) for scorer in scorers})


def one_of_each(rows: Sequence[Estimate]) -> list[Estimate]:
    """Return one row of each cue, the direction that does better, the cue farthest from chance first."""
    found: dict[str, list[Estimate]] = {}
    for row in rows:
        found.setdefault(cue(row.scorer), []).append(row)
    return sorted((farthest(own) for own in found.values()), key=lambda row: -round(abs(row.value - row.chance), 9))


def faced(excess: Estimate, own: Sequence[Estimate], baseline: Estimate) -> Estimate | None:
    """Return the model's row that faces a baseline, or None if there is none.

    On 2x2 a model has a row by direction; the one that faces this baseline lies at their difference from it.
    """
    rows = [row for row in own if row.scorer == excess.scorer]
    return min(rows, key=lambda row: abs(row.value - baseline.value - excess.value), default=None)


def able(row: Estimate | None, alpha: float) -> bool:
    """Say whether a model may be held against a benchmark: shown above chance, on at least half of the instances."""
    return row is not None and differs(row, alpha) and row.value > row.chance and row.n >= row.unscored


def below(
    excess: Sequence[Estimate], blind: Sequence[Estimate], models: Sequence[Estimate], alpha: float
) -> list[Estimate]:
    """Return the differences by which able models are below a baseline that is itself above chance, lowest first."""
    above = {row.scorer: row for row in blind if differs(row, alpha) and row.value > row.chance}
    found = [
        row
        for row in excess
        if row.value < 0
        and differs(row, alpha)
        and row.against in above
        and able(faced(row, models, above[row.against]), alpha)
    ]
    return sorted(found, key=lambda row: (row.value, row.against))
