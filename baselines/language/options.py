"""Check the options of a language model and find the tokens that they name."""

from __future__ import annotations

from baselines.language.tokenizer import HubTokenizer
from benchmarks.errors import InputError, near

AUTO = "auto"


def positive(number: object, name: str = "tokens_per_batch") -> int:
    """Return the size of a batch if it is one.

    Args:
        number: As configured.
        name: The option, for the message.

    Raises:
        InputError: If it is no whole number from 1 on.
    """
    if type(number) is not int or number < 1:
        raise InputError(
            "the size of a batch must be positive",
            where=name,
            got=repr(number),
            expected="a whole number, 1 or more",
            step=f"write {name}=NUMBER, or leave it out",
        )
    return number


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
