"""Turn instances with gold into pairs of captions: one that fits, one that does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.errors import InputError
from benchmarks.schema import Instance


class Pair(NamedTuple):
    """Hold two captions of one instance of which the first is to be preferred."""

    positive: str
    foil: str


def learnable(training: Sequence[Instance]) -> list[Pair]:
    """Return every pair of a fitting and a misfitting caption, in an order that depends on the captions alone.

    Which caption fits is read off image 0. For 1xT that is the gold. Where there are several images (2x2), each caption
    fits one of them, and text alone cannot know which image is asked for; what it can know is which caption is the
    *base* (fits image 0) and which the *foil*. That is what the caption preference measures, so it is what is learned.
    T captions of which p fit give p (T - p) pairs.

    Args:
        training: Instances with gold.

    Raises:
        InputError: If no instance has both a fitting and a misfitting caption.
    """
    pairs = sorted(pair for instance in training for pair in _pairs(instance))
    if not pairs:
        raise InputError(
            "no instance has two captions of which one fits and one does not",
            got=f"{len(training)} instances to learn from",
            step="leave baselines trained on text out for this benchmark",
        )
    return pairs


def _pairs(instance: Instance) -> list[Pair]:
    fits = instance.gold[0]
    texts = [(text, bool(fit)) for text, fit in zip(instance.captions, fits, strict=True) if text is not None]
    return [Pair(one, other) for one, good in texts if good for other, bad in texts if not bad]


def documents(training: Sequence[Instance]) -> list[str]:
    """Return every caption of the instances, as often as it occurs, in an order that depends on the captions alone."""
    return sorted(text for instance in training for text in instance.captions if text is not None)
