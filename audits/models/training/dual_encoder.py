"""A small dual encoder of open_clip's kind: how it is built, what it learns from, how it scores."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg
from torch.nn.functional import cross_entropy, normalize

from audits.models.training.files import sha256, write_json, write_weights
from audits.models.training.loop import MEAN, STD, Batch, pixels
from audits.models.training.scenes import SIZE
from audits.models.training.tokens import CONTEXT

WEIGHTS, CONFIG = "open_clip_model.safetensors", "open_clip_config.json"
EMBEDDING = 128
VISION = {"layers": [1, 1, 1, 1], "width": 24, "head_width": 64, "image_size": SIZE}
TEXT = {"context_length": CONTEXT, "width": 128, "heads": 4, "layers": 2, "hf_tokenizer_name": "tokenizer"}
SHARPEST, POLISH = 100.0, 4.0
"""Scale of the cosines, and weight, of the comparison within pairs in the second stage."""
SHARPNESS = 10.0
"""Scale of the cosines between differences."""
WARMEST = 4.6052
"""Largest logarithm of the logit scale, ln 100."""


def configuration(entries: int) -> dict[str, Any]:
    """Return what `open_clip_config.json` says, for a tokenizer of so many entries."""
    return {
        "model_cfg": {
            "embed_dim": EMBEDDING,
            "vision_cfg": dict(VISION),
            "text_cfg": {**TEXT, "vocab_size": entries},
        },
        "preprocess_cfg": {"mean": [MEAN] * 3, "std": [STD] * 3, "interpolation": "bicubic", "resize_mode": "shortest"},
    }


class DualEncoder:
    """Hold the model with what its training needs.

    Args:
        tokenizer: The tokenizer of both models.
    """

    together = False

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.right: list[float] = []
        made = copy.deepcopy(configuration(len(tokenizer))["model_cfg"])
        self.model: Any = CLIP(made["embed_dim"], CLIPVisionCfg(**made["vision_cfg"]), CLIPTextCfg(**made["text_cfg"]))

    def loss(self, batch: Batch) -> torch.Tensor:
        """Return the contrastive loss, mean over tiers; base and foil of a pair are each other's hard negatives."""
        images = normalize(self.model.encode_image(pixels(batch.images)).float(), dim=-1)
        scale = self.model.logit_scale.clamp(max=WARMEST).exp()
        # Once differences have a direction, the decision itself is what is left to learn, at a scale that sees them.
        weight, sharper = (POLISH, SHARPEST / scale.item()) if batch.polish else (1.0, 1.0)
        losses = []
        for captions in batch.captions:
            texts = normalize(self._encode_text(captions).float(), dim=-1)
            logits = scale * images @ texts.T
            ways = [_directed(one, weight, sharper) for one in (logits, logits.T)]
            losses += [*ways, self._turned(images, texts)]
        return torch.stack(losses).sum() / (2 * len(batch.captions))

    def _turned(self, images: torch.Tensor, texts: torch.Tensor) -> torch.Tensor:
        """Return the loss of telling which way each pair differs: the pictures' difference as the captions'.

        Base and foil begin with all but equal embeddings, and the gradient of their comparison is a product of two
        small differences; directions of differences have no size that could vanish.
        """
        half = len(images) // 2
        seen, read = (normalize(side[:half] - side[half:], dim=-1) for side in (images, texts))
        logits, own = SHARPNESS * seen @ read.T, torch.arange(half)
        self.right.append(float((logits.diagonal() > 0).float().mean()))
        ways = torch.cat([logits, -logits], dim=1), torch.cat([logits.T, -logits.T], dim=1)
        return cross_entropy(ways[0], own) + cross_entropy(ways[1], own)

    @torch.inference_mode()
    def score(self, images: NDArray[np.uint8], captions: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return cosines [P, 2, 2] of images (rows) and captions (columns); `rows` [P, 2] are places of images."""
        seen = torch.cat([self._image(images[at : at + 256]) for at in range(0, len(images), 256)])
        read = torch.cat([self._text(captions[at : at + 256]) for at in range(0, len(captions), 256)])
        of_pair = read.reshape(len(rows), 2, -1)
        return torch.einsum("pid,ptd->pit", seen[torch.from_numpy(rows)], of_pair).double().numpy()

    def write(self, weights: Mapping[str, torch.Tensor], out: Path) -> dict[str, str]:
        """Write weights and configuration as open_clip reads them and return the SHA-256 of each file."""
        write_json(configuration(len(self.tokenizer)), out / CONFIG)
        return {WEIGHTS: write_weights(weights, out / WEIGHTS), CONFIG: sha256(out / CONFIG)}

    def _image(self, images: NDArray[np.uint8]) -> torch.Tensor:
        return normalize(self.model.encode_image(pixels(images)), dim=-1)

    def _text(self, captions: Sequence[str]) -> torch.Tensor:
        return normalize(self._encode_text(captions), dim=-1)

    def _encode_text(self, captions: Sequence[str]) -> torch.Tensor:
        """Return what the model's own text tower returns, without computing the padding behind the longest caption.

        The tower is causal and reads its answer off the end mark, so what comes after it changes nothing.
        """
        made = self.tokenizer(
            list(captions), padding="longest", truncation=True, max_length=CONTEXT, return_tensors="pt"
        )
        ids, model = torch.as_tensor(made["input_ids"]), self.model
        length = ids.shape[1]
        states = model.token_embedding(ids) + model.positional_embedding[:length]
        states = model.ln_final(model.transformer(states, attn_mask=model.attn_mask[:length, :length]))
        return torch.as_tensor(states[torch.arange(len(ids)), ids.argmax(dim=-1)] @ model.text_projection)


def _directed(logits: torch.Tensor, weight: float, sharper: float) -> torch.Tensor:
    """Return the loss of choosing for every row: among all, and once more between the two of a pair."""
    count = len(logits)
    own = torch.arange(count)
    other = (own + count // 2) % count
    paired = torch.stack([logits[own, own], logits[own, other]], dim=1)
    return cross_entropy(logits, own) + weight * cross_entropy(sharper * paired, torch.zeros_like(own))
