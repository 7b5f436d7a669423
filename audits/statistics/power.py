"""What a sample could have shown: the smallest visible distance from chance, and the margin of equivalence."""

from __future__ import annotations

from math import inf, isnan, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

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
