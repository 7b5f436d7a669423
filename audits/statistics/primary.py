"""Which interval drives statements: one rule, in one place.

| sample | primary | beside it |
|---|---|---|
| fewer than 2 instances | none (NaN) | |
| every cluster a single instance, every credit 0 or 1 | Wilson | |
| fewer than `FEW` clusters | sign-flip by cluster, inverted | Wilson, where every credit is 0 or 1 |
| otherwise (clusters repeat, half credits, macro) | cluster bootstrap | Wilson, where every credit is 0 or 1 |
| the interval has no width | Wilson at n = clusters, and the method says so | |

A sign-flip or bootstrap interval whose rarer outcome rests on few clusters is joined with Wilson's at the effective
size (`effective.joined`), and says so. For macro the smallest subset's clusters decide whether they are few; fixed
differences between subsets count in none of the three (`sums.recentred` for the sign-flip test).

Limits, as measured at a nominal .95 (2,000 runs, clusters of 1 to 60 rows, intra-class correlation .1 and .3; the table
is printed by `tests/statistics/test_calibration.py`): coverage .93 to .95 with 80 clusters and .93 to .96 with 20, for
proportions of 1/6, 1/4, 1/2 and .9; with 8 clusters .94 to .96 at 1/4 and 1/2, .92 at 1/6 and .90 at .9. It is lower
still (about .85) where an outcome as rare as .03 comes in whole clusters: those that carry it may be missing from the
sample, which no resampling can know. Row-wise Wilson and Wald cover .39 to .65 on the same data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from audits.statistics import signflip
from audits.statistics.bootstrap import DRAWS, SEED, method, percentile, replicates
from audits.statistics.effective import Side, joined, sides
from audits.statistics.intervals import Interval, wilson
from audits.statistics.sums import ClusterSums, Ints, cluster_sums, recentred

FEW = 30
MAX_COLUMNS = 1_200
"""Columns resampled at once (10,000 draws of them take 96 MB); more of them share what a draw costs."""

Way = Literal["none", "wilson", "sign-flip", "bootstrap"]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Hold the credits behind one estimate, by cluster.

    Attributes:
        whole: The estimate itself is `whole.value`; for macro the rows are weighted by 1 / (subsets x subset's rows).
        parts: The columns whose mean is the estimate: one, or one per subset for macro.
        split: The sides of each part's credits.
        n: Instances that entered.
        is_binary: Whether every credit is 0 or 1.
    """

    whole: ClusterSums
    parts: tuple[ClusterSums, ...]
    split: tuple[tuple[Side, ...], ...]
    n: int
    is_binary: bool

    @property
    def way(self) -> Way:
        """Return which kind of interval is primary, before looking at its width."""
        if self.n < 2:
            return "none"
        if len(self.parts) == 1 and self.is_binary and self.whole.n_clusters == self.n:
            return "wilson"
        return "sign-flip" if min(part.n_clusters for part in self.parts) < FEW else "bootstrap"


def pooled(credit: NDArray[np.float64], clusters: Ints) -> Sample:
    """Return the sample of a pooled mean.

    Args:
        credit: Float64 [n], 0 to 1, NaN where an instance does not enter.
        clusters: Code of each instance's cluster, int64 [n].

    >>> pooled(np.array([1.0, 0.5, np.nan]), np.array([0, 1, 1])).whole.value
    0.75
    """
    whole = cluster_sums(credit, clusters)
    entered = credit[~np.isnan(credit)]
    return Sample(whole, (whole,), (sides(credit, clusters),), len(entered), bool(np.isin(entered, (0.0, 1.0)).all()))


