"""Paired differences and the easy / hard split: hand arithmetic, slow definitions, cases without variance."""

from __future__ import annotations

import numpy as np
import pytest

from audits.compared import Entrant, Settings
from audits.contrast import Contrast, contrast
from audits.statistics.facing import facings, judging
from audits.statistics.layout import Layout
from audits.statistics.outcomes import Outcome, outcomes
from audits.statistics.paired import difference_sample, gap_sample, unshifted
from audits.statistics.power import Noise, noise, smallest_visible
from audits.statistics.primary import intervals
from reports.schema import Estimate
from tests.oracles import bootstrap_by_loop

TEXT, BOTH = frozenset({"text"}), frozenset({"text", "image"})


def outcome(credit: list[float] | np.ndarray, chance: float = 0.5) -> Outcome:
    values = np.asarray(credit, dtype=float)
    return Outcome("accuracy", values, values == 0.5, np.isnan(values), np.full(len(values), chance))


def blind(credit: list[float] | np.ndarray, name: str = "blind") -> Entrant:
    return Entrant(name, "blind", TEXT, {"accuracy": outcome(credit)}, "b")


def model(credit: list[float] | np.ndarray, name: str = "model") -> Entrant:
    return Entrant(name, "model", BOTH, {"accuracy": outcome(credit)}, "m")


def layout(clusters: list[int] | np.ndarray, subsets: list[str] | None = None) -> Layout:
    return Layout("demo", subsets or [""] * len(clusters), [str(k) for k in clusters])


def run(*entrants: Entrant, where: Layout, draws: int = 500) -> Contrast:
    return contrast(entrants, where, Settings(draws=draws))


def row(found: Contrast, metric: str, subset: str = "all", against: str = "blind", scorer: str = "model") -> Estimate:
    [one] = [
        one
        for one in found.rows
        if (one.metric, one.subset, one.against, one.scorer, one.primary) == (metric, subset, against, scorer, True)
    ]
    return one


def test_rows_by_hand() -> None:
    where = layout([0, 0, 1, 1, 2, 3], list("xxxyyy"))
    found = run(model([1, 1, 0, 1, 0.5, np.nan]), blind([1, 0, 0, 0.5, 0, 1]), where=where)
    # Differences: 0, 1, 0 | .5, .5, none. x: 1/3. y: 1/2. all: 2/5. macro: (1/3 + 1/2) / 2 = 5/12.
    assert row(found, "excess", "x").value == pytest.approx(1 / 3)
    assert row(found, "excess", "y").value == pytest.approx(1 / 2)
    assert row(found, "excess").value == pytest.approx(2 / 5)
    assert row(found, "excess", "macro").value == pytest.approx(5 / 12)
    # The last instance has no score of the model: five are common, in clusters 0, 1 and 2; two were decided by a tie
    # (one of the model, one of the baseline); one is unscored.
    one = row(found, "excess")
    assert (one.n, one.n_clusters, one.ties, one.unscored) == (5, 3, 2, 1)
    assert np.isnan(one.chance)
    # The baseline is right on instance 0 (and 5), tied on 3, wrong on 1, 2 and 4.
    assert row(found, "accuracy_easy").value == 1
    assert row(found, "accuracy_tie").value == 1
    assert row(found, "accuracy_hard").value == pytest.approx((1 + 0 + 0.5) / 3)
    assert row(found, "easy_hard_gap").value == pytest.approx(1 - 0.5)


def test_the_interval_of_a_difference_is_the_paired_cluster_bootstrap() -> None:
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 40, size=300)
    values = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=300)
    sample = difference_sample(values, clusters)
    [[plain, *_]] = intervals([sample], 40, draws=300, seed=3)
    found = unshifted(plain, sample)
    drawn = bootstrap_by_loop(values, clusters, draws=300, seed=3)
    assert found[:2] == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))


