"""Dual encoders of transformers: CLIP, SigLIP, SigLIP 2, BLIP's contrastive half, and others with `get_*_features`."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from PIL import Image
from transformers import AutoConfig, AutoImageProcessor

from audits.models.dual_encoder.checkpoints import SPARE, Matched
from audits.models.dual_encoder.checks import evaluation_mode, unit
from audits.models.dual_encoder.cleaning import AUTO
from audits.models.dual_encoder.clip_tower import CLOSE, TRIED
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
RETRIEVAL = "BlipForImageTextRetrieval"


class HubModel:
    """Encode with a model of transformers; see `Encoder` for the contract.

    Args:
        located: Where its files are.
        cleaning: How captions are cleaned.
        dtype: Of its weights.
        device: Where it runs.

    Raises:
        InputError: If the folder holds no model with an embedding for images and one for text.
    """

    def __init__(self, located: Located, *, cleaning: str, dtype: torch.dtype, device: torch.device) -> None:
        self.name = located.name
        self.facts: dict[str, str | int] = {}
        self._located, self._dtype, self.device = located, dtype, device
        folder = located.folder
        with transformers_errors("configuration", str(folder)):
            self._config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        self._class = _class(self._config)
        self.dimension = _dimension(self._config, self._class, folder.name)
        self._captions = HubCaptions(folder, self._config, cleaning)
        with transformers_errors("image processor", str(folder)):
            self._processor = AutoImageProcessor.from_pretrained(folder, trust_remote_code=False)
        self._whole = self._captions.fixed
        self._pinned = pinned(located)

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number."""
        image = json.dumps(self._processor.to_dict(), sort_keys=True, default=str)
        return {
            "library": f"transformers {transformers.__version__}",
            "class": self._class.__name__,
            **self._pinned,
            **self._captions.signature,
            "image": f"{type(self._processor).__name__} {sha256(image.encode()).hexdigest()[:16]}",
            "dtype": str(self._dtype).removeprefix("torch."),
            "device": self.device.type,
            "torch": torch.__version__,
        }

    @cached_property
    def _model(self) -> Any:
        """Load the weights, all of them, when the first item needs them."""
        folder = self._located.folder
        transformers.utils.logging.disable_progress_bar()
        log.info("loading %s", self.name)
        with transformers_errors("model", str(folder)):
            model, info = self._class.from_pretrained(
                folder,
                dtype=self._dtype,
                output_loading_info=True,
                ignore_mismatched_sizes=True,
                trust_remote_code=False,
            )
        self.facts["weights"] = str(_complete(model, info, str(folder)))
        model.to(self.device)
        evaluation_mode(model, self.name)
        return model

    def read(self, captions: Sequence[str]) -> list[Text]:
        """Clean and tokenise captions."""
        return self._captions.read(captions)

    def prepare(self, image: Image.Image) -> dict[str, torch.Tensor]:
        """Return the image as the image tower takes it, by the names of its arguments."""
        return dict(self._processor(images=image, return_tensors="pt"))

    def plan(self, texts: Sequence[Text], tokens: int) -> Sequence[Sequence[int]] | None:
        """Return None: captions are batched by size."""
        return None

    def check(self, texts: Sequence[Text]) -> None:
        """Find, on captions of the run, whether rows without their padding give what whole ones give."""
        if self._captions.fixed:
            self.facts["text tower"] = f"rows of {self._captions.context}, as it was trained"
            return
        ordered = sorted(texts, key=lambda text: text.width)
        places = np.linspace(0, len(ordered) - 1, min(TRIED, len(ordered))).astype(int).tolist()
        few = [ordered[place] for place in places]
        short, whole = (np.concatenate([unit(self._text([one], whole=way)) for one in few]) for way in (False, True))
        difference = float(np.nan_to_num(np.abs(short - whole)).max(initial=0.0))
        self._whole = difference > CLOSE[self._dtype]
        way = "not cut" if self._whole else "without padding"
        self.facts["text tower"] = f"{way}: entries differ by up to {difference:.1g} from the whole row"

    def encode_texts(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Return [n, D] of length 1."""
        return self._unit(self._text(texts, whole=self._whole))

    @torch.inference_mode()
    def encode_images(self, prepared: Sequence[Any]) -> NDArray[np.float32]:
        """Return [n, D] of length 1."""
        inputs = {name: torch.cat([one[name] for one in prepared]).to(self.device) for name in prepared[0]}
        inputs = {name: one.to(self._dtype) if one.is_floating_point() else one for name, one in inputs.items()}
        if self._class.__name__ == RETRIEVAL:
            hidden = self._model.vision_model(**inputs).last_hidden_state
            return self._unit(self._model.vision_proj(hidden[:, 0]))
        return self._unit(_pooled(self._model.get_image_features(**inputs)))

    @torch.inference_mode()
    def _text(self, texts: Sequence[Text], *, whole: bool) -> torch.Tensor:
        """Return the features of captions [n, D]."""
        length = self._captions.context if whole else max(text.width for text in texts)
        rows = np.stack([text.ids[:length] for text in texts]).astype(np.int64)
        mask = np.arange(length)[None] < np.array([text.tokens for text in texts])[:, None]
        inputs = {"input_ids": torch.from_numpy(rows).to(self.device)}
        if not self._captions.fixed:
            inputs["attention_mask"] = torch.from_numpy(mask.astype(np.int64)).to(self.device)
        if self._class.__name__ == RETRIEVAL:
            features: torch.Tensor = self._model.text_proj(self._model.text_encoder(**inputs).last_hidden_state[:, 0])
            return features
        return _pooled(self._model.get_text_features(**inputs))

    def _unit(self, features: torch.Tensor) -> NDArray[np.float32]:
        if features.ndim != 2 or features.shape[1] != self.dimension:
            raise InputError(
                "the model's features are no embeddings",
                where=self.name,
                got=f"shape {list(features.shape)}",
                expected=f"[n, {self.dimension}]",
                step="use a model whose images and captions share one space (CLIP, SigLIP, ...)",
            )
        return unit(features)


def from_transformers(  # noqa: PLR0913 - one argument per line of its YAML
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
    """Return the scorer of a dual encoder of transformers.

    Args:
        model: Local folder, `shipped:NAME` or hub id; code from it is never run.
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
            step="for example model.transformers_clip.model=google/siglip2-base-patch16-224",
        )
    located = find(str(model), revision=revision or "")
    encoder = HubModel(located, cleaning=cleaning, dtype=dtype_of(dtype), device=choose_device(device))
    tokens = tokens_for(tokens_per_batch, encoder.device)
    return DualEncoder(encoder, name=name, images_per_batch=images_per_batch, tokens_per_batch=tokens)


