"""Time the cluster bootstrap against scipy's on the same estimates, in one run.

The peer resamples clusters one estimate at a time (`scipy.stats.bootstrap`, vectorised, percentile); ours draws once
for all estimates. Prints the ratio, the largest distance between bounds (two sets of draws differ by chance alone), and
the share of the machine's measured matrix-multiply peak that ours reaches over the whole call.
"""

import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import scipy.stats

from audits.statistics.bootstrap import bootstrap

T = TypeVar("T")
CLUSTERS, ROWS, COLUMNS, DRAWS = 1000, 5, 40, 2000


def timed(function: Callable[[], T], repeats: int = 1) -> tuple[float, T]:
    best, result = float("inf"), None
    for _ in range(repeats):
        started = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - started)
    return best, result


def peak(size: int = 1536) -> float:
    """Return the floating point operations a second of a large square float64 product."""
    a = np.random.default_rng(0).random((size, size))
    return 2 * size**3 / timed(lambda: a @ a, repeats=5)[0]


def peer(values: np.ndarray, clusters: np.ndarray) -> list[tuple[float, float]]:
    found = []
    for column in values.T:
        sums, counts = np.bincount(clusters, column), np.bincount(clusters).astype(float)
        result = scipy.stats.bootstrap(
            (sums, counts), lambda s, c, axis=-1: s.sum(axis=axis) / c.sum(axis=axis), paired=True, vectorized=True,
            n_resamples=DRAWS, method="percentile", rng=np.random.default_rng(1),
        ).confidence_interval  # fmt: skip
        found.append((result.low, result.high))
    return found


def main() -> None:
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(CLUSTERS), ROWS)
    values = (rng.random((CLUSTERS * ROWS, COLUMNS)) < 0.5).astype(float)
    ours, mine = timed(lambda: bootstrap(values, clusters, draws=DRAWS), repeats=3)
    theirs, other = timed(lambda: peer(values, clusters))
    apart = max(abs(a.low - b[0]) + abs(a.high - b[1]) for a, b in zip(mine, other, strict=True))
    share = 2 * DRAWS * CLUSTERS * (COLUMNS + 1) / ours / peak()
    sys.stdout.write(
        f"{COLUMNS} estimates, {CLUSTERS} clusters, {DRAWS} draws: ours {ours:.2f} s, scipy {theirs:.2f} s, "
        f"ratio {theirs / ours:.1f}; bounds differ by at most {apart:.4f}; {share:.2f} of the matrix-multiply peak\n"
    )


if __name__ == "__main__":
    main()
