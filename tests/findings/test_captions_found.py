"""Format faults, copies, contradictions and cuts: by hand, against slow definitions, and on awkward data."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from audits.findings.collect import caption_findings
from audits.findings.schema import Thresholds, Worst, read
from audits.findings.truncation import MARKS, _surely_fits
from baselines.language.clip_bpe import ClipBpe
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from benchmarks.sources import card
from benchmarks.sugarcrepe import SugarCrepe

CONF = Path(__file__).resolve().parents[2] / "conf"
LONG = " ".join(["very"] * 90)


@pytest.mark.parametrize(
    ("kind", "caption"),
    [
        ("outer_white_space", " a cat"),
        ("outer_white_space", "a cat\u00a0"),
        ("doubled_blanks", "a  cat"),
        ("doubled_blanks", "a \u00a0cat"),
        ("control_characters", "a\x1b[31m cat"),
        ("control_characters", "a\ncat"),
        ("control_characters", "a\x00cat"),
        ("invisible_characters", "a\u200bcat"),
        ("invisible_characters", "\ufeffa cat"),
        ("invisible_characters", "a\u202ecat"),
        ("invisible_characters", "a\u00a0cat"),
        ("invisible_characters", "a\ud800cat"),
        ("not_nfc", "a cafe\u0301"),
        ("replacement_characters", "a caf\ufffd"),
        ("odd_quotes", "a “cat"),
        ("odd_quotes", "a `cat"),
        ("unbalanced_quotes", 'a "cat'),
        ("blank_before_stop", "a cat ."),
        ("empty_captions", ""),
        ("empty_captions", " \t"),
    ],
)
def test_a_fault_is_counted_on_its_side_with_its_instance(look, make, kind, caption):
    rows = [make("fine", "a dog", "a cow"), make("bad", "a dog", caption), make("also", "a dog", "a sow")]
    [found] = look(rows)[kind]
    assert (found.values["positives"], found.values["foils"], found.instances) == (0, 1, ("bad",))
    assert found.sentence.startswith("In 0 of 3 positives and 1 of 3 foils ")
    [turned] = look([make("bad", caption, "a dog")])[kind]
    assert (turned.values["positives"], turned.values["foils"]) == (1, 0)


def test_clean_captions_have_no_fault(look, make):
    kinds = set(look([make(0, "A cat's toy, red.", "A dog's toy, red.", image="i")]))
    assert kinds == {"length_difference"}


def test_a_final_stop_is_reported_only_where_the_sides_of_a_pair_differ(look, make):
    assert "final_stop" not in look([make(0, "a.", "b."), make(1, "c", "d")])
    [found] = look([make(0, "a.", "b."), make(1, "c", "d. "), make(2, "e", "f")])["final_stop"]
    assert (found.values["positives"], found.values["foils"]) == (1, 2)
    assert (found.values["instances_whose_captions_differ"], found.instances) == (1, ("1",))
    # the mark alone: ties in two of three and picks the foil in one: (1/2 + 0 + 1/2) / 3
    assert found.values["preference"] == pytest.approx(1 / 3)


def test_a_capital_at_the_start_is_a_mark_too(look, make):
    [found] = look([make(place, "A dog", "a cow") for place in range(40)])["capital_start"]
    assert (found.values["positives"], found.values["foils"], found.severity) == (40, 0, "warning")


def test_identical_alike_and_repeated_captions_are_three_things(look, make):
    rows = [
        make("same", "a cat", "a cat"),
        make("case", "A cat.", "a  cat"),
        make("both", ("a cat", "a cat"), "a dog"),
        make("nearly", ("a  cow", "A cow"), "a dog"),
        make("fine", "猫", "狗"),
        make("marks", "!!", "??"),
    ]
    found = look(rows)
    assert [one.instances for one in found["identical_captions"]] == [("same",)]
    assert [one.instances for one in found["same_words_in_order"]] == [("case",)]
    [repeated] = found["repeated_options"]
    assert repeated.instances == ("both", "nearly")
    assert repeated.values["exact"] == 1


def test_a_fault_is_a_warning_from_its_share_of_instances(look, make):
    rows = [make(place, f"cat {place}", f"dog {place}") for place in range(200)]
    rows[0] = make(0, "a", "a")
    assert look(rows)["identical_captions"][0].severity == "notice"  # .005
    rows[1] = make(1, "b", "b")
    assert look(rows)["identical_captions"][0].severity == "warning"  # .01


def test_contradictions_are_between_instances_and_on_one_image(look, make, make_2x2):
    rows = [
        make("a", "a cat", "a dog", image="1"),
        make("b", "a cow", "a cat", image="1"),
        make("c", "a dog", "a cow", image="2"),
        make("d", "a pig", "a pig", image="3"),
    ]
    [found] = look(rows)["contradictory_captions"]
    # "a cat" fits image 1 in a and not in b; "a cow" fits image 1 in b only; d contradicts itself alone
    assert (found.values["captions"], found.values["instances"], found.instances) == (1, 2, ("a", "b"))
    assert found.sentence == (
        "1 caption fits its image in one instance and is marked as not fitting the same image in another "
        "(2 of 4 instances)."
    )
    # In a 2x2 the base caption does not fit the foil image: no contradiction in itself, but one against another row.
    pair = make_2x2("x", "a cat", "a dog", images=("1", "2"))
    assert "contradictory_captions" not in look([pair])
    assert "contradictory_captions" in look([pair, make("y", "a cat", "a cow", image="2")])


def test_without_images_nothing_is_said_of_contradictions(look, make):
    assert "contradictory_captions" not in look([make(0, "a", "b"), make(1, "b", "a")])


CELLS = st.tuples(st.sampled_from("xyz"), st.sampled_from("xyz"), st.sampled_from("12"))


@settings(max_examples=60)
@given(st.lists(CELLS, min_size=1, max_size=12))
def test_repeats_are_those_of_the_definition(look, make, rows):
    found = look([make(place, one, other, image=image) for place, (one, other, image) in enumerate(rows)])
    right = {(image, one, place) for place, (one, _, image) in enumerate(rows)}
    wrong = {(image, other, place) for place, (_, other, image) in enumerate(rows)}
    clash = {(i, text) for i, text, place in right for j, word, at in wrong if (i, text) == (j, word) and place != at}
    contradictory = found.get("contradictory_captions", [])
    assert (contradictory[0].values["captions"] if contradictory else 0) == len(clash)
    repeated = found.get("repeated_instances", [])
    assert (repeated[0].values["repeats"] if repeated else 0) == len(rows) - len(set(rows))
    texts = [{one, other} for one, other, _ in rows]
    several = [text for text in "xyz" if sum(text in both for both in texts) > 1]
    captions = found.get("repeated_captions", [])
    assert (captions[0].values["repeated"] if captions else 0) == len(several)


def test_repeated_instances_do_not_depend_on_the_order_of_options(look):
    def instance(name, captions, gold):
        return Instance(name, (ImageRef("i"),), captions, np.array([gold]))

    rows = [
        instance("a", ("x", "y", "z"), [True, False, False]),
        instance("b", ("z", "x", "y"), [False, True, False]),
        instance("c", ("z", "x", "y"), [True, False, False]),
    ]
    [found] = look(rows)["repeated_instances"]
    assert (found.values["repeats"], found.instances) == (1, ("a", "b"))


def test_c5_pairs_that_the_cut_makes_identical_are_counted_and_come_first(look, make):
    rows = [make("long", f"red {LONG}", "a cat"), make("same", f"{LONG} red", f"{LONG} blue"), make("short", "a", "b")]
    found = look(rows)
    for limit in (77, 64):
        [cut] = found[f"cut_at_{limit}_tokens"]
        assert (cut.values["positives"], cut.values["foils"], cut.values["instances"]) == (2, 1, 2)
        assert (cut.values["identical_after_truncation"], cut.values["longest"]) == (1, 93)
        assert cut.instances == ("same", "long")
        assert "in 1 instance a pair is identical after truncation" in cut.sentence
    assert "CLIP's tokens standing in" in found["cut_at_64_tokens"][0].sentence


@pytest.mark.parametrize(("words", "cut"), [(62, []), (63, [64]), (75, [64]), (76, [64, 77])])
def test_c5_the_limit_counts_start_and_end(look, make, words, cut):
    found = look([make(0, " ".join(["very"] * words), "a cat")])
    assert [limit for limit in (64, 77) if f"cut_at_{limit}_tokens" in found] == cut


def test_c5_same_text_on_both_sides_is_not_made_identical_by_the_cut(look, make):
    found = look([make(0, LONG, LONG)])
    assert found["cut_at_77_tokens"][0].values["identical_after_truncation"] == 0
    assert "identical_captions" in found


@settings(max_examples=200)
@given(st.text(st.characters(max_codepoint=0x2FF), max_size=90) | st.text("a1!&; \x1b[m<>_", max_size=90))
def test_text_that_surely_fits_does(text):
    if _surely_fits(text):
        assert len(_TOKENIZER.encode([text])[0]) + MARKS <= 64


_TOKENIZER = ClipBpe()


def test_missing_text_is_left_out_and_counted(look, make):
    found = look([make(0, None, None), make(1, "a", None), make(2, "a", "b")])
    [textless] = found["captions_without_text"]
    assert (textless.values["instances"], textless.instances) == (2, ("0", "1"))
    assert found["length_difference"][0].values["instances"] == 1
    assert set(look([make(0, None, None)])) == {"captions_without_text"}


def test_no_instance_one_instance_and_instances_with_one_caption(look, make):
    assert look([]) == {}
    assert set(look([make(0, "a", "b")])) == {"length_difference"}
    choose_image = Instance("i", (ImageRef("1"), ImageRef("2")), ("a",), np.array([[True], [False]]))
    assert look([choose_image]) == {}
    against = Instance("j", (ImageRef("2"), ImageRef("3")), ("a",), np.array([[True], [False]]))
    assert set(look([choose_image, against])) == {"contradictory_captions", "repeated_captions"}


def test_instances_are_read_once(thresholds, make):
    rows = iter([make(place, f" a{place}", "b") for place in range(50)])
    found = caption_findings(rows, thresholds)
    assert next(rows, None) is None
    assert max(len(one.instances) for one in found) == thresholds.shown


def test_the_worst_are_kept_in_order(make):
    worst = Worst(2)
    for place, weight in enumerate([1.0, 5.0, 5.0, 2.0]):
        worst.add(read(place, make(place, "a", "b")), weight)
    assert worst.ids == ("1", "2")


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"alpha": 0}, "alpha"),
        ({"alpha": "small"}, "alpha"),
        ({"shown": 2.5}, "shown"),
        ({"notice": float("nan")}, "notice"),
        ({"words": True}, "words"),
        ({"faults": None}, "faults"),
    ],
)
def test_a_wrong_threshold_is_named(shipped, changed, where):
    with pytest.raises(InputError, match=rf"verdict\.findings\.{where}"):
        Thresholds.read(shipped | changed)


def test_an_unknown_threshold_has_a_near_match(shipped):
    with pytest.raises(InputError, match="alpha"):
        Thresholds.read(shipped | {"alhpa": 0.1})


def test_a2_findings_name_the_keys_of_the_release_and_not_positions(look, tmp_path):
    keys = {"0": "a cat", "2": "a dog", "10": " a cow"}
    rows = {key: {"filename": f"{key}.jpg", "caption": text, "negative_caption": "a pig"} for key, text in keys.items()}
    (tmp_path / "swap_obj.json").write_text(json.dumps(rows), encoding="utf-8")
    conf = OmegaConf.to_container(OmegaConf.load(CONF / "benchmark" / "sugarcrepe.yaml"))
    found = look(SugarCrepe(card=card(conf["card"]), root=tmp_path, subsets="swap_obj"))
    assert found["outer_white_space"][0].instances == ("swap_obj:10",)


def test_a12_every_positive_is_held_against_every_foil(look, make):
    found = look([make("x", ("a cat", "a kitten"), ("a dog", "A Kitten."))])
    assert found["same_words_in_order"][0].instances == ("x",)
    assert found["final_stop"][0].sentence.startswith("In 0 of 2 positives and 1 of 2 foils ")


def test_no_sentence_repeats_a_caption(look, make):
    hostile = [
        "\x1b]0;owned\x07 [bold red]x[/] ",
        "<img src=x onerror=alert(1)>",
        "\u202eevil\ud800",
        "{{7*7}} ${jndi}",
    ]
    rows = [make(place, hostile[place % 4], f"{hostile[(place + 1) % 4]} foil", image="i") for place in range(40)]
    for findings in look(rows, words=50).values():
        for finding in findings:
            assert not set("<>{}$\x1b\x07\u202e\ud800") & set(finding.sentence)
            assert finding.sentence.isprintable()
