"""Find a causal language model and load it whole: every weight, in evaluation mode, reading from left to right."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM

from baselines.language.files import locate, transformers_errors
from baselines.language.gguf import converted, offline_gguf, sha256_of
from benchmarks.errors import InputError, near

log = logging.getLogger(__name__)
OFFLINE = "offline"
OFFLINE_HUB = "HuggingFaceTB/SmolLM2-135M-Instruct"
OFFLINE_REVISION = "12fd25f77366fa6b3b4b768ec3050bf629380bac"
OFFLINE_NAME = "SmolLM2-135M-Instruct"
# The dtype in which the model was released, and in which the reference values were measured: a float32 copy has one
# pair of swap_obj (norm) and one of swap_att (norm, unnorm) on the other side. Arithmetic is in the dtype asked for.
OFFLINE_STORED = torch.bfloat16
DTYPES: Mapping[str, torch.dtype] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "mixed": torch.float32,  # its weights; which products are rounded is the reader's matter
}


class Found(NamedTuple):
    """Say which model was found.

    Attributes:
        folder: Folder that holds config, tokenizer and weights.
        name: Short name for tables.
        identity: What pins the weights, for the signature.
    """

    folder: Path
    name: str
    identity: Mapping[str, str]


def find(source: str, *, revision: str, cache: Path) -> Found:
    """Find a model by name.

    Args:
        source: `offline` (the installed offline model, else the same model from the hub), the path of a GGUF file, a
            local folder, or a hub id.
        revision: Pinned commit of a hub id.
        cache: Folder for converted GGUF files.

    Raises:
        InputError: If it cannot be had.
    """
    if source == OFFLINE:
        packed = offline_gguf()
        if packed is not None:
            return _gguf(packed, OFFLINE_NAME, cache, stored=OFFLINE_STORED)
        source, revision = OFFLINE_HUB, OFFLINE_REVISION
    if source.lower().endswith(".gguf"):
        path = Path(source).expanduser()
        if not path.is_file():
            raise InputError("the GGUF file does not exist", where="model", got=str(path), step="correct the path")
        return _gguf(path, path.stem, cache, stored=torch.float32)
    located = locate(source, revision=revision, weights=True)
    if located.revision:
        return Found(located.folder, located.name, {"model": located.identity, "revision": located.revision})
    return Found(
        located.folder, located.name, {"model": located.name, "weights_sha256": _weights_digest(located.folder)}
    )


def _gguf(path: Path, name: str, cache: Path, *, stored: torch.dtype) -> Found:
    digest = sha256_of(path)
    folder = converted(path, digest, cache / "models", stored=stored)
    weights = f"de-quantised, stored in {str(stored).removeprefix('torch.')}"
    return Found(folder, name, {"model": path.name, "gguf_sha256": digest, "weights": weights})


def _weights_digest(folder: Path) -> str:
    """Return the SHA-256 over configuration and weight files of a folder."""
    weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))
    config = folder / "config.json"
    if not weights or not config.is_file():
        raise InputError(
            "the folder does not hold a model",
            where=str(folder),
            got=", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "an empty folder",
            expected="config.json and weights (*.safetensors or *.bin)",
            step="give the folder that a model was saved into",
        )
    return sha256("".join(sha256_of(path) for path in [config, *weights]).encode()).hexdigest()


def context_length(folder: Path) -> int | None:
    """Return how many tokens the model reads at once, or None if its configuration sets no limit."""
    with transformers_errors("configuration", str(folder)):
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False).get_text_config()
    length = getattr(config, "max_position_embeddings", None)
    return int(length) if length and length > 0 else None


def choose_dtype(name: str) -> torch.dtype:
    """Return the dtype of that name.

    Raises:
        InputError: If it is none of float32, bfloat16, float16, mixed.
    """
    if name not in DTYPES:
        raise InputError(
            "unknown dtype", where="dtype", got=name, expected=", ".join(DTYPES), step=near(name, DTYPES) or "pick one"
        )
    return DTYPES[name]


def choose_device(name: str) -> torch.device:
    """Return the device of that name; `auto` is the GPU where there is one.

    Raises:
        InputError: If the device is unknown or not there.
    """
    there = torch.cuda.is_available()
    kind = name.partition(":")[0]
    if name == "auto":
        return torch.device("cuda" if there else "cpu")
    if kind not in {"cpu", "cuda"} or (kind == "cuda" and not there):
        raise InputError(
            "the device cannot be used",
            where="device",
            got=name,
            expected="auto, cpu" + (", cuda" if there else "; torch sees no GPU here"),
            step="leave it at auto",
        )
    return torch.device(name)


def load(found: Found, *, dtype: torch.dtype, device: torch.device) -> Any:
    """Load the weights and check that they are all there and that the model can be a judge of text.

    Raises:
        InputError: If a weight is missing or has another shape, or the model is not causal.
    """
    model = load_whole(AutoModelForCausalLM, found, dtype=dtype, device=device)
    model.config.use_cache = False
    _check_causal(model, found, device)
    return model


def load_whole(loader: Any, found: Found, *, dtype: torch.dtype, device: torch.device) -> Any:
    """Load a model of any kind with every one of its weights, in evaluation mode.

    Args:
        loader: Class of transformers whose `from_pretrained` makes the model.
        found: Which model.
        dtype: Of its weights.
        device: Where it is to run.

    Raises:
        InputError: If a weight is missing, has another shape or is no number.
    """
    transformers.utils.logging.disable_progress_bar()
    log.info("loading %s", found.name)
    with transformers_errors("model", str(found.folder)):
        # Weights of another shape are let through here, and refused below with their names.
        model, info = loader.from_pretrained(
            found.folder,
            dtype=dtype,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            trust_remote_code=False,
        )
    _check_complete(info, found)
    finite_weights(model, str(found.folder))
    model.to(device).eval()
    return model


def finite_weights(model: torch.nn.Module, where: str) -> None:
    """Make sure that every weight is a number.

    Raises:
        InputError: If one is not: the model would score nothing, or only what meets none of them.
    """
    weights = dict(model.named_parameters())
    wrong = [name for name, value in weights.items() if not bool(torch.isfinite(value).all())]
    if wrong:
        raise InputError(
            "the model has weights that are no numbers",
            where=where,
            got=f"NaN or infinity in {len(wrong)} of {len(weights)} weights, e.g. {wrong[0]}",
            expected="finite weights",
            step="get the weights again; where dtype is float16, their values may need float32 or bfloat16",
        )


def _check_complete(info: Mapping[str, Any], found: Found) -> None:
    """Refuse weights that would leave a part of the model as it was drawn at random."""
    missing, mismatched = sorted(info["missing_keys"]), sorted(map(str, info["mismatched_keys"]))
    unexpected = sorted(info["unexpected_keys"])
    if missing or mismatched:
        raise InputError(
            "the weights do not fit the model: a part of it would stay random",
            where=str(found.folder),
            got=f"{len(missing)} missing {missing[:5]}, {len(mismatched)} of another shape {mismatched[:5]}, "
            f"{len(unexpected)} unexpected {unexpected[:5]}",
            expected="every weight of the model",
            step="use a checkpoint that was saved with its head",
        )
    if unexpected:
        log.warning("%s: %d weights in the files are not used, e.g. %s", found.name, len(unexpected), unexpected[0])


@torch.inference_mode()
def _check_causal(model: Any, found: Found, device: torch.device) -> None:
    """Refuse a model that sees what comes next, or that answers otherwise the second time."""
    training = [name for name, module in model.named_modules() if module.training]
    probe = torch.tensor([[1, 2, 3, 4], [1, 2, 3, 5]], device=device)
    first, second = model(input_ids=probe).logits.float(), model(input_ids=probe).logits.float()
    wrong = ""
    if training or not torch.allclose(first, second, rtol=1e-3, atol=1e-3):
        wrong = "two passes over one text differ: a part of the model is in training mode"
    elif not torch.allclose(first[0, :3], first[1, :3], rtol=1e-2, atol=1e-2):
        wrong = "its answer for a token depends on later tokens"
    if wrong:
        raise InputError(
            "the model cannot give the probability of a text",
            where=f"model {found.name}",
            got=wrong,
            expected="a causal (left to right) language model",
            step="use a decoder-only model",
        )
