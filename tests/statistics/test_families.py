"""Step-down max-t against a slow oracle, Holm and McNemar against statsmodels, and what none of them may depend on."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar
from statsmodels.stats.multitest import multipletests

from audits.statistics.families import CROSSFITTED, Null, holm, mcnemar, stepdown, tempered
from audits.statistics.paired import exact
from audits.statistics.signflip import p_value
from audits.statistics.sums import ClusterSums, cluster_sums


def slow_stepdown(tables: list[dict[int, float]], clusters: int) -> tuple[list[float], list[float]]:
    """List every choice of signs; compare each |t| with the maximum over itself and all smaller ones, by loops."""

    def t(table: dict[int, float], signs: tuple[int, ...]) -> float:
        length = sum(value**2 for value in table.values()) ** 0.5
        return abs(sum(signs[k] * value for k, value in table.items())) / length if length else 0.0

    every = [(*signs, 1) for signs in product((1, -1), repeat=clusters - 1)]
    observed = [t(table, (1,) * clusters) for table in tables]
    raw = [
        sum(t(table, s) >= seen - 1e-9 for s in every) / len(every)
        for table, seen in zip(tables, observed, strict=True)
    ]
    adjusted = [0.0] * len(tables)
    left, previous = sorted(range(len(tables)), key=lambda j: -observed[j]), 0.0
    while left:
        first = left[0]
        reached = sum(max(t(tables[j], s) for j in left) >= observed[first] - 1e-9 for s in every) / len(every)
        previous = max(previous, reached)
        adjusted[first] = previous
        left = left[1:]
    return raw, adjusted


def random_columns(seed: int, clusters: int, columns: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    base = rng.normal(0.4, 1, size=clusters)
    made = [base * rng.choice([0.3, 1, -1]) + rng.normal(size=clusters) for _ in range(columns)]
    made[-1][: clusters // 2] = np.nan  # a subset: it lacks half of the clusters
    made[0] = np.zeros(clusters)  # a scorer that only ties
    return made


@pytest.mark.parametrize("seed", range(4))
def test_stepdown_agrees_with_the_slow_definition(seed: int) -> None:
    made = random_columns(seed, 8, 5)
    found = stepdown([cluster_sums(values, np.arange(8)) for values in made], 8)
    tables = [{k: float(v) for k, v in enumerate(values) if not np.isnan(v)} for values in made]
    raw, adjusted = slow_stepdown(tables, 8)
    assert found.choices == 128
    np.testing.assert_allclose(found.raw, raw)
    np.testing.assert_allclose(found.adjusted, adjusted)


def test_one_test_is_the_sign_flip_test_by_cluster() -> None:
    rng = np.random.default_rng(3)
    column = cluster_sums(rng.normal(0.2, 1, size=60), rng.integers(0, 12, size=60))
    found = stepdown([column], 12)
    assert found.raw[0] == found.adjusted[0] == pytest.approx(p_value(column, 0.0))


def test_random_signs_come_close_to_all_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    made = random_columns(5, 9, 6)
    columns = [cluster_sums(values, np.arange(9)) for values in made]
    every = stepdown(columns, 9)
    monkeypatch.setattr("audits.statistics.signflip.EXACT_UP_TO", 4)
    some = stepdown(columns, 9, draws=20_001, seed=1)
    assert (every.choices, some.choices) == (256, 20_002)
    np.testing.assert_allclose(some.adjusted, every.adjusted, atol=0.015)


@given(st.permutations(range(6)), st.permutations(range(20)))
def test_order_of_contestants_and_of_instances_changes_nothing(tests: list[int], rows: list[int]) -> None:
    rng = np.random.default_rng(11)
    values, clusters = rng.normal(0.3, 1, size=(20, 6)), rng.integers(0, 9, size=20)
    values[:, 4] = values[:, 2]  # equal statistics must get equal p-values wherever they stand
    plain = stepdown([cluster_sums(values[:, j], clusters) for j in range(6)], 9)
    moved = stepdown([cluster_sums(values[rows, j], clusters[rows]) for j in tests], 9)
    np.testing.assert_allclose(moved.adjusted, plain.adjusted[tests])
    assert plain.adjusted[4] == plain.adjusted[2]


def test_adjusted_is_never_below_raw_and_grows_with_the_family() -> None:
    rng = np.random.default_rng(2)
    columns = [cluster_sums(rng.normal(0.3, 1, size=40), np.arange(40)) for _ in range(30)]
    found, alone = stepdown(columns, 40, draws=2_000), stepdown(columns[:3], 40, draws=2_000)
    assert np.all(found.adjusted >= found.raw)
    assert np.all(found.adjusted[:3] >= alone.adjusted)
    assert found.critical > alone.critical


def test_what_cannot_be_tested_is_nan_and_disturbs_nobody() -> None:
    strong = cluster_sums(np.ones(12), np.arange(12))
    empty = cluster_sums(np.full(3, np.nan), np.arange(3))
    found = stepdown([strong, empty], 12)
    # Of 2^11 choices only the unflipped one reaches the sum of 12 (its mirror image is not listed apart).
    assert found.adjusted[0] == 1 / 2**11
    assert np.isnan(found.adjusted[1])
    assert len(stepdown([], 12).adjusted) == 0


def test_two_clusters_never_reject() -> None:
    # Two clusters, both as far from 0 as can be: one of two choices of signs reaches the sum, p = 1/2.
    assert stepdown([cluster_sums(np.ones(50), np.repeat([0, 1], 25))], 2).adjusted[0] == 0.5


def test_columns_that_mostly_tie_leave_the_critical_value_of_others_alone() -> None:
    # One decided row among forty: its t is 1 under every choice of signs, far below anything critical.
    rng = np.random.default_rng(4)
    others = [cluster_sums(rng.normal(0.4, 1, size=40), np.arange(40)) for _ in range(5)]
    lone = cluster_sums(np.array([0.5, *[0.0] * 39]), np.arange(40))
    plain, beside = stepdown(others, 40, draws=1_000), stepdown([*others, lone], 40, draws=1_000)
    assert beside.critical == plain.critical
    strong = plain.adjusted < 0.05
    assert strong.sum() >= 2
    np.testing.assert_allclose(beside.adjusted[:5][strong], plain.adjusted[strong], atol=0.002)


def test_the_chunk_of_memory_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    columns = [cluster_sums(rng.normal(0.2, 1, size=90), rng.integers(0, 70, size=90)) for _ in range(7)]
    plain = stepdown(columns, 70, draws=500)
    monkeypatch.setattr("audits.statistics.families.CHUNK_CELLS", 50)
    small = stepdown(columns, 70, draws=500)
    np.testing.assert_array_equal(plain.adjusted, small.adjusted)
    assert plain.critical == small.critical


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_agrees_with_statsmodels(p: list[float]) -> None:
    np.testing.assert_allclose(holm(np.array(p)), multipletests(p, method="holm")[1], atol=1e-12)


@pytest.mark.parametrize(
    ("both", "first", "second", "neither"), [(5, 9, 2, 4), (0, 3, 3, 0), (10, 0, 7, 1), (4, 0, 0, 4)]
)
def test_mcnemar_agrees_with_statsmodels(both: int, first: int, second: int, neither: int) -> None:
    values = np.array([0.0] * (both + neither) + [1.0] * first + [-1.0] * second)
    expected = reference_mcnemar([[both, first], [second, neither]], exact=True).pvalue
    assert mcnemar(values).p == pytest.approx(min(expected, 1.0))


def test_exact_interval_is_that_of_the_share_among_those_that_differ() -> None:
    values = np.array([1.0] * 9 + [-1.0] * 2 + [0.0] * 9)
    found = exact(values, np.arange(20))
    assert found is not None
    share = binomtest(9, 11).proportion_ci(0.95, method="exact")
    # (b - c) / n = (2 * 9/11 - 1) * 11/20 = 7/20, and the same for the bounds of 9/11.
    assert found.interval[:2] == pytest.approx(((2 * share.low - 1) * 11 / 20, (2 * share.high - 1) * 11 / 20))


@pytest.mark.parametrize("values", [np.array([1.0, 0.5, 0.0]), np.array([1.0]), np.array([np.nan, 1.0])])
def test_no_exact_test_where_something_is_half_right_or_too_little_is_known(values: np.ndarray) -> None:
    assert exact(values, np.arange(len(values))) is None


def test_no_exact_test_where_clusters_repeat() -> None:
    assert exact(np.array([1.0, 0.0, -1.0]), np.array([0, 0, 1])) is None
    # A repeated cluster whose other row does not enter is no repeat.
    assert exact(np.array([1.0, np.nan, -1.0]), np.array([0, 0, 1])) is not None


def crossfitted(rng: np.random.Generator, folds: int = 5) -> np.ndarray:
    """Return y f(x) of 100 rows, f(x) the sum over the rows j of other folds of y_j x_j . x; y says nothing of x."""
    x, y, fold = rng.normal(size=(100, 40)), rng.choice([-1.0, 1.0], size=100), np.arange(100) % folds
    return y * (np.where(fold[:, None] == fold[None, :], 0.0, x @ x.T) @ y)


@pytest.mark.parametrize(("decided", "plain_rate", "divided_rate"), [(False, 0.166, 0.05), (True, 0.125, 0.03)])
def test_cross_fitted_sums_keep_the_level_only_once_they_are_divided(
    decided: bool, plain_rate: float, divided_rate: float
) -> None:
    # Sums of y f(x): Var S is twice what flips of signs see, so beyond 1.96 lies what a normal has beyond
    # 1.96 / sqrt(2) = 1.386, .166; divided by sqrt(2) it is .05. Sums of signs: Var S is 1 + 2 / pi = 1.637 times that:
    # beyond 1.96 / 1.279 = 1.532 lies .125, beyond 1.96 sqrt(2) / 1.279 = 2.167 .030. Three standard errors of 2,000
    # samples are .025 and .015; decisions of 100 rows come in steps of .2.
    rng = np.random.default_rng(1)
    found = [crossfitted(rng) for _ in range(2_000)]
    columns = [cluster_sums(np.sign(one) if decided else one, np.arange(100)) for one in found]
    plain = stepdown(columns, 100, draws=1_000)
    divided = stepdown(columns, 100, nulls=[Null(inflated=CROSSFITTED)] * len(columns), draws=1_000)
    np.testing.assert_allclose(divided.statistic * 2**0.5, plain.statistic)
    rates = [float(np.mean(joint.raw <= 0.05)) for joint in (plain, divided)]
    print(f"\ncross-fitted, null, decided {decided}: plain {rates[0]:.4f}, divided {rates[1]:.4f}")  # noqa: T201
    assert rates == [pytest.approx(plain_rate, abs=0.03), pytest.approx(divided_rate, abs=0.015)]


def test_a_clear_difference_is_never_shrunk_away():
    # 95 of 100 clusters at +.75 and 5 at -.25 (nearly all right where chance is 1/4): far off, and skewed to the left
    sums = np.array([0.75] * 95 + [-0.25] * 5)
    column = ClusterSums(np.arange(100), sums, np.ones(100))
    statistic = float(sums.sum() / np.sqrt((sums**2).sum()))
    # t = 70 / sqrt(95 * .5625 + 5 * .0625) = 70 / 7.3314 = 9.548
    assert statistic == pytest.approx(9.548, abs=1e-3)
    assert tempered(column, statistic) > 0.8 * statistic


def test_a_tempered_statistic_grows_with_the_difference():
    rng = np.random.default_rng(7)
    noise = -rng.exponential(size=60)
    noise -= noise.mean()
    found = []
    for shift in (0.2, 0.4, 0.8, 1.6, 3.2, 6.4):
        sums = noise + shift
        statistic = float(sums.sum() / np.sqrt((sums**2).sum()))
        found.append(tempered(ClusterSums(np.arange(60), sums, np.ones(60)), statistic))
    assert found == sorted(found)
    assert found[0] > 0
