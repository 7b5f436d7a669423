"""The little grammar that captions need."""

from __future__ import annotations

from collections.abc import Sequence

VOWELS = tuple("aeiou")


def article(words: str) -> str:
    """Put "a" or "an" before words; the vocabulary has no silent h and no long u at a beginning.

    >>> article("orange mug"), article("mug")
    ('an orange mug', 'a mug')
    """
    return f"{'an' if words.startswith(VOWELS) else 'a'} {words}"


def listed(parts: Sequence[str]) -> str:
    """Join one or more parts with commas and "and".

    >>> listed(["a mug", "a vase", "a cat"])
    'a mug, a vase, and a cat'
    """
    return ", ".join([*parts[:-1], f"and {parts[-1]}"]) if len(parts) > 1 else parts[0]
