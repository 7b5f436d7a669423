"""Models whose encoder reads image and prompt, and whose decoder says the caption: BLIP-2 over T5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers.modeling_outputs import BaseModelOutput

from audits.models.generative.items import Ids, Row, Scene
from audits.models.generative.logits import ends, joined, padded, picked


class Encoded:
    """Encode image and prompt once, and let the decoder read every caption beside it.

    Args:
        model: In evaluation mode, on its device; `language_model` is an encoder-decoder.
        image_id: Id of an image place.
        start: Id that the decoder starts from.
        at_once: Most captions beside a prompt.
    """

    def __init__(self, model: Any, *, image_id: int | None, start: int, at_once: int) -> None:
        self._at_once = at_once
        self._model, self._image_id, self._start = model, -1 if image_id is None else image_id, start
        self._device, self._dtype = model.device, model.dtype

    def batch(self, scenes: Sequence[Scene]) -> list[torch.Tensor]:
        """Return the log-probabilities of scored ids, row by row; the images of the scenes share their size."""
        features = self._features(scenes)
        found: list[torch.Tensor] = []
        for n, scene in enumerate(scenes):
            prompts = list(dict.fromkeys(row.before for row in scene.rows))
            made = {prompt: self._encode(prompt, None if features is None else features[n]) for prompt in prompts}
            by_prompt = {prompt: [row for row in scene.rows if row.before == prompt] for prompt in prompts}
            values = {prompt: self._decode(made[prompt], by_prompt[prompt]) for prompt in prompts}
            found += [values[row.before].pop(0) for row in scene.rows]
        return found

    def single(self, scene: Scene, row: Row) -> torch.Tensor:
        """Return the log-probabilities of one row's scored ids, from the whole model where there is an image."""
        source = torch.tensor([row.before], device=self._device)
        read = torch.tensor([(self._start, *row.target[:-1])], device=self._device)
        whole = self._model if scene.features else self._model.language_model
        features = joined([scene.features], self._device, self._dtype) if scene.features else {}
        logits = whole(input_ids=source, decoder_input_ids=read, **features).logits
        return picked(logits[0], row.target)

    def _features(self, scenes: Sequence[Scene]) -> torch.Tensor | None:
        if not scenes[0].features:
            return None
        given = joined([scene.features for scene in scenes], self._device, self._dtype)
        seen: torch.Tensor = self._model.get_image_features(**given, return_dict=True).pooler_output
        return seen

    def _encode(self, prompt: Ids, features: torch.Tensor | None) -> torch.Tensor:
        """Return what the encoder makes of a prompt, [1, S, H]."""
        ids = torch.tensor([prompt], device=self._device)
        inner = self._model.language_model
        embedded = inner.get_input_embeddings()(ids)
        if features is not None:
            places = torch.eq(ids, self._image_id).unsqueeze(-1)
            embedded = embedded.masked_scatter(places, features.to(embedded.dtype))
        seen: torch.Tensor = inner.get_encoder()(inputs_embeds=embedded).last_hidden_state
        return seen

    def _decode(self, seen: torch.Tensor, rows: Sequence[Row]) -> list[torch.Tensor]:
        parts = [rows[first : first + self._at_once] for first in range(0, len(rows), self._at_once)]
        return [value for part in parts for value in self._part(seen, part)]

    def _part(self, seen: torch.Tensor, rows: Sequence[Row]) -> list[torch.Tensor]:
        ids = padded([(self._start, *row.target[:-1]) for row in rows], self._device)
        across = BaseModelOutput(last_hidden_state=seen.expand(len(rows), -1, -1))
        logits = self._model.language_model(encoder_outputs=across, decoder_input_ids=ids, use_cache=False).logits
        return ends(logits, rows, [len(row.target) for row in rows])
