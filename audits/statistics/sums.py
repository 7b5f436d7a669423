"""Values by cluster: all that a resampling of whole clusters needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil, log2, sqrt
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_known: WeakValueDictionary[bytes, NDArray[np.generic]] = WeakValueDictionary()


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

    def __post_init__(self) -> None:
        for name in ("index", "sums", "counts"):
            object.__setattr__(self, name, _once(getattr(self, name)))

    @property
    def value(self) -> float:
        """Return the pooled mean, NaN if there are no rows."""
        return float(self.sums.sum() / self.counts.sum()) if len(self.index) else float("nan")

    @property
    def n_clusters(self) -> int:
        """Return how many clusters have rows."""
        return len(self.index)


def _once(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return an equal array that is already in use, or this one, which nobody may write to from now on.

    A run holds hundreds of columns over the same clusters; with 100,000 clusters that is the most of its memory.
    """
    array = np.ascontiguousarray(array)
    key = blake2b(array.tobytes(), digest_size=16, person=str(array.dtype).encode()[:16]).digest()
    known = _known.setdefault(key, array)
    known.setflags(write=False)
    return known


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


def recentred(parts: Sequence[ClusterSums]) -> ClusterSums:
    """Join parts into one column whose value is the mean of theirs, without the differences between them.

    Cluster k gets sum_j (n_jk V + f_j (S_jk - n_jk p_j)) / (J N_j) over sum_j n_jk / (J N_j), with p_j the value of
    part j, V the mean of the p_j, N_j = sum_k n_jk and f_j = sqrt(c_j / (c_j - 1)) for the value that was estimated.
    A part with one cluster says nothing about its own variance: then the differences stay, f_j = 1 and p_j = V for all.

    Args:
        parts: J columns over the same clusters, each with rows.

    Returns:
        The part itself if it is the only one.

    Source: kish1965, ch. 3 (stratified sampling); ours (the factor, and what a single cluster changes).

    >>> wrong, right = (cluster_sums(np.full(2, credit), np.arange(2)) for credit in (0.0, 1.0))
    >>> recentred([wrong, right]).sums
    array([0.25, 0.25])
    """
    if len(parts) == 1:
        return parts[0]
    value = float(np.mean([part.value for part in parts]))
    size = max(int(part.index.max()) for part in parts) + 1
    sums, counts = np.zeros(size), np.zeros(size)
    alone = min(part.n_clusters for part in parts) < 2
    for part in parts:
        c, share = part.n_clusters, 1 / (len(parts) * part.counts.sum())
        centre, factor = (value, 1.0) if alone else (part.value, sqrt(c / (c - 1)))
        sums[part.index] += share * (part.counts * value + factor * (part.sums - part.counts * centre))
        counts[part.index] += share * part.counts
    index = np.flatnonzero(counts > 0)
    return ClusterSums(index, sums[index], counts[index])


def on_grid(sums: Floats, n_clusters: int) -> Floats:
    """Round to a power-of-two grid so coarse that n_clusters times the largest sum still has 53 bits.

    On it any whole-numbered combination of at most n_clusters sums is exact, in whatever order it is added up, so a
    result does not depend on how a matrix product is cut. The rounding is below 1e-15 of the largest total.

    Args:
        sums: Float64 [c].
        n_clusters: Largest total weight.

    >>> on_grid(np.array([0.25, 1 / 3]), 2).round(12)
    array([0.25      , 0.33333333])
    """
    largest = float(np.abs(sums).max(initial=0.0)) * n_clusters
    if largest == 0:
        return sums
    quantum = 2.0 ** (ceil(log2(largest)) - 52)
    rounded: Floats = np.round(sums / quantum) * quantum
    return rounded


def paired(first: Floats, second: Floats) -> Floats:
    """Return the difference of two contestants on the same instances, NaN where either has no value.

    Resampling this one column is the paired bootstrap: both contestants are seen through the same draws.

    >>> paired(np.array([1.0, 0.5, np.nan]), np.array([0.0, 0.5, 1.0]))
    array([ 1.,  0., nan])
    """
    return first - second
