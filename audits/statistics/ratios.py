"""A ratio of two means on the same instances, with the interval that knows when it cannot be bounded."""

from __future__ import annotations

from math import inf, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from audits.statistics.intervals import Interval
from audits.statistics.sums import Floats, Ints, cluster_sums

METHOD = "fieller, linearised by cluster"


def fieller(first: Floats, second: Floats, clusters: Ints, *, confidence: float = 0.95) -> Interval:
    """Return Fieller's interval of mean(first) / mean(second) over the rows that have both.

    With a and b the means, v their covariance matrix by cluster (`linearised`), R = a / b, t the quantile of t at c - 1
    degrees of freedom and g = t^2 v_bb / b^2, the ends are

        (R - g v_ab / v_bb +- t / |b| sqrt(v_aa - 2 R v_ab + R^2 v_bb - g (v_aa - v_ab^2 / v_bb))) / (1 - g).

    They hold every R for which mean(first) - R mean(second) is not shown to differ from 0. Where g is at least 1 the
    interval of b holds 0, the set of such R is not bounded, and NaN is returned.

    Args:
        first: Numerator, float64 [n], NaN where a row has none.
        second: Denominator, float64 [n], NaN where a row has none.
        clusters: Code of each row's cluster, int64 [n].
        confidence: Nominal coverage.

    Source: fieller1954.

    >>> rows = np.array([1.0, 0.75, 0.5, 1.0])
    >>> found = fieller(rows / 2, rows, np.arange(4))
    >>> round(found.low, 6), round(found.high, 6)
    (0.5, 0.5)
    >>> fieller(rows, np.array([1.0, -1, 1, -1]), np.arange(4)).low
    nan
    """
    both = ~np.isnan(first + second)
    a, b, v, c = linearised(first[both], second[both], clusters[both])
    if c < 2:
        return Interval(nan, nan, METHOD)
    t = float(stdtrit(c - 1, (1 + confidence) / 2))
    ratio = a / b if b else inf
    g = t**2 * v[1, 1] / b**2 if b else inf
    if g >= 1:
        return Interval(nan, nan, METHOD)
    slope = v[0, 1] / v[1, 1] if v[1, 1] > 0 else 0.0
    inside = v[0, 0] - 2 * ratio * v[0, 1] + ratio**2 * v[1, 1] - g * (v[0, 0] - slope * v[0, 1])
    reach = t / abs(b) * sqrt(max(float(inside), 0.0))
    middle = ratio - g * slope
    return Interval(float((middle - reach) / (1 - g)), float((middle + reach) / (1 - g)), METHOD)


def linearised(first: Floats, second: Floats, clusters: Ints) -> tuple[float, float, NDArray[np.float64], int]:
    """Return the two means, their covariance by cluster, float64 [2, 2], and the number of clusters.

    v = c / (c - 1) sum_k r_k r_k' / n^2 with r_k = S_k - n_k (a, b), the residual sums of cluster k.

    Source: kish1965, ch. 6 (ratio means by cluster).

    >>> linearised(np.array([1.0, 0.0]), np.array([1.0, 1.0]), np.arange(2))[2].tolist()
    [[0.25, 0.0], [0.0, 0.0]]
    """
    columns = [cluster_sums(values, clusters) for values in (first, second)]
    c, n = columns[0].n_clusters, len(first)
    if c < 2:
        return nan, nan, np.full((2, 2), nan), c
    residual = np.stack([column.sums - column.counts * column.value for column in columns])
    v = c / (c - 1) * (residual @ residual.T) / n**2
    return columns[0].value, columns[1].value, v, c
