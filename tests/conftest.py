"""Shared by all tests: the same examples in every run, and tiny language models of real architectures."""

import random
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")

SENTENCES = [
    "a cat sits on a red chair",
    "a dog stands under the table",
    "two people walk beside a river",
    "the small cup is left of the large plate",
]


def save_tokenizer(folder: Path, *, bos: bool) -> int:
    """Save a byte-level BPE tokenizer trained on the sentences; return the size of its vocabulary."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    marks = ["<s>", "</s>"] if bos else ["</s>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=marks, initial_alphabet=alphabet, show_progress=False, min_frequency=1
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    names = {"bos_token": "<s>", "eos_token": "</s>"} if bos else {"eos_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    return tokenizer.get_vocab_size()


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A two-layer Llama (rotary positions, a start token of its own, 64 positions)."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, set_seed

    folder = tmp_path_factory.mktemp("models") / "tiny-llama"
    size = save_tokenizer(folder, bos=True)
    set_seed(0)
    config = LlamaConfig(
        vocab_size=size,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        initializer_range=0.3,
    )
    LlamaForCausalLM(config).to(torch.float32).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A two-layer GPT-2 (learned absolute positions, no start token of its own, 48 positions)."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, set_seed

    folder = tmp_path_factory.mktemp("models") / "tiny-gpt2"
    size = save_tokenizer(folder, bos=False)
    set_seed(1)
    config = GPT2Config(
        vocab_size=size, n_positions=48, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3, bos_token_id=0
    )
    GPT2LMHeadModel(config).to(torch.float32).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def captions() -> list[str]:
    """Forty captions of very different lengths, some with outer blanks, none equal."""
    rng = random.Random(5)
    words = sorted({word for sentence in SENTENCES for word in sentence.split()})
    made = [" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(36)]
    return [*dict.fromkeys(made), " a cat ", "a  cat", "Café – “open”", "a cat."]


@pytest.fixture(scope="session")
def small_classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DistilBERT that tells the probe's good sentences from its broken ones by label 1."""
    from baselines.acceptability import PROBE
    from tests.small_judges import save_classifier

    return save_classifier(tmp_path_factory.mktemp("models") / "small-classifier", PROBE)


@pytest.fixture(scope="session")
def small_vera(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 encoder with Vera's head that tells the probe's plausible statements from the others."""
    from baselines.plausibility import PROBE
    from tests.small_judges import save_vera

    return save_vera(tmp_path_factory.mktemp("models") / "small-vera", PROBE)


@pytest.fixture(scope="session")
def small_t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 with random weights."""
    from tests.small_judges import save_t5

    return save_t5(tmp_path_factory.mktemp("models") / "small-t5")


@pytest.fixture(scope="session")
def small_captioner(tmp_path_factory: pytest.TempPathFactory):
    """Return a function from the name of an architecture to the folder of a small random model of it."""
    from tests.small_captioners import SAVED

    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            made[name] = SAVED[name](tmp_path_factory.mktemp("captioners") / name)
        return made[name]

    return folder
