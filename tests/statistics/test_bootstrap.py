"""The cluster bootstrap against its definition, and its independence of everything but seed, clusters and column."""

from __future__ import annotations

import numpy as np
import pytest

from audits.statistics.bootstrap import bootstrap, percentile, replicates, weights
from audits.statistics.sums import cluster_sums, paired
from tests.oracles import bootstrap_by_loop


def ragged(seed: int = 0, n: int = 90, clusters: int = 17) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 1 / 3, 0.5, 1.0], size=n)
    values[rng.random(n) < 0.1] = np.nan
    return values, rng.integers(0, clusters, size=n)


def test_replicates_match_a_loop_over_drawn_rows() -> None:
    values, clusters = ragged()
    fast = replicates([cluster_sums(values, clusters)], int(clusters.max()) + 1, draws=200, seed=42)[:, 0]
    assert fast == pytest.approx(bootstrap_by_loop(values, clusters, draws=200, seed=42), abs=1e-12)


def test_draws_without_a_row_are_nan_as_in_the_definition() -> None:
    values, clusters = np.array([np.nan, 1.0, 0.0]), np.array([0, 1, 2])
    fast = replicates([cluster_sums(values, clusters)], 3, draws=300, seed=1)[:, 0]
    slow = bootstrap_by_loop(values, clusters, draws=300, seed=1)
    assert np.isnan(fast).any()
    np.testing.assert_allclose(fast, slow)
    low, high = percentile(fast[:, None])
    assert (low[0], high[0]) == (0.0, 1.0)


def test_weights_do_not_depend_on_the_chunk() -> None:
    whole = np.concatenate(list(weights(23, draws=101, seed=9, chunk=101)))
    for chunk in (1, 7, 100):
        np.testing.assert_array_equal(np.concatenate(list(weights(23, draws=101, seed=9, chunk=chunk))), whole)
    assert (whole.sum(axis=1) == 23).all()


@pytest.mark.parametrize("beside", [0, 1, 2, 30])
@pytest.mark.parametrize("chunk", [None, 1, 13])
def test_a_column_is_the_same_bit_for_bit_whatever_stands_beside_it(beside: int, chunk: int | None) -> None:
    values, clusters = ragged(n=4000, clusters=500)
    column = cluster_sums(values, clusters)
    others = [cluster_sums(ragged(seed, 4000, 500)[0], clusters) for seed in range(1, beside + 1)]
    alone = replicates([column], 500, draws=64, seed=3)[:, 0]
    np.testing.assert_array_equal(replicates([*others, column], 500, draws=64, seed=3, chunk=chunk)[:, -1], alone)


def test_equal_seeds_are_equal_and_others_are_not() -> None:
    values, clusters = ragged()
    first, again, other = (bootstrap(values[:, None], clusters, draws=500, seed=seed)[0] for seed in (42, 42, 43))
    assert first == again
    assert first[:2] != other[:2]


def test_whole_clusters_are_drawn() -> None:
    # Four scenes of five rows, right right right wrong: a draw's mean is a multiple of 1/4, never of 1/20.
    credit, scenes = np.repeat([1.0, 1, 1, 0], 5), np.repeat(np.arange(4), 5)
    means = replicates([cluster_sums(credit, scenes)], 4, draws=500, seed=0)[:, 0]
    assert set(means.tolist()) <= {0.0, 0.25, 0.5, 0.75, 1.0}


def test_columns_share_their_draws_so_that_differences_are_paired() -> None:
    values, clusters = ragged()
    first, second = np.nan_to_num(values), np.nan_to_num(1 - values)
    count = int(clusters.max()) + 1
    columns = [cluster_sums(column, clusters) for column in (first, second, paired(first, second))]
    means = replicates(columns, count, draws=200, seed=5)
    assert means[:, 2] == pytest.approx(means[:, 0] - means[:, 1])


def test_identical_contestants_differ_by_exactly_nothing() -> None:
    values, clusters = ragged()
    [found] = bootstrap(paired(values, values)[:, None], clusters, draws=200)
    assert (found.low, found.high) == (0.0, 0.0)


def test_values_far_from_proportions_keep_their_precision() -> None:
    rng = np.random.default_rng(0)
    nats, clusters = rng.normal(-40_000.0, 3.0, size=300), rng.integers(0, 40, size=300)
    fast = replicates([cluster_sums(nats, clusters)], 40, draws=50, seed=1)[:, 0]
    assert fast == pytest.approx(bootstrap_by_loop(nats, clusters, draws=50, seed=1), rel=1e-12)


def test_a_column_without_any_value_has_no_bounds() -> None:
    [found] = bootstrap(np.full((3, 1), np.nan), np.arange(3), draws=20)
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_cluster_sums_weigh_rows() -> None:
    found = cluster_sums(np.array([1.0, 0.0, 1.0]), np.array([0, 0, 1]), np.array([0.5, 0.25, 0.25]))
    assert found.value == 0.75
    assert found.counts.tolist() == [0.75, 0.25]


def test_equal_arrays_of_columns_are_held_once_and_cannot_be_written_to():
    clusters = np.array([0, 0, 2, 3])
    first = cluster_sums(np.array([1.0, 0.0, 1.0, 0.0]), clusters)
    second = cluster_sums(np.array([0.0, 0.0, 1.0, 0.0]), clusters)
    assert second.index is first.index
    assert second.counts is first.counts
    assert second.sums is not first.sums
    assert first.sums.tolist() == [1, 1, 0]
    assert second.sums.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="read-only"):
        first.index[0] = 7


def test_whole_numbers_and_proportions_of_equal_bytes_are_not_taken_for_each_other():
    zeros = cluster_sums(np.zeros(1), np.array([0]))  # index 0 and sum 0.0 are the same eight bytes
    assert zeros.index.dtype == np.int64
    assert zeros.sums.dtype == np.float64
