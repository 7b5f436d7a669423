"""Cases of area E, and those of A, C and D that are decided by the rule of scoring."""

from __future__ import annotations

import numpy as np
import pytest

from audits.statistics.chance import order_blind_ceiling
from audits.statistics.estimates import estimates
from audits.statistics.groups import group_layout, group_outcome
from audits.statistics.layout import Layout
from audits.statistics.outcomes import Outcome, outcomes
from reports.schema import Estimate

FIRST = np.array([[True, False]])
PAIR = np.eye(2, dtype=bool)


def scored(*scores: list[float], gold: np.ndarray = FIRST) -> dict[str, Outcome]:
    return outcomes([np.array([row]) for row in scores], [gold] * len(scores), sees={"text"})


def table(found: dict[str, Outcome]) -> dict[str, Estimate]:
    size = len(next(iter(found.values())).credit)
    where = Layout("demo", [""] * size, [str(row) for row in range(size)])
    return {row.metric: row for row in estimates({"s": found}, where, signatures={}).rows if row.primary}


def test_e1_ties_counted_as_correct() -> None:
    row = table(scored([0.5, 0.5], [0.7, 0.2], [0.1, 0.3]))["accuracy"]
    assert row.value == 0.5
    assert round(row.ties / row.n, 4) == 0.3333
    assert table(scored(*[[0.0, 0.0]] * 3))["accuracy"].value == 0.5


def test_e1_sibling_the_positive_stands_last() -> None:
    row = table(scored([0.0, 0.0], [0.0, 0.0], gold=FIRST[:, ::-1]))["accuracy"]
    assert row.value == 0.5
    assert row.ties == 2


@pytest.mark.parametrize("size", [2, 3, 5, 10])
def test_e1_sibling_k_way_ties_get_one_kth(size: int) -> None:
    found = scored([1.0] * size, gold=np.eye(1, size, dtype=bool))["accuracy"]
    assert found.credit[0] == found.chance[0] == 1 / size


def test_e1_sibling_part_of_the_options_tie() -> None:
    # Positive level with one of two foils at the top, then level with one below a winning foil.
    found = scored([0.9, 0.9, 0.1], [0.5, 0.5, 0.9], gold=np.eye(1, 3, dtype=bool))["accuracy"]
    assert found.credit.tolist() == [0.5, 0.0]
    assert found.tie.tolist() == [True, False]


def test_e1_sibling_strict_metrics_count_a_tie_as_a_failure() -> None:
    rows = table(outcomes([np.zeros((2, 2))] * 3, [PAIR] * 3, sees={"text", "image"}))
    for metric in ("i2t", "t2i", "group"):
        assert (rows[metric].value, rows[metric].ties / rows[metric].n) == (0.0, 1.0)
    assert rows["group_match"].value == 0.5


def test_e1_sibling_nan_is_neither_a_tie_nor_a_loss() -> None:
    row = table(scored([np.nan, np.nan], [0.7, 0.2], [0.1, 0.3]))["accuracy"]
    assert (row.value, row.n, row.unscored, row.ties) == (0.5, 2, 1, 0)


def test_e2_pair_benchmarks_scored_per_question() -> None:
    # Pair 1: right, right; pair 2: right, wrong; pair 3: right, file missing.
    found = scored([1, 0], [1, 0], [1, 0], [0, 1], [1, 0], [np.nan, np.nan])
    groups = ["1", "1", "2", "2", "3", "3"]
    where = Layout("demo", [""] * 6, list("abcdef"))
    questions = table(found)["accuracy"]
    assert (questions.value, questions.n, questions.unscored) == (0.8, 5, 1)
    pairs = group_outcome(found["accuracy"], groups)
    at_pairs = group_layout(where, groups, pairs)
    [row] = estimates({"s": {pairs.outcome.metric: pairs.outcome}}, at_pairs, signatures={}).rows
    assert (row.metric, row.value, row.n, row.unscored) == ("accuracy_by_group", 0.5, 2, 1)
    assert pairs.incomplete == ("3",)


def test_e2_sibling_the_missing_row_never_reached_the_scorer() -> None:
    found = scored([1, 0], [1, 0], [1, 0], [0, 1], [1, 0])
    pairs = group_outcome(found["accuracy"], ["1", "1", "2", "2", "3"], size=2)
    assert pairs.incomplete == ("3",)
    assert np.nanmean(pairs.outcome.credit) == 0.5


def test_a1_ceiling_of_an_order_blind_scorer() -> None:
    pairs = [("a cat under a table", "a table under a cat"), ("a red cup", "a blue cup")]
    same = np.mean([sorted(pos.split()) == sorted(neg.split()) for pos, neg in pairs])
    assert same == 0.5
    assert order_blind_ceiling(float(same)) == 0.75
    # A scorer that sees bags of words and is right whenever it can be reaches just that.
    bags = [[0.0, 0.0] if sorted(pos.split()) == sorted(neg.split()) else [1.0, 0.0] for pos, neg in pairs]
    assert table(scored(*bags))["accuracy"].value == 0.75


def test_a12_several_correct_captions_per_image() -> None:
    found = scored([0.30, 0.20, 0.25], gold=np.array([[True, True, False]]))
    assert {metric: float(one.credit[0]) for metric, one in found.items()} == {
        "accuracy_any": 1.0,
        "accuracy_all": 0.0,
        "accuracy_mean": 0.5,
    }


def test_a12_sibling_the_foil_may_stand_anywhere() -> None:
    found = scored([0.25, 0.30, 0.20], gold=np.array([[False, True, True]]))
    assert [float(found[f"accuracy_{rule}"].credit[0]) for rule in ("any", "all", "mean")] == [1.0, 0.0, 0.5]


def test_c10_score_scale_and_clamping() -> None:
    assert table(scored([-0.02, -0.05]))["accuracy"].value == 1.0
    assert table(scored([-0.02, -0.05]))["accuracy"].ties == 0
    scale = [scored([100 * a, 100 * b])["accuracy"].credit[0] for a, b in ((-0.02, -0.05), (0.2, 0.3))]
    assert scale == [1.0, 0.0]


def test_c11_half_precision_makes_ties() -> None:
    assert np.float16(0.2832) == np.float16(0.2831)
    row = table(scored([0.2832, 0.2831]))["accuracy"]
    assert (row.value, row.ties) == (1.0, 0)


def test_c11_sibling_single_precision_scores_are_compared_as_they_are() -> None:
    scores = [np.array([[0.2832, 0.2831]], dtype=np.float32), np.array([[0.1, 0.1]], dtype=np.float32)]
    found = outcomes(scores, [FIRST] * 2, sees={"text"})["accuracy"]
    assert found.credit.tolist() == [1.0, 0.5]
    assert found.credit.dtype == np.float64


def test_d8_length_normalisation_decides() -> None:
    # Sums -12 over 4 tokens and -9 over 2: raw picks the second, per token (-3.0 against -4.5) the first.
    raw, per_token = scored([-12.0, -9.0]), scored([-12.0 / 4, -9.0 / 2])
    assert raw["accuracy"].credit[0] == 0.0
    assert per_token["accuracy"].credit[0] == 1.0
