"""Many tests at once: step-down max-t over a declared family, from sign-flips by cluster that all tests share.

Each test asks whether a mean of differences is 0 (credit minus chance, or credit minus another contestant's credit).
With D_k the sum of the differences in cluster k, its statistic is

    t = sum_k D_k / sqrt(sum_k D_k^2),

which a flip of clusters' signs changes only above the line: the null is imposed, so no draw has a small divisor by
accident. One draw of signs serves all tests, which keeps their correlation (a scorer under many readings, a subset
within the pool). Step-down: the i-th largest |t| is compared with the maximum over itself and the smaller ones.

This is the wild cluster bootstrap with Rademacher weights. It stands where drawing clusters with replacement would
not do: below 30 clusters that rejects too often, and a column that is nearly all ties has draws without variance,
whose studentised values would swamp the maximum of the whole family. Exact where differences are symmetric by cluster;
credits whose chance is not 1/2 are not, and their statistic is first shrunk for skewness (`tempered`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from audits.statistics.signflip import DRAWS, SEED, choices
from audits.statistics.sums import ClusterSums, Floats, Ints, on_grid

METHOD = "step-down max-t, sign-flips by cluster"
CHUNK_CELLS = 2_000_000
"""Statistics held at once (16 MB an array)."""
CROSSFITTED = sqrt(2)
"""Excess of the standard deviation of a cross-fitted statistic over what flips of signs show.

