"""The likelihood baseline against the slow, obvious loop, on tiny models of real architectures."""

import math

import numpy as np
import pytest

from baselines.engine import Engine
from baselines.likelihood import Likelihood
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates

NOWHERE = (ImageRef.absent(),)
MODELS = ["tiny_llama", "tiny_gpt2"]


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "cache") as engine:
        yield engine


@pytest.fixture(params=MODELS)
def folder(request):
    return request.getfixturevalue(request.param)


def slow_sum(folder, caption, *, query="", end=False):
    """One caption at a time, one token at a time, log-softmax in float64."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    seen = [start, *tokenizer(query, add_special_tokens=False).input_ids] if query else [start]
    wanted = tokenizer(caption, add_special_tokens=False).input_ids + ([tokenizer.eos_token_id] if end else [])
    total = 0.0
    for token in wanted:
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([seen])).logits[0, -1].double()
        total += float(logits.log_softmax(-1)[token])
        seen.append(token)
    return total, len(wanted)


def one_each(captions, query=""):
    return [Candidates(str(n), NOWHERE, (text,), query) for n, text in enumerate(captions)]


def column(scored, name):
    return np.array([one.columns[name][0, 0] for one in scored])


@pytest.mark.parametrize(("query", "end"), [("", False), ("Is it? ", False), ("", True), ("Is it? ", True)])
def test_every_column_equals_the_slow_loop(folder, work, captions, query, end):
    some = [*captions[:6], *captions[-4:]]
    scored = Likelihood(str(folder), tokens_per_batch=64, device="cpu", end_token=end).score(
        one_each(some, query), work
    )
    slow = [slow_sum(folder, text, query=query, end=end) for text in some]
    sums = np.array([total for total, _ in slow])
    assert np.allclose(column(scored, "unnorm"), sums, atol=1e-4)
    assert np.allclose(column(scored, "norm"), sums / [count for _, count in slow], atol=1e-4)
    assert np.allclose(column(scored, "char"), sums / [len(text) for text in some], atol=1e-4)
    assert np.allclose(column(scored, "byte"), sums / [len(text.encode()) for text in some], atol=1e-4)
    assert [int(one.tokens[0, 0]) for one in scored] == [count for _, count in slow]
    assert not any(one.truncated.any() or one.notes for one in scored)


def test_batched_equals_single(folder, tmp_path, captions):
    values = []
    for budget in (1, 50, 4096):
        with Engine(tmp_path / str(budget)) as engine:
            scorer = Likelihood(str(folder), tokens_per_batch=budget, device="cpu")
            values.append(column(scorer.score(one_each(captions), engine), "unnorm"))
    assert np.allclose(values[0], values[1], atol=1e-4)
    assert np.allclose(values[0], values[2], atol=1e-4)


def test_neither_the_order_of_instances_nor_of_options_matters(tiny_llama, tmp_path, captions):
    pairs = [Candidates(str(n), NOWHERE, tuple(captions[n : n + 3])) for n in range(20)]
    turned = [Candidates(one.id, NOWHERE, one.captions[::-1]) for one in pairs[::-1]]
    scorer = Likelihood(str(tiny_llama), tokens_per_batch=64, device="cpu")
    with Engine(tmp_path / "one") as one, Engine(tmp_path / "two") as two:
        first, second = scorer.score(pairs, one), scorer.score(turned, two)[::-1]
    for left, right in zip(first, second, strict=True):
        for name in scorer.columns:
            assert left.columns[name].tobytes() == right.columns[name][:, ::-1].tobytes()


def test_each_distinct_caption_is_scored_once(tiny_llama, work):
    scorer = Likelihood(str(tiny_llama), device="cpu")
    pairs = [Candidates(str(n), NOWHERE, ("a cat", "a dog")) for n in range(5)]
    scored = scorer.score(pairs, work)
    assert work.counts[scorer.name].computed == 2
    assert len({one.columns["unnorm"].tobytes() for one in scored}) == 1


def test_the_query_changes_the_score_but_not_the_count(tiny_llama, work):
    scorer = Likelihood(str(tiny_llama), device="cpu")
    plain, asked = scorer.score(
        [Candidates("a", NOWHERE, ("a cat",)), Candidates("b", NOWHERE, ("a cat",), "Q: ")], work
    )
    assert plain.columns["unnorm"][0, 0] != asked.columns["unnorm"][0, 0]
    assert plain.tokens.tolist() == asked.tokens.tolist()


def test_outer_blanks_and_marks_in_a_caption_are_text(tiny_llama, work):
    scorer = Likelihood(str(tiny_llama), device="cpu")
    texts = ["a cat", " a cat", "a cat ", "a cat</s>", "<s>a cat"]
    scored = scorer.score(one_each(texts), work)
    assert len(set(column(scored, "unnorm"))) == 5
    # "</s>" read as a mark would be one token; as text it is at least two.
    assert all(one.tokens[0, 0] > scored[0].tokens[0, 0] + 1 for one in scored[3:])


def test_captions_without_text_or_tokens_have_no_score_and_a_reason(tiny_llama, work):
    [scored] = Likelihood(str(tiny_llama), device="cpu").score([Candidates("a", NOWHERE, ("a", None, ""))], work)
    for values in scored.columns.values():
        assert np.isfinite(values[0, 0])
        assert np.isnan(values[0, 1:]).all()
    assert scored.notes == {(0, 1): "no text", (0, 2): "no tokens"}


def test_a_value_that_is_not_finite_is_not_a_score(tiny_llama, work, monkeypatch):
    monkeypatch.setattr(
        "baselines.language.reading.Reader.read", lambda reader, rows, way: np.full(len(rows), -math.inf)
    )
    [scored] = Likelihood(str(tiny_llama), device="cpu").score([Candidates("a", NOWHERE, ("a",))], work)
    assert np.isnan(scored.columns["norm"]).all()
    assert "not finite" in scored.notes[0, 0]


def test_bfloat16_is_near_and_has_its_own_place_in_the_cache(tiny_llama, work, captions):
    exact = Likelihood(str(tiny_llama), device="cpu")
    rough = Likelihood(str(tiny_llama), device="cpu", dtype="bfloat16", name="rough")
    first = column(exact.score(one_each(captions[:8]), work), "norm")
    second = column(rough.score(one_each(captions[:8]), work), "norm")
    assert work.counts["rough"].hits == 0
    assert not np.array_equal(first, second)
    assert np.allclose(first, second, atol=0.2)


def test_the_weights_are_not_loaded_when_everything_is_in_the_cache(tiny_llama, work, monkeypatch):
    Likelihood(str(tiny_llama), device="cpu").score(one_each(["a cat"]), work)
    monkeypatch.setattr("baselines.likelihood.load", lambda *_, **__: pytest.fail("the weights were loaded"))
    Likelihood(str(tiny_llama), device="cpu").score(one_each(["a cat"]), work)


def test_names(tiny_llama):
    assert Likelihood(str(tiny_llama)).name == "likelihood:tiny-llama"
    assert Likelihood(str(tiny_llama), name="mine").name == "mine"


def test_the_signature_states_what_could_change_a_number(tiny_llama, tiny_gpt2):
    own, other = Likelihood(str(tiny_llama), device="cpu").signature, Likelihood(str(tiny_gpt2), device="cpu").signature
    assert own["start"] == "<s> (own)"
    assert other["start"] == "</s> (stand-in)"
    assert own["context"] == "64"
    assert own["weights_sha256"] != other["weights_sha256"]
    assert own["end"] == "not scored"
    assert Likelihood(str(tiny_llama), end_token=True).signature["end"] == "</s>"
    assert Likelihood(str(tiny_llama), start="a").signature["start"] == "a (stand-in)"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dtype": "float23"}, "did you mean float32"),
        ({"dtype": "double"}, "float32, bfloat16, float16"),
        ({"device": "tpu"}, "auto, cpu"),
        ({"tokens_per_batch": 0}, "must be positive"),
        ({"start": "<bos>"}, "no such start token"),
    ],
)
def test_wrong_options_are_named(tiny_llama, options, said):
    with pytest.raises(InputError, match=said):
        Likelihood(str(tiny_llama), **options)
