"""Length of both sides: hand arithmetic, and Cliff's delta against its definition."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.findings.lengths import cliffs_delta

SIZES = st.lists(st.integers(0, 9), min_size=1, max_size=12)


@given(SIZES, SIZES)
def test_cliffs_delta_is_its_definition(first, second):
    pairs = [(one > other) - (one < other) for one in first for other in second]
    assert cliffs_delta(Counter(first), Counter(second)) == pytest.approx(sum(pairs) / len(pairs))
    assert cliffs_delta(Counter(second), Counter(first)) == pytest.approx(-sum(pairs) / len(pairs))


def test_differences_by_hand(look, make):
    [found] = look([make(0, "a cat", "a big cat"), make(1, "one two three", "x"), make(2, "ab", "cd")])[
        "length_difference"
    ]
    # words 2 3 1 against 3 1 1: differences -1, 2, 0, mean 1/3
    # delta: 2 beats 1, 1 (+2) and loses to 3 (-1); 3 ties 3, beats 1, 1 (+2); 1 loses to 3 (-1): 2 / 9
    # shorter: 1, 0, 1/2
    assert found.values["mean_difference_words"] == pytest.approx(1 / 3)
    assert found.values["cliffs_delta_words"] == pytest.approx(2 / 9)
    assert found.values["positive_has_fewer_words"] == 0.5
    # characters 5 13 2 against 9 1 2: differences -4, 12, 0
    assert found.values["mean_difference_characters"] == pytest.approx(8 / 3)
    assert found.instances == ("1", "0")
    assert "+0.33 words (Cliff's delta +0.22) and +2.67 characters" in found.sentence
    assert "50.0 % of pairs by words" in found.sentence
    assert found.severity == "info"


def test_several_captions_count_once_for_an_instance(look, make):
    [found] = look([make(0, ("a", "a b c"), ("a b",)), make(1, "a", "a b")])["length_difference"]
    # instance 0: mean of 1 and 3 minus 2 = 0, shorter in 1 of 2 pairs; instance 1: -1, shorter
    assert found.values["mean_difference_words"] == -0.5
    assert found.values["positive_has_fewer_words"] == 0.75
    assert found.values["instances"] == 2


def test_severity_needs_both_a_distance_and_enough_pairs(look, make):
    def severity(shorter, n):
        rows = [make(place, *(("a", "b c") if place < shorter else ("b c", "a"))) for place in range(n)]
        return look(rows)["length_difference"][0].severity

    # 4 of 4: Wilson from .510; 10 of 10: from .722. 60 of 100: from .502; 70 of 100: from .604
    assert [severity(*args) for args in [(4, 4), (10, 10), (60, 100), (70, 100)]] == [
        "info",
        "warning",
        "info",
        "warning",
    ]
    # 550 of 1000: from .519; 560: from .529; and the same in the other direction
    assert [severity(k, 1000) for k in (550, 560, 440)] == ["info", "notice", "notice"]


def test_subsets_are_apart_and_two_images_have_a_base_and_a_foil(look, make, make_2x2):
    found = look([make(0, "a", "b c", subset="x"), make_2x2(1, "a b", "c", subset="y")])["length_difference"]
    assert [one.subset for one in found] == ["x", "y"]
    assert "Length of positives minus length of foils" in found[0].sentence
    assert "Length of base captions minus length of foil captions" in found[1].sentence


def test_instances_of_one_cluster_do_not_add_certainty(look, make):
    rows = [make(place, "a", "b c", cluster=f"scene {place % 3}") for place in range(60)]
    # 3 clusters, all shorter: Wilson at 3 of 3 starts at .438
    assert look(rows)["length_difference"][0].severity == "info"
    rows = [make(place, "a", "b c", cluster=f"scene {place % 10}") for place in range(60)]
    assert look(rows)["length_difference"][0].severity == "warning"
