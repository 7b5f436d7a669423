"""Models that read image, prompt and caption from left to right: LLaVA, Qwen2-VL, GIT, BLIP-2 over a decoder."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import Any

import torch

from audits.models.generative.items import Row, Scene
from audits.models.generative.logits import ends, joined, padded, picked

CACHES = ("cache", "past_key_values")  # newer and older name of what a model keeps of what it has read
UNMARKED = "git"  # its image takes no places among the ids, so positions must be said


class Causal:
    """Read what the rows of some scenes share once, and the rest of every row behind it.

    Args:
        model: In evaluation mode, on its device.
        image_id: Id of an image place, or None.
        at_once: Most rows behind what was read.
    """

    def __init__(self, model: Any, *, image_id: int | None, at_once: int) -> None:
        self._at_once = at_once
        self._model, self._image_id = model, -1 if image_id is None else image_id
        self._device, self._dtype = model.device, model.dtype
        named = [name for name in CACHES if name in _arguments(model)]
        # BLIP-2 hands on what it is given; only the language model inside knows what it has read.
        self._text = model if named else getattr(model, "language_model", model)
        self._cache = next((name for name in CACHES if name in _arguments(self._text)), CACHES[0])
        self._keeps = "logits_to_keep" in _arguments(self._text)

    def batch(self, scenes: Sequence[Scene]) -> list[torch.Tensor]:
        """Return the log-probabilities of scored ids, row by row; scenes share sizes and the length of their prefix."""
        shared = scenes[0].shared
        first = [scene.rows[0].before[:shared] for scene in scenes]
        if not shared or any(self._image_id in row.before[shared:] for scene in scenes for row in scene.rows):
            return [self.single(scene, row) for scene in scenes for row in scene.rows]
        out = self._read(first, scenes, keep=True)
        owners = [n for n, scene in enumerate(scenes) for _ in scene.rows]
        rows = [Row(row.before[shared:], row.target) for scene in scenes for row in scene.rows]
        parts = [slice(first, first + self._at_once) for first in range(0, len(rows), self._at_once)]
        return [value for part in parts for value in self._behind(out, shared, owners[part], rows[part])]

    def single(self, scene: Scene, row: Row) -> torch.Tensor:
        """Return the log-probabilities of one row's scored ids, from one pass over all of it."""
        out = self._read([row.ids[:-1]], [scene], keep=False)
        return picked(out.logits[0, -len(row.target) :], row.target)

    def _read(self, ids: Sequence[Sequence[int]], scenes: Sequence[Scene], *, keep: bool) -> Any:
        """Read ids of equal number beside the images of the scenes, from the start."""
        inner: Any = getattr(self._model, "model", None)
        if hasattr(inner, "rope_deltas"):
            inner.rope_deltas = None  # what is left of another image shifts positions
        tensor = torch.tensor([list(row) for row in ids], device=self._device)
        given: dict[str, Any] = {"input_ids": tensor, "use_cache": keep}
        if keep and self._keeps:
            given["logits_to_keep"] = 1
        if not scenes[0].features:
            return self._text(**given)
        places = {name: torch.eq(tensor, self._image_id).to(torch.int) for name in scenes[0].marked}
        features = joined([scene.features for scene in scenes], self._device, self._dtype)
        return self._model(**given, **features, **places)

    def _behind(self, out: Any, shared: int, owners: Sequence[int], rows: Sequence[Row]) -> list[torch.Tensor]:
        """Return the log-probabilities of rows that stand behind what was read."""
        chosen = torch.tensor(owners, device=self._device)
        logits = out.logits[:, -1:][chosen]
        width = max(len(row.ids) for row in rows) - 1
        if width:
            more = padded([row.ids[:-1] for row in rows], self._device)
            given = {"input_ids": more, "use_cache": True, self._cache: _turned(_cache_of(out), chosen)}
            seen = self._text(**given, **self._positions(shared, width, chosen)).logits
            logits = torch.cat([logits, seen[:, -width:]], dim=1)
        return ends(logits, rows, [len(row.ids) for row in rows])

    def _positions(self, shared: int, width: int, chosen: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return where the ids behind a prefix stand, for models that would not know."""
        places = torch.arange(shared, shared + width, device=self._device)
        deltas = getattr(getattr(self._model, "model", None), "rope_deltas", None)
        if deltas is not None:
            return {"position_ids": (places + deltas.to(self._device)[chosen]).expand(3, -1, -1)}
        if self._model.config.model_type == UNMARKED:
            return {"position_ids": places.expand(len(chosen), -1)}
        return {}


def _arguments(model: Any) -> set[str]:
    return set(inspect.signature(model.forward).parameters)


def _cache_of(out: Any) -> Any:
    """Return what a model keeps of what it has read."""
    inner = getattr(out, "language_model_outputs", None) or out
    found = next((getattr(inner, name) for name in CACHES if getattr(inner, name, None) is not None), None)
    if found is None:
        raise TypeError("the model keeps nothing of what it has read")
    return found


def _turned(cache: Any, chosen: torch.Tensor) -> Any:
    """Return the cache with one entry per row; the cache itself stays as it is."""
    turned = copy.copy(cache)
    turned.layers = [copy.copy(layer) for layer in cache.layers]
    turned.batch_select_indices(chosen)
    return turned
