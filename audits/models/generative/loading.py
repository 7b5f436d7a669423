"""Load a model that says how likely a text is beside an image, with its processor, and pin what it is."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
import transformers
from transformers import AutoConfig, AutoModelForImageTextToText, AutoProcessor

from audits.models.generative.causal import Causal
from audits.models.generative.crossed import Crossed
from audits.models.generative.encoded import Encoded
from audits.models.generative.items import Row, Scene
from baselines.language.files import Located, transformers_errors
from baselines.language.gguf import sha256_of
from baselines.language.model import Found, load_whole
from benchmarks.errors import InputError

PROCESSORS = ("*.json", "*.jinja", "*.txt", "*.model")
WEIGHTS = ("*.safetensors", "*.bin")
NOT_OF_PROCESSORS = ("config.json", "generation_config.json", "model.safetensors.index.json", "card.json")


class Place(NamedTuple):
    """Say where a model computes, in what, and how many rows at once."""

    dtype: torch.dtype
    device: torch.device
    rows: int


class Adapter(Protocol):
    """How one family of architectures is read."""

    def batch(self, scenes: Sequence[Scene]) -> list[torch.Tensor]:
        """Return the log-probabilities of each row's scored ids, one [k] per row, scene by scene."""

    def single(self, scene: Scene, row: Row) -> torch.Tensor:
        """Return those of one row from one plain pass, [k]."""


def found(located: Located) -> Found:
    """Return a model with what pins its weights: the hub's commit, else a digest of configuration and weights.

    Raises:
        InputError: If a folder does not hold a model.
    """
    if located.revision:
        return Found(located.folder, located.name, {"model": located.identity, "revision": located.revision})
    identity = located.name if located.identity == "local" else located.identity
    return Found(located.folder, located.name, {"model": identity, "weights_sha256": _weights_digest(located.folder)})


def _weights_digest(folder: Path) -> str:
    weights = next((files for pattern in WEIGHTS if (files := sorted(folder.glob(pattern)))), [])
    config = folder / "config.json"
    if not weights or not config.is_file():
        raise InputError(
            "the folder does not hold a model",
            where=str(folder),
            got=", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "an empty folder",
            expected="config.json, a processor and weights (*.safetensors or *.bin)",
            step="give the folder that a model and its processor were saved into",
        )
    return sha256("".join(sha256_of(path) for path in [config, *weights]).encode()).hexdigest()


def processor_digest(folder: Path) -> str:
    """Return the SHA-256, 16 digits, over every file that the processor is made of."""
    files = sorted({path for pattern in PROCESSORS for path in folder.glob(pattern)})
    kept = [path for path in files if path.name not in NOT_OF_PROCESSORS]
    return sha256("".join(f"{path.name} {sha256_of(path)}\n" for path in kept).encode()).hexdigest()[:16]


def configuration(model: Found) -> Any:
    """Return the configuration of a model.

    Raises:
        InputError: If transformers cannot read it.
    """
    with transformers_errors("configuration", str(model.folder)):
        return AutoConfig.from_pretrained(model.folder, trust_remote_code=False)


def processor(model: Found) -> Any:
    """Return the processor of a model; code that a folder brings is never run.

    Raises:
        InputError: If transformers cannot read it, or it prepares no images.
    """
    with transformers_errors("processor", str(model.folder)):
        made = AutoProcessor.from_pretrained(model.folder, trust_remote_code=False)
    if getattr(made, "image_processor", None) is None or getattr(made, "tokenizer", None) is None:
        raise InputError(
            "the folder holds no processor of images and text",
            where=str(model.folder),
            got=type(made).__name__,
            expected="preprocessor_config.json or processor_config.json, and a tokenizer",
            step="save the model's processor into its folder",
        )
    return made


def adapter(model: Found, place: Place, *, image_id: int | None) -> Adapter:
    """Load the weights, and return how this architecture is read.

    Raises:
        InputError: If a weight is missing, or a part of the model is in training mode.
    """
    loaded = load_whole(AutoModelForImageTextToText, model, dtype=place.dtype, device=place.device)
    training = [name for name, module in loaded.named_modules() if module.training]
    if training:
        raise InputError("a part of the model is in training mode", where=f"model {model.name}", got=training[0])
    if hasattr(loaded, "text_decoder"):
        return Crossed(loaded, at_once=place.rows)
    inner = getattr(loaded, "language_model", None)
    if inner is not None and getattr(inner.config, "is_encoder_decoder", False):
        start = int(inner.config.decoder_start_token_id)
        return Encoded(loaded, image_id=image_id, start=start, at_once=place.rows)
    return Causal(loaded, image_id=image_id, at_once=place.rows)


def versions() -> dict[str, str]:
    """Return the versions of the libraries that compute."""
    return {"transformers": transformers.__version__, "torch": torch.__version__}
