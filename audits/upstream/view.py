"""What a metric of upstream's is made of, and the rows that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audits.dataset import Roster
from audits.statistics.estimates import estimates
from audits.statistics.intervals import Interval
from audits.statistics.layout import POOLED, Layout
from audits.statistics.outcomes import Outcome
from reports.schema import Estimate, Finding


class Options(NamedTuple):
    """Say how to resample."""

    draws: int
    seed: int
    confidence: float


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Hold what a metric may be made of: one scorer column over the n instances of a run.

    Attributes:
        scorer: Full column name.
        outcomes: Outcomes by metric, arrays [n].
        roster: Labels of the instances.
        scores: Float [I, T] per instance, or None where only outcomes are known.
        tolerance: Scores that differ by no more are tied.
        threshold: Score above which the scorer calls a pair a match, or None where it has none.
        signature: Short signature.
        options: How to resample.
    """

    scorer: str
    outcomes: Mapping[str, Outcome]
    roster: Roster
    scores: Sequence[NDArray[np.float64]] | None
    tolerance: float
    threshold: float | None
    signature: str
    options: Options


class Number(NamedTuple):
    """Hold an estimate without its interval, as `Estimate` names its parts."""

    value: float
    n: int
    n_clusters: int
    ties: int
    unscored: int
    chance: float


Metric = Callable[[str, View], Iterator[Estimate | Finding]]


def estimated(view: View, outcome: Outcome, where: Layout) -> Iterator[Estimate]:
    """Yield the rows of an outcome by subset, pooled and macro; tags stay with our own metrics."""
    made = estimates(
        {view.scorer: {outcome.metric: outcome}},
        Layout(where.benchmark, where.subsets, where.clusters),
        signatures={view.scorer: view.signature},
        draws=view.options.draws,
        seed=view.options.seed,
        confidence=view.options.confidence,
    )
    yield from made.rows


def one_row(view: View, metric: str, number: Number, interval: Interval, *, is_primary: bool = True) -> Estimate:
    """Return a row over all instances."""
    return Estimate(
        benchmark=view.roster.labels.benchmark,
        subset=POOLED,
        tag="",
        scorer=view.scorer,
        against="",
        metric=metric,
        value=number.value,
        low=interval.low,
        high=interval.high,
        n=number.n,
        n_clusters=number.n_clusters,
        ties=number.ties,
        unscored=number.unscored,
        chance=number.chance,
        method=interval.method,
        seed=interval.seed,
        primary=is_primary,
        signature=view.signature,
    )
