"""Say of each cell why it has no score, or what happened to its caption before it was encoded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from audits.models.dual_encoder.schema import Text
from benchmarks.schema import Candidates

AFTER_TRUNCATION = "identical_after_truncation"
AFTER_CLEANING = "identical_after_cleaning"
AS_TOKENS = "identical_as_tokens"


def with_query(query: str, caption: str) -> str:
    """Return a caption with the query of its instance in front, one blank between them where there is none.

    >>> with_query("What is red?", "a cup"), with_query("", " a cup")
    ('What is red? a cup', ' a cup')
    """
    if not query:
        return caption
    return query + caption if query[-1].isspace() or caption[:1].isspace() else f"{query} {caption}"


def unreadable(text: str) -> bool:
    """Return whether text holds half of a character (a lone surrogate), which no tokenizer takes."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def notes(item: Candidates, texts: Sequence[Text | None], values: NDArray[np.float64]) -> dict[tuple[int, int], str]:
    """Return what there is to say of the cells of one candidate, by (row, column).

    Args:
        item: The candidate.
        texts: Its captions as they are read; None where there is no text, or none that can be read.
        values: Its cosines [I, T].
    """
    said = [_of_caption(item, texts, place) for place in range(len(texts))]
    found: dict[tuple[int, int], str] = {}
    for row, ref in enumerate(item.images):
        for place, text in enumerate(texts):
            if ref.is_absent:
                found[row, place] = "no image"
            elif text is not None and not np.isfinite(values[row, place]):
                found[row, place] = "the embedding of the image or of the caption is not finite"
            elif said[place]:
                found[row, place] = said[place]
    return found


def _of_caption(item: Candidates, texts: Sequence[Text | None], place: int) -> str:
    """Return what happened to one caption, and which of the others became the same."""
    text = texts[place]
    if text is None:
        return "no text" if item.captions[place] is None else "the text holds half of a character"
    said = [f"cut to {text.tokens} of {text.total} tokens"] if text.truncated else []
    kinds = [
        _identical(text, other)
        for at, other in enumerate(texts)
        if other is not None and item.captions[at] != item.captions[place] and other.key == text.key
    ]
    return "; ".join([*said, *dict.fromkeys(kinds)])


def _identical(one: Text, other: Text) -> str:
    """Say why two different captions are read as the same ids."""
    if one.encoded == other.encoded:
        return AFTER_CLEANING
    return AFTER_TRUNCATION if one.truncated and other.truncated else AS_TOKENS
