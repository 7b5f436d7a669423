"""Check the options of a language model and find the tokens that they name."""

from __future__ import annotations

from baselines.language.tokenizer import HubTokenizer
from benchmarks.errors import InputError, near

AUTO = "auto"


def positive(tokens: int) -> int:
    """Return the token budget of a batch if it is one."""
    if tokens < 1:
        raise InputError(
            "the token budget of a batch must be positive",
            where="tokens_per_batch",
            got=str(tokens),
            expected="1 or more",
        )
    return tokens


def start_token_id(tokenizer: HubTokenizer, wanted: str) -> int:
    """Return the id of the start token: the one named, else the model's own, else its end-of-text."""
    raw = tokenizer.raw
    if wanted == AUTO:
        found = raw.bos_token_id if raw.bos_token_id is not None else raw.eos_token_id
        step = "name a token of the vocabulary to start from: start=TOKEN"
    else:
        found = raw.get_vocab().get(wanted)
        step = near(wanted, raw.all_special_tokens) or f"the model's marks are {', '.join(raw.all_special_tokens)}"
    if found is None:
        raise InputError(
            "the model has no such start token",
            where=f"start={wanted}",
            got=f"tokenizer {tokenizer.name} without it",
            expected="a token of the vocabulary",
            step=step,
        )
    return int(found)


def end_token_id(tokenizer: HubTokenizer) -> int:
    """Return the id of the end token, where it is to be scored."""
    if tokenizer.raw.eos_token_id is None:
        raise InputError(
            "the model has no end token to score",
            where="end_token=true",
            got=f"tokenizer {tokenizer.name} without one",
            step="leave end_token off",
        )
    return int(tokenizer.raw.eos_token_id)
