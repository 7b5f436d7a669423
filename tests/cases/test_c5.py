"""Case C5 for language models: a caption that is too long loses its tail, keeps its end token, and is counted."""

import numpy as np
import pytest

from baselines.engine import Engine
from baselines.language.rows import Layout
from baselines.likelihood import Likelihood
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates

NOWHERE = (ImageRef.absent(),)
LONG = " ".join(["very"] * 90)


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "cache") as engine:
        yield engine


@pytest.mark.parametrize("model", ["tiny_llama", "tiny_gpt2"])
@pytest.mark.parametrize("end_token", [False, True])
def test_c5_long_captions_the_end_is_cut_or_the_end_mark_is(request, work, model, end_token):
    scorer = Likelihood(str(request.getfixturevalue(model)), device="cpu", end_token=end_token)
    captions = (f"{LONG} red", f"{LONG} blue", "a cat")
    [scored] = scorer.score([Candidates("a", NOWHERE, captions)], work)
    assert scored.truncated.tolist() == [[True, True, False]]
    # The two were told apart by their last word alone, and that is gone: an exact tie in every column, and said so.
    for values in scored.columns.values():
        assert values[0, 0] == values[0, 1]
        assert np.isfinite(values).all()
    assert all("identical_after_truncation" in scored.notes[0, place] for place in (0, 1))
    assert (0, 2) not in scored.notes
    context = int(scorer.signature["context"])
    # Start and all but the last scored token are read: context + 1 ids, of which the start is not scored.
    assert scored.tokens.tolist()[0][:2] == [context, context]


def test_c5_the_end_mark_is_kept_and_the_note_says_how_much_was_cut():
    row = Layout(start=0, end=9, context=4).row([], [1, 2, 3, 4, 5, 6])
    # context 4 reads 4 ids; the fifth is predicted: start, three of the caption, end.
    assert row.ids == (0, 1, 2, 3, 9)
    assert (row.scored, row.kept, row.total, row.truncated) == (4, 3, 6, True)


def test_c5_a_caption_that_just_fits_is_not_cut():
    layout = Layout(start=0, context=4)
    assert not layout.row([], [1, 2, 3, 4]).truncated
    assert layout.row([], [1, 2, 3, 4, 5]).truncated
    assert layout.row([7], [1, 2, 3, 4]).truncated  # the query takes room


def test_c5_captions_that_differ_before_the_cut_are_truncated_but_not_identical(tiny_llama, work):
    captions = (f"red {LONG}", f"blue {LONG}")
    [scored] = Likelihood(str(tiny_llama), device="cpu").score([Candidates("a", NOWHERE, captions)], work)
    assert scored.truncated.all()
    assert all("identical" not in note and "cut to 64 of" in note for note in scored.notes.values())
    assert scored.columns["norm"][0, 0] != scored.columns["norm"][0, 1]


def test_c5_lengths_are_those_of_the_text_that_was_scored(tiny_llama, work):
    scorer = Likelihood(str(tiny_llama), device="cpu")
    [scored] = scorer.score([Candidates("a", NOWHERE, (f"{LONG} red",))], work)
    kept = scorer._tokenizer.raw.decode(scorer._tokenizer.encode([LONG])[0][:64])
    assert LONG.startswith(kept)
    assert scored.columns["char"][0, 0] == scored.columns["unnorm"][0, 0] / len(kept)


def test_c5_a_query_that_fills_the_context_leaves_no_score_and_a_reason(tiny_llama, work):
    [scored] = Likelihood(str(tiny_llama), device="cpu").score([Candidates("a", NOWHERE, ("a cat",), query=LONG)], work)
    assert np.isnan(scored.columns["norm"]).all()
    assert scored.notes == {(0, 0): "the query fills the context"}
