"""From outcomes to rows: which slices exist, which interval is primary, and what the counts say."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from audits.statistics import signflip
from audits.statistics.estimates import estimates
from audits.statistics.layout import Layout, layout, slices
from audits.statistics.outcomes import Outcome, outcomes
from audits.statistics.primary import intervals, macro, pooled
from audits.statistics.sums import ClusterSums, cluster_sums, recentred
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from reports.schema import Estimate


def outcome(credit: list[float] | np.ndarray, metric: str = "accuracy", chance: float = 0.5) -> Outcome:
    values = np.asarray(credit, dtype=float)
    return Outcome(metric, values, values == 0.5, np.isnan(values), np.full(len(values), chance))


def rows_of(found: Outcome, where: Layout, **options: int) -> list[Estimate]:
    return estimates({"s": {found.metric: found}}, where, signatures={"s": "sig"}, **options).rows


def names(count: int, prefix: str = "c") -> list[str]:
    return [f"{prefix}{number}" for number in range(count)]


def test_slices_come_as_subsets_pooled_macro_and_tags() -> None:
    where = Layout("demo", list("xxyyyy"), names(6), {"tier": ["a", "b", "", "a", "a", "b"]})
    found = rows_of(outcome([1, 0, 1, 1, 0, 1]), where)
    primary = [(row.subset, row.tag, row.value, row.n) for row in found if row.primary]
    # x: 1/2. y: 3/4. Pooled 4/6. Macro (1/2 + 3/4) / 2 = 5/8. Tag a: 1, 1, 0; b: 0, 1.
    assert primary == [
        ("x", "", 0.5, 2),
        ("y", "", 0.75, 4),
        ("all", "", pytest.approx(4 / 6), 6),
        ("macro", "", 0.625, 6),
        ("all", "tier=a", pytest.approx(2 / 3), 3),
        ("all", "tier=b", 0.5, 2),
    ]
    assert {row.signature for row in found} == {"sig"}
    assert {row.benchmark for row in found} == {"demo"}


def test_one_subset_has_no_macro_and_no_subsets_have_only_the_pool() -> None:
    credit = outcome([1, 0, 1])
    assert [row.subset for row in rows_of(credit, Layout("d", ["x"] * 3, names(3)))] == ["x", "all"]
    assert [row.subset for row in rows_of(credit, Layout("d", [""] * 3, names(3)))] == ["all"]


def test_single_instances_with_plain_credits_get_wilson_alone() -> None:
    [row] = rows_of(outcome([1] * 8), Layout("d", [""] * 8, names(8)))
    assert (round(row.low, 4), row.high, row.method, row.seed, row.primary) == (0.6756, 1.0, "wilson", -1, True)


def test_repeated_clusters_get_the_bootstrap_with_wilson_beside_it() -> None:
    rng = np.random.default_rng(0)
    credit = (rng.random(400) < 0.5).astype(float)
    first, beside = rows_of(outcome(credit), Layout("d", [""] * 400, names(100) * 4))
    assert (first.primary, first.method, first.seed) == (True, "cluster bootstrap (B=10000)", 42)
    assert (beside.primary, beside.method, beside.seed) == (False, "wilson", -1)
    assert first.value == beside.value == credit.mean()
    assert first.n_clusters == 100


def test_half_credits_never_go_through_wilson_unmarked() -> None:
    credit = np.tile([0.0, 0.5, 1.0, 1.0], 20)
    [row] = rows_of(outcome(credit), Layout("d", [""] * 80, names(80)))
    assert row.method == "cluster bootstrap (B=10000)"
    assert row.ties == 20
    assert row.value == 0.625


def test_few_clusters_get_the_sign_flip_test_and_say_so() -> None:
    rng = np.random.default_rng(1)
    credit = (rng.random(240) < 0.5).astype(float)
    first, beside = rows_of(outcome(credit), Layout("d", [""] * 240, names(12) * 20))
    assert first.method.startswith("sign-flip by cluster (exact)")
    assert first.n_clusters == 12
    assert beside.method == "wilson"


@pytest.mark.parametrize(("clusters", "name"), [(40, "bootstrap"), (8, "sign-flip")])
def test_agreement_of_all_rows_is_wilson_at_the_clusters(clusters: int, name: str) -> None:
    first, _ = rows_of(outcome([1] * 5 * clusters), Layout("d", [""] * 5 * clusters, names(clusters) * 5))
    assert first.method == f"wilson at n = clusters (degenerate {name})"
    # k = n = c: low = c / (c + 1.96^2).
    assert first.low == pytest.approx(clusters / (clusters + 1.959964**2), abs=1e-6)
    assert first.high == 1.0


def test_a_constant_scorer_on_pairs_keeps_some_width() -> None:
    first = rows_of(outcome([0.5] * 100), Layout("d", [""] * 100, names(50) * 2))[0]
    assert first.value == first.chance == 0.5
    assert first.low < 0.5 < first.high
    assert "degenerate" in first.method
    assert first.ties == 100


@pytest.mark.parametrize("credit", [[], [1.0], [np.nan, np.nan], [1.0, np.nan]])
def test_too_few_rows_have_no_bounds(credit: list[float]) -> None:
    found = rows_of(outcome(credit), Layout("d", [""] * len(credit), names(len(credit))))
    for row in found:
        assert isnan(row.low)
        assert isnan(row.high)
        assert "n < 2" in row.method
    assert len(found) == (1 if credit else 0)


def test_unscored_instances_are_left_out_and_counted() -> None:
    [row] = rows_of(outcome([1, np.nan, 0, 1]), Layout("d", [""] * 4, names(4)))
    assert (row.n, row.unscored, row.value, row.n_clusters) == (3, 1, pytest.approx(2 / 3), 3)


def test_undefined_metrics_are_absent_and_do_not_count_as_unscored() -> None:
    scores = [np.array([[1.0, 0.0]]), np.eye(2), np.array([[np.nan, 0.0]])]
    golds = [np.array([[True, False]]), np.eye(2, dtype=bool), np.array([[True, False]])]
    found = outcomes(scores, golds, sees={"text", "image"})
    got = estimates({"s": found}, Layout("d", ["x", "y", "x"], names(3)), signatures={})
    accuracy = [row for row in got.rows if row.metric == "accuracy"]
    assert [(row.subset, row.n, row.unscored) for row in accuracy] == [("x", 1, 1), ("all", 1, 1)]
    assert {row.subset for row in got.rows if row.metric == "group"} == {"y", "all"}


def test_chance_is_the_mean_over_the_instances_that_entered() -> None:
    # 1x2, 1x5 and an unscored 1x4: (1/2 + 1/5) / 2.
    gold = [np.eye(1, size, dtype=bool) for size in (2, 5, 4)]
    scores = [mask.astype(float) for mask in gold]
    scores[2][0, 3] = np.nan
    [row] = estimates({"s": outcomes(scores, gold, sees={"text"})}, Layout("d", [""] * 3, names(3)), signatures={}).rows
    assert row.chance == pytest.approx(0.35)


def test_macro_is_over_the_subsets_that_have_a_value() -> None:
    where = Layout("d", list("xxyyzz"), names(6))
    found = [row for row in rows_of(outcome([1, 1, 0, 1, np.nan, np.nan]), where) if row.subset == "macro"]
    assert [(row.value, row.n, row.unscored) for row in found] == [(0.75, 4, 2)]


def test_macro_of_many_clusters_is_bootstrapped_with_its_own_interval() -> None:
    rng = np.random.default_rng(2)
    credit = (rng.random(300) < np.repeat([0.9, 0.5], [200, 100])).astype(float)
    where = Layout("d", ["big"] * 200 + ["small"] * 100, names(300))
    by_subset = {row.subset: row for row in rows_of(outcome(credit), where) if row.primary}
    assert by_subset["macro"].value == pytest.approx((by_subset["big"].value + by_subset["small"].value) / 2)
    assert by_subset["macro"].method == "cluster bootstrap (B=10000)"
    assert by_subset["macro"].low < by_subset["macro"].value < by_subset["macro"].high


def test_macro_matches_a_loop_over_drawn_clusters() -> None:
    rng = np.random.default_rng(4)
    credit, clusters = (rng.random(240) < 0.5).astype(float), rng.integers(0, 60, size=240)
    subsets = [np.arange(80), np.arange(80, 240)]
    [[found]] = intervals([macro(credit, clusters, subsets)], 60, draws=150, seed=11)
    draw, means = np.random.default_rng(11), []
    for _ in range(150):
        drawn = draw.integers(0, 60, size=60)
        by_subset = [np.concatenate([credit[s][clusters[s] == c] for c in drawn]).mean() for s in subsets]
        means.append(np.mean(by_subset))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))


def test_fixed_differences_between_subsets_do_not_widen_macro() -> None:
    # Half the range lower in one subset: the macro average and its bounds move by 1/4, by bootstrap or by sign-flip.
    rng = np.random.default_rng(8)
    credit, clusters = rng.uniform(0.5, 1.0, size=480), np.arange(480) % 60
    subsets = [np.arange(240), np.arange(240, 480)]
    apart = credit - np.repeat([0.5, 0.0], 240)
    samples = [macro(one, clusters, subsets) for one in (credit, apart)]
    [[even], [moved]] = intervals(samples, 60, draws=500)
    assert even.method == moved.method == "cluster bootstrap (B=500)"
    assert (moved.low, moved.high) == pytest.approx((even.low - 0.25, even.high - 0.25), abs=1e-9)
    even, moved = signflip.intervals([recentred(sample.parts) for sample in samples], draws=500)
    assert (moved.low, moved.high) == pytest.approx((even.low - 0.25, even.high - 0.25), abs=1e-9)


@pytest.mark.parametrize(("scenes", "t", "alone"), [(8, 2.365, 0.07), (20, 2.093, 0.04)])
def test_few_scenes_do_not_make_differences_between_subsets_count(scenes: int, t: float, alone: float) -> None:
    # Every scene of one subset is right in 8 or 9 of 10 rows, of the other in 1 or 2: hardly any variance about the
    # subset's own value, while the subsets lie .7 apart (the test on the uncentred sums is .40 and .23 wide).
    right = np.concatenate([8 + np.arange(scenes) % 2, 1 + np.arange(scenes) % 2])
    credit = np.concatenate([np.repeat([1.0, 0.0], [one, 10 - one]) for one in right])
    clusters, half = np.repeat(np.arange(2 * scenes), 10), 10 * scenes
    sample = macro(credit, clusters, [np.arange(half), np.arange(half, 2 * half)])
    flipped = signflip.interval(recentred(sample.parts), draws=2000)
    assert flipped.high - flipped.low < alone
    # Joined with Wilson's, which counts no more rows than there are: 2 t sqrt(.85 x .15 / n) / sqrt(2).
    [[found]] = intervals([sample], 2 * scenes, draws=2000)
    assert found.method.startswith("sign-flip")
    assert found.high - found.low == pytest.approx(2 * t * np.sqrt(0.85 * 0.15 / half / 2), rel=0.05)


def test_a_subset_near_one_leaves_macro_as_narrow_as_its_rows_are() -> None:
    # Three subsets near 1/2 beside one at .99, in scenes of their own: nearly all variance is theirs.
    rng = np.random.default_rng(9)
    credit = (rng.random(1600) < np.repeat([0.99, 0.5, 0.4, 0.6], 400)).astype(float)
    clusters, subsets = np.arange(1600) // 4, [np.arange(start, start + 400) for start in (0, 400, 800, 1200)]
    [[found]] = intervals([macro(credit, clusters, subsets)], 400, draws=2000)
    assert "joined" in found.method
    # 2 x 1.96 x sqrt(.25 + .24 + .24 + .0099) / sqrt(400) / 4 = .0421.
    assert found.high - found.low == pytest.approx(0.0421, rel=0.15)


def test_macro_with_a_subset_of_one_cluster_keeps_the_differences() -> None:
    column = recentred(
        [cluster_sums(np.array([1.0, 1.0]), np.zeros(2, dtype=int)), cluster_sums(np.zeros(8), np.arange(8))]
    )
    # Half the weight on one cluster that is right, the rest spread over eight that are wrong: nothing is taken away.
    assert column.sums.tolist() == [0.5, 0, 0, 0, 0, 0, 0, 0]
    assert column.value == 0.5


def test_recentred_parts_keep_value_and_weights_and_vary_about_their_own() -> None:
    # Part 1: clusters 0 and 1 with (1, 0) of (1, 1); part 2: clusters 1 and 2 with (3, 1) of (3, 3), p = 2/3. V = 7/12.
    # f = sqrt 2. Cluster 0: 1/4 (V + f / 2); 1: 1/4 (V - f / 2) + 1/12 (3 V + f (3 - 2)); 2: 1/12 (3 V + f (1 - 2)).
    first = ClusterSums(np.array([0, 1]), np.array([1.0, 0.0]), np.array([1.0, 1.0]))
    second = ClusterSums(np.array([1, 2]), np.array([3.0, 1.0]), np.array([3.0, 3.0]))
    found, f, v = recentred([first, second]), 2**0.5, 7 / 12
    assert found.counts.tolist() == [0.25, 0.5, 0.25]
    assert found.sums == pytest.approx([(v + f / 2) / 4, (v - f / 2) / 4 + (3 * v + f) / 12, (3 * v - f) / 12])
    assert found.value == pytest.approx(v)
    assert recentred([first]) is first


def test_rows_do_not_depend_on_what_else_is_estimated() -> None:
    rng = np.random.default_rng(3)
    where = Layout("d", ["x", "y"] * 100, names(50) * 4, {"tier": list("abcd") * 50})
    several = {name: {"accuracy": outcome((rng.random(200) < 0.5).astype(float))} for name in "pqr"}
    together = [row for row in estimates(several, where, signatures={}).rows if row.scorer == "r"]
    assert together == estimates({"r": several["r"]}, where, signatures={}).rows


def test_equal_seeds_give_equal_rows_and_others_do_not() -> None:
    credit = outcome((np.random.default_rng(0).random(200) < 0.5).astype(float))
    where = Layout("d", [""] * 200, names(50) * 4)
    assert rows_of(credit, where, seed=1) == rows_of(credit, where, seed=1)
    assert rows_of(credit, where, seed=1)[0].low != rows_of(credit, where, seed=2)[0].low
    assert rows_of(credit, where, seed=1)[0].seed == 1


def test_tags_with_too_many_values_are_skipped_by_name() -> None:
    where = Layout("d", [""] * 50, names(50), {"id": names(50), "tier": ["a"] * 50, "few": names(40) + [""] * 10})
    found = estimates({"s": {"accuracy": outcome([1] * 50)}}, where, signatures={})
    assert found.skipped_tags == ("id",)
    assert len([row for row in found.rows if row.tag.startswith("few=")]) == 40


def test_names_that_tables_use_are_refused_for_subsets() -> None:
    for clash in ("all", "macro"):
        with pytest.raises(InputError, match="rename the subset"):
            slices(Layout("d", [clash, "x"], names(2)))
    # A file whose every row says `all` means the pool.
    assert slices(Layout("d", ["all"] * 2, names(2))).subsets == []


def test_labels_of_unequal_length_are_refused() -> None:
    with pytest.raises(InputError, match="differ in number"):
        slices(Layout("d", ["x"], names(2)))


def test_labels_are_read_from_instances() -> None:
    def instance(key: str, tier: str) -> Instance:
        tags = {"tier": tier} if tier else {}
        return Instance(key, (ImageRef.absent(),), ("x", "y"), np.array([[True, False]]), subset="s", tags=tags)

    found = layout("demo", [instance("1", "a"), instance("2", "")])
    assert (found.subsets, found.clusters, found.tags) == (["s", "s"], ["1", "2"], {"tier": ["a", ""]})


def test_the_primary_interval_is_one_row_of_each_estimate() -> None:
    rng = np.random.default_rng(5)
    where = Layout("d", list("xyz") * 60, names(30) * 6, {"t": list("ab") * 90})
    found = rows_of(outcome((rng.random(180) < 0.5).astype(float)), where)
    keys = [(row.subset, row.tag) for row in found]
    assert all(sum(row.primary for row in found if (row.subset, row.tag) == key) == 1 for key in keys)


def test_a_sample_knows_its_way() -> None:
    plain, clusters = np.array([1.0, 0.0] * 40), np.arange(80)
    assert pooled(plain[:1], clusters[:1]).way == "none"
    assert pooled(plain, clusters).way == "wilson"
    assert pooled(plain / 2, clusters).way == "bootstrap"
    assert pooled(plain, clusters // 2).way == "bootstrap"
    assert pooled(plain, clusters // 4).way == "sign-flip"
    assert macro(plain, clusters, [np.arange(40), np.arange(40, 80)]).way == "bootstrap"
    assert macro(plain, clusters, [np.arange(20), np.arange(20, 80)]).way == "sign-flip"
