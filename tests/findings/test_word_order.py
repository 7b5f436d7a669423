"""Pairs that differ in word order only: the case from the field, by hand and on the released files."""

from pathlib import Path

import numpy as np
import pytest

from audits.findings.word_order import order_only, words
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from benchmarks.sources import card
from benchmarks.sugarcrepe import SugarCrepe

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "sugar-crepe" / "data"


def pair(name: str, caption: str, foil: str, subset: str = "s") -> Instance:
    return Instance(name, (ImageRef.absent(),), (caption, foil), np.array([[True, False]]), subset=subset)


def test_a1_pairs_with_the_same_words_in_another_order(thresholds) -> None:
    """Case A1: 1 of 2 pairs, so an order-blind scorer reaches (1/2 + 1) / 2 = 0.75 at most."""
    rows = [pair("0", "a cat under a table", "a table under a cat"), pair("1", "a red cup", "a blue cup")]
    [found] = order_only(rows, thresholds)
    assert found.values["share"] == 0.5
    assert found.values["order_blind_ceiling"] == 0.75
    assert found.instances == ("0",)


def test_case_and_punctuation_do_not_matter_but_counts_of_words_do() -> None:
    assert words("A dog, a cat.") == words("a cat a dog")
    assert words("a dog and a cat") != words("a dog and cat")
    assert words("it's") != words("its")


def test_the_ceiling_is_claimed_for_words_alone_and_raw_differences_are_counted(thresholds) -> None:
    # The same words in both pairs; in the second a stop tells them apart, so a scorer of raw text may get both right.
    rows = [pair("0", "a cat under a table", "a table under a cat"), pair("1", "a dog on a mat.", "a mat on a dog")]
    [found] = order_only(rows, thresholds)
    assert (found.values["same_words"], found.values["written_differently"]) == (2, 1)
    assert "sees only which words occur (lower-cased, without punctuation) cannot exceed 50.0 %" in found.sentence
    assert "blind" not in found.sentence
    assert "in 1 of them capitals, marks or blanks differ too" in found.sentence
    [plain] = order_only(rows[:1], thresholds)
    assert plain.sentence.endswith("cannot exceed 50.0 %.")


@pytest.mark.parametrize(
    ("caption", "foil", "differ"), [("A cat b", "b cat A", 0), ("A b", "B a", 1), ("a  b", "b a", 1)]
)
def test_capitals_marks_and_blanks_are_raw_differences(thresholds, caption, foil, differ) -> None:
    [found] = order_only([pair("0", caption, foil)], thresholds)
    assert found.values["written_differently"] == differ


def test_identical_captions_are_no_pair_in_another_order(thresholds) -> None:
    rows = [pair("0", "a cat", "a cat"), pair("1", "cat a", "a cat"), pair("2", "x", "y"), pair("3", "u", "v")]
    [found] = order_only(rows, thresholds)
    assert (found.values["same_words"], found.values["pairs"], found.instances) == (1, 4, ("1",))
    assert order_only(rows[:1], thresholds) == []


def test_other_shapes_and_missing_text_do_not_enter(thresholds) -> None:
    three = Instance("x", (ImageRef.absent(),), ("a b", "b a", "c"), np.array([[True, False, False]]))
    textless = Instance("y", (ImageRef.absent(),), (None, None), np.array([[True, False]]))
    assert order_only([three, textless], thresholds) == []


@pytest.mark.parametrize(
    ("caption", "foil"),
    [("猫在桌子下面", "桌子在猫下面"), ("2只猫", "2只狗"), ("🐈", "🐕"), ("!!", "??"), ("कि", "की"), ("n\u0303", "n")],
)
def test_text_outside_of_the_latin_alphabet_is_not_taken_for_the_same_words(thresholds, caption, foil) -> None:
    assert order_only([pair("0", caption, foil)], thresholds) == []


def test_severity_is_by_what_the_ceiling_takes_away(thresholds) -> None:
    swap, other = ("a b", "b a"), ("a", "c")

    def severity(swaps: int) -> str:
        rows = [pair(str(place), *(swap if place < swaps else other)) for place in range(100)]
        return order_only(rows, thresholds)[0].severity

    # a share of .03, .04, .19, .20 puts the ceiling at .985, .98, .905, .90: .015, .02, .095, .10 below 1
    assert [severity(swaps) for swaps in (3, 4, 19, 20)] == ["info", "notice", "notice", "warning"]


@pytest.mark.real_data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA.name} of sugar-crepe is not beside the project")
def test_counts_on_the_released_files(thresholds) -> None:
    from omegaconf import OmegaConf

    conf = OmegaConf.load(Path(__file__).resolve().parents[2] / "conf" / "benchmark" / "sugarcrepe.yaml")
    found = order_only(SugarCrepe(card=card(OmegaConf.to_container(conf.card)), root=DATA), thresholds)
    counts = {one.subset: (one.values["same_words"], one.values["pairs"]) for one in found}
    # 164 of 245 and 408 of 666, none elsewhere (counted independently on the same files)
    assert counts == {"swap_att": (408, 666), "swap_obj": (164, 245)}
    assert {one.subset: one.values["written_differently"] for one in found} == {"swap_att": 129, "swap_obj": 68}
