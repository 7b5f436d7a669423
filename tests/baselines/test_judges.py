"""Classifier, Vera and encoder-decoder against one text at a time, on small models of the same architectures."""

import math

import numpy as np
import pytest

from baselines.acceptability import PROBE, Acceptability
from baselines.engine import Engine
from baselines.language.judges import of_one_length
from baselines.plausibility import Plausibility
from baselines.seq2seq import Seq2SeqLikelihood
from benchmarks.errors import InputError, NotAvailableError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates

NOWHERE = (ImageRef.absent(),)
TEXTS = ("The cat sleeps.", "two birds drink water in the park", "a cup", "[CLS] a cup </s>", "a  cup ", "fish fish")


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "cache") as engine:
        yield engine


def row(scorer, work, *texts, column="", query=""):
    [scored] = scorer.score([Candidates("a", NOWHERE, texts, query)], work)
    return scored.columns[column][0]


def one_by_one(folder, loader, answer):
    """Ask a model for one text at a time, marks added by hand where they stand in the text as text."""
    import torch
    from transformers import AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), loader.from_pretrained(folder).eval()
    with torch.inference_mode():
        found = [
            answer(model, torch.tensor([tokenizer(text, split_special_tokens=True)["input_ids"]])) for text in TEXTS
        ]
    return np.array(found)


def test_log_odds_equal_the_slow_softmax(small_classifier, work):
    from transformers import DistilBertForSequenceClassification

    def answer(model, ids):
        right, left = (math.exp(float(model(input_ids=ids).logits[0, place])) for place in (1, 0))
        share = right / (right + left)
        return math.log(share / (1 - share))

    slow = one_by_one(small_classifier, DistilBertForSequenceClassification, answer)
    assert np.allclose(row(Acceptability(str(small_classifier), 1, device="cpu"), work, *TEXTS), slow, atol=1e-3)


def test_without_a_probe_both_directions_stand(small_classifier, work):
    scorer = Acceptability(str(small_classifier), "LABEL_0", probe=False, device="cpu")
    assert scorer.columns == ("higher", "lower")
    low, high = (row(scorer, work, *TEXTS, column=column) for column in ("lower", "higher"))
    assert np.array_equal(low, -high)
    assert not any("probe" in label for label in work.counts)
    assert np.allclose(low, row(Acceptability(str(small_classifier), 1, device="cpu"), work, *TEXTS), atol=1e-5)


def test_vera_equals_the_published_steps(small_vera, work):
    from transformers import T5EncoderModel

    def answer(model, ids):
        rows, hidden = model.shared.weight, model(input_ids=ids).last_hidden_state[0, -1]
        logit = sum(float(a) * float(b) for a, b in zip(rows[32099], hidden, strict=True)) + float(rows[32098, 0])
        return logit / float(rows[32097, 0])

    slow = one_by_one(small_vera, T5EncoderModel, answer)
    assert np.allclose(row(Plausibility(str(small_vera), dtype="float32", device="cpu"), work, *TEXTS), slow, atol=1e-3)


@pytest.mark.parametrize("query", ["", "Which is it?"])
def test_the_encoder_decoder_equals_the_slow_loop(small_t5, work, query):
    import torch
    from transformers import AutoTokenizer, T5ForConditionalGeneration

    tokenizer, model = AutoTokenizer.from_pretrained(small_t5), T5ForConditionalGeneration.from_pretrained(small_t5)
    source = torch.tensor([tokenizer(query)["input_ids"]])
    # An empty source is the end mark alone.
    assert query or source.tolist() == [[tokenizer.eos_token_id]]
    slow, counts = [], []
    for text in TEXTS:
        wanted = tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        seen, total = [0], 0.0
        for token in wanted:
            with torch.inference_mode():
                logits = model.eval()(input_ids=source, decoder_input_ids=torch.tensor([seen])).logits[0, -1].double()
            total += float(logits.log_softmax(-1)[token])
            seen.append(token)
        slow.append(total)
        counts.append(len(wanted))
    scorer = Seq2SeqLikelihood(str(small_t5), dtype="float32", device="cpu")
    [scored] = scorer.score([Candidates("a", NOWHERE, TEXTS, query)], work)
    assert np.allclose(scored.columns["unnorm"][0], slow, atol=1e-3)
    assert np.allclose(scored.columns["norm"][0], np.array(slow) / counts, atol=1e-3)
    assert np.allclose(scored.columns["char"][0], np.array(slow) / [len(text) for text in TEXTS], atol=1e-3)
    assert scored.tokens.tolist() == [counts]


