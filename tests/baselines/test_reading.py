"""Rows under real architectures, built small: trees equal the slow loop, and where they cannot, nobody uses them."""

import logging
import random

import numpy as np
import pytest
import torch
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    set_seed,
)

from baselines.engine import Engine
from baselines.language.packing import plan
from baselines.language.reading import TREES, Reader, spread
from baselines.language.rounding import RoundedProducts, Way
from baselines.language.rows import Row
from baselines.likelihood import Likelihood
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates

CPU = torch.device("cpu")
WORDS = 60
SHAPE = {
    "vocab_size": WORDS,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "initializer_range": 0.3,
}
WIDE = {**SHAPE, "intermediate_size": 48, "num_key_value_heads": 2, "pad_token_id": 0}


def mistral(window):
    return MistralForCausalLM(MistralConfig(**WIDE, sliding_window=window))


BUILDERS = {
    "neox": lambda: GPTNeoXForCausalLM(GPTNeoXConfig(**SHAPE, intermediate_size=48)),
    "mistral": lambda: mistral(64),
    "short window": lambda: mistral(4),
    "capped logits": lambda: Gemma2ForCausalLM(Gemma2Config(**WIDE, head_dim=8, final_logit_softcapping=2.0)),
    "bloom": lambda: BloomForCausalLM(BloomConfig(vocab_size=WORDS, hidden_size=32, n_layer=2, n_head=4)),
    "mamba": lambda: MambaForCausalLM(
        MambaConfig(vocab_size=WORDS, hidden_size=32, state_size=4, num_hidden_layers=2, initializer_range=0.3)
    ),
}


def built(name):
    set_seed(3)
    model = BUILDERS[name]().to(torch.float32).eval()
    with torch.no_grad():  # initial weights are so small that every way of reading gives the same
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.mul_(3)
    model.config.use_cache = False
    return model


def row(*ids, scored=None):
    count = len(ids) - 1 if scored is None else scored
    return Row(tuple(ids), count, count, count)


def made_rows():
    """Rows that share beginnings, one that begins another, equal ones, single tokens, and a long one."""
    draw = random.Random(1)
    stems = [[1, *draw.choices(range(2, WORDS), k=5)] for _ in range(4)]
    rows = [row(*draw.choice(stems), *draw.choices(range(2, WORDS), k=draw.randint(0, 5))) for _ in range(24)]
    longest = row(*stems[0], *draw.choices(range(2, WORDS), k=14))
    return [*rows, rows[0], row(1, 7), row(1, 8), row(*stems[0][:4]), longest, row(*stems[1], 9, 9, scored=2)]


def slow(model, one):
    """Return the sum of one row, one forward pass per token, log-softmax in float64."""
    total = 0.0
    for place in range(len(one.ids) - one.scored, len(one.ids)):
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([one.ids[:place]])).logits[0, -1].double()
        total += float(logits.log_softmax(-1)[one.ids[place]])
    return total


@pytest.mark.parametrize("name", ["neox", "mistral"])
def test_trees_equal_the_slow_loop(name):
    model, rows = built(name), made_rows()
    reader = Reader(model, CPU, 64)
    reader.check(rows)
    assert reader.packing == TREES
    expected = [slow(model, one) for one in rows]
    assert np.allclose(reader.read(rows), expected, atol=1e-4)
    for nodes in (1, 20):
        for pack in plan(rows, nodes):
            assert np.allclose(reader.read([rows[n] for n in pack]), [expected[n] for n in pack], atol=1e-4)


@pytest.mark.parametrize("name", ["short window", "capped logits", "bloom", "mamba"])
def test_where_trees_cannot_be_read_rows_are_padded_and_the_reason_is_said(name, caplog):
    model, rows = built(name), made_rows()
    reader = Reader(model, CPU, 64)
    with caplog.at_level(logging.INFO):
        reader.check(rows)
    assert reader.packing.startswith("padded batches (trees ")
    assert any(reader.packing in record.message for record in caplog.records)
    assert np.allclose(reader.read(rows), [slow(model, one) for one in rows], atol=1e-4)


def test_a_window_that_no_row_reaches_does_not_matter():
    # Windows of 4 tokens cut nothing from rows of which at most 4 tokens are read.
    model = built("short window")
    rows = [one for one in made_rows() if len(one.ids) <= 5]
    reader = Reader(model, CPU, 64)
    reader.check(rows)
    assert reader.packing == TREES
    assert np.allclose(reader.read(rows), [slow(model, one) for one in rows], atol=1e-4)


def test_a_lack_of_memory_is_no_reason_to_read_otherwise(monkeypatch):
    def full(*_, **__):
        raise torch.OutOfMemoryError("out of memory")

    reader = Reader(built("neox"), CPU, 64)
    monkeypatch.setattr(reader.model.base_model, "forward", full)
    with pytest.raises(torch.OutOfMemoryError):
        reader.check(made_rows())


def test_the_rows_that_are_tried_are_the_same_in_any_order_and_hold_the_longest():
    rows = list({one.key: one for one in made_rows()}.values())
    few = spread(rows)
    assert few == spread(rows[::-1])
    assert len(few) == len(set(few)) == 8
    assert max(len(one.ids) for one in rows) in {len(one.ids) for one in few}
    assert spread(rows[:1]) == rows[:1]


def test_rounded_products_are_near_and_leave_the_model_as_it_was():
    model, rows = built("neox"), made_rows()
    reader = Reader(model, CPU, 64)
    reader.check(rows)
    before = reader.read(rows)
    rounded = reader.read(rows, Way.LINEAR)
    # Eight bits of mantissa are one part in 256; these sums are near -100.
    assert 0 < np.max(np.abs(rounded - before) / np.abs(before)) < 0.02
    assert np.array_equal(reader.read(rows), before)
    with RoundedProducts(model).on(), pytest.raises(RuntimeError):
        raise RuntimeError
    assert np.array_equal(reader.read(rows), before)


@pytest.mark.parametrize("folder", ["tiny_llama", "tiny_gpt2"])
def test_the_scorer_says_how_rows_were_packed(folder, request, tmp_path, captions):
    scorer = Likelihood(str(request.getfixturevalue(folder)), device="cpu")
    batch = [Candidates("a", (ImageRef.absent(),), tuple(captions))]
    with Engine(tmp_path / "cache") as engine:
        scorer.score(batch, engine)
        assert scorer.facts == {"packing": TREES}
    again = Likelihood(str(request.getfixturevalue(folder)), device="cpu")
    with Engine(tmp_path / "cache") as engine:
        again.score(batch, engine)
    assert again.facts == {}  # everything was in the cache: nothing was read


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("ignored", ["attention_mask", "position_ids"])
def test_a_model_that_quietly_ignores_masks_or_positions_is_read_padded(monkeypatch, ignored, dtype):
    model, rows = built("neox").to(dtype), made_rows()
    obedient = model.base_model.forward

    def ignores(*arguments, **options):
        return obedient(*arguments, **{key: value for key, value in options.items() if key != ignored})

    honest, deaf = Reader(model, CPU, 64), Reader(model, CPU, 64)
    honest.check(rows)
    monkeypatch.setattr(model.base_model, "forward", ignores)
    deaf.check(rows)
    assert honest.packing == TREES
    assert deaf.packing.startswith("padded batches (trees differ by")
