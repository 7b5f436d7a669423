"""Subsets by tag, gaps between kinds of subsets, decisions by word of direction: worked by hand."""

import numpy as np
import pytest

from audits.breakdown.parts import MATCHED, Scored, crossed, faced, gaps
from audits.breakdown.words import Named2x2
from audits.statistics.layout import Layout
from audits.statistics.outcomes import Outcome, outcomes

WORDS = ("on", "under", "left of")
GOLD = np.eye(2, dtype=bool)


def outcome(metric: str, credit: list[float], chance: float = 0.25) -> Outcome:
    values = np.asarray(credit, dtype=np.float64)
    none = np.zeros(len(values), dtype=bool)
    return Outcome(metric, values, none, np.isnan(values), np.full(len(values), chance))


def scored(found: dict[str, Outcome], subsets: list[str], clusters: list[str], **tags: list[str]) -> Scored:
    return Scored("clip", found, Layout("demo", subsets, clusters, tags), "sig", 200, 0, 0.95)


def by_tag(rows) -> dict[tuple[str, str, str], float]:
    return {(row.metric, row.subset, row.tag): row.value for row in rows if row.primary}


def test_every_subset_at_every_value_of_a_tag() -> None:
    # Subset x: 1 and 0 short, 1 long; subset y: 0 short, 0 and 1 long.
    one = outcome("group", [1, 0, 1, 0, 0, 1])
    where = ["x", "x", "x", "y", "y", "y"]
    tier = ["short", "short", "long", "short", "long", "long"]
    found = by_tag(crossed(scored({"group": one}, where, list("aabbcc"), tier=tier), "tier"))
    assert found == {
        ("group", "x", "tier=short"): 0.5,
        ("group", "y", "tier=short"): 0.0,
        ("group", "macro", "tier=short"): 0.25,
        ("group", "x", "tier=long"): 1.0,
        ("group", "y", "tier=long"): 0.5,
        ("group", "macro", "tier=long"): 0.75,
    }


def test_all_instances_of_a_tag_are_not_repeated_and_empty_values_are_no_value() -> None:
    one = outcome("group", [1, 0, 1])
    rows = list(crossed(scored({"group": one}, ["x"] * 3, list("abc"), tier=["short", "", "long"]), "tier"))
    assert {(row.subset, row.tag) for row in rows} == {("x", "tier=short"), ("x", "tier=long")}
    assert {row.n for row in rows} == {1}


def test_a_tag_that_no_instance_has_gives_nothing() -> None:
    assert list(crossed(scored({"group": outcome("group", [1])}, ["x"], ["a"]), "tier")) == []


def test_gaps_pooled_matched_and_their_mean() -> None:
    # modify_color 1 1 0 1 (3/4), swap_color 0 1 (1/2), modify_material 1 0 (1/2), swap_material 0 0 (0), modify_pose 0.
    names = (
        ["modify_color"] * 4 + ["swap_color"] * 2 + ["modify_material"] * 2 + ["swap_material"] * 2 + ["modify_pose"]
    )
    one = outcome("group", [1, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0])
    rows = list(gaps(scored({"group": one}, names, list("abcdabcdabe")), "modify_", "swap_"))
    found = {row.tag: (round(row.value, 6), row.n) for row in rows}
    # Pooled: modify 4 of 7, swap 1 of 4.
    assert found["gap=modify_* - swap_*"] == (round(4 / 7 - 1 / 4, 6), 11)
    assert found["gap=modify_color - swap_color"] == (0.25, 6)
    assert found["gap=modify_material - swap_material"] == (0.5, 4)
    # The mean of 1/4 and 1/2, whatever the sizes.
    assert found[f"gap={MATCHED}"] == (0.375, 10)
    assert all(row.metric == "group_gap" and row.chance == 0 and row.low <= row.value <= row.high for row in rows)


def test_a_gap_needs_both_kinds_and_skips_what_was_never_scored() -> None:
    assert (
        list(gaps(scored({"group": outcome("group", [1, 0])}, ["modify_a"] * 2, ["a", "b"]), "modify_", "swap_")) == []
    )
    one = outcome("group", [1, 0, np.nan, 1, 1, 0])
    names = ["modify_a", "swap_a", "modify_b", "swap_b", "modify_c", "swap_c"]
    tags = {row.tag for row in gaps(scored({"group": one}, names, list("abcdef")), "modify_", "swap_")}
    assert tags == {"gap=modify_* - swap_*", "gap=modify_a - swap_a", "gap=modify_c - swap_c", f"gap={MATCHED}"}


