"""How far matching and mismatching scores lie apart, and how far subsets do, with intervals by cluster bootstrap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from audits.statistics.bootstrap import DRAWS, SEED, method, weights
from audits.statistics.intervals import Interval
from audits.statistics.sums import Floats, Ints

SUMS = 6
"""Columns of `score_sums`: number, sum and sum of squares of the matching scores, then of the mismatching ones."""


def score_sums(scores: Floats, matches: NDArray[np.bool_], clusters: Ints, n_clusters: int) -> Floats:
    """Sum the scores of pairs of an image and a caption by cluster, matching and mismatching apart.

    Args:
        scores: Float64 [N], NaN where a pair does not enter. Any constant may be taken off first: differences and
            spreads do not change, and sums of squares keep their digits.
        matches: Whether the caption fits the image, boolean [N].
        clusters: Code of each pair's cluster, int64 [N].
        n_clusters: K.

    Returns:
        Float64 [K, 6].

    >>> score_sums(np.array([3.0, 1.0]), np.array([True, False]), np.zeros(2, dtype=np.int64), 1).tolist()
    [[1.0, 3.0, 9.0, 1.0, 1.0, 1.0]]
    """
    found = np.zeros((n_clusters, SUMS))
    for start, side in ((0, matches), (3, ~matches)):
        kept = side & ~np.isnan(scores)
        for power in range(3):
            found[:, start + power] = np.bincount(clusters[kept], weights=scores[kept] ** power, minlength=n_clusters)
    return found


def cohen(sums: Floats) -> Floats:
    """Return Cohen's d of matching against mismatching scores, with the pooled standard deviation.

    d = (m_1 - m_2) / s, s^2 = (SS_1 + SS_2) / (n_1 + n_2 - 2) with SS the sum of squares about the own mean. Unlike
    accuracy it looks across instances: a caption that scores high everywhere widens s and lowers d.

    Args:
        sums: Float64 [..., 6].

    Returns:
        Float64 [...]; NaN without scores on either side or without any spread.

    Source: cohen1988, ch. 2; arXiv 2609.08242, eq. 1 (where it is called sensitivity).

    >>> rows = np.array([3.0, 5.0, 1.0, 3.0])  # means 4 and 2, s^2 = (2 + 2) / 2, d = 2 / sqrt(2)
    >>> sums = score_sums(rows, np.array([True, True, False, False]), np.zeros(4, dtype=np.int64), 1)
    >>> cohen(sums).round(4)
    array([1.4142])
    """
    n1, s1, q1, n2, s2, q2 = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = np.maximum(q1 - s1**2 / n1, 0) + np.maximum(q2 - s2**2 / n2, 0)
        spread = np.sqrt(within / (n1 + n2 - 2))
        found = (s1 / n1 - s2 / n2) / np.where(spread > 1e-9 * np.sqrt((q1 + q2) / (n1 + n2)), spread, np.nan)
    return np.where(np.isfinite(found), found, np.nan)


def cohen_intervals(
    sums: Sequence[Floats], n_clusters: int, *, draws: int = DRAWS, seed: int = SEED, confidence: float = 0.95
) -> list[Interval]:
    """Return the cluster bootstrap interval of each d, all from the same draws.

    Args:
        sums: M arrays as `score_sums` gives them, [K, 6].
        n_clusters: K.
        draws: B.
        seed: Seed of the draws.
        confidence: Nominal coverage.

    Source: efron1993, ch. 13 (percentile interval of a statistic of cluster sums).

    >>> cohen_intervals([], 3)
    []
    """
    inside = [np.flatnonzero(one[:, 0] + one[:, 3]) for one in sums]
    drawn: list[list[Floats]] = [[] for _ in sums]
    for part in weights(n_clusters, draws=draws, seed=seed) if sums else ():
        for found, one, index in zip(drawn, sums, inside, strict=True):
            found.append(cohen(part[:, index] @ one[index]))
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    bounds = [_quantiles(np.concatenate(found), tails) for found in drawn]
    return [Interval(*pair, method(draws), seed) for pair in bounds]


def subset_std(values: Floats) -> float:
    """Return the population standard deviation of subset accuracies.

    Args:
        values: Float64 [J], one for each subset.

    Source: arXiv 2609.08242, fig. 1 (type-wise std.).

    >>> subset_std(np.array([0.5, 0.7]))
    0.1
    """
    return float(np.round(np.std(values), 15))


def std_interval(values: Floats, drawn: Floats, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of the standard deviation of subset accuracies.

    Chance differences between subsets enlarge a variance by some b, and resampling does it once more: draws V* lie at
    the true variance plus 2 b, with b the mean of V* less V. So V* - 2 b is taken, and what falls below 0 is 0: subsets
    that are equally hard have an interval from 0. The value itself is not corrected, so it may lie near the upper end.

    Args:
        values: Float64 [J].
        drawn: The same in each draw, float64 [B, J].
        confidence: Nominal coverage.

    Source: efron1993, ch. 10 (bias) and 13 (percentiles); ours (b twice). `tests/statistics` measures the coverage.

    >>> std_interval(np.array([0.5, 0.7]), np.array([[0.5, 0.7], [0.5, 0.7]]))
    (0.1, 0.1)
    """
    found = np.var(drawn[~np.isnan(drawn).any(axis=1)], axis=1)
    if not len(found):
        return float("nan"), float("nan")
    bias = float(found.mean()) - float(np.var(values))
    low, high = _quantiles(found - 2 * max(bias, 0.0), [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(np.round(np.sqrt(max(low, 0.0)), 15)), float(np.round(np.sqrt(max(high, 0.0)), 15))


def _quantiles(found: Floats, tails: Sequence[float]) -> tuple[float, float]:
    kept = found[~np.isnan(found)]
    if not len(kept):
        return float("nan"), float("nan")
    low, high = np.quantile(kept, tails).tolist()
    return low, high
