"""What a sample could have shown: the smallest visible distance from chance, and the margin of equivalence."""

from __future__ import annotations

from math import ceil, exp, floor, inf, isnan, log, log2, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betaincinv, ndtr, stdtrit

from audits.statistics.sums import Floats, Ints, cluster_sums


class Noise(NamedTuple):
    """Hold how uncertain a mean of differences is at the null.

    Attributes:
        error: Standard error, design effect included; NaN with fewer than 2 clusters.
        design: Design effect of the clusters, at least 1.
        n_clusters: Clusters that enter.
    """

    error: float
    design: float
    n_clusters: int


def noise(difference: Floats, clusters: Ints) -> Noise:
    """Return the standard error that a mean of differences would have if the mean were 0.

    error^2 = deff mean(d^2) / n, and deff = max(1, v_c / v_r) with v_c the linearised variance of the mean by cluster,
    c / (c - 1) sum_k (S_k - n_k m)^2 / n^2, and v_r the same with every row a cluster. For credits of 0 and 1 on pairs
    mean(d^2) is 1/4 whatever they are; ties make it smaller.

    Args:
        difference: Credit minus chance (or another credit), float64 [n], NaN where a row does not enter.
        clusters: Code of each row's cluster, int64 [n].

    Source: kish1965, ch. 8 (design effect).

    >>> round(noise(np.array([0.5, 0.5, -0.5, -0.5]), np.array([0, 0, 1, 1])).design, 3)
    3.0
    """
    column = cluster_sums(difference, clusters)
    kept = difference[~np.isnan(difference)]
    c, n = column.n_clusters, len(kept)
    if c < 2:
        return Noise(nan, nan, c)
    by_cluster = c / (c - 1) * float(((column.sums - column.counts * column.value) ** 2).sum())
    by_row = n / (n - 1) * float(((kept - column.value) ** 2).sum())
    design = max(1.0, by_cluster / by_row) if by_row > 1e-12 * n else 1.0
    return Noise(sqrt(design * float((kept**2).mean()) / n), design, c)


def smallest_visible(found: Noise, critical: float, *, power: float = 0.8) -> float:
    """Return the distance from the null that a test of the family would find with the given power.

    delta = (t_c + t_power) error, with both quantiles of t at c - 1 degrees of freedom; t_c is the family's critical
    |t| turned from the form with the null imposed, T, into the usual one: t^2 = (c - 1) T^2 / (c - T^2).

    Args:
        found: The noise of the mean.
        critical: Critical |T| of the family at its alpha.
        power: Chance to find it.

    Returns:
        Distance, above 0; infinite if so few clusters can never pass the critical value, NaN without clusters.

    Source: ours; `tests/statistics` measures the power reached.

    >>> round(smallest_visible(Noise(0.01, 1.0, 10_000), 1.96), 4)  # (1.96 + 0.84) 0.01
    0.028
    >>> smallest_visible(Noise(0.1, 1.0, 8), 3.0)
    inf
    """
    c = found.n_clusters
    if isnan(found.error) or isnan(critical):
        return nan
    if critical**2 >= c:
        return inf
    bar = sqrt((c - 1) * critical**2 / (c - critical**2))
    return (bar + float(stdtrit(c - 1, power))) * found.error


def fewest_decided(clusters: Ints, design: float, critical: float, *, alpha: float, power: float = 0.8) -> float:
    """Return the share of instances that must be decided, all one way, to be found however much else ties.

    Where nearly everything ties the standard error is that of the few instances that are decided, and a shift would
    bring decided ones of its own. Of m clusters that are all decided one way |T| is sqrt(m), which must pass the
    critical value, and a sign test's p is 2^(1 - m), which must pass the level that belongs to it:
    m = max(floor(T_c^2) + 1, ceil(log2(2 / a))), a = min(alpha, 2 Phi(-T_c)). If each of c clusters is decided with
    probability q, at least m are with the given power where q is the quantile of Beta(m, c - m + 1) at it. With rows
    decided with probability s each, cluster k is with 1 - (1 - s)^(n_k / design), and s is where the mean of that is q.

    Args:
        clusters: Cluster code of each row that enters, int64 [n].
        design: Design effect of the clusters: so many rows count as one.
        critical: Critical |T| of the family.
        alpha: Level of the family.
        power: Chance to find it.

    Returns:
        s, 0 to 1; infinite where there are fewer than m clusters, NaN without a critical value.

    Source: ours; clopper1934 (the quantile). `tests/statistics` measures the power.

    With T_c = 1.96 m is max(4, ceil(log2(40))) = 6, and P(Binomial(100, .0779) >= 6) = .8:

    >>> round(fewest_decided(np.arange(100), 1.0, 1.96, alpha=0.05), 4)
    0.0779
    """
    if isnan(critical):
        return nan
    sizes = np.unique(clusters, return_counts=True)[1] / max(design, 1.0)
    needed = max(floor(critical**2) + 1, ceil(log2(2 / max(min(alpha, 2 * float(ndtr(-critical))), 1e-300)) - 1e-9))
    if needed > len(sizes):
        return inf
    share = float(betaincinv(needed, len(sizes) - needed + 1, power))
    sizes = np.maximum(sizes, 1.0)

    def lacking(log_share: float) -> float:
        """Return how many clusters, as a share, are decided beyond what is needed."""
        return float((1 - (1 - np.exp(log_share)) ** sizes).mean()) - share

    return exp(float(brentq(lacking, log(share / sizes.max()) - 1, log(share) + 1e-9)))


def equivalence_bound(low: float, high: float, null: float) -> float:
    """Return the smallest margin within which two one-sided tests call a value equivalent to the null.

    Each test at level a rejects outside the two-sided interval at 1 - 2a, so the margin is the distance of its farther
    end: a stated margin is met where it is at least this large.

    Args:
        low: Lower end of the interval at 1 - 2a.
        high: Upper end.
        null: Value to be equivalent to.

    Source: schuirmann1987.

    >>> round(equivalence_bound(0.48, 0.53, 0.5), 12)
    0.03
    """
    return max(abs(low - null), abs(high - null))


def deviations(credit: NDArray[np.float64], chance: NDArray[np.float64]) -> Floats:
    """Return credit minus the instance's own chance, NaN where there is no credit.

    >>> deviations(np.array([1.0, float("nan")]), np.array([0.25, 0.5]))
    array([0.75,  nan])
    """
    found: Floats = credit - chance
    return found
