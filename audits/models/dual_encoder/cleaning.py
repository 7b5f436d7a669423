"""Clean captions before they are tokenised, once, by a way that has a name."""

from __future__ import annotations

from collections.abc import Callable

from open_clip.tokenizer import get_clean_fn

from benchmarks.errors import InputError, near

AUTO, OFF = "auto", "off"
# Our names for what open_clip calls whitespace, lower and canonicalize; all of them mend and unescape first.
CLEANING = {"whitespace": "whitespace", "lower": "lower", "canonical": "canonicalize"}
Clean = Callable[[str], str]


def as_it_is(text: str) -> str:
    """Return the text."""
    return text


def cleaner(asked: str, own: str) -> tuple[Clean, str]:
    """Return the function that cleans a caption, and what the signature calls it.

    Args:
        asked: `auto`, `off`, `whitespace` (mended, one blank), `lower` (in lower case as well) or `canonical` (without
            punctuation as well).
        own: What `auto` stands for: open_clip's name of the model's own way, or `off`.

    Raises:
        InputError: If there is no such way.

    >>> clean, name = cleaner("canonical", "lower")
    >>> clean(" A  Red Cup. "), name
    ('a red cup', 'cleaned once: canonical')
    """
    names = {AUTO: own, OFF: OFF, **CLEANING}
    if asked not in names:
        step = near(asked, names) or "leave it at auto"
        raise InputError("unknown cleaning of text", where="cleaning", got=asked, expected=", ".join(names), step=step)
    if names[asked] == OFF:
        return as_it_is, "as released"
    known = {value: key for key, value in CLEANING.items()}
    clean: Clean = get_clean_fn(names[asked])
    called = known.get(names[asked], names[asked])
    return clean, f"cleaned once: {called}" + (", the model's own way" if asked == AUTO else "")
