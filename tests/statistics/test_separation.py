"""Sensitivity, spread over subsets and ratios: hand arithmetic, slow definitions, and coverage where truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from audits.statistics.bootstrap import replicates, weights
from audits.statistics.ratios import fieller
from audits.statistics.separation import cohen, cohen_intervals, score_sums, std_interval, subset_std
from audits.statistics.sums import cluster_sums

RUNS = 200


def slow_cohen(matching: np.ndarray, others: np.ndarray) -> float:
    n1, n2 = len(matching), len(others)
    pooled = ((n1 - 1) * matching.var(ddof=1) + (n2 - 1) * others.var(ddof=1)) / (n1 + n2 - 2)
    return float((matching.mean() - others.mean()) / pooled**0.5)


def test_cohen_by_hand() -> None:
    # Matching 3, 5 (mean 4, squares about it 2), mismatching 1, 2, 3 (mean 2, squares 2): s^2 = 4 / 3, d = sqrt(3).
    scores = np.array([3.0, 5, 1, 2, 3])
    sums = score_sums(scores, np.array([True, True, False, False, False]), np.array([0, 1, 0, 1, 2]), 3)
    assert cohen(sums.sum(axis=0)) == pytest.approx(3**0.5)


def test_cohen_does_not_change_when_scores_are_shifted_or_scaled() -> None:
    rng = np.random.default_rng(0)
    scores, matches, clusters = rng.normal(size=200), rng.random(200) < 0.5, np.repeat(np.arange(20), 10)
    one, other = (cohen(score_sums(values, matches, clusters, 20).sum(axis=0)) for values in (scores, 3 * scores + 100))
    assert one == pytest.approx(other)
    assert one == pytest.approx(slow_cohen(scores[matches], scores[~matches]))


@pytest.mark.parametrize("scores", [np.full(4, 0.3), np.full(4, np.nan)], ids=["constant", "unscored"])
def test_cohen_without_spread_is_undefined(scores: np.ndarray) -> None:
    sums = score_sums(scores, np.array([True, False] * 2), np.array([0, 0, 1, 1]), 2)
    assert np.isnan(cohen(sums.sum(axis=0)))


def test_cohen_interval_matches_a_loop_over_drawn_rows() -> None:
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(12), 6)
    matches = np.tile([True, False], 36)
    scores = rng.normal(size=72) + rng.normal(size=12)[clusters] + 0.5 * matches
    [found] = cohen_intervals([score_sums(scores, matches, clusters, 12)], 12, draws=200, seed=5)
    drawn = []
    for counts in np.concatenate(list(weights(12, draws=200, seed=5))).astype(int):
        rows = np.concatenate([np.tile(np.flatnonzero(clusters == k), count) for k, count in enumerate(counts)])
        drawn.append(slow_cohen(*(_taken(scores, matches, rows, side) for side in (True, False))))
    # The slow definition divides by n1 + n2 - 2 of the drawn rows, as the fast one does.
    assert [found.low, found.high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]).tolist())


def _taken(scores: np.ndarray, matches: np.ndarray, rows: np.ndarray, side: bool) -> np.ndarray:
    return scores[rows][matches[rows] == side]


def test_subset_std_is_that_of_the_population() -> None:
    # Values .2, .4, .9: mean .5, squares .09 + .01 + .16 = .26, / 3.
    assert subset_std(np.array([0.2, 0.4, 0.9])) == pytest.approx((0.26 / 3) ** 0.5)


@pytest.mark.parametrize(
    ("truths", "allowed"),
    [((0.5,) * 5, 0.05), ((0.45, 0.5, 0.5, 0.5, 0.55), 0.05), ((0.3, 0.4, 0.5, 0.6, 0.7), 0.07)],
    ids=str,
)
def test_std_interval_covers(truths: tuple[float, ...], allowed: float) -> None:
    rng, held = np.random.default_rng(2), 0
    for _ in range(RUNS):
        scene = np.repeat(np.arange(60), 4)
        ease = rng.normal(size=60)[scene] * 0.3
        columns = [cluster_sums((rng.random(240) + 0.2 * np.tanh(ease) < p).astype(float), scene) for p in truths]
        drawn = replicates(columns, 60, draws=300)
        low, high = std_interval(np.array([column.value for column in columns]), drawn)
        held += low <= float(np.std(truths)) <= high
    print(f"\nstd of subsets {truths}: false alarms {1 - held / RUNS:.3f}")  # noqa: T201
    assert 1 - held / RUNS <= allowed + 3 * (0.05 * 0.95 / RUNS) ** 0.5


def test_fieller_by_hand() -> None:
    # Clusters of one row. a = (1, 0, 1, 0), b = (1, 1, 1, 0): means .5, .75; residuals (.5, -.5, .5, -.5) and
    # (.25, .25, .25, -.75); n = 4, c / (c - 1) / n^2 = 1 / 12: v = [1, .5; .5, .75] / 12. t(.975, 3) = 3.1824.
    first, second = np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 1, 0])
    assert np.isnan(fieller(first, second, np.arange(4)).low)  # g = 10.128 * .0625 / .5625 = 1.125
    found = fieller(first, second, np.arange(4), confidence=0.5)
    # t(.75, 3) = .76489, t^2 = .58506, g = .065007, R = 2/3, v_ab / v_bb = 2/3.
    # inside = (1 - 4/3 * .5 + 4/9 * .75 - g (1 - 1/3)) / 12 = (2/3)(1 - g) / 12 = .051944
    reach = 0.76489 / 0.75 * 0.051944**0.5
    middle = 2 / 3 * (1 - 0.065007)
    expected = [(middle - reach) / (1 - 0.065007), (middle + reach) / (1 - 0.065007)]
    assert [found.low, found.high] == pytest.approx(expected, abs=1e-4)


def test_fieller_holds_exactly_the_ratios_that_a_t_test_does_not_reject() -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(25), 3)
    first, second = rng.normal(0.2, 1, 75), rng.normal(0.8, 1, 75)
    found = fieller(first, second, clusters)
    for ratio, inside in ((found.low + 1e-6, True), (found.low - 1e-6, False), (found.high + 1e-6, False)):
        column = cluster_sums(first - ratio * second, clusters)
        error = (25 / 24 * float(((column.sums - column.counts * column.value) ** 2).sum())) ** 0.5 / 75
        assert (abs(column.value / error) <= 2.0638985616) == inside  # t(.975, 24)


def test_fieller_covers() -> None:
    rng, held, bounded = np.random.default_rng(4), 0, 0
    for _ in range(RUNS):
        scene = np.repeat(np.arange(40), rng.integers(1, 12, size=40))
        ease = 0.15 * np.tanh(rng.normal(size=40))[scene]
        first = (rng.random(len(scene)) < 0.6 + ease) - 0.5
        second = (rng.random(len(scene)) < 0.75 + ease) - 0.5
        found = fieller(first, second, scene)
        bounded += not np.isnan(found.low)
        held += found.low <= 0.1 / 0.25 <= found.high
    print(f"\nfieller: bounded {bounded / RUNS:.3f}, false alarms {1 - held / bounded:.3f}")  # noqa: T201
    assert bounded == RUNS
    assert 1 - held / bounded <= 0.06 + 3 * (0.05 * 0.95 / RUNS) ** 0.5
