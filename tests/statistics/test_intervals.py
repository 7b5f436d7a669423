"""Wilson and Wald against published values, and what replaces them where clusters repeat."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from audits.statistics.effective import effective_size, effective_wilson, joined, minority_clusters
from audits.statistics.intervals import Interval, wald, wilson
from audits.statistics.sums import cluster_sums


def rounded(interval: Interval, digits: int = 4) -> list[float]:
    return [round(interval.low, digits), round(interval.high, digits)]


@pytest.mark.parametrize(
    ("k", "n", "expected"), [(8, 8, [0.6756, 1.0]), (0, 12, [0.0, 0.2425]), (29, 30, [0.8333, 0.9941])]
)
def test_wilson_reference_values(k: int, n: int, expected: list[float]) -> None:
    assert rounded(wilson(k, n)) == expected


def test_wilson_ends_are_exact_where_all_rows_agree() -> None:
    assert all(wilson(0, n).low == 0.0 and wilson(n, n).high == 1.0 for n in range(1, 400))


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_matches_another_program(pair: tuple[int, int]) -> None:
    theirs = binomtest(*pair).proportion_ci(method="wilson")
    assert wilson(*pair)[:2] == pytest.approx((theirs.low, theirs.high), abs=1e-9)


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
    credit = np.array([1.0, 1, 1, 1, 1, 0, 0, 1])
    column = cluster_sums(credit, np.repeat(np.arange(4), 2))
    turned = cluster_sums(1 - credit, np.repeat(np.arange(4), 2))
    # The two failures sit in clusters 2 and 3, one each.
    assert minority_clusters(column) == minority_clusters(turned) == 2
    assert minority_clusters(cluster_sums(np.ones(4), np.arange(4))) == 0


def test_effective_wilson_is_undefined_without_variance() -> None:
    assert isnan(effective_wilson(cluster_sums(np.ones(6), np.arange(6)), 6).low)
    assert isnan(effective_wilson(cluster_sums(np.array([0.5]), np.zeros(1, dtype=int)), 1).low)


def test_joining_only_widens_and_leaves_an_even_sample_alone() -> None:
    rng = np.random.default_rng(0)
    even = cluster_sums((rng.random(400) < 0.5).astype(float), np.repeat(np.arange(100), 4))
    plain = Interval(0.4, 0.6, "x", 7)
    assert joined(plain, even, 400) is plain
    skewed = cluster_sums(np.repeat([1.0, 1, 1, 1, 1, 0], 5), np.repeat(np.arange(6), 5))
    wider = joined(Interval(0.6, 0.9, "x", 7), skewed, 30)
    assert wider.low < 0.6
    assert wider.high > 0.9
    assert wider.seed == 7
    assert joined(Interval(0.0, 1.0, "x"), skewed, 30).method == "x"
