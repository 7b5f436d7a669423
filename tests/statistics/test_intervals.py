"""Wilson and Wald against published values, and what replaces them where clusters repeat."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from audits.statistics.effective import combined, effective_size, effective_wilson, joined, minority_clusters, sides
from audits.statistics.intervals import Interval, wald, wilson
from audits.statistics.sums import cluster_sums
from tests.oracles import combined_by_loop, jackknife_se


def rounded(interval: Interval, digits: int = 4) -> list[float]:
    return [round(interval.low, digits), round(interval.high, digits)]


@pytest.mark.parametrize(
    ("k", "n", "expected"), [(8, 8, [0.6756, 1.0]), (0, 12, [0.0, 0.2425]), (29, 30, [0.8333, 0.9941])]
)
def test_wilson_reference_values(k: int, n: int, expected: list[float]) -> None:
    assert rounded(wilson(k, n)) == expected


def test_wilson_ends_are_exact_where_all_rows_agree() -> None:
    assert all(wilson(0, n).low == 0.0 and wilson(n, n).high == 1.0 for n in range(1, 400))


@settings(deadline=None)
@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_matches_another_program(pair: tuple[int, int]) -> None:
    theirs = binomtest(*pair).proportion_ci(method="wilson")
    assert wilson(*pair)[:2] == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@settings(deadline=None)
@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_and_clipped_wald_stay_within_bounds_and_hold_the_estimate(pair: tuple[int, int]) -> None:
    for interval in (wilson(*pair), wald(*pair)):
        assert 0 <= interval.low <= pair[0] / pair[1] <= interval.high <= 1


def test_published_composet_interval_is_printed_by_both() -> None:
    # Table 8 prints 4.4 [3.9, 5.0] for CLIP B/32 at n = 5,328; 235 / 5,328 = .0441.
    assert rounded(wilson(235, 5328), 3) == [0.039, 0.05]
    assert rounded(wald(235, 5328), 3) == [0.039, 0.05]


def test_published_winoground_interval_fits_wilson_and_not_wald() -> None:
    # 7.5 [5.3, 10.5] at n = 400: 30 / 400. Wald: .075 +- 1.96 sqrt(.075 * .925 / 400) = .075 +- .0258.
    assert rounded(wilson(30, 400), 3) == [0.053, 0.105]
    assert rounded(wald(30, 400), 3) == [0.049, 0.101]


def test_wald_is_marked_where_it_is_clipped() -> None:
    assert wald(29, 30).method == "wald (clipped)"
    assert rounded(wald(29, 30, clip=False)) == [0.9024, 1.0309]
    assert wald(15, 30).method == "wald"


@pytest.mark.parametrize("interval", [wilson(0, 0), wald(0, 0)])
def test_no_rows_give_no_bounds(interval: Interval) -> None:
    assert isnan(interval.low)
    assert isnan(interval.high)
    assert not interval.is_degenerate
    assert "n = 0" in interval.method


def test_higher_confidence_is_wider() -> None:
    assert wilson(7, 20, confidence=0.99).low < wilson(7, 20).low < wilson(7, 20, confidence=0.8).low


def test_effective_size_of_singletons_is_about_n() -> None:
    # Clusters of one row: v = c/(c-1) p(1-p)/c, so the effective size is c - 1.
    credit = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0])
    assert effective_size(cluster_sums(credit, np.arange(10))) == pytest.approx(9)


def test_effective_size_of_copies_is_that_of_the_clusters() -> None:
    # Each cluster holds five copies of one answer: five times the rows, the same information.
    once = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    single = effective_size(cluster_sums(once, np.arange(6)))
    assert effective_size(cluster_sums(np.repeat(once, 5), np.repeat(np.arange(6), 5))) == pytest.approx(single)


def test_minority_is_counted_on_either_side() -> None:
    credit, scenes = np.array([1.0, 1, 1, 1, 1, 0, 0, 1]), np.repeat(np.arange(4), 2)
    # The two failures sit in clusters 2 and 3, one each.
    assert minority_clusters(sides(credit, scenes)) == minority_clusters(sides(1 - credit, scenes)) == 2
    assert minority_clusters(sides(np.ones(4), np.arange(4))) == 0
    assert minority_clusters(sides(np.array([np.nan]), np.zeros(1, dtype=int))) == 0


def test_minority_of_a_scorer_that_mostly_ties_is_what_it_decides() -> None:
    # Ties fill all five clusters; a win and a loss stand in cluster 1, a win in cluster 3: 3^2 / (2^2 + 1^2).
    credit = np.array([0.5, 0.5, 1.0, 0.0, 0.5, 0.5, 1.0, 0.5, 0.5, 0.5])
    assert minority_clusters(sides(credit, np.repeat(np.arange(5), 2))) == pytest.approx(9 / 5)


def test_sides_add_up_to_the_mean_credit() -> None:
    rng = np.random.default_rng(2)
    for common in (0.0, 1 / 3, 0.5, 1.0):
        credit = np.concatenate([np.full(40, common), rng.choice([0.0, 1 / 3, 0.5, 1.0], size=40)])
        split = sides(credit, rng.integers(0, 9, size=80))
        assert common + sum(side.weight * side.column.value for side in split) == pytest.approx(credit.mean())
        assert all((side.column.sums <= side.column.counts + 1e-12).all() for side in split)
        assert len(split) == (1 if common in (0.0, 1.0) else 2)


def test_rows_limit_the_effective_size_by_what_they_vary() -> None:
    # Credits of 0 and 1: p (1 - p) is their variance, and the limit is n.
    [binary] = sides(np.array([1.0, 1, 0, 1, 1]), np.arange(5))
    assert binary.limit == pytest.approx(5)
    # 2/5 on average (1, 1/2, 1/2, 0, 0) from below: .24 against a variance of (.36 + .01 + .01 + .16 + .16) / 5 = .14.
    [fractional] = sides(np.array([1.0, 0.5, 0.5, 0, 0]), np.arange(5))
    assert fractional.column.value == 0.4
    assert fractional.limit == pytest.approx(5 * 0.24 / 0.14)


def test_effective_wilson_without_variance_is_wilson_at_the_clusters() -> None:
    [side] = sides(np.ones(12), np.repeat(np.arange(6), 2))
    found = effective_wilson(side)
    t = 2.570581835636314  # .975 of t with 5 degrees of freedom
    assert (found.low, found.high) == pytest.approx((0.0, t * t / (6 + t * t)))


def test_one_side_alone_is_wilson_on_either_side() -> None:
    credit, scenes = np.repeat([1.0, 1, 1, 1, 0], [9, 3, 8, 6, 4]), np.repeat(np.arange(6), 5)
    [side] = sides(credit, scenes)
    alone = effective_wilson(side)
    both = combined(float(credit.mean()), [[side]])
    assert side.weight == -1
    assert both[:2] == pytest.approx((1 - alone.high, 1 - alone.low))
    assert both.method == alone.method
    turned = combined(float(1 - credit.mean()), [sides(1 - credit, scenes)])
    assert (turned.low, turned.high) == pytest.approx((1 - both.high, 1 - both.low))


def drawn_parts(seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Draw subsets that share scenes, near 0, near 1, mostly tied and fractional."""
    rng = np.random.default_rng(seed)
    kinds = [
        ([0.0, 1.0], [0.1, 0.9]),
        ([0.0, 0.5, 1.0], [0.1, 0.8, 0.1]),
        ([0.0, 1 / 3, 0.5, 1.0], [0.4, 0.2, 0.2, 0.2]),
        ([0.5], [1.0]),
    ]
    found = []
    for place in range(1 + seed % 4):
        values, chances = kinds[(seed + place) % 4]
        n = int(rng.integers(15, 60))
        found.append((rng.choice(values, p=chances, size=n), rng.integers(0, 12, size=n)))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_combined_matches_its_definition_row_by_row(seed: int) -> None:
    parts = drawn_parts(seed)
    value = float(np.mean([credit.mean() for credit, _ in parts]))
    found = combined(value, [sides(*part) for part in parts])
    assert found[:2] == pytest.approx(combined_by_loop(parts, confidence=0.95), abs=1e-9)


def test_combined_over_even_subsets_is_the_linearised_interval() -> None:
    # Far from 0 and 1 and with many clusters Wilson is symmetric: +- 1.96 standard errors, covariances included.
    rng = np.random.default_rng(6)
    scenes = np.tile(np.arange(400), 3)
    rate = rng.beta(3, 3, size=400)
    parts = [((rng.random(1200) < rate[scenes]).astype(float), scenes) for _ in range(3)]
    parts[1] = (parts[1][0] / 2, scenes)
    found = combined(float(np.mean([credit.mean() for credit, _ in parts])), [sides(*part) for part in parts])
    assert found.high - found.low == pytest.approx(2 * 1.96 * jackknife_se(parts), rel=0.02)


def test_joining_only_widens_and_leaves_an_even_sample_alone() -> None:
    rng = np.random.default_rng(0)
    even = sides((rng.random(400) < 0.5).astype(float), np.repeat(np.arange(100), 4))
    plain = Interval(0.4, 0.6, "x", 7)
    assert joined(plain, 0.5, [even]) is plain
    skewed = sides(np.repeat([1.0, 1, 1, 1, 1, 0], 5), np.repeat(np.arange(6), 5))
    wider = joined(Interval(0.6, 0.9, "x", 7), 5 / 6, [skewed])
    assert wider.low < 0.6
    assert wider.high > 0.9
    assert wider.seed == 7
    assert joined(Interval(0.0, 1.0, "x"), 5 / 6, [skewed]).method == "x"
    assert joined(plain, 0.5, [even, skewed]).low < 0.4
