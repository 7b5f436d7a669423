"""The sign-flip test by cluster against every choice of signs, and its inversion against the test."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from audits.statistics import signflip
from audits.statistics.sums import ClusterSums, cluster_sums
from tests.oracles import sign_flip_p


def sample(seed: int, clusters: int) -> ClusterSums:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 9, size=clusters).astype(float)
    return ClusterSums(np.arange(clusters), rng.binomial(counts.astype(int), 0.6).astype(float), counts)


@pytest.mark.parametrize("clusters", [1, 2, 5, 8, 11])
@pytest.mark.parametrize("null", [0.25, 0.5, 0.9])
def test_p_value_matches_every_choice_of_signs(clusters: int, null: float) -> None:
    column = sample(clusters, clusters)
    assert signflip.p_value(column, null) == pytest.approx(sign_flip_p(column.sums, column.counts, null))


@pytest.mark.parametrize("seed", range(6))
def test_interval_is_the_test_inverted(seed: int) -> None:
    column = sample(seed, 6 + seed)
    found = signflip.interval(column)
    for null in np.linspace(0, 1, 201):
        # Right at a bound the p-value jumps; rounding may put such a grid point on either side.
        if min(abs(null - found.low), abs(null - found.high)) > 1e-9:
            kept = sign_flip_p(column.sums, column.counts, float(null)) > 0.05
            assert kept == (found.low <= null <= found.high)


@pytest.mark.parametrize("clusters", range(1, 6))
def test_five_clusters_or_fewer_reject_nothing(clusters: int) -> None:
    # The smallest p-value is 2 / 2^K: .0625 at K = 5, above .05.
    found = signflip.interval(cluster_sums(np.ones(clusters), np.arange(clusters)))
    assert (found.low, found.high) == (0.0, 1.0)
    assert "too few clusters" in found.method


def test_six_clusters_reject_at_most() -> None:
    # 2 / 64 = .03125.
    assert signflip.p_value(cluster_sums(np.ones(6), np.arange(6)), 0.5) == 0.03125


def test_random_choices_count_the_one_observed() -> None:
    column = cluster_sums(np.ones(25), np.arange(25))
    assert signflip.p_value(column, 0.5, draws=99) == pytest.approx(1 / 100)


def test_random_choices_agree_with_the_exact_ones() -> None:
    column = sample(3, 14)
    exact = signflip.interval(column)
    rng = np.random.default_rng(1)
    chosen = np.concatenate([np.zeros((1, 14)), rng.integers(0, 2, size=(40_000, 14))])
    totals = (1 - 2 * chosen) @ (column.sums - column.counts * 0.5)
    approximate = np.mean(np.abs(totals) >= abs(totals[0]) - 1e-9)
    # Standard error at 40,000 draws is below .0025.
    assert signflip.p_value(column, 0.5) == pytest.approx(approximate, abs=0.01)
    assert exact.method == "sign-flip by cluster (exact)"
    assert exact.seed == -1


def test_many_clusters_draw_with_the_seed() -> None:
    column = sample(1, 22)
    first, again, other = (signflip.interval(column, draws=500, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.seed == 1
    assert first[:2] != other[:2]
    assert first.method == "sign-flip by cluster (500 draws)"


def test_bounds_of_a_difference_reach_below_zero() -> None:
    found = signflip.interval(cluster_sums(np.array([0.5, -0.5]), np.arange(2)), bounds=(-1.0, 1.0))
    assert (found.low, found.high) == (-1.0, 1.0)


def test_no_clusters_no_bounds() -> None:
    empty = cluster_sums(np.full(3, np.nan), np.arange(3))
    assert isnan(signflip.interval(empty).low)
    assert isnan(signflip.p_value(empty, 0.5))


def test_choices_cannot_be_changed_by_a_caller() -> None:
    with pytest.raises(ValueError, match="read-only"):
        signflip.flips(4)[0, 0] = 1
