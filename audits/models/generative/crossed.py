"""Models whose decoder looks across at what an encoder made of the image: BLIP captioners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from audits.models.generative.items import Row, Scene
from audits.models.generative.logits import ends, joined, padded, picked


class Crossed:
    """Encode every image once, and read the rows of all scenes beside what was made of their images.

    Args:
        model: In evaluation mode, on its device.
        at_once: Most rows beside the images.
    """

    def __init__(self, model: Any, *, at_once: int) -> None:
        self._at_once = at_once
        self._model, self._device, self._dtype = model, model.device, model.dtype

    def batch(self, scenes: Sequence[Scene]) -> list[torch.Tensor]:
        """Return the log-probabilities of scored ids, row by row; the images of the scenes share their size."""
        rows = [row for scene in scenes for row in scene.rows]
        owners = torch.tensor([n for n, scene in enumerate(scenes) for _ in scene.rows], device=self._device)
        features = self._features(scenes)
        found: list[torch.Tensor] = []
        for first in range(0, len(rows), self._at_once):
            part = slice(first, first + self._at_once)
            found += self._beside(None if features is None else features[owners[part]], rows[part])
        return found

    def _beside(self, features: torch.Tensor | None, rows: Sequence[Row]) -> list[torch.Tensor]:
        """Read rows beside the features of each, [n, P, H]."""
        across = {} if features is None else {"encoder_hidden_states": features}
        ids = padded([row.ids[:-1] for row in rows], self._device)
        logits = self._model.text_decoder(input_ids=ids, use_cache=False, **across).logits
        return ends(logits, rows, [len(row.ids) - 1 for row in rows])

    def single(self, scene: Scene, row: Row) -> torch.Tensor:
        """Return the log-probabilities of one row's scored ids, from the whole model where there is an image."""
        ids = torch.tensor([row.ids[:-1]], device=self._device)
        if scene.features:
            features = joined([scene.features], self._device, self._dtype)
            logits = self._model(input_ids=ids, **features).logits
        else:
            logits = self._model.text_decoder(input_ids=ids, use_cache=False).logits
        return picked(logits[0, -len(row.target) :], row.target)

    def _features(self, scenes: Sequence[Scene]) -> torch.Tensor | None:
        if not scenes[0].features:
            return None
        found = joined([scene.features for scene in scenes], self._device, self._dtype)
        seen: torch.Tensor = self._model.vision_model(**found).last_hidden_state
        return seen
