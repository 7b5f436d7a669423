"""Read a checkpoint and load it whole: known containers and prefixes are unwrapped, then every key must match."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from benchmarks.errors import InputError

log = logging.getLogger(__name__)
State = dict[str, torch.Tensor]
CONTAINERS = ("state_dict", "model_state_dict", "model", "module", "net", "weights", "model_ema", "ema")
PREFIXES = ("module.", "_orig_mod.", "model.", "clip.", "net.")
# What old or other versions of a library keep beside the weights, or do not keep at all; none of it moves a cosine.
SPARE = ("attn_mask", "position_ids", "input_resolution", "context_length", "vocab_size", "num_batches_tracked")
DISPENSABLE = ("logit_scale", "logit_bias", "num_batches_tracked", "position_ids", "attn_mask")
SHOWN = 4


class Matched(NamedTuple):
    """Count how the keys of a file met those of a model."""

    matched: int
    missing: int
    unexpected: int

    def __str__(self) -> str:
        return f"{self.matched} matched, {self.missing} missing, {self.unexpected} unexpected"


def read(path: Path) -> Mapping[str, Any]:
    """Return what a checkpoint file holds; nothing in it is executed.

    Raises:
        InputError: If there is no such file, or it holds more than tensors and plain values.
    """
    if not path.is_file():
        raise InputError("the checkpoint does not exist", where="checkpoint", got=str(path), step="correct the path")
    try:
        if path.suffix == ".safetensors":
            return dict(load_file(path, device="cpu"))
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, ValueError, EOFError, OSError, pickle.UnpicklingError, SafetensorError) as error:
        raise InputError(
            "the checkpoint cannot be read as tensors",
            where=str(path),
            got=f"{type(error).__name__}: {' '.join(str(error).split())[:200]}",
            expected="a safetensors file, or one that torch.load(..., weights_only=True) takes",
            step="convert it to safetensors where you trust it: code in a checkpoint is never run here",
        ) from error
    if not isinstance(loaded, Mapping):
        raise InputError(
            "the checkpoint holds no weights by name", where=str(path), got=type(loaded).__name__, expected="a mapping"
        )
    return loaded


def load(model: torch.nn.Module, path: Path, convert: Callable[[State], State], *, prefix: str | None) -> Matched:
    """Load every weight of a model from a file.

    Args:
        model: The model.
        path: Its checkpoint.
        convert: Turns weights of older layouts into those of the model.
        prefix: Prefix of the keys that belong to the model; null removes known ones.

    Raises:
        InputError: If a weight is missing, unexpected or of another shape.
    """
    wanted = model.state_dict()
    candidates = [convert(state) for state in _states(read(path), prefix)]
    if not candidates:
        raise InputError("the checkpoint holds no tensors", where=str(path), step=_step(prefix))
    best = max(candidates, key=lambda state: len(set(state) & set(wanted)))
    found = _compared(wanted, best, path, prefix)
    log.info("%s: %s", path.name, found)
    model.load_state_dict({key: best[key].reshape(wanted[key].shape) for key in best if key in wanted}, strict=False)
    return found


def _states(loaded: Mapping[str, Any], prefix: str | None) -> Iterator[State]:
    """Yield the sets of tensors that a file holds: at the top, and in known containers up to two levels down."""
    layers = [loaded]
    for _ in range(3):
        for one in layers:
            tensors = {str(key): value for key, value in one.items() if isinstance(value, torch.Tensor)}
            stripped = _stripped(tensors, prefix)
            if stripped:
                yield stripped
        layers = [one[name] for one in layers for name in CONTAINERS if isinstance(one.get(name), Mapping)]


def _stripped(state: State, prefix: str | None) -> State:
    """Return weights without a prefix that all of them share, or only those that have the prefix asked for."""
    if prefix:
        return {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}
    while state and (common := next((one for one in PREFIXES if all(key.startswith(one) for key in state)), None)):
        state = {key.removeprefix(common): value for key, value in state.items()}
    return state


def _compared(wanted: Mapping[str, torch.Tensor], state: State, path: Path, prefix: str | None) -> Matched:
    """Return how the keys meet, and refuse what would leave a part of the model random."""
    missing = [key for key in wanted if key not in state and not key.endswith(DISPENSABLE)]
    unexpected = [key for key in state if key not in wanted and not key.endswith(SPARE)]
    both = [key for key in wanted if key in state]
    shapes = [key for key in both if _shape(wanted[key]) != _shape(state[key])]
    found = Matched(len(both) - len(shapes), len(missing), len(unexpected))
    if not (missing or unexpected or shapes) and both:
        return found
    said = {"missing": missing, "unexpected": unexpected, "of another shape": shapes}
    named = [f"{name}: {', '.join(keys[:SHOWN])}" for name, keys in said.items() if keys]
    raise InputError(
        "the checkpoint does not fit the model: a part of it would stay random, or be left out",
        where=str(path),
        got=f"{found}, {len(shapes)} of another shape ({'; '.join(named)})",
        expected=f"all {len(wanted)} weights of the model and no others",
        step=_step(prefix),
    )


def _shape(tensor: torch.Tensor) -> tuple[int, ...]:
    """Return a shape; a single number may be stored with or without a dimension."""
    return () if tensor.numel() == 1 else tuple(tensor.shape)


def _step(prefix: str | None) -> str:
    asked = f"prefix={prefix!r} was asked for; " if prefix else ""
    return f"{asked}check the architecture, or name the prefix of the model's own keys with prefix=..."