@pytest.mark.parametrize("budget", [1, 10, 10_000])
def test_the_size_of_batches_changes_nothing(small_classifier, small_t5, tmp_path, budget):
    with Engine(tmp_path / "one") as one, Engine(tmp_path / "two") as two:
        for make in (
            lambda size: Acceptability(str(small_classifier), 1, device="cpu", tokens_per_batch=size),
            lambda size: Seq2SeqLikelihood(str(small_t5), dtype="float32", device="cpu", tokens_per_batch=size),
        ):
            column = make(1).columns[-1]
            first, second = row(make(64), one, *TEXTS, column=column), row(make(budget), two, *TEXTS, column=column)
            assert np.allclose(first, second, atol=1e-4)


def test_batches_hold_texts_of_one_length():
    lengths = [9, 9, 9, 4, 4, 1]
    batches = of_one_length(lengths, 18)
    assert batches == [[0, 1], [2], [3, 4], [5]]
    # A text beyond the budget makes a batch of its own.
    assert of_one_length(lengths, 1) == [[place] for place in range(6)]


def test_a_text_that_is_too_long_is_cut_and_says_so(small_classifier, work):
    scorer = Acceptability(str(small_classifier), 1, probe=False, device="cpu", max_tokens=6)
    [scored] = scorer.score([Candidates("a", NOWHERE, ("a a a a a b", "a a a a", "", None))], work)
    # Six ids, two of them marks: four tokens of the text are read.
    assert scored.truncated.tolist() == [[True, False, False, False]]
    assert scored.tokens.tolist() == [[4, 4, 0, 0]]
    assert scored.notes == {(0, 0): "cut to 4 of 6 tokens", (0, 2): "no tokens", (0, 3): "no text"}
    assert scored.columns["higher"][0, 0] == scored.columns["higher"][0, 1]
    assert np.isnan(scored.columns["higher"][0, 2:]).all()


def test_a_value_that_is_not_finite_is_not_a_score(small_classifier, work, monkeypatch):
    import torch

    scorer = Acceptability(str(small_classifier), 1, probe=False, device="cpu")
    monkeypatch.setattr(scorer._judge, "_head", lambda model, ids: torch.full((len(ids),), torch.inf))
    [scored] = scorer.score([Candidates("a", NOWHERE, ("a cup",))], work)
    assert np.isnan(scored.columns["higher"]).all()
    assert scored.notes == {(0, 0): "the model's answer is not finite"}


def test_the_query_is_not_judged(small_classifier, work):
    scorer = Acceptability(str(small_classifier), 1, device="cpu")
    assert row(scorer, work, "a cup") == row(scorer, work, "a cup", query="Which? ")


def test_the_weights_are_not_loaded_when_everything_is_in_the_cache(small_classifier, work, monkeypatch):
    first = row(Acceptability(str(small_classifier), 1, device="cpu"), work, "a cup")
    monkeypatch.setattr("baselines.language.judges.load_whole", lambda *_, **__: pytest.fail("the weights were loaded"))
    again = Acceptability(str(small_classifier), 1, device="cpu", name="again")
    assert row(again, work, "a cup") == first
    assert work.counts["again (probe)"].hits == 2 * len(PROBE)


def test_labels_can_be_named_and_wrong_ones_are(small_classifier):
    named = Acceptability(str(small_classifier), "LABEL_1", device="cpu")
    assert named.signature == Acceptability(str(small_classifier), 1, device="cpu").signature
    assert named.signature["head"] == "log-odds of label 1 (LABEL_1)"
    assert named.name == "acceptability:small-classifier"
    for wrong in ("LABEL_2", 2, -1, "acceptable"):
        with pytest.raises(InputError, match=r"0 \(LABEL_0\), 1 \(LABEL_1\)"):
            Acceptability(str(small_classifier), wrong)


def test_a_checkpoint_without_its_head_is_refused(small_classifier, small_t5, tmp_path, work):
    import shutil

    from transformers import DistilBertModel

    folder = tmp_path / "headless"
    shutil.copytree(small_classifier, folder)
    DistilBertModel.from_pretrained(small_classifier).save_pretrained(folder)
    with pytest.raises(InputError, match="would stay random"):
        row(Acceptability(str(folder), 1, probe=False, device="cpu"), work, "a cup", column="higher")
    with pytest.raises(InputError, match="lacks the rows of Vera's head"):
        row(Plausibility(str(small_t5), dtype="float32", device="cpu"), work, "a cup")
    with pytest.raises(InputError, match="not an encoder-decoder"):
        Seq2SeqLikelihood(str(small_classifier))


@pytest.mark.parametrize(
    "make", [lambda model: Acceptability(model, 1), Plausibility, Seq2SeqLikelihood], ids=["cola", "vera", "seq2seq"]
)
def test_a_model_that_cannot_be_had_gives_one_clear_message(make, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(NotAvailableError, match="the model cannot be had from the hub") as caught:
        make("nobody/no-such-model")
    assert caught.value.status == "unreachable"
    assert "nobody/no-such-model" in str(caught.value)
    assert "next step" in str(caught.value)