def test_the_interval_of_a_gap_is_the_bootstrap_of_both_means_in_the_same_draws() -> None:
    rng = np.random.default_rng(1)
    clusters = rng.integers(0, 60, size=600)
    credit, easy = (rng.random(600) < 0.6).astype(float), rng.random(600) < 0.5
    sample = gap_sample(credit, clusters, np.flatnonzero(easy), np.flatnonzero(~easy))
    [[plain, *_]] = intervals([sample], 60, draws=200, seed=4)
    means = [bootstrap_by_loop(np.where(part, credit, np.nan), clusters, draws=200, seed=4) for part in (easy, ~easy)]
    assert unshifted(plain, sample)[:2] == pytest.approx(tuple(np.quantile(means[0] - means[1], [0.025, 0.975])))


@pytest.mark.parametrize("clusters", [12, 50])
def test_a_model_that_copies_a_blind_baseline(clusters: int) -> None:
    credit = (np.random.default_rng(2).random(200) < 0.7).astype(float)
    found = run(model(credit), blind(credit), where=layout(np.arange(200) % clusters))
    one = row(found, "excess")
    assert (one.value, one.p) == (0, 1)
    assert one.low == -one.high
    assert 0 < one.high < 0.3  # z^2 / (c + z^2): .24 with 12 clusters, .07 with 50
    gap = row(found, "easy_hard_gap")
    assert (gap.value, gap.high) == (1, 1)
    assert 0.3 < gap.low < 1
    assert row(found, "accuracy_easy").value == 1
    assert row(found, "accuracy_hard").value == 0


def test_a_constant_model_stands_at_half_against_whatever() -> None:
    credit = (np.random.default_rng(3).random(80) < 0.7).astype(float)
    found = run(model(np.full(80, 0.5)), blind(credit), where=layout(np.arange(80)))
    assert row(found, "excess").value == pytest.approx(0.5 - credit.mean())
    assert row(found, "easy_hard_gap").value == 0
    assert found.adjusted["model", "", "accuracy", "all"] == 1


def test_a_baseline_that_only_ties_is_in_no_family() -> None:
    found = run(model([1, 0, 1, 1]), blind([0.5] * 4), where=layout(range(4)))
    assert found.family is not None
    assert found.family["size"] == 1
    assert [one.metric for one in found.rows] == []


def test_the_only_subset_is_tested_once() -> None:
    rng = np.random.default_rng(6)
    columns = [model(rng.integers(0, 2, 60)), blind(rng.integers(0, 2, 60))]
    clusters = np.arange(60) // 2
    one, none, two = (run(*columns, where=layout(clusters, subsets)) for subsets in (["x"] * 60, None, ["x", "y"] * 30))
    # Model and baseline against chance, and against each other; on two subsets and pooled that is nine tests.
    assert [found.family["size"] for found in (one, none, two) if found.family] == [3, 3, 9]
    for key, p in none.adjusted.items():
        assert one.adjusted[key] == one.adjusted[(*key[:3], "x")] == p
    assert row(one, "excess", "x").p == row(one, "excess").p


def test_nothing_to_test_has_no_family() -> None:
    assert run(blind([0.5] * 4), where=layout(range(4))) == Contrast([], {}, None)


def test_unscored_instances_are_left_out_pairwise() -> None:
    credit = np.array([1.0, 0, 1, 1, 0, 1, 1, 0])
    gaps = np.array([np.nan, 0, 1, 0, np.nan, 1, 0, 1])
    found = run(model(credit), blind(gaps), blind(1 - gaps, "other"), where=layout(range(8)))
    kept = ~np.isnan(gaps)
    one = row(found, "excess")
    assert (one.value, one.n, one.unscored) == (pytest.approx(np.mean((credit - gaps)[kept])), 6, 2)
    nothing = run(model(np.full(8, np.nan)), blind(gaps), where=layout(range(8)))
    assert [one.metric for one in nothing.rows] == ["smallest_visible", "equivalence_bound"]


def test_order_of_instances_and_of_contestants_changes_no_row() -> None:
    rng = np.random.default_rng(5)
    credit, clusters = rng.choice([0.0, 0.5, 1.0], size=(60, 3)), np.sort(rng.integers(0, 35, size=60))
    panel = [model(credit[:, 0]), blind(credit[:, 1]), blind(credit[:, 2], "other")]
    plain = run(*panel, where=layout(clusters))
    # Instances move within their clusters, so that cluster codes and with them the draws stay the same.
    moved_rows = np.lexsort((rng.random(60), clusters))
    moved = [
        Entrant(one.name, one.kind, one.sees, {"accuracy": outcome(one.outcomes["accuracy"].credit[moved_rows])})
        for one in panel[::-1]
    ]
    again = run(*moved, where=layout(clusters[moved_rows]))

    def key(one: Estimate) -> tuple[str, ...]:
        return (one.scorer, one.against, one.metric, one.subset, str(one.primary))

    for one, other in zip(sorted(plain.rows, key=key), sorted(again.rows, key=key), strict=True):
        assert key(one) == key(other)
        np.testing.assert_allclose([one.value, one.low, one.high, one.p], [other.value, other.low, other.high, other.p])


def test_mcnemar_stands_beside_only_where_clusters_are_single_instances() -> None:
    credit = [1.0, 1, 1, 1, 1, 1, 0, 0]
    judge = [0.0, 0, 0, 0, 0, 0, 0, 1]
    alone = run(model(credit), blind(judge), where=layout(range(8)))
    [exact] = [one for one in alone.rows if one.metric == "excess" and not one.primary]
    # Six instances only the model has right, one only the baseline: p = 2 (1 + 7) / 2^7 = 1/8, alone in its family.
    assert (exact.p, exact.method) == (0.125, "mcnemar exact, p by Holm over 1")
    repeated = run(model(credit), blind(judge), where=layout([0, 0, 1, 2, 3, 4, 5, 6]))
    assert all(one.primary for one in repeated.rows)


def test_text_only_faces_the_choice_of_caption_on_2x2_and_never_a_strict_metric() -> None:
    rng = np.random.default_rng(7)
    gold = [np.eye(2, dtype=bool)] * 40
    texts = np.broadcast_to(rng.normal(size=(40, 1, 2)), (40, 2, 2))
    seen = outcomes(list(rng.normal(size=(40, 2, 2)) + np.eye(2)), gold, sees=BOTH)
    judge = Entrant("blind", "blind", TEXT, outcomes(list(texts), gold, sees=TEXT))
    found = run(Entrant("model", "model", BOTH, seen), judge, where=layout(range(40)))
    preference = judge.outcomes["caption_preference"].credit
    assert row(found, "excess").value == pytest.approx(np.mean(seen["i2t_base"].credit - preference))
    assert row(found, "easy_hard_gap").value == row(found, "easy_hard_gap_base").value
    at_foil = seen["i2t_foil"].credit
    expected = at_foil[preference == 1].mean() - at_foil[preference == 0].mean()
    assert row(found, "easy_hard_gap_foil").value == pytest.approx(expected)
    assert {key[2] for key in found.adjusted} == {"caption_preference", "i2t_base", "excess"}


def test_a_model_that_follows_a_text_prior_is_right_at_the_base_and_wrong_at_the_foil() -> None:
    # The model's score is the text's alone plus nothing of the image: where the text picks the base caption, it is
    # right at the base image and wrong at the foil image. Gaps: +1 and -1.
    rng = np.random.default_rng(8)
    gold = [np.eye(2, dtype=bool)] * 50
    texts = list(np.broadcast_to(rng.normal(size=(50, 1, 2)), (50, 2, 2)))
    judge = Entrant("blind", "blind", TEXT, outcomes(texts, gold, sees=TEXT))
    found = run(Entrant("model", "model", BOTH, outcomes(texts, gold, sees=BOTH)), judge, where=layout(range(50)))
    assert row(found, "easy_hard_gap_base").value == 1
    assert row(found, "easy_hard_gap_foil").value == -1


