"""Counting words, characters and tokens, in both directions."""

import numpy as np
import pytest

from baselines.constant import Constant
from baselines.engine import Engine
from baselines.language.clip_bpe import ClipBpe
from baselines.length import Length
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates

NOWHERE = (ImageRef.absent(),)


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "cache") as engine:
        yield engine


def test_constant_is_zero_everywhere(work):
    scored = Constant().score([Candidates("a", NOWHERE, ("x", None)), Candidates("b", NOWHERE, ("y",))], work)
    assert [one.columns[""].tolist() for one in scored] == [[[0, 0]], [[0]]]


def test_counts_by_hand(work):
    length = Length()
    [scored] = length.score([Candidates("a", NOWHERE, ("Two  cups. ", "café", ""))], work)
    # "Two  cups. ": 2 words, 11 characters with both blanks and the last one; CLIP: two, cups, "." = 3 tokens.
    assert scored.columns["words:fewer"].tolist() == [[-2, -1, 0]]
    assert scored.columns["words:more"].tolist() == [[2, 1, 0]]
    assert scored.columns["characters:more"].tolist() == [[11, 4, 0]]
    assert scored.columns["tokens:more"].tolist() == [[3, 1, 0]]
    assert scored.columns["tokens:fewer"].tolist() == [[-3, -1, 0]]
    assert scored.tokens.tolist() == [[3, 1, 0]]
    assert tuple(scored.columns) == length.columns


def test_only_the_caption_is_counted(work):
    without, with_query = Length().score(
        [Candidates("a", NOWHERE, ("a cup",)), Candidates("b", NOWHERE, ("a cup",), query="Which one? ")], work
    )
    assert all(np.array_equal(without.columns[name], with_query.columns[name]) for name in without.columns)


def test_a_caption_without_text_has_no_length_and_a_reason(work):
    [scored] = Length().score([Candidates("a", NOWHERE, ("a", None))], work)
    assert all(np.isnan(values[0, 1]) and np.isfinite(values[0, 0]) for values in scored.columns.values())
    assert scored.notes == {(0, 1): "no text"}


def test_units_can_be_chosen(work):
    length = Length(units=["characters"])
    assert length.columns == ("characters:fewer", "characters:more")
    [scored] = length.score([Candidates("a", NOWHERE, ("abc",))], work)
    assert scored.tokens is None
    assert "tokenizer_sha256" not in length.signature


@pytest.mark.parametrize(("units", "said"), [(["word"], "words"), ([], "at least one"), (["words", "words"], "once")])
def test_wrong_units_are_named(units, said):
    with pytest.raises(InputError, match=said):
        Length(units=units)


def test_a_local_tokenizer_counts_and_stands_in_the_signature(work, tiny_llama):
    length = Length(units=["tokens"], tokenizer=str(tiny_llama))
    from transformers import AutoTokenizer

    text = " a cat sits</s> "
    expected = len(AutoTokenizer.from_pretrained(tiny_llama).tokenize(text, split_special_tokens=True))
    [scored] = length.score([Candidates("a", NOWHERE, (text,))], work)
    assert scored.columns["tokens:more"].tolist() == [[expected]]
    assert length.signature["tokens"] == "tiny-llama"
    assert length.signature["tokenizer_sha256"] != Length(units=["tokens"]).signature["tokenizer_sha256"]


def test_a_tokenizer_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        Length(tokenizer=str(tmp_path / "gone"))
    with pytest.raises(InputError, match="cannot load the tokenizer"):
        Length(tokenizer=str(tmp_path))


def test_a_missing_vocabulary_is_named(monkeypatch):
    monkeypatch.setattr("baselines.language.clip_bpe.find_spec", lambda name: None)
    with pytest.raises(InputError, match="open_clip_torch"):
        ClipBpe()
