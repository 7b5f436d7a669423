"""A small captioner of GIT's kind: how it is built, what it learns from, how it scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy
from transformers import GitConfig, GitForCausalLM

from audits.models.training.files import sha256, write_json, write_weights
from audits.models.training.loop import MEAN, STD, Batch, pixels
from audits.models.training.scenes import SIZE
from audits.models.training.tokens import CONTEXT

VISION = {"hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 4}
TEXT = {"hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 4}
PATCH = 8
IGNORED = -100
WEIGHTS, CONFIG, PROCESSOR = "model.safetensors", "config.json", "preprocessor_config.json"
TRANSFORM = {
    "processor_class": "GitProcessor",
    "image_processor_type": "CLIPImageProcessor",
    "do_convert_rgb": True,
    "do_resize": True,
    "size": {"height": SIZE, "width": SIZE},
    "resample": 3,
    "do_center_crop": False,
    "do_rescale": True,
    "do_normalize": True,
    "image_mean": [MEAN] * 3,
    "image_std": [STD] * 3,
}


def configuration(tokenizer: Any) -> GitConfig:
    """Return the architecture for a tokenizer."""
    return GitConfig(
        vision_config={**VISION, "image_size": SIZE, "patch_size": PATCH},
        vocab_size=len(tokenizer),
        max_position_embeddings=CONTEXT,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        **TEXT,
    )


class Captioner:
    """Hold the model with what its training needs.

    Args:
        tokenizer: The tokenizer of both models.
    """

    together = False

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.right: list[float] = []
        self.model: Any = GitForCausalLM(configuration(tokenizer))

    def loss(self, batch: Batch) -> torch.Tensor:
        """Return the mean negative log-likelihood of a caption token, end mark included, in nats."""
        ids, mask = self._ids(batch.captions[0])
        return self._losses(self._logits(ids, mask, pixels(batch.images)), ids, mask).sum() / mask[:, 1:].sum()

    @torch.inference_mode()
    def score(self, images: NDArray[np.uint8], captions: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return mean log-likelihoods per token [P, 2, 2], image by caption; `rows` [P, 2] are places of images.

        The end mark is not scored: it is no part of the caption.
        """
        found = np.empty((len(rows), 2, 2))
        for at in range(0, len(rows), 64):
            part = slice(at, at + 64)
            ids, mask = self._ids(captions[2 * at : 2 * at + 128])
            for side in (0, 1):
                seen = pixels(images[np.repeat(rows[part, side], 2)])
                nats = self._losses(self._logits(ids, mask, seen), ids, mask)
                caption = mask[:, 1:] * (ids[:, 1:] != self.tokenizer.eos_token_id)
                found[part, side] = (-(nats * caption).sum(1) / caption.sum(1)).reshape(-1, 2).double().numpy()
        return found

    def write(self, weights: Mapping[str, torch.Tensor], out: Path) -> dict[str, str]:
        """Write weights, configuration and image transform as transformers reads them; return the SHA-256 of each."""
        made = self.model.config.to_diff_dict()
        write_json({**made, "architectures": ["GitForCausalLM"], "dtype": "float32"}, out / CONFIG)
        write_json(TRANSFORM, out / PROCESSOR)
        digests = {name: sha256(out / name) for name in (CONFIG, PROCESSOR)}
        return {WEIGHTS: write_weights(weights, out / WEIGHTS), **digests}

    def _logits(self, ids: torch.Tensor, mask: torch.Tensor, images: torch.Tensor) -> torch.Tensor:
        """Return logits [N, L, V] at the places of the text; those of the image come before."""
        logits = self.model(input_ids=ids, attention_mask=mask, pixel_values=images).logits
        return torch.as_tensor(logits)[:, -ids.shape[1] :]

    def _losses(self, logits: torch.Tensor, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return nats [N, L - 1] of every token but the first, 0 where there is only padding."""
        wanted = ids[:, 1:].masked_fill(mask[:, 1:] == 0, IGNORED)
        flat = cross_entropy(
            logits[:, :-1].float().flatten(0, 1), wanted.flatten(), ignore_index=IGNORED, reduction="none"
        )
        return flat.reshape(wanted.shape)

    def _ids(self, captions: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
        made = self.tokenizer(
            list(captions), padding="longest", truncation=True, max_length=CONTEXT, return_tensors="pt"
        )
        return torch.as_tensor(made["input_ids"]), torch.as_tensor(made["attention_mask"])
