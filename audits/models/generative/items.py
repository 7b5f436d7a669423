"""One measurement: how likely some tokens are after a prompt, beside an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from audits.models.generative.sights import Sight

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """Hold what the model is shown, what it reads first, and the ids that are scored.

    Attributes:
        sight: What it is shown.
        prompt: The text in front, as rendered.
        target: Ids that are scored, each given all before it.
    """

    sight: Sight
    prompt: str
    target: Ids

    @property
    def key(self) -> str:
        """Return the content key: equal keys have equal log-likelihoods under one model."""
        ids = sha256(np.asarray(self.target, "<i8").tobytes()).hexdigest()
        prompt = sha256(self.prompt.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self.sight.key}:{prompt}:{ids}"

    @property
    def cost(self) -> int:
        """Return the size of the item: scored tokens, and about what the prompt holds."""
        return len(self.target) + len(self.prompt) // 4 + 1


@dataclass(frozen=True, slots=True)
class Row:
    """Hold the ids of one item: those that are read before, image places included, and those that are scored."""

    before: Ids
    target: Ids

    @property
    def ids(self) -> Ids:
        """Return both, one after the other."""
        return self.before + self.target


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Hold an image as the model takes it, and the rows that stand behind it.

    Attributes:
        features: Tensors by name (pixels, sizes), with the image as their first dimension or concatenated along it;
            empty where there is no image.
        rows: The rows, each of at least one scored id.
        marked: Names of inputs that say, id by id, which are image places.
    """

    features: Mapping[str, Any]
    rows: Sequence[Row]
    marked: tuple[str, ...] = ()

    @property
    def shared(self) -> int:
        """Return how many ids all rows have in common at their front, before anything is scored."""
        first, last = min(row.before for row in self.rows), max(row.before for row in self.rows)
        pairs = enumerate(zip(first, last, strict=False))  # what the extremes share, all between them share
        return next((place for place, (left, right) in pairs if left != right), min(len(first), len(last)))
