"""Words on one side only: the published z by hand, against a slow definition, and names that stay short and inert."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.findings.artefacts import Artefacts
from audits.findings.schema import read, tokens

WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(" ".join)


def test_z_by_hand(look, make):
    # "red" in 16 positives and 4 foils only: p = .8, z = (.8 - .5) / sqrt(1 / 80) = 2.683; "blue" its mirror image
    rows = [make(place, *(("a red", "a blue") if place < 16 else ("a blue", "a red"))) for place in range(20)]
    [found] = look(rows, alpha=0.05)["token_artefacts"]
    assert (found.values["words_tested"], found.values["words_leaning"]) == (2, 2)
    assert (found.values["word_1"], found.values["word_2"]) == ("blue", "red")
    assert found.values["z_2"] == pytest.approx(0.3 / sqrt(1 / 80))
    assert found.values["share_positive_2"] == 0.8
    # Bonferroni: .05 / 2 two-sided is 2.2414
    assert found.values["z_limit"] == pytest.approx(2.2414, abs=1e-4)
    assert "“red” (20 pairs, 80.0 % in the positive, z +2.7)" in found.sentence
    # "red" alone decides 16 of 20 rightly: Wilson .584 to .919, so .084 from one half
    assert found.severity == "notice"


def test_words_in_fewer_pairs_are_not_tested(look, make):
    rows = [make(place, "a red", "a blue") for place in range(9)]
    assert "token_artefacts" not in look(rows)
    [found] = look([*rows, make(9, "red", "blue")])["token_artefacts"]
    # z = sqrt(10) = 3.16 and the limit at .01 / 2 two-sided is 2.81
    assert (found.values["words_tested"], found.values["words_leaning"]) == (2, 2)
    assert found.severity == "warning"


def test_words_on_both_sides_say_nothing_and_none_leaning_says_how_many_were_tested(look, make):
    rows = [make(place, *(("a red", "a blue") if place % 2 else ("a blue", "a red"))) for place in range(20)]
    [found] = look(rows)["token_artefacts"]
    assert found.sentence.startswith("Of 2 words that stand on one side only in at least 10 pairs, 0 lean to one side")
    assert (found.severity, found.instances) == ("info", ())


@settings(max_examples=40)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=30))
def test_counts_are_those_of_the_definition(make, thresholds, pairs):
    finder = Artefacts(thresholds)
    for place, (caption, foil) in enumerate(pairs):
        finder.add(read(place, make(place, caption, foil)))
    words = finder._counts["s"].words
    for word in "abc":
        here = sum(word in one.split() and word not in other.split() for one, other in pairs)
        there = sum(word not in one.split() and word in other.split() for one, other in pairs)
        n = here + there
        if not n:
            assert word not in words
            continue
        assert (words[word].positive, words[word].foil) == (here, there)
        assert words[word].z == pytest.approx((here / n - 0.5) / sqrt(1 / (4 * n)))


def test_several_foils_of_one_instance_are_no_independent_pairs(look, make):
    # 9 instances with 3 foils are 27 pairs, but only 9 instances: not tested
    rows = [make(place, "red", ("blue", "green", "grey")) for place in range(9)]
    assert "token_artefacts" not in look(rows)
    rows.append(make(9, "red", ("blue", "green", "grey")))
    [found] = look(rows)["token_artefacts"]
    by_word = {found.values[f"word_{rank}"]: rank for rank in range(1, 5)}
    rank = by_word["red"]
    # red: 3 pairs in each of 10 instances: 30 / sqrt(10 * 9) = sqrt(10), not sqrt(30)
    assert (found.values[f"pairs_{rank}"], found.values[f"z_{rank}"]) == (30, pytest.approx(sqrt(10)))


def test_hostile_words_are_short_and_without_markup(look, make):
    long = "x" * 5000
    hostile = f"<script>alert(1)</script> [red]bold[/red] \x1b[31m {long} \u202egnp"
    [found] = look([make(place, "a", hostile) for place in range(12)], words=20)["token_artefacts"]
    assert len(found.sentence) < 1500
    assert not set("<>\x1b\u202e") & set(found.sentence)
    assert "[" not in found.sentence
    assert "x" * 23 + "…" in found.sentence


def test_tokens_keep_accents_with_their_letters():
    assert tokens("Cafe\u0301 d'or") == ("café", "d'or")
    assert tokens("कि की") == ("कि", "की")


def test_exchangeable_sides_seldom_give_an_artefact(make, thresholds):
    rng = np.random.default_rng(7)
    false = 0
    for _ in range(60):
        finder = Artefacts(thresholds)
        for place in range(150):
            one, other = (" ".join(f"w{word}" for word in rng.choice(12, size=3)) for _ in range(2))
            finder.add(read(place, make(place, one, other)))
        [found] = finder.findings()
        false += found.values["words_leaning"] > 0
    # at .01 the number of false alarms in 60 is binomial: 5 or more happen once in 2,000 times
    assert false < 5