def macro(
    credit: NDArray[np.float64], clusters: Ints, subsets: Sequence[Ints], samples: Sequence[Sample] | None = None
) -> Sample:
    """Return the sample of the mean of subset values.

    Args:
        credit: Float64 [n], 0 to 1, NaN where an instance does not enter.
        clusters: Code of each instance's cluster, int64 [n].
        subsets: Rows of each subset, each with at least one credit.
        samples: Of the subsets' pooled means, where they are known already.

    Source: goodcrepe (its averages are macro).

    >>> macro(np.array([1.0, 0.0, 0.0]), np.arange(3), [np.array([0]), np.array([1, 2])]).whole.value
    0.5
    """
    parts = [pooled(credit[rows], clusters[rows]) for rows in subsets] if samples is None else samples
    weight = np.zeros(len(credit))
    for rows, part in zip(subsets, parts, strict=True):
        weight[rows] = 1 / (len(subsets) * part.n)
    inside = np.where(weight > 0, credit, np.nan)
    return Sample(
        cluster_sums(inside, clusters, weight),
        tuple(part.whole for part in parts),
        tuple(part.split[0] for part in parts),
        sum(part.n for part in parts),
        all(part.is_binary for part in parts),
    )


def intervals(
    samples: Sequence[Sample], n_clusters: int, *, draws: int = DRAWS, seed: int = SEED, confidence: float = 0.95
) -> list[list[Interval]]:
    """Return the intervals of each sample, the primary one first.

    Args:
        samples: Samples over the same clusters; those that are resampled share their draws.
        n_clusters: Number of clusters in all.
        draws: Draws of the bootstrap, and of the sign-flip test where signs cannot be listed.
        seed: Seed of the draws.
        confidence: Nominal coverage.

    Returns:
        One or two intervals for each sample.

    Source: wilson1927; composet, app. C; ours (the rule, calibrated by simulation).

    >>> [[found]] = intervals([pooled(np.ones(8), np.arange(8))], 8)
    >>> round(found.low, 4), found.high, found.method
    (0.6756, 1.0, 'wilson')
    """
    many = iter(_bootstrap([one for one in samples if one.way == "bootstrap"], n_clusters, draws, seed, confidence))
    few = iter(
        signflip.intervals(
            [recentred(one.parts) for one in samples if one.way == "sign-flip"],
            confidence=confidence,
            draws=draws,
            seed=seed,
        )
    )
    found = []
    for sample in samples:
        if sample.way == "none":
            found.append([Interval(nan, nan, "undefined (n < 2)")])
        elif sample.way == "wilson":
            found.append([wilson(float(sample.whole.sums.sum()), sample.n, confidence=confidence)])
        else:
            drawn = next(few if sample.way == "sign-flip" else many)
            found.append([_settled(drawn, sample, confidence), *_beside(sample, confidence)])
    return found


def _settled(interval: Interval, sample: Sample, confidence: float) -> Interval:
    """Widen a skewed interval; replace one without width, which would pass agreement off as certainty."""
    if not interval.is_degenerate:
        return joined(interval, sample.whole.value, sample.split, confidence=confidence)
    clusters = sample.whole.n_clusters
    low, high, *_ = wilson(sample.whole.value * clusters, clusters, confidence=confidence)
    return Interval(low, high, f"wilson at n = clusters (degenerate {sample.way})")


def _beside(sample: Sample, confidence: float) -> list[Interval]:
    """Return the row-wise Wilson interval, to be shown beside a primary one where it means something."""
    if not sample.is_binary or len(sample.parts) > 1:
        return []
    return [wilson(float(sample.whole.sums.sum()), sample.n, confidence=confidence)]


def _bootstrap(samples: Sequence[Sample], n_clusters: int, draws: int, seed: int, confidence: float) -> list[Interval]:
    """Resample the samples' parts, a batch of columns at a time; every batch sees the same draws."""
    found: list[Interval] = []
    start = 0
    while start < len(samples):
        stop, width = start, 0
        while stop < len(samples) and (stop == start or width + len(samples[stop].parts) <= MAX_COLUMNS):
            width += len(samples[stop].parts)
            stop += 1
        columns = [part for sample in samples[start:stop] for part in sample.parts]
        drawn = replicates(columns, n_clusters, draws=draws, seed=seed)
        edges = np.cumsum([0, *(len(sample.parts) for sample in samples[start:stop])]).tolist()
        means = np.stack([drawn[:, left:right].mean(axis=1) for left, right in pairwise(edges)], axis=1)
        low, high = percentile(means, confidence=confidence)
        found += [Interval(*bounds, method(draws), seed) for bounds in zip(low.tolist(), high.tolist(), strict=True)]
        start = stop
    return found
