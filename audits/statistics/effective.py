"""What clusters leave of a sample: its effective size, and how many clusters the rarer outcome rests on.

Percentile and sign-flip intervals cover too little where the rarer outcome sits in a handful of clusters (a proportion
near 0 or 1, few decided rows among ties, strong correlation): the sample then shows too little of its own skewness.
Wilson's interval at the effective size is skewed by its form; joined with the other it repairs most of that
(`tests/statistics` measures it).

Credits are split at their commonest value m into what lies above and below it, each as a share of the possible
distance: mean credit = m + (1 - m) up - m down. Credits of 0 and 1 leave one side, which is the rarer outcome itself;
a scorer that mostly ties (m = 1/2) leaves two. A macro average has the sides of all its subsets. Every side has its
own Wilson interval (l, u) about its value p; those of a sum of w_i p_i are put together by

    low = value - sqrt(sum_ij r_ij w_i d_i w_j d_j),   d_i = p_i - l_i where w_i > 0, u_i - p_i where w_i < 0,

and `high` with the distances exchanged. r_ij is the correlation of the sides' estimates, from their residuals by
cluster, so clusters that several subsets share count as they should, and residuals are taken about each subset's own
value: fixed differences between subsets are no variance. One side alone gives Wilson back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from audits.statistics.intervals import Interval, wilson
from audits.statistics.sums import ClusterSums, Floats, Ints, cluster_sums

FEW_MINORITY = 20.0
"""Effective clusters of the rarer outcome below which an interval counts as skewed."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Hold how far credits lie on one side of their commonest value, by cluster.

    Attributes:
        weight: Possible distance on this side, with its sign: 1 - m above, -m below.
        column: Distances by cluster as shares of the possible one, 0 to 1; a row on the other side counts as 0.
        limit: Effective size if the rows were independent, which clusters never exceed: p (1 - p) over the variance of
            a mean of independent rows. That is the number of rows if all shares are 0 or 1, and more if not.
    """

    weight: float
    column: ClusterSums
    limit: float


def sides(credit: NDArray[np.float64], clusters: Ints) -> tuple[Side, ...]:
    """Split credits at their commonest value (the smallest of equally common ones).

    Args:
        credit: Float64 [n], 0 to 1, NaN where an instance does not enter.
        clusters: Code of each instance's cluster, int64 [n].

    Returns:
        The side above and the side below, without one that has no room; empty without credits.

    Source: ours.

    >>> [(side.weight, side.column.value) for side in sides(np.array([1.0, 1.0, 1.0, 0.0]), np.arange(4))]
    [(-1.0, 0.25)]
    >>> [(side.weight, side.column.value) for side in sides(np.array([0.5, 0.5, 1.0, 0.5]), np.arange(4))]
    [(0.5, 0.25), (-0.5, 0.0)]
    """
    kept = ~np.isnan(credit)
    if not kept.any():
        return ()
    values, counts = np.unique(credit[kept], return_counts=True)
    common = float(values[counts.argmax()])
    found = []
    for weight in (1 - common, -common):
        if weight:
            share = np.maximum((credit[kept] - common) / weight, 0.0)
            found.append(Side(weight, cluster_sums(share, clusters[kept]), _independent(share)))
    return tuple(found)


def _independent(share: Floats) -> float:
    """Return p (1 - p) over the variance of the mean of independent rows."""
    p, spread = float(share.mean()), float(((share - share.mean()) ** 2).sum())
    return p * (1 - p) * len(share) ** 2 / spread if spread > 0 else inf


def minority_clusters(split: Sequence[Side]) -> float:
    """Return the effective number of clusters over which what differs from the commonest credit is spread.

    With m_k the amount of it in cluster k: (sum m_k)^2 / sum m_k^2, between 1 (all in one cluster) and c (even).

    Args:
        split: The sides of one sample.

    Returns:
        Number of clusters, 0 if all credits are equal.

    Source: kish1965 (effective size under unequal weights).

    >>> minority_clusters(sides(np.array([1.0, 1, 1, 0, 0, 1]), np.array([0, 1, 2, 2, 3, 4])))
    2.0
    """
    amount = sum((abs(side.weight) * side.column.sums for side in split), np.zeros(1))
    squares = float((amount**2).sum())
    return float(amount.sum()) ** 2 / squares if squares > 0 else 0.0


def effective_size(column: ClusterSums) -> float:
    """Return the number of independent rows that would give the variance which the clusters show.

    p (1 - p) / v, with v the linearised variance of the pooled mean, c / (c - 1) sum (S_k - n_k p)^2 / (sum n_k)^2.

    Args:
        column: Credits of 0 to 1 by cluster.

    Returns:
        Effective size; NaN with fewer than two clusters or without variance.

    Source: kish1965, ch. 8 (design effect).

    >>> effective_size(cluster_sums(np.array([1.0, 1, 0, 0, 1, 1, 0, 0]), np.array([0, 0, 1, 1, 2, 2, 3, 3])))
    3.0
    """
    p, c = column.value, column.n_clusters
    spread = float((_residuals(column) ** 2).sum())
    if c < 2 or spread <= 1e-12 * float((column.counts**2).sum()):
        return nan
    return p * (1 - p) * float(column.counts.sum()) ** 2 * (c - 1) / (c * spread)


def _residuals(column: ClusterSums) -> Floats:
    found: Floats = column.sums - column.counts * column.value
    return found


def effective_wilson(side: Side, *, confidence: float = 0.95) -> Interval:
    """Return Wilson's interval at the effective size, with the quantile of t at c - 1 degrees of freedom.

    Args:
        side: Shares of 0 to 1 by cluster, and the largest effective size.
        confidence: Nominal coverage.

    Returns:
        Bounds within 0 to 1; at n = clusters where they show no variance.

    Source: wilson1927; korngraubard1998 (intervals for proportions at the effective size).

    >>> credit, scenes = np.array([1.0] * 15 + [0.0] * 5), np.repeat(np.arange(4), 5)
    >>> [round(bound, 3) for bound in effective_wilson(sides(credit, scenes)[0])[:2]]
    [0.016, 0.869]
    """
    clusters = side.column.n_clusters
    size = effective_size(side.column)
    size = float(clusters) if isnan(size) else max(min(size, side.limit), 1.0)
    quantile = float(stdtrit(max(clusters - 1, 1), 0.5 + confidence / 2))
    low, high, *_ = wilson(side.column.value * size, size, confidence=confidence, quantile=quantile)
    return Interval(low, high, "wilson at effective n")


def combined(value: float, parts: Sequence[Sequence[Side]], *, confidence: float = 0.95) -> Interval:
    """Return the interval of a mean of parts that their sides' Wilson intervals make together.

    Args:
        value: The estimate: the mean of the parts' mean credits.
        parts: The sides of each part: one part for a pooled mean, one for each subset for macro.
        confidence: Nominal coverage.

    Returns:
        Bounds within 0 to 1, by the formula at the head of this module.

    Source: Zou and Donner 2008, Statistics in Medicine 27 (limits of a sum from those of its terms); Newcombe 1998,
    Statistics in Medicine 17 (their correlation, for a paired difference: what two sides are); korngraubard1998 (each).

    >>> credit, scenes = np.array([1.0] * 15 + [0.0] * 5), np.repeat(np.arange(4), 5)
    >>> [round(bound, 3) for bound in combined(0.75, [sides(credit, scenes)])[:2]]
    [0.131, 0.984]
    """
    split = [side for part in parts for side in part]
    weight = np.array([side.weight for side in split]) / len(parts)
    values = np.array([side.column.value for side in split])
    bounds = np.array([effective_wilson(side, confidence=confidence)[:2] for side in split])
    down, up = (values - bounds[:, 0]) * weight, (bounds[:, 1] - values) * weight
    shared = _correlation([side.column for side in split])
    toward_low, toward_high = np.where(weight > 0, down, up), np.where(weight > 0, up, down)
    below, above = (sqrt(max(float(part @ shared @ part), 0.0)) for part in (toward_low, toward_high))
    name = "wilson at effective n" if len(split) == 1 else "combined wilson at effective n"
    return Interval(max(value - below, 0.0), min(value + above, 1.0), name)


def _correlation(columns: Sequence[ClusterSums]) -> Floats:
    """Return how the values of columns are correlated through the clusters that they share, [C, C]."""
    size = max(int(column.index.max(initial=-1)) for column in columns) + 1
    residuals = np.zeros((len(columns), size))
    for row, column in zip(residuals, columns, strict=True):
        row[column.index] = _residuals(column)
    length = np.sqrt((residuals**2).sum(axis=1, keepdims=True))
    unit = np.divide(residuals, length, out=np.zeros_like(residuals), where=length > 1e-12)
    found: Floats = unit @ unit.T
    np.fill_diagonal(found, 1.0)
    return found


def joined(interval: Interval, value: float, parts: Sequence[Sequence[Side]], *, confidence: float = 0.95) -> Interval:
    """Return the interval, widened to hold Wilson's at the effective size where the rarer outcome is in few clusters.

    Args:
        interval: A bootstrap or sign-flip interval of the mean of the parts.
        value: The estimate itself.
        parts: The sides of each part; the one whose rarer outcome is in the fewest clusters decides.
        confidence: Nominal coverage.

    Returns:
        The interval itself, or the smallest one that holds both, whose method says so.

    Source: ours, calibrated by simulation.

    >>> split = sides(np.array([1.0] * 15 + [0.0] * 5), np.repeat(np.arange(4), 5))
    >>> joined(Interval(0.25, 1.0, "x"), 0.75, [split]).method
    'x, joined with wilson at effective n'
    """
    if min(minority_clusters(part) for part in parts) >= FEW_MINORITY:
        return interval
    low, high, name, _ = combined(value, parts, confidence=confidence)
    if not (low < interval.low or high > interval.high):
        return interval
    widened = f"{interval.method}, joined with {name}"
    return Interval(min(low, interval.low), max(high, interval.high), widened, interval.seed)