def _class(config: Any) -> Any:
    """Return the class that the weights were saved from, if it embeds both sides, else the one of the model type."""
    for name in getattr(config, "architectures", None) or ():
        found = getattr(transformers, name, None)
        if found is not None and (name == RETRIEVAL or hasattr(found, "get_text_features")):
            return found
    try:
        return transformers.AutoModel._model_mapping[type(config)]
    except KeyError as error:
        raise _no_embeddings(str(config.model_type)) from error


def _dimension(config: Any, kind: Any, where: str) -> int:
    """Return the numbers per embedding, which the configuration tells."""
    embeds = hasattr(kind, "get_text_features") and hasattr(kind, "get_image_features")
    if kind.__name__ == RETRIEVAL:
        return int(config.image_text_hidden_size)
    size = getattr(config, "projection_dim", None)
    if size is None and str(config.model_type) in ("siglip", "siglip2"):
        text = config.get_text_config()
        size = getattr(text, "projection_size", None) or text.hidden_size
    if not embeds or size is None:
        raise _no_embeddings(f"{where}: {kind.__name__}")
    return int(size)


def _no_embeddings(what: str) -> InputError:
    return InputError(
        "the model has no embeddings of images and captions in one space",
        where="model",
        got=what,
        expected="a model with get_text_features and get_image_features (CLIP, SigLIP, ...), or BLIP for retrieval",
        step="for a model that writes captions use a generative scorer",
    )


def _pooled(output: Any) -> torch.Tensor:
    """Return the features; later versions of transformers wrap them."""
    features: torch.Tensor = output if isinstance(output, torch.Tensor) else output.pooler_output
    return features


def _complete(model: Any, info: Mapping[str, Any], where: str) -> Matched:
    """Count how the weights met, and refuse what would leave a part of the model random, or a part of the file out."""
    missing, shapes = sorted(map(str, info["missing_keys"])), sorted(map(str, info["mismatched_keys"]))
    unexpected = sorted(key for key in info["unexpected_keys"] if not key.endswith(SPARE))
    total = len(model.state_dict())
    found = Matched(total - len(missing) - len(shapes), len(missing), len(unexpected))
    log.info("%s: %s", where, found)
    if missing or shapes or unexpected:
        raise InputError(
            "the weights do not fit the model: a part of it would stay random, or be left out",
            where=where,
            got=f"{found}, {len(shapes)} of another shape, e.g. {[*missing, *shapes, *unexpected][0]}",
            expected=f"all {total} weights of the model and no others",
            step="use a checkpoint that was saved whole, from the class that its config.json names",
        )
    return found
