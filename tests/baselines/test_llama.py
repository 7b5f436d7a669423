"""Our own forward pass of the Llama family equals transformers', and rounded products keep to their bound."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    set_seed,
)

from baselines.language.heap import Arena
from baselines.language.llama import RUN, Llama, is_of_the_family, runs
from baselines.language.packing import tree
from baselines.language.reading import TREES, Reader
from baselines.language.rounding import Matrix, Way, multiply
from baselines.language.rows import Row

CPU = torch.device("cpu")
WORDS = 60
SHAPE = {
    "vocab_size": WORDS,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "pad_token_id": 0,
    "initializer_range": 0.3,
}
LINEAR = {"rope_type": "linear", "factor": 4.0, "rope_theta": 10_000.0}
BUILDERS = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SHAPE)),
    "llama, biases": lambda: LlamaForCausalLM(LlamaConfig(**SHAPE, attention_bias=True, mlp_bias=True)),
    "llama, tied": lambda: LlamaForCausalLM(LlamaConfig(**SHAPE, tie_word_embeddings=True)),
    "llama, scaled positions": lambda: LlamaForCausalLM(LlamaConfig(**SHAPE, rope_parameters=LINEAR)),
    "llama, wide heads": lambda: LlamaForCausalLM(LlamaConfig(**SHAPE, head_dim=16)),
    "mistral": lambda: MistralForCausalLM(MistralConfig(**SHAPE, sliding_window=None)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**SHAPE)),
}


def built(name):
    set_seed(5)
    model = BUILDERS[name]().to(torch.float32).eval()
    with torch.no_grad():
        for weights in model.parameters():  # biases and gains must not stay 0 and 1
            weights.add_(torch.randn_like(weights), alpha=0.1)
    model.config.use_cache = False
    return model


def row(*ids):
    return Row(tuple(ids), len(ids) - 1, len(ids) - 1, len(ids) - 1)


def made_rows(count=40, longest=9):
    draw = np.random.default_rng(2)
    stems = draw.integers(2, WORDS, (6, 4)).tolist()
    return [
        row(1, *stems[n % 6], *draw.integers(2, WORDS, int(draw.integers(0, longest + 1))).tolist())
        for n in range(count)
    ]


def theirs(model, packed):
    with torch.inference_mode():
        return model.base_model(
            input_ids=torch.from_numpy(packed.tokens)[None],
            position_ids=torch.from_numpy(packed.depths)[None],
            attention_mask=torch.from_numpy(packed.visible())[None, None],
            use_cache=False,
        ).last_hidden_state[0]


@pytest.mark.parametrize("name", BUILDERS)
def test_hidden_states_are_those_of_transformers_and_its_own_forward_pass_is_not_touched(name):
    model = built(name)
    for rows in (made_rows(), made_rows(1), made_rows(2, longest=0)):
        packed = tree(rows)
        before = theirs(model, packed)
        assert is_of_the_family(model)
        with torch.inference_mode():
            found = Llama(model, Arena()).hidden(packed)
        assert torch.allclose(found, before, rtol=1e-5, atol=1e-5)
        assert torch.allclose(theirs(model, packed), before, rtol=1e-6, atol=1e-6)


def test_runs_see_what_the_tree_says():
    packed = tree(made_rows(90))
    nodes, visible = len(packed.tokens), packed.visible()
    assert nodes > 2 * RUN
    seen = runs(packed)
    for node in range(nodes):
        keys = seen.keys[node // RUN][seen.mask[node // RUN, node % RUN] == 0].tolist()
        assert keys == np.flatnonzero(visible[node]).tolist()


def test_others_are_left_to_transformers():
    assert not is_of_the_family(built("llama").to(torch.bfloat16))
    model = built("llama")
    model.model.layers[1].mlp.up_proj = torch.nn.Sequential(model.model.layers[1].mlp.up_proj)
    assert not is_of_the_family(model)
    model = built("llama")
    model.config.hidden_act = "gelu"
    assert not is_of_the_family(model)


def test_where_ours_does_not_agree_transformers_reads_the_trees(monkeypatch):
    model, rows = built("llama"), made_rows()
    real = Llama.hidden
    monkeypatch.setattr(Llama, "hidden", lambda *arguments, **options: 1.5 * real(*arguments, **options))
    reader = Reader(model, CPU, 64)
    reader.check(rows)
    assert reader.packing == TREES
    assert reader._lean is None
    assert np.allclose(reader.read(rows), reader.padded(rows), atol=1e-4)


@pytest.mark.parametrize("name", ["llama", "llama, biases", "qwen2"])
def test_rounded_trees_are_near_and_nearer_than_rounded_linear_layers(name):
    model, rows = built(name), made_rows()
    reader = Reader(model, CPU, 64)
    reader.check(rows)
    assert reader.rounding is Way.ROUNDED
    exact, rounded = reader.read(rows), reader.read(rows, Way.ROUNDED)
    error = np.sqrt(np.mean((rounded - exact) ** 2))
    rough = np.sqrt(np.mean((reader.read(rows, Way.LINEAR) - exact) ** 2))
    assert 0 < error < 1
    assert error < 1.5 * rough
    assert np.array_equal(reader.read(rows), exact)  # rounding leaves the weights alone


def test_where_ours_is_not_used_the_linear_layers_are_rounded(monkeypatch):
    model, rows = built("llama"), made_rows()
    monkeypatch.setattr("baselines.language.reading.is_of_the_family", lambda model: False)
    reader = Reader(model, CPU, 64)
    reader.check(rows)
    assert reader.rounding is Way.LINEAR
    assert 0 < np.max(np.abs(reader.read(rows, Way.LINEAR) - reader.read(rows))) < 3


SIZES = st.tuples(st.integers(1, 40), st.integers(1, 70), st.integers(1, 40))


@given(SIZES, st.integers(0, 2**31), st.integers(-12, 12), st.booleans())
def test_rounded_products_keep_to_their_bound(sizes, seed, power, biased):
    rows, inner, columns = sizes
    draw = torch.Generator().manual_seed(seed)
    values = torch.randn(rows, inner, generator=draw) * 2.0**power
    weight = torch.randn(inner, columns, generator=draw)
    bias = torch.randn(columns, generator=draw) if biased else None
    matrix = Matrix(weight, bias, weight.bfloat16())
    exact = values.double() @ weight.double() + (0 if bias is None else bias.double())
    sizes_of = values.double().abs() @ weight.double().abs() + (0 if bias is None else bias.double().abs())
    # Four roundings to eight bits: of values, weights, their product, and its sum with the bias.
    assert torch.all((multiply(values, matrix, Way.ROUNDED).double() - exact).abs() <= 4.1 * 2.0**-8 * sizes_of)
    assert torch.all((multiply(values, matrix).double() - exact).abs() <= 2.0**-16 * sizes_of)
    assert multiply(values, matrix, Way.ROUNDED).dtype == torch.bfloat16
