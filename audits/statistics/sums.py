"""Values by cluster: all that a resampling of whole clusters needs to know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSums:
    """Hold a ratio's numerator and denominator by cluster, for the c clusters that have any rows.

    Attributes:
        index: Which of all clusters these are, int64 [c], increasing.
        sums: Sum of the values, float64 [c].
        counts: Number of rows, or their total weight, float64 [c], all above 0.
    """

    index: Ints
    sums: Floats
    counts: Floats

    @property
    def value(self) -> float:
        """Return the pooled mean, NaN if there are no rows."""
        return float(self.sums.sum() / self.counts.sum()) if len(self.index) else float("nan")

    @property
    def n_clusters(self) -> int:
        """Return how many clusters have rows."""
        return len(self.index)


def cluster_sums(values: Floats, clusters: Ints, weights: Floats | None = None) -> ClusterSums:
    """Sum values by cluster, leaving out the rows whose value is NaN.

    Args:
        values: Float64 [n].
        clusters: Code of each row's cluster, int64 [n], 0 or more.
        weights: Weight of each row, float64 [n]; 1 if None.

    Returns:
        Sums and counts of the clusters that have a value.

    >>> found = cluster_sums(np.array([1.0, 0.0, np.nan, 1.0]), np.array([3, 3, 1, 0]))
    >>> found.index, found.sums, found.counts
    (array([0, 3]), array([1., 1.]), array([1., 2.]))
    """
    kept = ~np.isnan(values)
    codes = clusters[kept]
    weight = np.ones(len(codes)) if weights is None else weights[kept]
    counts: Floats = np.bincount(codes, weights=weight).astype(np.float64)
    sums: Floats = np.bincount(codes, weights=values[kept] * weight).astype(np.float64)
    index = np.flatnonzero(counts > 0)
    return ClusterSums(index, sums[index], counts[index])


def paired(first: Floats, second: Floats) -> Floats:
    """Return the difference of two contestants on the same instances, NaN where either has no value.

    Resampling this one column is the paired bootstrap: both contestants are seen through the same draws.

    >>> paired(np.array([1.0, 0.5, np.nan]), np.array([0.0, 0.5, 1.0]))
    array([ 1.,  0., nan])
    """
    return first - second