A learner that is linear in the labels decides by f_{-i}(x_i) = sum_j y_j K_ij over the rows j of other folds, so the
sum of y_i f_{-i}(x_i) is sum_{i != j} y_i y_j K_ij: each pair of rows in different folds enters twice, once as the
training of either. With labels that say nothing its variance is 2 sum_{i != j} K_ij^2 = 4 sum_{i < j} K_ij^2. Flips
that hold the weights fixed see sum_i f_{-i}(x_i)^2, which is sum_{i != j} K_ij^2 in expectation: half of it. Credits
keep only the sign of y_i f_{-i}(x_i): where many rows share in each decision, signs soften the doubling to a factor of
1 + 2 / pi; where one row decides another and is decided by it, it stays 2. The divisor is that of the worst case.
"""


class Null(NamedTuple):
    """Say how a column of differences behaves where nothing differs.

    Attributes:
        skewed: Whether it is not symmetric about 0: its statistic is shrunk for that (`tempered`).
        inflated: By how much its statistic varies more than flips of signs show: it is divided by that (`CROSSFITTED`).
    """

    skewed: bool = False
    inflated: float = 1.0


class Joint(NamedTuple):
    """Hold the tests of a family.

    Attributes:
        statistic: Signed t of each test, float64 [M]; 0 where nothing differs, NaN where a test has no rows.
        raw: Two-sided p-value of each test alone.
        adjusted: Two-sided p-value adjusted over the family.
        critical: The |t| that a test must exceed to be rejected in the first step at alpha.
        choices: Choices of signs behind the p-values, the unflipped one included.
    """

    statistic: Floats
    raw: Floats
    adjusted: Floats
    critical: float
    choices: int


def stepdown(
    columns: Sequence[ClusterSums],
    n_clusters: int,
    *,
    nulls: Sequence[Null] = (),
    alpha: float = 0.05,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Joint:
    """Test every column's mean against 0, and adjust over all of them.

    Args:
        columns: M columns of differences over the same clusters; each may lack some of them.
        n_clusters: Number of clusters in all.
        nulls: How each column behaves under the null; symmetric and independent by cluster if empty.
        alpha: Level at which `critical` is given.
        draws: Random choices of signs where they cannot be listed.
        seed: Seed of the random choices.

    Returns:
        Statistics and p-values; p = (c + 1) / (draws + 1) for random choices.

    Source: westfallyoung1993, algorithm 2.8; romanowolf2005 (step-down); cameron2008 (Rademacher weights by cluster,
    the null imposed); phipson2010 (the +1).

    >>> from audits.statistics.sums import cluster_sums
    >>> found = stepdown([cluster_sums(np.ones(6), np.arange(6)), cluster_sums(np.array([1.0, -1]), np.arange(2))], 6)
    >>> found.statistic.round(3), found.adjusted, found.choices
    (array([2.449, 0.   ]), array([0.03125, 1.     ]), 32)
    """
    family = _Family(columns, n_clusters)
    for place, null in enumerate(nulls):
        statistic = float(family.statistic[place])
        family.statistic[place] = (tempered(columns[place], statistic) if null.skewed else statistic) / null.inflated
    size = np.abs(family.statistic)
    order = np.argsort(-size, kind="stable")
    # Equal totals reached in another order of addition differ in the last bits and must count as equal.
    bar = size - 1e-9
    raw, joint = np.zeros(len(size)), np.zeros(len(size))
    largest = [np.zeros(0)]
    for drawn in family.flipped(draws, seed):
        raw += (drawn >= bar[:, None]).sum(axis=1)
        running = np.maximum.accumulate(drawn[order[::-1]], axis=0)[::-1]
        joint[order] += (running >= bar[order][:, None]).sum(axis=1)
        largest.append(running[0] if len(size) else np.zeros(drawn.shape[1]))
    maxima = np.sort(np.concatenate(largest))[::-1]
    total = len(maxima)
    adjusted = np.empty_like(joint)
    adjusted[order] = np.maximum.accumulate(joint[order] / total)
    absent = np.array([column.n_clusters == 0 for column in columns], dtype=bool)
    gaps = [np.where(absent, np.nan, found) for found in (family.statistic, raw / total, adjusted)]
    return Joint(gaps[0], gaps[1], gaps[2], _critical(maxima, alpha), total)


def tempered(column: ClusterSums, statistic: float) -> float:
    """Return a statistic shrunk by what skewness alone explains of it; never enlarged, never past 0.

    With t the usual statistic of c clusters, g the skewness of their sums and a = g / (3 sqrt(c)), Hall's form is
    t + a t^2 + a^2 t^3 / 3 + a / 2: where sums are skewed to the right, a low mean comes with a small variance. Its
    cubic term makes it grow with t everywhere, so that the clearest differences are never shrunk away (Johnson's form,
    without that term, turns them into nothing).

    Args:
        column: Differences by cluster.
        statistic: Its t with the null imposed.

    Source: hall1992, sec. 2.

    >>> skew = ClusterSums(np.arange(8), np.array([-1.0, -1, -1, -1, -1, -1, -1, 2]), np.ones(8))
    >>> round(float(skew.sums.sum() / np.sqrt((skew.sums**2).sum())), 3), round(tempered(skew, -1.508), 3)
    (-1.508, -0.912)
    """
    c, sums = column.n_clusters, column.sums
    spread = float(sums.std())
    if c < 2 or spread <= 1e-12 * float(np.abs(sums).max(initial=0.0)):
        return statistic
    usual = statistic * np.sqrt((c - 1) / max(c - statistic**2, 1e-12))
    skewness = float(((sums - sums.mean()) ** 3).mean()) / spread**3
    lean = skewness / (3 * np.sqrt(c))
    shifted = usual + lean * usual**2 + lean**2 * usual**3 / 3 + lean / 2
    if shifted * usual <= 0:
        return 0.0
    back = shifted * np.sqrt(c / (c - 1 + shifted**2))
    return float(back) if abs(back) < abs(statistic) else statistic


def _critical(maxima: Floats, alpha: float) -> float:
    """Return the largest value that more than alpha of the maxima, sorted from above, reach."""
    allowed = int(np.floor(alpha * len(maxima) + 1e-9))
    return float(maxima[allowed]) if allowed < len(maxima) else float("nan")


class _Family:
    """Hold the columns by the clusters that they have, ready for signs."""

    def __init__(self, columns: Sequence[ClusterSums], n_clusters: int) -> None:
        self.n_clusters, self.size = n_clusters, len(columns)
        self.statistic = np.zeros(len(columns))
        self.groups: list[tuple[NDArray[np.int64], Ints, Floats]] = []
        alike: dict[bytes, list[int]] = {}
        for place, column in enumerate(columns):
            if column.n_clusters and np.any(column.sums != 0):
                alike.setdefault(column.index.tobytes(), []).append(place)
        for places in alike.values():
            scaled = np.stack([_scaled(columns[place], n_clusters) for place in places])
            self.groups.append((np.array(places), columns[places[0]].index, scaled))
            self.statistic[places] = scaled.sum(axis=1)

    def flipped(self, draws: int, seed: int) -> Iterator[Floats]:
        """Yield |t| under each choice of signs, [M, b], in chunks."""
        for chosen in choices(self.n_clusters, draws, seed):
            step = max(1, CHUNK_CELLS // max(self.size, 1))
            for start in range(0, len(chosen), step):
                part = np.ascontiguousarray(chosen[start : start + step].T)
                found = np.zeros((self.size, part.shape[1]))
                for places, index, scaled in self.groups:
                    own = part if len(index) == len(part) else part[index]
                    found[places] = np.abs(scaled.sum(axis=1, keepdims=True) - 2 * (scaled @ own))
                yield found


def _scaled(column: ClusterSums, n_clusters: int) -> Floats:
    """Return D_k over the root of the sum of their squares, on a grid on which signed sums are exact."""
    return on_grid(column.sums / np.sqrt((column.sums**2).sum()), n_clusters)


def holm(p: Floats) -> Floats:
    """Return p-values adjusted by Holm's method; NaN stays out of the family.

    Only for exact tests: with B draws the smallest resampled p-value is 1 / (B + 1), which a large family never lets
    pass.

    Args:
        p: Float64 [M].

    Source: holm1979.

    >>> holm(np.array([0.01, 0.04, 0.03, float("nan")]))
    array([0.03, 0.06, 0.06,  nan])
    """
    found = np.full(len(p), np.nan)
    kept = np.flatnonzero(~np.isnan(p))
    order = kept[np.argsort(p[kept], kind="stable")]
    found[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1.0)
    return found


class McNemar(NamedTuple):
    """Hold McNemar's exact test: instances that only the first has right, only the second, and the p-value."""

    first: int
    second: int
    p: float


def mcnemar(difference: Floats) -> McNemar:
    """Test whether two contestants are right equally often; only for independent instances.

    Args:
        difference: -1, 0 or 1 for each instance, NaN where either has no value.

    Returns:
        Counts, and the two-sided p-value: twice the binomial tail of the smaller count, at most 1.

    Source: mcnemar1947 (the test); the exact form conditions on the instances where the two differ.

    >>> found = mcnemar(np.array([1.0, 1, 1, 1, 1, 1, -1, 0, float("nan")]))
    >>> found.first, found.second, found.p  # 2 (1 + 7) / 2^7
    (6, 1, 0.125)
    """
    first, second = int((difference > 0).sum()), int((difference < 0).sum())
    p = min(1.0, 2 * float(binom.cdf(min(first, second), first + second, 0.5)))
    return McNemar(first, second, p)
