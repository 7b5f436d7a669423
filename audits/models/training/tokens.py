"""Train the one small tokenizer of both models: byte-level pairs, so that any text can be encoded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

ENTRIES = 1000
PAD, START, END = "<pad>", "<start>", "<end>"
CONTEXT = 80
"""Tokens that both models read, start and end mark included."""


def train_tokenizer(captions: Iterable[str], *, entries: int = ENTRIES) -> Any:
    """Return a tokenizer of at most `entries` entries, learned from captions.

    The end mark has the largest id: open_clip's text towers find it as the largest.
    """
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=entries - 1, special_tokens=[PAD, START], initial_alphabet=alphabet, show_progress=False
    )
    bare.train_from_iterator(captions, trainer)
    bare.add_special_tokens([AddedToken(END, special=True)])
    marks = [(mark, bare.token_to_id(mark)) for mark in (START, END)]
    bare.post_processor = processors.TemplateProcessing(single=f"{START} $A {END}", special_tokens=marks)
    return PreTrainedTokenizerFast(
        tokenizer_object=bare,
        pad_token=PAD,
        bos_token=START,
        eos_token=END,
        model_max_length=CONTEXT,
        padding_side="right",
    )
