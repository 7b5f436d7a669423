"""Upstream's own metrics, by hand: pairs, sets, ranks, thresholds and means over relations."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from audits.dataset import Roster
from audits.statistics.layout import Layout
from audits.statistics.outcomes import outcomes
from audits.upstream.collect import METRICS, upstream
from audits.upstream.view import Options, View
from benchmarks.errors import InputError
from benchmarks.schema import Shape
from reports.schema import Estimate, Finding

LINE = np.array([[True, False]])
FOUR = np.array([[True, False, False, False]])
SQUARE = np.eye(2, dtype=bool)


def view(scores, golds, *, groups=None, tags=None, sees=("text", "image"), threshold=None, subsets=None, clusters=None):
    size = len(golds)
    labels = Layout("demo", subsets or [""] * size, clusters or [f"c{row}" for row in range(size)], tags or {})
    names = [f"i{row}" for row in range(size)]
    roster = Roster(names, groups or [""] * size, golds, [Shape(*gold.shape) for gold in golds], labels)
    scores = [np.array(one, dtype=float).reshape(gold.shape) for one, gold in zip(scores, golds, strict=True)]
    found = outcomes(scores, golds, sees=set(sees))
    return View("s", found, roster, scores, 0.0, threshold, "sig", Options(200, 0, 0.95))


def run(name, of):
    made = list(METRICS[name](name, of))
    rows = [one for one in made if isinstance(one, Estimate)]
    assert all(row.metric == name for row in rows)
    return rows, [one for one in made if isinstance(one, Finding)]


def value(name, of, subset="all"):
    rows, _ = run(name, of)
    [row] = [row for row in rows if row.subset == subset and row.primary]
    return row


def test_pairs_and_sets_of_whats_up():
    # Set x: left right, right right, on right, under wrong: one of two pairs, no set.
    # Set y: all four right: two pairs, a set. So 3 of 4 pairs and 1 of 2 sets; 7 of 8 photos.
    good, bad = [0.9, 0.1, 0.2, 0.3], [0.1, 0.9, 0.2, 0.3]
    scores = [good, good, good, bad, good, good, good, good]
    axis = ["left_right", "left_right", "on_under", "on_under"] * 2
    of = view(scores, [FOUR] * 8, groups=list("xxxxyyyy"), tags={"axis": axis}, clusters=list("xxxxyyyy"))
    assert of.outcomes["accuracy"].credit.mean() == 7 / 8
    pair, whole = value("pair_accuracy", of), value("set_accuracy", of)
    assert (pair.value, pair.n, pair.n_clusters) == (0.75, 4, 2)
    assert (whole.value, whole.n) == (0.5, 2)
    # Each photo is chosen among four captions: two of them 1/16, four 1/256.
    assert (pair.chance, whole.chance) == (1 / 16, 1 / 256)


def test_a_scorer_without_image_never_gets_a_pair_of_photos_that_share_their_captions():
    # It prefers one caption for all four photos: right once per set.
    scores = np.roll(np.eye(4), 1, axis=0)
    order = [[scores[0][(place + turn) % 4] for place in range(4)] for turn in range(4)]
    of = view(order, [FOUR] * 4, groups=["x"] * 4, tags={"axis": ["a", "a", "b", "b"]}, sees=("text",))
    assert of.outcomes["accuracy"].credit.sum() == 1
    assert value("pair_accuracy", of).value == value("set_accuracy", of).value == 0


def test_a_tie_is_no_right_answer_of_a_pair():
    tied = [0.5, 0.5, 0.2, 0.3]
    of = view([tied, [0.9, 0, 0, 0]], [FOUR] * 2, groups=["x", "x"], tags={"axis": ["a", "a"]})
    row = value("pair_accuracy", of)
    assert (row.value, row.ties) == (0.0, 1)


def test_incomplete_groups_are_listed_and_left_out():
    # The issue behind case E2: pair 1 right, right; pair 2 right, wrong; pair 3 right, and its other row is missing.
    good, bad = [1, 0, 0, 0], [0, 1, 0, 0]
    of = view([good, good, good, bad, good], [FOUR] * 5, groups=list("11223"), tags={"axis": ["a"] * 5})
    assert of.outcomes["accuracy"].credit.mean() == 0.8
    rows, findings = run("pair_accuracy", of)
    assert [(row.value, row.n) for row in rows if row.primary and row.subset == "all"] == [(0.5, 2)]
    [finding] = findings
    assert finding.instances == ("i4",)
    assert "1 of 3 groups" in finding.sentence


def test_a_missing_score_makes_its_group_incomplete():
    of = view([[1, 0, 0, 0], [np.nan, 0, 0, 0]], [FOUR] * 2, groups=["x", "x"], tags={"axis": ["a", "a"]})
    rows, findings = run("pair_accuracy", of)
    assert all(math.isnan(row.value) for row in rows)
    assert findings[0].values["incomplete"] == 1


def test_groups_of_two_subsets_with_one_name_are_two_groups():
    of = view([[1, 0]] * 4, [LINE] * 4, groups=["x"] * 4, subsets=["a", "a", "b", "b"])
    row = value("TOT", of)
    assert (row.value, row.n) == (1.0, 2)
    assert value("TOT", of, "a").n == 1


def test_itt_is_strict_and_has_chance_one_third():
    gold = np.array([[True, True, False]])
    # Both above; one below; one level with the foil.
    of = view([[0.9, 0.8, 0.1], [0.9, 0.1, 0.5], [0.9, 0.5, 0.5]], [gold] * 3)
    row = value("ITT", of)
    assert row.value == pytest.approx(1 / 3)
    assert row.chance == pytest.approx(1 / 3)
    assert of.outcomes["accuracy_all"].credit.tolist() == [1.0, 0.0, 0.5]


def test_both_questions_of_an_item_decide_tot():
    of = view([[1, 0], [1, 0], [1, 0], [0, 1]], [LINE] * 4, groups=list("xxyy"))
    row = value("TOT", of)
    assert (row.value, row.chance, row.n) == (0.5, 0.25, 2)


def test_sentences_of_a_bla_set():
    gold = np.array([[True, True, False, False]])
    # Order T F T F: one of two true ones in the upper half. Order T T F F: both. All level: 2 of 4 places, one half.
    of = view([[4, 2, 3, 1], [4, 3, 2, 1], [0, 0, 0, 0]], [gold] * 3)
    row = value("sentence_accuracy", of)
    assert row.value == pytest.approx((0.5 + 1 + 0.5) / 3)
    assert row.chance == 0.5
    whole = value("sentence_set_accuracy", of)
    assert whole.value == pytest.approx(1 / 3)
    assert whole.chance == pytest.approx(1 / 6)


def test_ranks_and_recall_of_crepe():
    gold = np.array([[True] + [False] * 4])
    # Ranks 1, 2, 5, and one level with two others behind one: places 2, 3, 4, so rank 3.
    scores = [[5, 1, 2, 3, 4], [4, 5, 1, 2, 3], [0, 5, 1, 2, 3], [2, 5, 2, 2, 0]]
    of = view(scores, [gold] * 4)
    assert value("mean_rank", of).value == pytest.approx((1 + 2 + 5 + 3) / 4)
    assert value("mean_rank", of).chance == pytest.approx(3)
    assert value("R@1", of).value == 1 / 4
    # Within three: two for sure, and two of the three places of the tie.
    assert value("R@3", of).value == pytest.approx((1 + 1 + 0 + 2 / 3) / 4)
    assert [value(f"R@{k}", of).chance for k in (1, 3, 5, 10)] == pytest.approx([0.2, 0.6, 1, 1])
    low, high = value("mean_rank", of).low, value("mean_rank", of).high
    assert 1 <= low <= 2.75 <= high <= 5


def median_by_upstream(ranks):
    return math.floor(np.median(np.array(ranks) - 1)) + 1


@pytest.mark.parametrize("ranks", [[1, 2, 5], [1, 4], [1, 1, 2, 5], [2, 3], [5, 5, 1, 1], [3], [1, 2, 4, 5, 5]])
def test_the_median_rank_is_upstreams(ranks):
    gold = np.array([[True] + [False] * 4])
    scores = [[0.0, *[1.0] * (rank - 1), *[-1.0] * (5 - rank)] for rank in ranks]
    assert value("median_rank", view(scores, [gold] * len(ranks))).value == median_by_upstream(ranks)


def test_the_median_rank_has_an_interval_by_cluster():
    gold = np.array([[True] + [False] * 4])
    scores = [[0.0, *[1.0] * (rank - 1), *[-1.0] * (5 - rank)] for rank in [1] * 40 + [2] * 30 + [5] * 30]
    row = value("median_rank", view(scores, [gold] * 100))
    assert row.value == 2
    assert 1 <= row.low <= 2 <= row.high <= 5
    assert row.n == row.n_clusters == 100
    assert math.isnan(row.chance)


def test_the_four_scores_of_naturalbench():
    # Question 0: both images right. Question 1: image 0 right, image 1 wrong. Second sample: all four right.
    right, half = [[0.9, 0.1], [0.1, 0.9]], [[0.9, 0.1], [0.8, 0.2]]
    of = view([right, half, right, right], [SQUARE] * 4, groups=list("xxyy"))
    got = {name: value(name, of).value for name in ("Acc", "Q_Acc", "I_Acc", "G_Acc")}
    # 7 of 8 answers; 3 of 4 questions; images 0 and 1 of y and image 0 of x: 3 of 4; 1 of 2 samples.
    assert got == {"Acc": 7 / 8, "Q_Acc": 3 / 4, "I_Acc": 3 / 4, "G_Acc": 1 / 2}
    chances = {name: value(name, of).chance for name in got}
    assert chances == {"Acc": 0.5, "Q_Acc": 0.25, "I_Acc": 0.25, "G_Acc": 1 / 16}


def test_single_answers_are_absent_for_a_scorer_that_sees_one_side():
    of = view([[[1, 0], [1, 0]]], [SQUARE], groups=["x"], sees=("text",))
    assert run("Acc", of) == run("I_Acc", of) == ([], [])


def test_the_pair_of_mmvp_chooses_the_image():
    # Both statements choose their image; then statement 1 chooses image 0.
    of = view([[[0.9, 0.1], [0.1, 0.9]], [[0.9, 0.8], [0.1, 0.7]]], [SQUARE] * 2)
    row = value("mmvp_pair", of)
    assert (row.value, row.chance) == (0.5, 0.25)


def test_decisions_of_valse():
    # Captions .9, .4, .6; foils .2, .6, .6. Above the foil: yes, no, level (which counts as wrong upstream).
    of = view([[0.9, 0.2], [0.4, 0.6], [0.6, 0.6]], [LINE] * 3, threshold=0.5)
    assert value("acc_r", of).value == pytest.approx(1 / 3)
    assert value("p_c", of).value == pytest.approx(2 / 3)
    assert value("p_f", of).value == pytest.approx(1 / 3)
    assert value("acc", of).value == pytest.approx(0.5)
    assert value("min_pc_pf", of).value == pytest.approx(1 / 3)


def test_decisions_at_a_threshold_are_absent_without_one():
    of = view([[0.9, 0.2]], [LINE])
    assert run("p_c", of) == run("acc", of) == run("min_pc_pf", of) == ([], [])
    assert value("acc_r", of).value == 1


def test_macro_over_relations():
    # on: 3 of 4; under: 0 of 1. Mean of the two .375, where the pooled accuracy is .6.
    of = view([[1, 0]] * 3 + [[0, 1]] * 2, [LINE] * 5, tags={"relation": ["on"] * 3 + ["on", "under"]})
    row = value("aro_macro", of)
    assert (row.value, row.n, row.chance) == (0.375, 5, 0.5)


def test_pairs_of_attributes_with_few_cases_are_not_in_the_mean():
    tags = {"attributes": ["red_old"] * 25 + ["new_wet"] * 24}
    of = view([[1, 0]] * 20 + [[0, 1]] * 29, [LINE] * 49, tags=tags)
    row = value("aro_macro_25", of)
    assert (row.value, row.n) == (0.8, 25)


def test_no_scores_no_ranks():
    of = view([[1, 0]], [LINE])
    bare = View(of.scorer, of.outcomes, of.roster, None, 0.0, None, "", of.options)
    assert list(METRICS["mean_rank"]("mean_rank", bare)) == list(METRICS["R@1"]("R@1", bare)) == []
    assert list(METRICS["median_rank"]("median_rank", bare)) == []


def test_an_unknown_name_is_refused_with_near_ones():
    with pytest.raises(InputError, match="did you mean pair_accuracy"):
        upstream(["pair_acuracy"], [], SimpleNamespace(), {}, {})


def test_every_metric_is_named_by_a_card_or_known():
    assert {"pair_accuracy", "set_accuracy", "ITT", "TOT", "mean_rank", "R@10", "I_Acc", "p_f", "aro_macro"} <= set(
        METRICS
    )
