"""The long form agrees with the outcomes that it explains."""

from __future__ import annotations

import numpy as np
import pytest

from audits.statistics.comparisons import comparisons
from audits.statistics.outcomes import outcomes

PAIR = np.eye(2, dtype=bool)


def listed(scores: list[np.ndarray], golds: list[np.ndarray]) -> list[tuple[object, ...]]:
    table = comparisons(scores, golds, sees={"text", "image"})
    return [tuple(row) for row in table[["instance", "direction", "comparison", "outcome", "credit"]].to_numpy().tolist()]


def test_2x2_lists_four_decisions_and_what_they_make() -> None:
    # Image 1 ties (2 = 2): strict I2T and Group fail by a tie. Caption 1: 2 > 0. Caption 0: 3 > 2. Sums 5 > 2.
    assert listed([np.array([[3.0, 0.0], [2.0, 2.0]])], [PAIR]) == [
        (0, "i2t", "image0", "win", 1.0),
        (0, "i2t", "image1", "tie", 0.5),
        (0, "t2i", "caption0", "win", 1.0),
        (0, "t2i", "caption1", "win", 1.0),
        (0, "i2t", "i2t", "tie", 0.0),
        (0, "t2i", "t2i", "win", 1.0),
        (0, "", "group", "tie", 0.0),
        (0, "", "group_match", "win", 1.0),
    ]


def test_crossed_gold_names_the_captions_by_their_place() -> None:
    # Caption 1 belongs to image 0: 0 against 9 in the other image is a loss under the name caption1.
    rows = {row[2]: row[3] for row in listed([np.array([[5.0, 0.0], [1.0, 9.0]])], [PAIR[::-1]])}
    assert (rows["image0"], rows["caption1"], rows["caption0"]) == ("loss", "loss", "loss")


def test_several_positives_stand_one_by_one_and_joined() -> None:
    assert listed([np.array([[0.30, 0.20, 0.25]])], [np.array([[True, True, False]])]) == [
        (0, "i2t", "image0:caption0", "win", 1.0),
        (0, "i2t", "image0:caption1", "loss", 0.0),
        (0, "i2t", "accuracy_all", "loss", 0.0),
        (0, "i2t", "accuracy_any", "win", 1.0),
    ]


def test_choosing_an_image_is_a_t2i_comparison_and_a_gap_is_unscored() -> None:
    rows = listed([np.array([[1.0], [np.nan]])], [np.array([[True], [False]])])
    assert [row[:4] for row in rows] == [(0, "t2i", "caption0", "unscored")]
    assert np.isnan(rows[0][4])  # type: ignore[call-overload]


def test_rows_follow_the_instances_and_the_order_column_is_empty() -> None:
    golds = [PAIR, np.array([[True, False]]), PAIR]
    table = comparisons([gold.astype(float) for gold in golds], golds, sees={"text", "image"})
    assert table["instance"].tolist() == [0] * 8 + [1] + [2] * 8
    assert set(table["order"]) == {""}
    assert table["comparison"].tolist()[:8] == table["comparison"].tolist()[9:]


def test_credits_agree_with_the_outcomes() -> None:
    rng = np.random.default_rng(5)
    golds = [PAIR, PAIR[::-1], np.array([[True, False, True]]), np.array([[False], [True]])] * 50
    scores = [rng.integers(0, 3, size=gold.shape).astype(float) for gold in golds]
    table = comparisons(scores, golds, sees={"text", "image"})
    found = outcomes(scores, golds, sees={"text", "image"})
    for metric in ("i2t", "t2i", "group", "group_match", "accuracy_all", "accuracy_any"):
        rows = table[table["comparison"] == metric]
        assert rows["credit"].tolist() == found[metric].credit[rows["instance"]].tolist()
        assert (rows["outcome"] == "tie").tolist() == found[metric].tie[rows["instance"]].tolist()
    singles = table[table["comparison"].str.contains(":") & (table["direction"] == "i2t")]
    means = singles.groupby("instance")["credit"].mean()
    assert means.to_numpy() == pytest.approx(found["accuracy_mean"].credit[means.index])


def test_nothing_in_nothing_out() -> None:
    table = comparisons([], [], sees={"text"})
    assert len(table) == 0
    assert list(table.columns) == ["instance", "direction", "order", "comparison", "outcome", "credit"]
