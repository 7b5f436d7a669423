"""Small models of the architectures that judge text, taught the start-up probes in a few steps."""

from pathlib import Path

import torch
from transformers import (
    DistilBertConfig,
    DistilBertForSequenceClassification,
    PreTrainedTokenizerFast,
    T5Config,
    T5EncoderModel,
    T5ForConditionalGeneration,
    set_seed,
)

ROWS = (32099, 32098, 32097)


def _tokenizer(folder: Path, texts: list[str], marks: dict[str, str], template: str) -> PreTrainedTokenizerFast:
    """Save a word-level tokenizer over the words of the texts and the letters, with marks around every text."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    letters = [chr(number) for number in range(33, 127)]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", *(mark for mark in marks.values() if mark not in ("[PAD]", "[UNK]"))]
    trainer = trainers.WordPieceTrainer(
        vocab_size=900, special_tokens=special, initial_alphabet=letters, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[(mark, tokenizer.token_to_id(mark)) for mark in special]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", **marks)
    fast.save_pretrained(folder)
    return fast


def _head(features: torch.Tensor, pairs) -> torch.Tensor:
    """Return weights that give 1 to each good text and -1 to each bad one: fewer texts than features, so exactly."""
    assert features.shape[0] < features.shape[1]
    wanted = torch.tensor([1.0, -1.0] * len(pairs), dtype=torch.float64)
    return torch.linalg.lstsq(features.double(), wanted[:, None], driver="gelsd").solution[:, 0].float()


@torch.no_grad()
def save_classifier(folder: Path, pairs, *, acceptable: int = 1) -> Path:
    """Save a one-layer DistilBERT that gives the label `acceptable` to the good text of each pair."""
    texts = [text for pair in pairs for text in pair]
    raw = _tokenizer(folder, texts, {"cls_token": "[CLS]", "sep_token": "[SEP]"}, "[CLS] $A [SEP]")
    set_seed(0)
    config = DistilBertConfig(
        vocab_size=len(raw), dim=64, hidden_dim=64, n_layers=1, n_heads=2, max_position_embeddings=40,
        initializer_range=0.5,
    )  # fmt: skip
    model = DistilBertForSequenceClassification(config).eval()
    seen = []
    model.classifier.register_forward_pre_hook(lambda _, given: seen.append(given[0][0]))
    for text in texts:
        model(input_ids=torch.tensor([raw(text)["input_ids"]]))
    weight = _head(torch.stack(seen), pairs)
    model.classifier.weight.copy_(torch.stack([-weight, weight] if acceptable else [weight, -weight]))
    model.classifier.bias.zero_()
    model.save_pretrained(folder)
    return folder


@torch.no_grad()
def save_vera(folder: Path, pairs, *, turned: bool = False) -> Path:
    """Save a one-layer T5 encoder with a head in three rows of its embedding, as Vera has it."""
    texts = [text for pair in pairs for text in pair]
    raw = _tokenizer(folder, texts, {"eos_token": "</s>"}, "$A </s>")
    set_seed(0)
    config = T5Config(
        vocab_size=32100, d_model=32, d_kv=16, d_ff=32, num_layers=1, num_heads=2, initializer_factor=0.5
    )  # fmt: skip
    model = T5EncoderModel(config).eval()
    hidden = [model(input_ids=torch.tensor([raw(text)["input_ids"]])).last_hidden_state[0, -1] for text in texts]
    weight, bias, temperature = ROWS
    model.shared.weight[weight] = _head(torch.stack(hidden), pairs)
    model.shared.weight[bias, 0] = 0.25
    model.shared.weight[temperature, 0] = -2.0 if turned else 2.0
    model.save_pretrained(folder)
    return folder


def save_t5(folder: Path) -> Path:
    """Save a small T5 with weights drawn at random."""
    raw = _tokenizer(folder, ["a cat sits on a red chair", "two cups"], {"eos_token": "</s>"}, "$A </s>")
    set_seed(2)
    config = T5Config(
        vocab_size=len(raw), d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0
    )  # fmt: skip
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder
