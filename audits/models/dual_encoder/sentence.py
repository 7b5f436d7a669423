"""Dual encoders of sentence-transformers: models that embed images and captions in one space."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import sentence_transformers
import torch
import transformers
from numpy.typing import NDArray
from PIL import Image
from sentence_transformers import SentenceTransformer
from transformers import AutoConfig

from audits.models.dual_encoder.checks import evaluation_mode, unit
from audits.models.dual_encoder.cleaning import AUTO
from audits.models.dual_encoder.files import pinned
from audits.models.dual_encoder.hub_text import HubCaptions
from audits.models.dual_encoder.precision import dtype_of, tokens_for
from audits.models.dual_encoder.schema import Text
from audits.models.dual_encoder.scorer import DualEncoder
from audits.models.weights import find
from baselines.language.files import Located, transformers_errors
from baselines.language.model import choose_device
from benchmarks.errors import InputError

log = logging.getLogger(__name__)
# A model with weights of its own modules: what its folders hold is listed in this file.
MODULES = "modules.json"
NEITHER = ("Normalize",)  # modules that leave the size of an embedding alone


class SentenceModel:
    """Encode with a model of sentence-transformers; see `Encoder` for the contract.

    Args:
        located: Where its files are.
        cleaning: How captions are cleaned.
        dtype: Of its weights.
        device: Where it runs.

    Raises:
        InputError: If the folder holds no such model.
    """

    def __init__(self, located: Located, *, cleaning: str, dtype: torch.dtype, device: torch.device) -> None:
        self.name = located.name
        self.facts: dict[str, str | int] = {}
        self._located, self._dtype, self.device = located, dtype, device
        self._kinds, first = _modules(located.folder)
        with transformers_errors("configuration", str(first)):
            config = AutoConfig.from_pretrained(first, trust_remote_code=False)
        self._captions = HubCaptions(first, config, cleaning)
        self._pinned = pinned(located)
        self._size = getattr(config, "projection_dim", None)

    @cached_property
    def dimension(self) -> int:
        """Return the numbers per embedding; where the configuration does not tell them, the weights are loaded."""
        others = [kind for kind in self._kinds[1:] if kind not in NEITHER]
        return int(self._size) if self._size and not others else int(self._model.get_embedding_dimension())

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number."""
        return {
            "library": f"sentence-transformers {sentence_transformers.__version__}",
            "modules": ", ".join(self._kinds),
            **self._pinned,
            **self._captions.signature,
            "image": "as the model's own processor makes it",
            "dtype": str(self._dtype).removeprefix("torch."),
            "device": self.device.type,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }

    @cached_property
    def _model(self) -> Any:
        """Load the weights when the first item needs them."""
        transformers.utils.logging.disable_progress_bar()
        log.info("loading %s", self.name)
        with transformers_errors("model", str(self._located.folder)):
            model = SentenceTransformer(
                str(self._located.folder),
                device=str(self.device),
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"dtype": self._dtype},
            )
        lacking = [side for side in ("text", "image") if not model.supports(side)]
        if lacking:
            raise InputError(
                "the model does not embed both sides",
                where=f"model {self.name}",
                got=f"no embedding of {' and '.join(lacking)}",
                expected="a model of images and text (clip-ViT-B-32, ...)",
                step="for a model of text alone use baseline=embedding",
            )
        evaluation_mode(model, self.name)
        return model

    def read(self, captions: Sequence[str]) -> list[Text]:
        """Clean and tokenise captions."""
        return self._captions.read(captions)

    def prepare(self, image: Image.Image) -> Image.Image:
        """Return the image: the library prepares whole batches itself."""
        return image

    def plan(self, texts: Sequence[Text], tokens: int) -> Sequence[Sequence[int]] | None:
        """Return None: captions are batched by size."""
        return None

    def check(self, texts: Sequence[Text]) -> None:
        """Make sure that the library reads the ids that captions are known by.

        Raises:
            InputError: If it reads others.
        """
        few = [min(texts, key=lambda text: text.tokens), max(texts, key=lambda text: text.tokens)]
        for text in few:
            read = self._features([text])["input_ids"][0].tolist()
            if read[: text.tokens] != text.ids[: text.tokens].tolist():
                raise InputError(
                    "the library reads other ids than the model's tokenizer gives",
                    where=f"model {self.name}",
                    got=f"{read[:8]} for {text.encoded[:60]!r}",
                    expected=str(text.ids[:8].tolist()),
                    step="use model=transformers_clip with the same files",
                )
        self.facts["text tower"] = "as the library pads"

    def encode_texts(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Return [n, D] of length 1."""
        return self._unit(self._features(texts))

    def encode_images(self, prepared: Sequence[Any]) -> NDArray[np.float32]:
        """Return [n, D] of length 1."""
        return self._unit(self._model.preprocess(list(prepared)))

    def _features(self, texts: Sequence[Text]) -> dict[str, Any]:
        """Return captions as the model takes them, cut and padded as it was trained."""
        captions = self._captions
        asked = {
            "truncation": True,
            "max_length": captions.context,
            "padding": "max_length" if captions.fixed else True,
        }
        made: dict[str, Any] = self._model.preprocess(
            [text.encoded for text in texts], processing_kwargs={"text": asked}
        )
        if captions.fixed:
            made.pop("attention_mask", None)
        return made

    @torch.inference_mode()
    def _unit(self, features: Mapping[str, Any]) -> NDArray[np.float32]:
        moved = {
            name: value.to(self.device) if isinstance(value, torch.Tensor) else value
            for name, value in features.items()
        }
        moved = {
            name: value.to(self._dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value
            for name, value in moved.items()
        }
        return unit(self._model.forward(moved)["sentence_embedding"])


def from_sentence_transformers(  # noqa: PLR0913 - one argument per line of its YAML
    model: str | None = None,
    *,
    revision: str | None = None,
    cleaning: str = AUTO,
    dtype: str = "float32",
    device: str = "auto",
    images_per_batch: int = 64,
    tokens_per_batch: int | None = None,
    name: str | None = None,
) -> DualEncoder:
    """Return the scorer of an image-text model of sentence-transformers.

    Args:
        model: Local folder or hub id; code from it is never run.
        revision: Pinned commit of a hub id.
        cleaning: How captions are cleaned: auto (SigLIP: lower case, no punctuation; else what the tokenizer does by
            itself), off, whitespace, lower or canonical.
        dtype: float32, bfloat16 or float16 of the weights; embeddings are normalised in float32 in any case.
        device: auto, cpu or cuda.
        images_per_batch: Images encoded at once.
        tokens_per_batch: Positions of captions encoded at once; null takes what is fast on the device.
        name: Name in every table; null takes the model's.

    Raises:
        InputError: If an option is wrong; `NotAvailableError` if the model cannot be had here.
    """
    if not model:
        raise InputError(
            "which model is meant?",
            where="model",
            got="nothing",
            expected="a local folder or a hub id",
            step="for example model.sentence_transformers.model=sentence-transformers/clip-ViT-B-32",
        )
    located = find(str(model), revision=revision or "", names=("*.safetensors", "*.bin"))
    encoder = SentenceModel(located, cleaning=cleaning, dtype=dtype_of(dtype), device=choose_device(device))
    tokens = tokens_for(tokens_per_batch, encoder.device)
    return DualEncoder(encoder, name=name, images_per_batch=images_per_batch, tokens_per_batch=tokens)


def _modules(folder: Path) -> tuple[list[str], Path]:
    """Return the kinds of the modules of a model, and the folder of the first."""
    path = folder / MODULES
    if not path.is_file():
        return ["Transformer"], folder
    try:
        listed = json.loads(path.read_text(encoding="utf-8-sig"))
        kinds = [str(one["type"]).rpartition(".")[2] for one in listed]
        return kinds, folder / str(listed[0]["path"])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise InputError(
            "the list of modules cannot be read",
            where=str(path),
            got=f"{type(error).__name__}: {error}"[:200],
            expected="a list of modules, each with type and path",
        ) from error
