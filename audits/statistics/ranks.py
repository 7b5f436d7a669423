"""Where the right option stands among all: places under ties, recall at k, mean and median rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from audits.statistics.bootstrap import DRAWS, SEED, method, percentile, replicates
from audits.statistics.intervals import Interval
from audits.statistics.outcomes import Outcome, patterns, stack
from audits.statistics.sums import cluster_sums

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Places:
    """Hold the places of the positives of n questions, arrays [n]; NaN where an instance is no question, or unscored.

    Attributes:
        better: Options above the positive (one positive).
        level: Other options level with it.
        width: Options, T; 0 where an instance is no question with one positive.
        upper: Expected share of the positives among the first p places, p being their number (any number of them).
        half: Chance of `upper`, p / T.
        unscored: Whether a score is missing, boolean.
        defined: Whether the instance is one question (1xT or Ix1), boolean.
    """

    better: Floats
    level: Floats
    width: NDArray[np.int64]
    upper: Floats
    half: Floats
    unscored: NDArray[np.bool_]
    defined: NDArray[np.bool_]


def places(
    scores: Sequence[NDArray[np.floating]], golds: Sequence[NDArray[np.bool_]], *, tolerance: float = 0.0
) -> Places:
    """Return the places of the positives.

    Args:
        scores: Float [I, T] per instance, higher is a better match; NaN and infinite values count as missing.
        golds: Boolean [I, T] per instance.
        tolerance: Largest difference that counts as level, in units of the score.

    >>> found = places([np.array([[0.5, 0.9, 0.5, 0.1]])], [np.array([[True, False, False, False]])])
    >>> found.better, found.level, found.width
    (array([1.]), array([1.]), array([4]))
    """
    found = _unknown(len(golds))
    for pattern in patterns(golds):
        if 1 not in pattern.gold.shape:
            continue
        rows, gold = pattern.rows, pattern.gold.ravel()
        values = stack(scores, pattern).reshape(len(rows), -1)
        lost = np.logical_not(np.isfinite(values).all(axis=1))
        known = np.where(lost[:, None], 0.0, values)
        positives = np.flatnonzero(gold)
        above = np.stack([(known > known[:, [one]] + tolerance).sum(axis=1) for one in positives], axis=1)
        near = np.stack([(known >= known[:, [one]] - tolerance).sum(axis=1) for one in positives], axis=1) - above - 1
        found.defined[rows], found.unscored[rows] = True, lost
        share = within(above.astype(float), near.astype(float), float(len(positives))).mean(axis=1)
        found.upper[rows] = np.where(lost, nan, share)
        found.half[rows] = len(positives) / len(gold)
        if len(positives) == 1:
            found.better[rows] = np.where(lost, nan, above[:, 0])
            found.level[rows] = np.where(lost, nan, near[:, 0])
            found.width[rows] = len(gold)
    return found


def _unknown(size: int) -> Places:
    gaps, flags = np.full(size, nan), np.zeros(size, dtype=bool)
    return Places(gaps, gaps.copy(), np.zeros(size, dtype=np.int64), gaps.copy(), gaps.copy(), flags, flags.copy())


def within(better: Floats, level: Floats, k: float) -> Floats:
    """Return the probability that an option is among the first k places, ties coming out at random.

    >>> within(np.array([0.0, 1.0, 3.0]), np.array([0.0, 1.0, 0.0]), 2)
    array([1. , 0.5, 0. ])
    """
    share: Floats = np.clip((k - better) / (level + 1), 0.0, 1.0)
    return share


def recall(found: Places, k: int) -> Outcome:
    """Return recall at k: the right option is among the first k; chance min(k, T) / T.

    Source: crepe (its R@k); ours (ties).
    """
    has = found.width > 0
    chance = np.where(has, np.minimum(k, found.width) / np.maximum(found.width, 1), nan)
    tie = has & (found.level > 0) & ~found.unscored
    return Outcome(f"R@{k}", within(found.better, found.level, k), tie, found.unscored & has, chance)


def mean_rank(found: Places, widest: int) -> Outcome:
    """Return the rank of the right option as a proportion: 0 for rank 1, 1 for rank `widest`; chance (T - 1) / 2.

    A rank is 1 + options above + half of those level. Source: crepe (its mean rank); ours (ties).
    """
    has = found.width > 0
    unit = max(widest - 1, 1)
    credit = (found.better + found.level / 2) / unit
    chance = np.where(has, (found.width - 1) / 2 / unit, nan)
    return Outcome("mean_rank", credit, has & (found.level > 0) & ~found.unscored, found.unscored & has, chance)


def median_of(shares: Floats) -> Floats:
    """Return the median rank of each row of cumulative shares: column r - 1 holds the share with rank r or better.

    Between two middle ranks a < b it is the whole number at or below their mean, as upstream's
    `floor(median(rank - 1)) + 1`.

    Source: crepe.

    >>> median_of(np.array([[0.5, 0.5, 0.5, 1.0], [0.2, 0.6, 1.0, 1.0]]))
    array([2., 2.])
    """
    low = (shares < 0.5 - 1e-12).sum(axis=1) + 1
    high = (shares <= 0.5 + 1e-12).sum(axis=1) + 1
    median: Floats = np.floor((low - 1 + np.minimum(high, shares.shape[1]) - 1) / 2) + 1
    return median


def median_rank(
    found: Places, clusters: NDArray[np.int64], *, draws: int = DRAWS, seed: int = SEED, confidence: float = 0.95
) -> tuple[float, Interval]:
    """Return the median rank and its percentile interval from a resampling of whole clusters.

    Args:
        found: Places of the n questions.
        clusters: Code of each question's cluster, int64 [n].
        draws: Draws of the resampling.
        seed: Seed of the draws.
        confidence: Nominal coverage.
    """
    widest = int(found.width.max(initial=0))
    if not np.isfinite(found.better).any():
        return nan, Interval(nan, nan, "undefined (n = 0)")
    columns = [cluster_sums(within(found.better, found.level, k), clusters) for k in range(1, widest + 1)]
    value = float(median_of(np.array([[column.value for column in columns]]))[0])
    if columns[0].n_clusters < 2:
        return value, Interval(nan, nan, "undefined (n < 2)")
    drawn = replicates(columns, int(clusters.max()) + 1, draws=draws, seed=seed)
    medians = median_of(drawn)
    medians[np.isnan(drawn).any(axis=1)] = nan
    low, high = percentile(medians[:, None], confidence=confidence)
    return value, Interval(float(low[0]), float(high[0]), method(draws), seed)
