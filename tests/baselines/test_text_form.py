"""Text forms: what is normalised, under which name, around which one model, for scorers and trained baselines."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits import load
from baselines.engine import Engine
from baselines.image_cues import ImageCues
from baselines.length import Length
from baselines.likelihood import Likelihood
from baselines.schema import TEXT, CrossFitted, Scored, Scorer
from baselines.text_form import EMPTIED, forms, in_form, normalised
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates, Instance

NOWHERE = (ImageRef.absent(),)
LENGTH = {"_target_": "baselines.length.Length", "units": ["characters"]}


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "cache") as engine:
        yield engine


def slow_normalised(text):
    """Character by character, as methods.md words it: lower case, [^a-z0-9] to blank, blanks merged, stripped."""
    out = ""
    for character in text.lower():
        kept = character if character in "abcdefghijklmnopqrstuvwxyz0123456789" else " "
        if kept != " " or (out and out[-1] != " "):
            out += kept
    return out.rstrip(" ")


@given(st.text())
def test_normalised_equals_the_slow_definition_and_is_stable(text):
    assert normalised(text) == slow_normalised(text)
    assert normalised(normalised(text)) == normalised(text)


def test_a_scorer_receives_normalised_captions_and_query(work):
    class Recorder:
        name, sees, columns, signature = "recorder", TEXT, ("",), {"scorer": "recorder", "text": "raw"}

        def score(self, batch, work):
            self.seen = batch
            return [Scored({"": np.zeros((1, len(item.captions)))}) for item in batch]

    inner = Recorder()
    formed = in_form(inner, "normalised", "baseline.recorder")
    formed.score([Candidates("a", NOWHERE, (" A  man's cup. ", None), "Q: Which?")], work)
    # The query keeps a blank at its end: the caption is joined to it without anything between.
    assert inner.seen == [Candidates("a", NOWHERE, ("a man s cup", None), "q which ")]
    assert formed.signature == {"scorer": "recorder", "text": "normalised"}
    in_form(inner, "raw", "baseline.recorder").score([Candidates("a", NOWHERE, (" A ",), "Q:")], work)
    assert inner.seen == [Candidates("a", NOWHERE, (" A ",), "Q:")]


def test_what_is_left_of_a_caption_by_hand(work):
    formed = in_form(Length(units=["characters"]), "normalised", "baseline.length")
    [scored] = formed.score([Candidates("a", NOWHERE, (" Two  cups. ", "!?", None, ""))], work)
    # "two cups" has 8 characters; nothing is left of "!?"; "" was empty before, so there is nothing to say of it.
    assert np.array_equal(scored.columns["characters:more"], [[8, 0, np.nan, 0]], equal_nan=True)
    assert scored.notes == {(0, 1): EMPTIED, (0, 2): "no text"}


def test_a_scorer_that_needs_text_says_why_and_that_there_was_some(tiny_llama, work):
    formed = in_form(Likelihood(str(tiny_llama), device="cpu"), "normalised", "baseline.likelihood")
    [scored] = formed.score([Candidates("a", NOWHERE, ("a cat", "..."))], work)
    assert np.isfinite(scored.columns["norm"][0, 0])
    assert np.isnan(scored.columns["norm"][0, 1])
    assert scored.notes == {(0, 1): f"no tokens; {EMPTIED}"}
    assert formed.name == "likelihood:tiny-llama:normalised"


class FirstLetters:
    """A trained baseline: likes captions that begin like a matching one of the training instances."""

    name, sees, columns, signature, tolerance = "letters", TEXT, ("",), {"scorer": "letters"}, 0.25

    def __init__(self):
        self.facts = {"fits": 0, "last": "none"}

    def prepare(self, batch, work):
        self.prepared = [item.captions for item in batch]

    def fit(self, training, *, seed):
        liked = {one.captions[place][:1] for one in training for place in np.flatnonzero(one.gold[0])}
        self.facts = {"fits": self.facts["fits"] + 1, "last": str(seed)}

        class Fitted:
            def score(self, batch):
                return [Scored({"": np.array([[float(text[:1] in liked) for text in one.captions]])}) for one in batch]

        return Fitted()


def test_a_trained_baseline_learns_and_scores_normalised_text(work):
    inner = FirstLetters()
    formed = in_form(inner, "normalised", "baseline.letters")
    assert isinstance(formed, CrossFitted)
    assert not isinstance(formed, Scorer)
    gold = np.array([[True, False]])
    training = [Instance("a", NOWHERE, (" Apple.", "Pear"), gold, subset="s", tags={"t": "1"})]
    batch = [Candidates("b", NOWHERE, ("APRICOT", " plum", "!"))]
    formed.prepare(batch, work)
    assert inner.prepared == [("apricot", "plum", "")]
    [scored] = formed.fit(training, seed=3).score(batch)
    # "apple" was the match, so "a" is liked; as released it would have been the blank.
    assert scored.columns[""].tolist() == [[1, 0, 0]]
    assert scored.notes == {(0, 2): EMPTIED}
    assert (formed.name, formed.tolerance, formed.facts) == ("letters:normalised", 0.25, {"fits": 1, "last": "3"})
    assert formed.signature == {"scorer": "letters", "text": "normalised"}
    raw = in_form(inner, "raw", "baseline.letters").fit(training, seed=4).score(batch)
    assert raw[0].columns[""].tolist() == [[0, 1, 0]]


def test_facts_of_two_forms_are_kept_apart(work):
    inner = FirstLetters()
    first, second = (in_form(inner, form, "baseline.letters") for form in ("raw", "normalised"))
    training = [Instance("a", NOWHERE, ("a", "b"), np.array([[True, False]]))]
    for seed in (1, 2):
        first.fit(training, seed=seed)
    second.fit(training, seed=3)
    assert (first.facts, second.facts) == ({"fits": 2, "last": "2"}, {"fits": 1, "last": "3"})


def built(options):
    return load.panel({"baseline": {"length": {**LENGTH, **options}}}).contestants


def test_names_by_the_rule():
    assert [one.scorer.name for one in built({})] == ["length"]
    assert [one.scorer.name for one in built({"text_form": None})] == ["length"]
    assert [one.scorer.name for one in built({"text_form": "raw"})] == ["length:raw"]
    both = built({"text_form": ["raw", "normalised"]})
    assert both[1].full_name("characters:more") == "length:normalised:characters:more"
    # One leaf is built once, whatever forms are asked of it.
    assert both[0].scorer.contestant is both[1].scorer.contestant


@pytest.mark.parametrize(
    ("given_form", "said"),
    [
        ("normalized", "did you mean normalised"),
        ([], "null"),
        (["raw", "raw"], "each form once"),
        (3, "raw, normalised"),
    ],
)
def test_wrong_forms_are_named(given_form, said):
    with pytest.raises(InputError, match=said) as caught:
        built({"text_form": given_form})
    assert "baseline.length.text_form" in str(caught.value)


def test_a_model_takes_no_text_form():
    with pytest.raises(InputError, match="does not take every option"):
        load.panel({"model": {"length": {**LENGTH, "text_form": "raw"}}})


def test_what_sees_no_text_has_no_form():
    with pytest.raises(InputError, match="sees no text"):
        in_form(ImageCues(), "normalised", "baseline.image_cues")
    assert forms(None, "baseline.image_cues") == ()


def test_both_forms_are_told_apart_by_the_cache(tiny_llama, work):
    inner = Likelihood(str(tiny_llama), device="cpu")
    batch = [Candidates("a", NOWHERE, ("A cat.",))]
    raw, plain = (in_form(inner, form, "baseline.likelihood").score(batch, work)[0] for form in ("raw", "normalised"))
    assert raw.columns["unnorm"][0, 0] != plain.columns["unnorm"][0, 0]
    alone = inner.score([dataclasses.replace(batch[0], captions=("a cat",))], work)[0]
    assert alone.columns["unnorm"].tobytes() == plain.columns["unnorm"].tobytes()