def test_a_gap_shares_its_clusters() -> None:
    """Scenes that are right or wrong as a whole move both sides of a gap alike: only six scenes part them here."""
    scenes = np.random.default_rng(0).random(80) < 0.5
    credit = np.repeat(scenes, 2).astype(float)
    credit[::28] = 1 - credit[::28]
    names = ["modify_a", "swap_a"] * 80

    def width(clusters: list[str]) -> float:
        [row, _] = gaps(scored({"group": outcome("group", list(credit))}, names, clusters), "modify_", "swap_")
        return row.high - row.low

    together, apart = (width([f"s{number // step}" for number in range(160)]) for step in (2, 1))
    assert together < 0.6 * apart


def two_sided(scores: list[list[list[float]]]) -> dict[str, Outcome]:
    grids = [np.asarray(one, dtype=np.float64) for one in scores]
    return outcomes(grids, [GOLD] * len(grids), sees=frozenset({"text", "image"}))


def test_directions_by_hand() -> None:
    """Three pairs on / under; rows are images (on, under), columns captions (on, under)."""
    found = two_sided(
        [
            [[3, 1], [2, 4]],  # everything right
            [[3, 1], [2, 1]],  # I2T: on right, under wrong; T2I: caption on right (3 > 2), caption under tied
            [[1, 2], [1, 3]],  # I2T: on wrong, under right; T2I: caption on tied, caption under right
        ]
    )
    sides = Named2x2(np.array(["on", "on", "under"]), np.array(["under", "under", "on"]))
    # The third instance has its base side told `under`: image 0 shows under, and is the one that is wrong.
    rows = by_tag(faced(scored(found, [""] * 3, list("abc")), sides, WORDS))
    assert rows["i2t_direction", "all", "direction=on / under: on"] == 1.0  # right, right, right (foil of the third)
    assert round(rows["i2t_direction", "all", "direction=on / under: under"], 6) == round(1 / 3, 6)
    assert round(rows["t2i_direction", "all", "direction=on / under: on"], 6) == 1.0
    assert round(rows["t2i_direction", "all", "direction=on / under: under"], 6) == round((1 + 0.5 + 0.5) / 3, 6)
    # Strict: only the first passes all.
    for metric in ("i2t", "t2i", "group"):
        assert round(rows[f"{metric}_directions", "all", "directions=on / under"], 6) == round(1 / 3, 6)


def test_the_same_direction_on_both_sides_counts_both_decisions() -> None:
    found = two_sided([[[3, 1], [2, 1]]])
    rows = list(faced(scored(found, ["swap"], ["a"]), Named2x2(np.array(["left of"]), np.array(["left of"])), WORDS))
    told = {(row.metric, row.tag): (row.value, row.n) for row in rows if row.subset == "swap" and row.primary}
    assert told["i2t_direction", "direction=left of: left of"] == (0.5, 2)
    assert told["group_directions", "directions=left of"] == (0.0, 1)


def test_instances_without_a_direction_are_left_out() -> None:
    found = two_sided([[[3, 1], [2, 4]], [[0, 1], [1, 0]]])
    rows = list(
        faced(scored(found, [""] * 2, list("ab")), Named2x2(np.array(["on", ""]), np.array(["under", ""])), WORDS)
    )
    assert {row.n for row in rows} == {1}
    assert all(row.value == 1 for row in rows)


def test_a_scorer_of_one_side_has_no_direction() -> None:
    one = outcome("caption_preference", [1, 0], 0.5)
    sides = Named2x2(np.array(["on", "on"]), np.array(["under", "under"]))
    assert list(faced(scored({"caption_preference": one}, [""] * 2, list("ab")), sides, WORDS)) == []


@pytest.mark.parametrize("size", [1, 2])
def test_few_instances_have_no_interval_or_a_wide_one(size: int) -> None:
    one = outcome("group", [1] * size)
    rows = list(crossed(scored({"group": one}, ["x"] * size, list("ab")[:size], tier=["short"] * size), "tier"))
    assert all(np.isnan(row.low) if size == 1 else row.high - row.low > 0.5 for row in rows if row.subset == "x")
