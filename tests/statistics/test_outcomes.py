"""Outcomes by shape: the constant scorer, the perfect one, ties, gaps, and any order of options."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.statistics.chance import CHANCE_2X2, forced, pick
from audits.statistics.decisions import average, choose, duel, single, standing
from audits.statistics.outcomes import outcomes, patterns
from benchmarks.errors import InputError
from tests.oracles import expected_credit, group_match_by_assignments

BOTH, TEXT, IMAGE = {"text", "image"}, {"text"}, {"image"}
PAIR = np.eye(2, dtype=bool)
RULES = ("all", "any", "mean")


def row(*gold: int) -> np.ndarray:
    return np.array([gold], dtype=bool)


SHAPES = {
    "1x2": row(1, 0),
    "1x2 the other way": row(0, 1),
    "1x5": row(0, 0, 1, 0, 0),
    "2x1": row(0, 1).T,
    "5x1": row(1, 0, 0, 0, 0).T,
    "1x4 two positives": row(1, 0, 1, 0),
    "4x1 three positives": row(1, 1, 0, 1).T,
    "2x2": PAIR,
    "2x2 crossed": PAIR[::-1],
    "3x3": np.eye(3, dtype=bool),
    "2x3": np.array([[1, 0, 1], [0, 1, 0]], dtype=bool),
    "2x2 one empty image": np.array([[1, 0], [0, 0]], dtype=bool),
}


@pytest.mark.parametrize("gold", list(SHAPES.values()), ids=list(SHAPES))
def test_perfect_scorer_gets_one_everywhere(gold: np.ndarray) -> None:
    for outcome in outcomes([gold.astype(float)], [gold], sees=BOTH).values():
        assert outcome.credit.tolist() == [1.0]
        assert not outcome.tie.any()


@pytest.mark.parametrize("gold", list(SHAPES.values()), ids=list(SHAPES))
@pytest.mark.parametrize("level", [0.0, -3.5, 0.1])
def test_constant_scorer_gets_exactly_chance_and_fails_strictly(gold: np.ndarray, level: float) -> None:
    for metric, outcome in outcomes([np.full(gold.shape, level)], [gold], sees=BOTH).items():
        expected = 0.0 if metric in ("i2t", "t2i", "group") else outcome.chance[0]
        assert outcome.credit[0] == expected
        assert outcome.tie.tolist() == [True]


def test_metrics_by_shape() -> None:
    names = {name: sorted(outcomes([gold.astype(float)], [gold], sees=BOTH)) for name, gold in SHAPES.items()}
    assert names["1x5"] == names["2x1"] == ["accuracy"]
    assert names["1x4 two positives"] == ["accuracy_all", "accuracy_any", "accuracy_mean"]
    singles = ["i2t_base", "i2t_foil", "t2i_base", "t2i_foil"]
    assert names["2x2"] == names["2x2 crossed"] == sorted(["i2t", "t2i", "group", "group_match", *singles])
    assert names["3x3"] == names["2x3"] == names["2x2 one empty image"] == ["i2t_mean", "t2i_mean"]


def test_a_blind_scorer_has_preferences_instead_of_single_decisions() -> None:
    text = outcomes([np.array([[2.0, 1.0]] * 2)], [PAIR], sees=TEXT)
    assert sorted(text) == ["caption_preference", "group", "group_match", "i2t", "t2i"]
    image = outcomes([np.array([[1.0, 1.0], [2.0, 2.0]])], [PAIR], sees=IMAGE)
    assert sorted(image) == ["group", "group_match", "i2t", "image_preference", "t2i"]
    # The text scorer prefers the base caption, the image scorer the foil image; both fail the strict metrics.
    assert text["caption_preference"].credit.tolist() == [1.0]
    assert image["image_preference"].credit.tolist() == [0.0]
    for found, sees in ((text, TEXT), (image, IMAGE)):
        for metric in ("i2t", "t2i", "group", "group_match"):
            assert found[metric].credit[0] == forced(metric, sees)


def test_preference_follows_gold_and_not_position() -> None:
    # Crossed gold: image 0 goes with caption 1, so caption 1 is the base caption.
    found = outcomes([np.array([[1.0, 2.0]] * 2)], [PAIR[::-1]], sees=TEXT)
    assert found["caption_preference"].credit.tolist() == [1.0]


def test_a_blind_scorer_is_at_chance_where_the_options_are_on_the_other_side() -> None:
    text = outcomes([np.array([[3.0], [3.0], [3.0]])], [row(0, 1, 0).T], sees=TEXT)["accuracy"]
    image = outcomes([np.array([[3.0, 3.0]])], [row(1, 0)], sees=IMAGE)["accuracy"]
    assert (text.credit[0], image.credit[0]) == (1 / 3, 1 / 2)
    assert text.tie[0]
    assert image.tie[0]


def test_strict_metrics_by_hand() -> None:
    # s = [[.9, .2], [.8, .5]]: image 0 picks caption 0 (.9 > .2), image 1 picks caption 0 (.8 > .5): I2T fails.
    # Caption 0 picks image 0 (.9 > .8), caption 1 picks image 1 (.5 > .2): T2I holds. Group needs both: fails.
    # Sums: .9 + .5 = 1.4 against .2 + .8 = 1.0: GroupMatch holds.
    found = outcomes([np.array([[0.9, 0.2], [0.8, 0.5]])], [PAIR], sees=BOTH)
    assert {name: float(outcome.credit[0]) for name, outcome in found.items()} == {
        "i2t": 0, "t2i": 1, "group": 0, "group_match": 1,
        "i2t_base": 1, "i2t_foil": 0, "t2i_base": 1, "t2i_foil": 1,
    }  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.integers(0, 2), min_size=4, max_size=4), st.booleans())
def test_pairing_matches_its_definition(cells: list[int], crossed: bool) -> None:
    scores, gold = np.array(cells, dtype=float).reshape(2, 2), PAIR[::-1] if crossed else PAIR
    found = outcomes([scores], [gold], sees=BOTH)
    assert found["group"].credit[0] == float(scores[gold].min() > scores[~gold].max())
    assert found["group_match"].credit[0] == group_match_by_assignments(scores, gold)
    assert found["group"].credit[0] == found["i2t"].credit[0] * found["t2i"].credit[0]


@settings(deadline=None)
@given(st.data())
def test_credit_is_the_expectation_over_tie_breaks(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 6))
    scores = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    gold = data.draw(st.lists(st.booleans(), min_size=size, max_size=size).filter(lambda g: 0 < sum(g) < size))
    where = standing(np.array([scores], dtype=float), np.array(gold))
    for rule in RULES:
        assert choose(where, rule).credit[0] == pytest.approx(expected_credit(scores, gold, rule), abs=1e-12)


@pytest.mark.parametrize(("positives", "foils"), list(product((1, 2, 3), (1, 2, 3))))
def test_chance_is_the_mean_over_all_orderings(positives: int, foils: int) -> None:
    # A constant scorer leaves the order to the tie-break, so its expectation over orderings is chance.
    gold = [True] * positives + [False] * foils
    for rule in RULES:
        assert pick(positives, foils, rule) == pytest.approx(expected_credit([0.0] * len(gold), gold, rule))


def test_chance_of_2x2_by_simulation_of_exchangeable_scores() -> None:
    scores = list(np.random.default_rng(3).normal(size=(60_000, 2, 2)))
    found = outcomes(scores, [PAIR] * len(scores), sees=BOTH)
    for metric, outcome in found.items():
        # Standard error of a proportion at n = 60,000 is at most .002; four of them.
        assert outcome.credit.mean() == pytest.approx(CHANCE_2X2[metric], abs=0.0082)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(SHAPES.values())), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5]))
def test_order_of_options_and_shifts_change_nothing(gold: np.ndarray, seed: int, tolerance: float) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, size=gold.shape).astype(float)
    rows, cols = rng.permutation(gold.shape[0]), rng.permutation(gold.shape[1])
    plain = outcomes([scores], [gold], sees=BOTH, tolerance=tolerance)
    moved = outcomes([scores[rows][:, cols] + 7], [gold[rows][:, cols]], sees=BOTH, tolerance=tolerance)
    for metric in plain.keys() - {"i2t_base", "i2t_foil", "t2i_base", "t2i_foil"}:
        # Base and foil are names of sides: they follow image 0, so only the captions' order is free there.
        # Means over another order of rows may differ in the last bit.
        np.testing.assert_allclose(plain[metric].credit, moved[metric].credit, rtol=0, atol=1e-12)
        assert plain[metric].tie.tolist() == moved[metric].tie.tolist()
    captions = outcomes([scores[:, cols]], [gold[:, cols]], sees=BOTH, tolerance=tolerance)
    assert {m: o.credit.tolist() for m, o in captions.items()} == {m: o.credit.tolist() for m, o in plain.items()}


@pytest.mark.parametrize("gap", [np.nan, np.inf, -np.inf])
def test_a_missing_score_is_unscored_and_never_a_loss(gap: float) -> None:
    found = outcomes([np.array([[1.0, gap]]), np.array([[1.0, 0.0]])], [row(1, 0)] * 2, sees=TEXT)["accuracy"]
    assert np.isnan(found.credit[0])
    assert found.unscored.tolist() == [True, False]
    assert found.chance.tolist() == [0.5, 0.5]
    assert not found.tie.any()


@pytest.mark.parametrize("gap", [np.nan, np.inf])
def test_a_missing_cell_of_2x2_spares_the_comparisons_that_do_not_need_it(gap: float) -> None:
    found = outcomes([np.array([[0.9, 0.1], [0.2, gap]])], [PAIR], sees=BOTH)
    unscored = {metric for metric, outcome in found.items() if outcome.unscored[0]}
    assert unscored == {"i2t", "t2i", "group", "group_match", "i2t_foil", "t2i_foil"}
    assert all(np.isnan(found[metric].credit[0]) for metric in unscored)
    assert found["i2t_base"].credit[0] == found["t2i_base"].credit[0] == 1


def test_mixed_shapes_keep_undefined_apart_from_unscored() -> None:
    scores = [np.array([[1.0, 0.0]]), PAIR.astype(float), np.array([[0.3, 0.2, 0.25]]), np.array([[np.nan, 0.0]])]
    found = outcomes(scores, [row(1, 0), PAIR, row(1, 1, 0), row(1, 0)], sees=BOTH)
    accuracy = found["accuracy"]
    assert np.isnan(accuracy.credit).tolist() == [False, True, True, True]
    assert accuracy.unscored.tolist() == [False, False, False, True]
    assert np.isnan(accuracy.chance).tolist() == [False, True, True, False]
    assert [found[f"accuracy_{rule}"].credit[2] for rule in RULES] == [0.0, 1.0, 0.5]
    assert found["accuracy_all"].chance[2] == pytest.approx(1 / 3)


def test_tolerance_turns_near_equality_into_ties() -> None:
    scores = [np.array([[0.3, 0.3 + 1e-12]])]
    assert outcomes(scores, [row(1, 0)], sees=TEXT)["accuracy"].credit.tolist() == [0.0]
    assert outcomes(scores, [row(1, 0)], sees=TEXT, tolerance=1e-9)["accuracy"].credit.tolist() == [0.5]


def test_a_strict_tie_is_marked_only_where_nothing_was_lost() -> None:
    tied_and_won = np.array([[1.0, 1.0], [0.0, 2.0]])
    tied_and_lost = np.array([[1.0, 1.0], [2.0, 0.0]])
    found = outcomes([tied_and_won, tied_and_lost], [PAIR] * 2, sees=BOTH)["i2t"]
    assert found.credit.tolist() == [0.0, 0.0]
    assert found.tie.tolist() == [True, False]


def test_other_shapes_average_over_their_questions() -> None:
    # 2x3, gold rows {0, 2} and {1}. Image 0: caption 0 (3) beats caption 1 (2), caption 2 (1) loses: 1/2.
    # Image 1: caption 1 (5) beats 4 and 0: 1. i2t_mean = 3/4; chance = (1/2 + 1/3) / 2 = 5/12.
    # Captions, one positive image each: 0: 3 < 4 loses; 1: 5 > 2 wins; 2: 1 > 0 wins. t2i_mean = 2/3.
    found = outcomes([np.array([[3.0, 2.0, 1.0], [4.0, 5.0, 0.0]])], [SHAPES["2x3"]], sees=BOTH)
    assert found["i2t_mean"].credit[0] == 0.75
    assert found["i2t_mean"].chance[0] == pytest.approx(5 / 12)
    assert found["t2i_mean"].credit[0] == pytest.approx(2 / 3)
    assert found["t2i_mean"].chance[0] == 0.5


def test_average_marks_a_gap_in_any_part() -> None:
    whole = single(duel(np.array([1.0, 1.0]), np.array([0.0, 1.0])))
    gap = single(duel(np.array([np.nan, 1.0]), np.zeros(2)))
    found = average([whole, gap])
    assert np.isnan(found.credit[0])
    assert found.credit[1] == 0.75
    assert found.unscored.tolist() == [True, False]
    assert found.tie.tolist() == [False, True]


def test_patterns_do_not_mix_shapes_with_equal_bytes() -> None:
    assert len(patterns([row(1, 0), row(1, 0).T])) == 2


def test_wrong_shapes_and_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="instance number 1"):
        outcomes([np.zeros((1, 2)), np.zeros((2, 1))], [row(1, 0)] * 2, sees=TEXT)
    with pytest.raises(InputError, match="1 scores, 2 gold"):
        outcomes([np.zeros((1, 2))], [row(1, 0)] * 2, sees=TEXT)


def test_no_instances_give_no_metrics() -> None:
    assert outcomes([], [], sees=BOTH) == {}


def test_extreme_scores_do_not_overflow() -> None:
    found = outcomes([np.array([[1e308, -1e308], [-1e308, 1e308]])], [PAIR], sees=BOTH)
    assert {float(outcome.credit[0]) for outcome in found.values()} == {1.0}


@pytest.mark.slow
def test_a_quarter_of_a_million_pairs_take_seconds() -> None:
    size = 250_000
    scores, golds = list(np.random.default_rng(0).normal(size=(size, 2, 2))), [PAIR] * size
    start = time.perf_counter()
    outcomes(scores, golds, sees=BOTH)
    assert time.perf_counter() - start < 5


def test_a_chance_that_is_one_value_takes_no_room_and_others_are_kept_apart():
    pair, triple = np.array([[True, False]]), np.array([[True, False, False]])
    scores = [np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]]), np.array([[1.0, 0.0, 0.0]])]
    same = outcomes(scores[:2], [pair, pair], sees={"text"})["accuracy"]
    assert same.chance.tolist() == [0.5, 0.5]
    assert same.chance.strides == (0,)
    mixed = outcomes(scores, [pair, pair, triple], sees={"text"})["accuracy"]
    assert mixed.chance.tolist() == [0.5, 0.5, 1 / 3]
