"""Cluster bootstrap over per-cluster sums: whole clusters are drawn with replacement, all columns from the same draws.

What a column gets depends on the seed, the number of clusters and the column alone, bit for bit: not on the columns
beside it, the size of a chunk or the order in which a matrix product adds. Draws come from one stream, and sums are
rounded to a grid of their own (relative 1e-16 of the largest possible total), on which integer-weighted sums are exact.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from audits.statistics.intervals import Interval
from audits.statistics.sums import ClusterSums, Floats, Ints, cluster_sums, on_grid

DRAWS = 10_000
SEED = 42
CHUNK_CELLS = 2_000_000
"""Weights held at once (16 MB as float64)."""
KEPT_BYTES = 64 << 20
"""Means kept for the next call: 800 columns of 10,000 draws."""
SLICE_COST = 16
"""Slicing one weight costs about as much as multiplying so many by a column's sums and counts."""


def weights(n_clusters: int, *, draws: int = DRAWS, seed: int = SEED, chunk: int | None = None) -> Iterator[Floats]:
    """Yield how often each cluster was drawn, in chunks of draws.

    Args:
        n_clusters: K, the number of clusters to draw from, with replacement, K at a time.
        draws: B, the number of draws in all.
        seed: Seed of the generator.
        chunk: Draws per chunk; changes nothing but memory.

    Yields:
        Float64 [b, K] of whole numbers, each row adding up to K.

    >>> [part.sum(axis=1).tolist() for part in weights(3, draws=3, seed=0, chunk=2)]
    [[3.0, 3.0], [3.0]]
    """
    rng = np.random.default_rng(seed)
    size = chunk or max(1, CHUNK_CELLS // max(n_clusters, 1))
    for start in range(0, draws, size):
        rows = min(size, draws - start)
        counts = np.empty((rows, n_clusters))
        # The same numbers as 64-bit ones, in half the memory.
        every = rng.integers(0, n_clusters, size=(rows, n_clusters), dtype=np.int32)
        for row, drawn in zip(counts, every, strict=True):  # one at a time: its counts stay in the processor's cache
            row[:] = np.bincount(drawn, minlength=n_clusters)
        yield counts


class _Bundle:
    """Hold columns over some clusters, so that one slice of the weights serves them all.

    A column that lacks some of them has zeros there, which change nothing: all sums are exact (`on_grid`).
    """

    def __init__(self, columns: Sequence[ClusterSums], places: Sequence[int], index: Ints, n_clusters: int) -> None:
        self.places = np.array(places)
        self.index = index
        sums, counts = np.zeros((len(columns), len(index))), np.zeros((len(columns), len(index)))
        for row, column in enumerate(columns):
            where = np.searchsorted(index, column.index)
            sums[row, where] = on_grid(column.sums, n_clusters)
            counts[row, where] = on_grid(column.counts, n_clusters)
        self.sums = sums
        distinct, inverse = np.unique(counts, axis=0, return_inverse=True)
        self.counts, self.inverse = distinct, inverse.ravel()

    def means(self, drawn: Floats) -> Floats:
        """Return the pooled mean of each column in each draw [m, b], NaN where none of its clusters was drawn.

        Args:
            drawn: Weights by cluster and draw, float64 [K, b]: whole rows are quick to select.
        """
        part = drawn if len(self.index) == len(drawn) else drawn[self.index]
        below = (self.counts @ part)[self.inverse]
        found: Floats = np.divide(self.sums @ part, below, out=np.full_like(below, np.nan), where=below > 0)
        return found


class _Kept:
    """Keep what columns got, within a bound: a run asks for the same column at two levels of confidence.

    Drawing costs seconds where there are 100,000 clusters. A column's means depend on the key alone, bit for bit.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._means: OrderedDict[bytes, Floats] = OrderedDict()

    @staticmethod
    def key(column: ClusterSums, n_clusters: int, draws: int, seed: int) -> bytes:
        """Return a digest of all that the means of a column depend on; of every part the length comes first."""
        total = sha256(f"{n_clusters} {draws} {seed} {len(column.index)}".encode())
        for part in (column.index, column.sums, column.counts):
            total.update(part.tobytes())
        return total.digest()

    def fill(self, means: Floats, key: bytes) -> bool:
        """Copy the means of a key [B] if they are kept, and say whether they are."""
        known = self._means.get(key)
        if known is not None:
            self._means.move_to_end(key)
            means[:] = known
        return known is not None

    def keep(self, key: bytes, means: Floats) -> None:
        """Keep a copy of means [B]; the ones used longest ago make room."""
        self._means[key] = means.copy()
        while sum(one.nbytes for one in self._means.values()) > self._room:
            self._means.popitem(last=False)


_KEPT = _Kept(KEPT_BYTES)


def _distinct(columns: Sequence[ClusterSums], keys: Sequence[bytes]) -> tuple[dict[bytes, ClusterSums], list[int]]:
    """Return the columns without repeats, by key, and where each one is among them."""
    found = dict(zip(keys, columns, strict=True))
    place = {key: number for number, key in enumerate(found)}
    return found, [place[key] for key in keys]


def _bundles(columns: Sequence[ClusterSums], n_clusters: int) -> list[_Bundle]:
    """Put columns with equal clusters together, and few columns with the smallest bundle that has all of theirs.

    Multiplying by zeros costs less than slicing the weights anew as long as few columns profit from the slice.
    """
    alike: dict[int, list[int]] = {}
    for place, column in enumerate(columns):
        alike.setdefault(id(column.index), []).append(place)  # equal ones are one object
    hosts: list[tuple[Ints, NDArray[np.bool_], list[int]]] = []
    for places in sorted(alike.values(), key=lambda found: -columns[found[0]].n_clusters):
        index = columns[places[0]].index
        fitting = (host for host in reversed(hosts) if host[1][index].all())
        host = next(fitting, None)
        if host and len(places) * (len(host[0]) - len(index)) < SLICE_COST * len(index):
            host[2].extend(places)
            continue
        mask = np.zeros(n_clusters, dtype=bool)
        mask[index] = True
        hosts.append((index, mask, list(places)))
    return [_Bundle([columns[place] for place in found], found, index, n_clusters) for index, _, found in hosts]


def replicates(
    columns: Sequence[ClusterSums],
    n_clusters: int,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    chunk: int | None = None,
) -> Floats:
    """Return the pooled mean of every column in every draw.

    Args:
        columns: M columns over the same clusters; each may lack some of them.
        n_clusters: K, the number of clusters to draw from.
        draws: B.
        seed: Seed of the draws; equal seeds give equal draws whatever the columns.
        chunk: Draws per chunk; changes nothing but memory.

    Returns:
        Float64 [B, M]; NaN where a draw holds no row of the column.

    Source: composet, app. C (resample scenes, pooled mean over the rows of the drawn scenes).

    >>> column = cluster_sums(np.array([1.0, 1.0, 0.0]), np.array([0, 0, 1]))
    >>> sorted(set(replicates([column], 2, draws=50, seed=0)[:, 0].round(3).tolist()))
    [0.0, 0.667, 1.0]
    """
    asked, places = _distinct(columns, [_KEPT.key(column, n_clusters, draws, seed) for column in columns])
    keys, distinct = list(asked), list(asked.values())
    found = np.full((draws, len(distinct)), np.nan)
    fresh = [place for place, key in enumerate(keys) if not _KEPT.fill(found[:, place], key)]
    bundles = _bundles([distinct[place] for place in fresh], n_clusters)
    row = 0
    for drawn in weights(n_clusters, draws=draws, seed=seed, chunk=chunk) if fresh else ():
        turned = np.ascontiguousarray(drawn.T)
        for bundle in bundles:
            found[row : row + len(drawn), np.array(fresh)[bundle.places]] = bundle.means(turned).T
        row += len(drawn)
    for place in fresh:
        _KEPT.keep(keys[place], found[:, place])
    return found if len(distinct) == len(columns) else found[:, places]


def percentile(drawn: Floats, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the percentile bounds of each column, over the draws in which it has a value.

    Args:
        drawn: Float64 [B, M].
        confidence: Nominal coverage.

    Returns:
        Lower and upper bounds, float64 [M]; NaN where a column has no value in any draw.

    Source: efron1993, ch. 13.

    >>> low, high = percentile(np.arange(101.0)[:, None], confidence=0.9)
    >>> low.round(6), high.round(6)
    (array([5.]), array([95.]))
    """
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.full(drawn.shape[1], np.nan), np.full(drawn.shape[1], np.nan)
    whole = ~np.isnan(drawn).any(axis=0)
    if whole.any():
        low[whole], high[whole] = np.quantile(drawn[:, whole], tails, axis=0)
    for place in np.flatnonzero(~whole).tolist():
        kept = drawn[:, place][~np.isnan(drawn[:, place])]
        if len(kept):
            low[place], high[place] = np.quantile(kept, tails)
    return low, high


def bootstrap(
    values: NDArray[np.float64], clusters: Ints, *, draws: int = DRAWS, seed: int = SEED, confidence: float = 0.95
) -> list[Interval]:
    """Return the cluster bootstrap interval of each column's pooled mean, all from the same draws.

    For a comparison pass the difference of two contestants as a column (`sums.paired`).

    Args:
        values: Float64 [n, M], NaN where a row does not enter a column.
        clusters: Code of each row's cluster, int64 [n].
        draws: B.
        seed: Seed of the draws.
        confidence: Nominal coverage.

    Returns:
        M intervals.

    Source: composet, app. C; efron1993, ch. 13.

    >>> [found] = bootstrap(np.array([[1.0], [1.0], [0.0], [0.0]]), np.array([0, 0, 1, 1]), draws=100)
    >>> found
    Interval(low=0.0, high=1.0, method='cluster bootstrap (B=100)', seed=42)
    """
    columns = [cluster_sums(values[:, place], clusters) for place in range(values.shape[1])]
    n_clusters = int(clusters.max(initial=-1)) + 1
    low, high = percentile(replicates(columns, n_clusters, draws=draws, seed=seed), confidence=confidence)
    return [Interval(*bounds, method(draws), seed) for bounds in zip(low.tolist(), high.tolist(), strict=True)]


def method(draws: int) -> str:
    """Return the name of the interval.

    >>> method(10_000)
    'cluster bootstrap (B=10000)'
    """
    return f"cluster bootstrap (B={draws})"
