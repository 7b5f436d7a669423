"""Write a trained model as the libraries read it: weights in half precision, configuration, tokenizer, card."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from benchmarks.tableaux import specification
from benchmarks.tableaux.drawing import DRAWING_VERSION

CARD = "card.json"
FIXED = specification(scenes=4, seed=20_260_001)
"""The small specification whose yield tells whether the generator is still the one that a model learned from."""


def generator_digest() -> str:
    """Return a digest of what the generator yields for one small specification, and of the version of its drawing."""
    yielded = f"{FIXED.digest} {DRAWING_VERSION}"
    return hashlib.sha256(yielded.encode("ascii")).hexdigest()


def halved(model: Any) -> dict[str, torch.Tensor]:
    """Round a model's weights to half precision, in place as well, so that it scores as the written file will.

    Returns:
        What to write; weights that are one and the same stand in it once.
    """
    found: dict[str, torch.Tensor] = {}
    seen: set[int] = set()
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if tensor.is_floating_point():
                tensor.copy_(tensor.half())
            if tensor.data_ptr() not in seen or tensor.ndim == 0:
                found[name] = tensor.half().clone() if tensor.is_floating_point() else tensor.clone()
            seen.add(tensor.data_ptr())
    return found


def write_weights(weights: Mapping[str, torch.Tensor], path: Path) -> str:
    """Write weights and return the SHA-256 of the file."""
    save_file({name: tensor.contiguous() for name, tensor in weights.items()}, path, metadata={"format": "pt"})
    path.chmod(0o644)
    return sha256(path)


def write_json(value: Any, path: Path) -> None:
    """Write a value as JSON for people."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def sha256(path: Path) -> str:
    """Return the digest of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