def test_an_image_only_baseline_faces_the_choice_of_image() -> None:
    names = [one.judge for one in facings({"image"}, "group")]
    assert "image_preference" in names
    assert not {"i2t", "t2i", "group", "group_match", "caption_preference"} & set(names)


def test_a_text_only_baseline_of_choices_between_images_cannot_differ() -> None:
    gold = [np.array([[True], [False]])] * 3
    scores = [np.full((2, 1), value) for value in (0.1, 0.5, 0.9)]
    assert judging(TEXT, outcomes(scores, gold, sees=TEXT), "accuracy") is None


def test_the_rule_of_the_card_decides_where_there_are_several_positives() -> None:
    gold = [np.array([[True, True, False]])] * 3
    found = outcomes([np.array([[3.0, 1.0, 2.0]])] * 3, gold, sees=TEXT)
    for primary in ("accuracy_all", "accuracy_any"):
        facing = judging(TEXT, found, primary)
        assert facing is not None
        assert facing.judge == facing.model == primary


def test_format_bias_is_raw_minus_normalised_even_where_the_normalised_form_only_ties() -> None:
    raw = np.array([1.0, 1, 1, 0, 1, 1, 1, 1])
    found = run(blind(raw, "cues:raw:any"), blind(np.full(8, 0.5), "cues:normalised:any"), where=layout(range(8)))
    one = row(found, "format_bias", against="cues:normalised:any", scorer="cues:raw:any")
    assert one.value == 7 / 8 - 1 / 2
    assert np.isnan(one.p)


def test_smallest_visible_by_hand() -> None:
    # 400 independent pairs: error = sqrt(1/4 / 400) = .025; (1.96 + .84) .025 = .07.
    credit = np.tile([0.0, 1.0], 200)
    found = noise(credit - 0.5, np.arange(400))
    assert (found.error, found.design) == (pytest.approx(0.025), pytest.approx(1.0))
    assert smallest_visible(found, 1.96) == pytest.approx(0.07, abs=0.001)


def test_clusters_that_agree_make_a_shortcut_harder_to_see() -> None:
    # Ten clusters of four equal rows are ten rows: 10/9 * 10 * 2^2 by cluster against 40/39 * 40 * .5^2 by row.
    credit = np.repeat(np.tile([0.0, 1.0], 5), 4)
    found = noise(credit - 0.5, np.repeat(np.arange(10), 4))
    assert found.design == pytest.approx(4 * 10 / 9 * 39 / 40)
    assert smallest_visible(found, 2.0) > smallest_visible(noise(credit - 0.5, np.arange(40)), 2.0)


def test_what_cannot_be_known_is_nan_or_infinite() -> None:
    assert np.isnan(noise(np.array([0.5, 0.5]), np.zeros(2, dtype=np.int64)).error)
    assert smallest_visible(Noise(0.1, 1.0, 6), 2.5) == np.inf  # |t| cannot exceed sqrt(6) = 2.449


def test_share_of_the_score_above_chance_by_hand() -> None:
    # The model is right in 12 of 16, .25 above chance; the baseline in 10, .125 above: half of it.
    ours = [1.0] * 12 + [0.0] * 4
    theirs = [1.0] * 10 + [0.0] * 6
    found = row(run(model(ours), blind(theirs), where=layout(range(16))), "share_of_above_chance")
    assert found.value == pytest.approx(0.5)
    assert found.low < 0.5 < found.high
    assert found.method == "fieller, linearised by cluster"


def test_a_share_of_nothing_has_no_row() -> None:
    found = run(model([1.0, 0.0] * 8), blind([1.0] * 10 + [0.0] * 6), where=layout(range(16)))
    assert not [one for one in found.rows if one.metric == "share_of_above_chance"]
