"""What clusters leave of a sample: its effective size, and how many clusters the rarer outcome rests on.

Percentile and sign-flip intervals cover too little where the rarer outcome sits in a handful of clusters (a proportion
near 0 or 1, strong correlation): the sample then shows too little of its own skewness. Wilson's interval at the
effective size is skewed by its form; joined with the other it repairs most of that (`tests/statistics` measures it).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

from scipy.special import stdtrit

from audits.statistics.intervals import Interval, wilson
from audits.statistics.sums import ClusterSums

FEW_MINORITY = 20.0
"""Effective clusters of the rarer outcome below which an interval counts as skewed."""


def minority_clusters(column: ClusterSums) -> float:
    """Return the effective number of clusters over which the rarer outcome is spread.

    With m_k the amount of it in cluster k: (sum m_k)^2 / sum m_k^2, between 1 (all in one cluster) and c (even).

    Args:
        column: Credits of 0 to 1 by cluster.

    Returns:
        Number of clusters, 0 if the rarer outcome never occurs.

    Source: kish1965 (effective size under unequal weights).

    >>> import numpy as np
    >>> from audits.statistics.sums import cluster_sums
    >>> minority_clusters(cluster_sums(np.array([1.0, 1, 1, 0, 0, 1]), np.array([0, 1, 2, 2, 3, 4])))
    2.0
    """
    amount = column.counts - column.sums if column.value > 0.5 else column.sums
    squares = float((amount**2).sum())
    return float(amount.sum()) ** 2 / squares if squares > 0 else 0.0


def effective_size(column: ClusterSums) -> float:
    """Return the number of independent rows that would give the variance which the clusters show.

    p (1 - p) / v, with v the linearised variance of the pooled mean, c / (c - 1) sum (S_k - n_k p)^2 / (sum n_k)^2.

    Args:
        column: Credits of 0 to 1 by cluster; counts may be weights.

    Returns:
        Effective size; NaN with fewer than two clusters or without variance.

    Source: kish1965, ch. 8 (design effect).

    >>> import numpy as np
    >>> from audits.statistics.sums import cluster_sums
    >>> effective_size(cluster_sums(np.array([1.0, 1, 0, 0, 1, 1, 0, 0]), np.array([0, 0, 1, 1, 2, 2, 3, 3])))
    3.0
    """
    p, c = column.value, column.n_clusters
    residuals = column.sums - column.counts * p
    spread = float((residuals**2).sum())
    if c < 2 or spread <= 1e-12 * float((column.counts**2).sum()):
        return nan
    return p * (1 - p) * float(column.counts.sum()) ** 2 * (c - 1) / (c * spread)


def effective_wilson(column: ClusterSums, n: int, *, clusters: int | None = None, confidence: float = 0.95) -> Interval:
    """Return Wilson's interval at the effective size, with the quantile of t at c - 1 degrees of freedom.

    Args:
        column: Credits of 0 to 1 by cluster; counts may be weights.
        n: Rows in all, which the effective size never exceeds.
        clusters: c, if the variance rests on fewer clusters than the column has.
        confidence: Nominal coverage.

    Returns:
        Bounds within 0 to 1; NaN where the effective size is undefined.

    Source: wilson1927; korngraubard1998 (intervals for proportions at the effective size).

    >>> import numpy as np
    >>> from audits.statistics.sums import cluster_sums
    >>> credit, scenes = np.array([1.0] * 15 + [0.0] * 5), np.repeat(np.arange(4), 5)
    >>> [round(bound, 3) for bound in effective_wilson(cluster_sums(credit, scenes), 20)[:2]]
    [0.131, 0.984]
    """
    size = effective_size(column)
    if isnan(size):
        return Interval(nan, nan, "undefined (no variance between clusters)")
    size = max(min(size, float(n)), 1.0)
    quantile = float(stdtrit(max((clusters or column.n_clusters) - 1, 1), 0.5 + confidence / 2))
    low, high, *_ = wilson(column.value * size, size, confidence=confidence, quantile=quantile)
    return Interval(low, high, "wilson at effective n")


def joined(
    interval: Interval,
    column: ClusterSums,
    n: int,
    *,
    parts: Sequence[ClusterSums] = (),
    confidence: float = 0.95,
) -> Interval:
    """Return the interval, widened to hold Wilson's at the effective size where the rarer outcome is in few clusters.

    Args:
        interval: A bootstrap or sign-flip interval of the column's pooled mean.
        column: Credits of 0 to 1 by cluster.
        n: Rows in all.
        parts: Columns whose mean this one is (macro); the one with the fewest clusters decides.
        confidence: Nominal coverage.

    Returns:
        The interval itself, or the smallest one that holds both, whose method says so.

    Source: ours, calibrated by simulation.

    >>> import numpy as np
    >>> from audits.statistics.sums import cluster_sums
    >>> column = cluster_sums(np.array([1.0] * 15 + [0.0] * 5), np.repeat(np.arange(4), 5))
    >>> joined(Interval(0.25, 1.0, "x"), column, 20).method
    'x, joined with wilson at effective n'
    """
    if min(minority_clusters(part) for part in (column, *parts)) >= FEW_MINORITY:
        return interval
    clusters = min(part.n_clusters for part in (column, *parts))
    low, high, name, _ = effective_wilson(column, n, clusters=clusters, confidence=confidence)
    if not (low < interval.low or high > interval.high):
        return interval
    widened = f"{interval.method}, joined with {name}"
    return Interval(min(low, interval.low), max(high, interval.high), widened, interval.seed)
