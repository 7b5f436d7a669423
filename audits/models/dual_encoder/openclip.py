"""Dual encoders of open_clip: a built-in architecture with a pretrained tag, a hub id, a folder, a local checkpoint."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import open_clip
import timm
import torch
import transformers
from numpy.typing import NDArray
from open_clip.convert import convert_state_dict
from open_clip.factory import convert_to_custom_text_state_dict
from open_clip.transform import PreprocessCfg, image_transform_v2
from open_clip.transformer import CustomResidualAttentionBlock, QuickGELU, ResidualAttentionBlock
from PIL import Image

from audits.models.dual_encoder import checkpoints
from audits.models.dual_encoder.checks import evaluation_mode, unit
from audits.models.dual_encoder.cleaning import AUTO
from audits.models.dual_encoder.clip_source import GELU, QUICKGELU, Source, Wanted, resolve
from audits.models.dual_encoder.clip_text import Captions
from audits.models.dual_encoder.clip_tower import TextTower, plan
from audits.models.dual_encoder.precision import dtype_of, tokens_for
from audits.models.dual_encoder.schema import Text
from audits.models.dual_encoder.scorer import DualEncoder
from baselines.language.files import transformers_errors
from baselines.language.model import choose_device, finite_weights
from benchmarks.errors import InputError

log = logging.getLogger(__name__)


class OpenClip:
    """Encode with a model of open_clip; see `Encoder` for the contract.

    Args:
        source: What it is made of.
        captions: How it reads text.
        prefix: Prefix of the model's keys in the checkpoint; null removes known ones.
        dtype: Of its weights.
        device: Where it runs.
    """

    def __init__(
        self, source: Source, captions: Captions, *, prefix: str | None, dtype: torch.dtype, device: torch.device
    ) -> None:
        self.name = source.name
        self.dimension = int(source.config["embed_dim"])
        self.facts: dict[str, str | int] = {}
        self._source, self._captions, self._prefix = source, captions, prefix
        self._dtype, self.device = dtype, device
        self._transform = image_transform_v2(PreprocessCfg(**source.image), is_train=False)

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number."""
        image = {key: self._source.image[key] for key in sorted(self._source.image)}
        return {
            "library": f"open_clip {open_clip.__version__}",
            **self._source.identity,
            **self._captions.signature,
            "activation": self._source.activation,
            "image": str(image),
            "dtype": str(self._dtype).removeprefix("torch."),
            "device": self.device.type,
            "torch": torch.__version__,
            **({"timm": timm.__version__} if self._source.config["vision_cfg"].get("timm_model_name") else {}),
            **({"transformers": transformers.__version__} if self._captions.needs_transformers else {}),
        }

    @cached_property
    def _model(self) -> Any:
        """Build the model and load its weights, all of them, when the first item needs them."""
        source = self._source
        log.info("loading %s", source.weights.name)
        with _quiet(), transformers_errors("text tower", source.arch):  # some text towers are of that library
            model = open_clip.create_model(
                source.arch,
                load_weights=False,
                pretrained_text=False,
                force_quick_gelu=source.activation == QUICKGELU,
            )
        matched = checkpoints.load(model, source.weights, lambda state: _converted(model, state), prefix=self._prefix)
        self.facts["weights"] = str(matched)
        _check_activation(model, source)
        model.to(device=self.device, dtype=self._dtype)
        evaluation_mode(model, self.name)
        finite_weights(model, self.name)
        return model

    @cached_property
    def _tower(self) -> TextTower:
        return TextTower(self._model, self.device, cuttable=self._captions.cuttable)

    def read(self, captions: Sequence[str]) -> list[Text]:
        """Clean and tokenise captions."""
        return self._captions.read(captions)

    def prepare(self, image: Image.Image) -> torch.Tensor:
        """Return the image as the image tower takes it, float32 [3, H, W]."""
        made: torch.Tensor = self._transform(image)
        return made

    def check(self, texts: Sequence[Text]) -> None:
        """Find, on captions of the run, how few positions give what all of them give."""
        difference = self._tower.check(texts)
        tried = f"{self._tower.way.value}: entries differ by up to {difference:.1g} from those of whole rows"
        as_trained = f"rows of {self._captions.context}, as it was trained"
        self.facts["text tower"] = tried if self._captions.cuttable else as_trained

    def plan(self, texts: Sequence[Text], tokens: int) -> Sequence[Sequence[int]] | None:
        """Return batches of captions that begin alike, where the text tower can make use of it."""
        return plan(texts, tokens) if self._captions.cuttable and self.device.type == "cpu" else None

    def encode_texts(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Return [n, D] of length 1."""
        return unit(self._tower.encode(texts))

    @torch.inference_mode()
    def encode_images(self, prepared: Sequence[Any]) -> NDArray[np.float32]:
        """Return [n, D] of length 1."""
        pixels = torch.stack(list(prepared)).to(device=self.device, dtype=self._dtype)
        return unit(self._model.encode_image(pixels, normalize=False))


def from_open_clip(  # noqa: PLR0913 - one argument per line of its YAML
    arch: str | None = None,
    *,
    pretrained: str | None = None,
    checkpoint: str | None = None,
    revision: str | None = None,
    activation: str | None = None,
    prefix: str | None = None,
    cleaning: str = AUTO,
    dtype: str = "float32",
    device: str = "auto",
    images_per_batch: int = 64,
    tokens_per_batch: int | None = None,
    name: str | None = None,
    get: str | None = None,
) -> DualEncoder:
    """Return the scorer of a model of open_clip.

    Args:
        arch: A name that open_clip knows, a folder or `shipped:NAME` in the layout of open_clip's hub, or a hub id.
        pretrained: Tag of the weights of a built-in architecture.
        checkpoint: Local file with the weights, safetensors or torch; nothing in it is executed.
        revision: Pinned commit of a hub id, or of the repository behind a tag.
        activation: `quickgelu` or `gelu`; must be declared for a checkpoint.
        prefix: Prefix of the model's own keys in the checkpoint; null removes known ones.
        cleaning: How captions are cleaned: auto (the model's own), off, whitespace, lower or canonical.
        dtype: float32, bfloat16 or float16 of the weights; embeddings are normalised in float32 in any case.
        device: auto, cpu or cuda.
        images_per_batch: Images encoded at once.
        tokens_per_batch: Positions of captions encoded at once; null takes what is fast on the device.
        name: Name in every table; null makes one of architecture and weights.
        get: Where a checkpoint can be had, for the message that asks for it.

    Raises:
        InputError: If an option is wrong; `NotAvailableError` if the model cannot be had here.
    """
    if not arch:
        raise InputError(
            "which model is meant?",
            where="arch",
            got="nothing",
            expected="a name that open_clip knows (with pretrained=TAG), a folder or a hub id",
            step="for example model.open_clip.arch=ViT-B-16 model.open_clip.pretrained=laion2b_s34b_b88k",
        )
    source = resolve(Wanted(str(arch), pretrained, checkpoint, revision, activation, get))
    captions = Captions(source.config, source.folder, cleaning)
    encoder = OpenClip(source, captions, prefix=prefix, dtype=dtype_of(dtype), device=choose_device(device))
    tokens = tokens_for(tokens_per_batch, encoder.device)
    return DualEncoder(encoder, name=name, images_per_batch=images_per_batch, tokens_per_batch=tokens)


def _converted(model: Any, state: checkpoints.State) -> checkpoints.State:
    """Turn weights of other layouts that open_clip knows into those of the model."""
    made: checkpoints.State = convert_state_dict(model, state)
    if "positional_embedding" in made and not hasattr(model, "positional_embedding"):
        made = convert_to_custom_text_state_dict(made)
    return made


def _check_activation(model: torch.nn.Module, source: Source) -> None:
    """Make sure that open_clip's own transformers use the activation that was declared; others have none to choose."""
    blocks = [one for one in model.modules() if isinstance(one, ResidualAttentionBlock | CustomResidualAttentionBlock)]
    found = {type(block.mlp.gelu) for block in blocks}
    wanted = QuickGELU if source.activation == QUICKGELU else torch.nn.GELU
    if found - {wanted}:
        raise InputError(
            "the loaded model has another activation than the one declared",
            where=source.name,
            got=", ".join(sorted(kind.__name__ for kind in found)),
            expected=source.activation,
            step=f"declare activation={GELU if source.activation == QUICKGELU else QUICKGELU}, or correct arch",
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep open_clip from warning that nothing is loaded: the weights come next, and are checked key by key."""
    root = logging.getLogger()

    def others(record: logging.LogRecord) -> bool:
        return "No pretrained weights loaded" not in record.getMessage()

    root.addFilter(others)
    try:
        yield
    finally:
        root.removeFilter(others)
