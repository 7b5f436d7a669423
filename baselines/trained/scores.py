"""Spread the scores of distinct captions over candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from baselines.schema import Scored
from benchmarks.schema import Candidates

NO_TEXT = "no text"


def scored(batch: Sequence[Candidates], judge: Callable[[Sequence[str]], NDArray[np.float64]]) -> list[Scored]:
    """Return one `Scored` per candidate with the single column "", arrays [1, T]; without text NaN and a note.

    Args:
        batch: What to score.
        judge: Returns the scores of distinct captions, float64 [n], each whatever the others are.
    """
    texts = sorted({text for item in batch for text in item.captions if text is not None})
    values = dict(zip(texts, judge(texts).tolist(), strict=True)) if texts else {}
    return [_one(item, values) for item in batch]


def _one(item: Candidates, values: dict[str, float]) -> Scored:
    if None not in item.captions:
        return Scored({"": np.array([[values[text] for text in item.captions if text is not None]])})
    row = np.array([[np.nan if text is None else values[text] for text in item.captions]])
    return Scored({"": row}, notes={(0, place): NO_TEXT for place, text in enumerate(item.captions) if text is None})
