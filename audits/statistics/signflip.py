"""Sign-flip test by cluster, and the interval that is this test inverted: for few clusters.

With cluster sums S_k, counts n_k and a null value mu, the residuals D_k = S_k - n_k mu are taken as symmetric about 0
by cluster; the statistic is |sum of D_k| over all choices of signs. For a choice that flips the set F, that statistic
is at least as large as the observed one exactly when mu lies between the mean over F and the mean over the rest. The
two-sided p-value of any mu is therefore a share of choices, and the values that are not rejected form an interval
whose ends are order statistics of the larger and the smaller of the two means.

Limits: exact for symmetric residuals, approximate else (skewed proportions near 0 or 1, clusters of very unequal size).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import nan

import numpy as np
from numpy.typing import NDArray

from audits.statistics.intervals import Interval
from audits.statistics.sums import ClusterSums, Floats, on_grid

DRAWS = 10_000
SEED = 42
EXACT_UP_TO = 14
"""Clusters up to which every choice of signs is enumerated (2^13 choices)."""
KEPT_UP_TO = 64
"""Clusters up to which the choices are kept for the next column (5 MB); above, they are drawn anew in chunks."""
CHUNK_CELLS = 2_000_000
BATCH = 64
"""Columns done at once (10,000 choices of them take 5 MB an array)."""


@lru_cache(maxsize=8)
def flips(n_clusters: int, draws: int = DRAWS, seed: int = SEED) -> NDArray[np.float64]:
    """Return the choices of signs: 1 where a cluster is flipped; the first row flips none.

    Flipping all clusters changes no statistic, so in the exhaustive list the last cluster is never flipped.

    Args:
        n_clusters: K.
        draws: Random choices beside the unflipped one where there are too many to list.
        seed: Seed of the random choices.

    Returns:
        Float64 [N, K] of zeros and ones: N = 2^(K - 1) up to `EXACT_UP_TO` clusters, else draws + 1. Read-only.

    >>> flips(3).astype(int).tolist()
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    """
    if n_clusters <= EXACT_UP_TO:
        numbers = np.arange(2 ** max(n_clusters - 1, 0))
        chosen = (numbers[:, None] >> np.arange(n_clusters)[None, :]) & 1
    else:
        drawn = np.random.default_rng(seed).integers(0, 2, size=(draws, n_clusters))
        chosen = np.concatenate([np.zeros((1, n_clusters), dtype=drawn.dtype), drawn])
    found = chosen.astype(np.float64)
    found.setflags(write=False)
    return found


def choices(n_clusters: int, draws: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield the choices of signs in chunks [b, K], 1 where a cluster is flipped, the first of them unflipped.

    Args:
        n_clusters: K.
        draws: Random choices beside the unflipped one where there are too many to list.
        seed: Seed of the random choices.

    >>> [chosen.tolist() for chosen in choices(2, 10, 0)]
    [[[0.0, 0.0], [1.0, 0.0]]]
    """
    if n_clusters <= KEPT_UP_TO:
        yield flips(n_clusters, draws, seed)
        return
    rng = np.random.default_rng(seed)
    yield np.zeros((1, n_clusters))
    size = max(1, CHUNK_CELLS // n_clusters)
    for start in range(0, draws, size):
        # The same numbers as 64-bit ones, in half the memory.
        drawn = rng.integers(0, 2, size=(min(size, draws - start), n_clusters), dtype=np.int32)
        yield drawn.astype(np.float64)


def p_value(column: ClusterSums, null: float, *, draws: int = DRAWS, seed: int = SEED) -> float:
    """Return the two-sided p-value of the sign-flip test by cluster.

    p = share of the choices of signs, the unflipped one included, whose |sum of signed D_k| reaches the observed one.
    For random choices this is (c + 1) / (draws + 1).

    Args:
        column: Sums and counts by cluster.
        null: Value of the mean under the null.
        draws: Random choices where they cannot be listed.
        seed: Seed of the random choices.

    Returns:
        Proportion above 0; NaN without clusters.

    Source: phipson2010 (the +1); fisher1935 (the test).

    >>> from audits.statistics.sums import cluster_sums
    >>> p_value(cluster_sums(np.ones(6), np.arange(6)), 0.5)
    0.03125
    """
    if column.n_clusters == 0:
        return nan
    residuals = column.sums - column.counts * null
    signed = np.concatenate([(1 - 2 * chosen) @ residuals for chosen in choices(column.n_clusters, draws, seed)])
    # Equal totals reached in another order of addition differ in the last bits and must count as equal.
    slack = 1e-9 * float(np.abs(residuals).sum())
    return float(np.mean(np.abs(signed) >= abs(residuals.sum()) - slack))


def interval(
    column: ClusterSums,
    *,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    draws: int = DRAWS,
    seed: int = SEED,
) -> Interval:
    """Return the values of the mean that the sign-flip test does not reject.

    Args:
        column: Sums and counts by cluster.
        confidence: 1 - alpha.
        bounds: Smallest and largest possible value; (-1, 1) for a difference of proportions.
        draws: Random choices where they cannot be listed.
        seed: Seed of the random choices.

    Returns:
        Bounds; with so few clusters that nothing can be rejected (5 or fewer at .95), the whole of `bounds`.

    Source: fisher1935 (the test), phipson2010 (random choices); the inversion is derived above.

    >>> from audits.statistics.sums import cluster_sums
    >>> interval(cluster_sums(np.array([1.0, 1, 1, 0]), np.arange(4)))[:2]
    (0.0, 1.0)
    >>> found = interval(cluster_sums(np.array([1.0, 2, 3, 4, 5, 6, 7]), np.arange(7)), bounds=(0, 10))
    >>> (found.low, found.high), found.method
    ((2.0, 6.0), 'sign-flip by cluster (exact)')
    """
    [found] = intervals([column], confidence=confidence, bounds=bounds, draws=draws, seed=seed)
    return found


def intervals(
    columns: Sequence[ClusterSums],
    *,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    draws: int = DRAWS,
    seed: int = SEED,
) -> list[Interval]:
    """Return `interval` of many columns; those with equally many clusters share their choices of signs.

    Args:
        columns: Sums and counts by cluster.
        confidence: 1 - alpha.
        bounds: Smallest and largest possible value.
        draws: Random choices where they cannot be listed.
        seed: Seed of the random choices.

    Returns:
        One interval for each column, the same whatever stands beside it.

    Source: see `interval`.

    >>> from audits.statistics.sums import cluster_sums
    >>> [found.low for found in intervals([cluster_sums(np.ones(4), np.arange(4))] * 2)]
    [0.0, 0.0]
    """
    found: list[Interval] = [Interval(nan, nan, "undefined (n = 0)")] * len(columns)
    alike: dict[int, list[int]] = {}
    for place, column in enumerate(columns):
        alike.setdefault(column.n_clusters, []).append(place)
    for n_clusters, places in alike.items():
        for start in range(0, len(places) if n_clusters else 0, BATCH):
            batch = places[start : start + BATCH]
            smaller, larger = _sides([columns[place] for place in batch], draws, seed)
            for place, low, high in zip(batch, smaller.T, larger.T, strict=True):
                found[place] = _inverted(low, high, n_clusters, confidence, bounds, (draws, seed))
    return found


def _sides(columns: Sequence[ClusterSums], draws: int, seed: int) -> tuple[Floats, Floats]:
    """Return the smaller and the larger of the two means [N, M] of each choice, unbounded where one side is empty."""
    n_clusters = columns[0].n_clusters
    sums = np.stack([on_grid(column.sums, n_clusters) for column in columns], axis=1)
    counts = np.stack([on_grid(column.counts, n_clusters) for column in columns], axis=1)
    parts = [(chosen @ sums, chosen @ counts, chosen.sum(axis=1)) for chosen in choices(n_clusters, draws, seed)]
    flipped, weight, number = (np.concatenate([part[place] for part in parts]) for place in range(3))
    empty = ((number == 0) | (number == n_clusters))[:, None]
    rest = np.where(empty, 1.0, counts.sum(axis=0) - weight)
    one, other = flipped / np.where(empty, 1.0, weight), (sums.sum(axis=0) - flipped) / rest
    return np.where(empty, -np.inf, np.minimum(one, other)), np.where(empty, np.inf, np.maximum(one, other))


def _inverted(
    smaller: Floats,
    larger: Floats,
    n_clusters: int,
    confidence: float,
    bounds: tuple[float, float],
    drawn: tuple[int, int],
) -> Interval:
    """Return the interval of the values that more than alpha of the choices hold between their two means."""
    allowed = int(np.floor((1 - confidence) * len(smaller) + 1e-9))
    if allowed < 1:
        return Interval(*bounds, "sign-flip by cluster (too few clusters to reject anything)")
    low = float(np.partition(smaller, allowed)[allowed])
    high = float(-np.partition(-larger, allowed)[allowed])
    draws, seed = drawn
    name, seed = ("exact", -1) if n_clusters <= EXACT_UP_TO else (f"{draws} draws", seed)
    return Interval(max(low, bounds[0]), min(high, bounds[1]), f"sign-flip by cluster ({name})", seed)
