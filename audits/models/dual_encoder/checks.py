"""What every encoder must pass before its numbers count: evaluation mode, repeatable, unit vectors, whole weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.errors import InputError

ItemT = TypeVar("ItemT")
TWICE = 2  # items that are encoded twice
REPEATED = 1e-5  # largest difference between the two passes; a GPU may add in another order
UNIT = 1e-3


def evaluation_mode(model: torch.nn.Module, where: str) -> None:
    """Put a model into evaluation mode and make sure that every part of it obeyed.

    Raises:
        InputError: If a module is still in training mode.
    """
    model.eval()
    training = [name or type(module).__name__ for name, module in model.named_modules() if module.training]
    if training:
        raise InputError(
            "the model is in training mode: its scores would change from run to run",
            where=where,
            got=f"{len(training)} modules are training, e.g. {training[0]}",
            expected="every module in evaluation mode",
        )


def repeatable(encode: Callable[[Sequence[ItemT]], NDArray[np.float32]], items: Sequence[ItemT], where: str) -> float:
    """Encode a few items twice, and return the largest difference.

    Raises:
        InputError: If the two passes differ: something in the model is drawn at random.
    """
    few = items[:TWICE]
    one, other = encode(few), encode(few)
    if np.allclose(one, other, rtol=0.0, atol=REPEATED, equal_nan=True):
        return float(np.nan_to_num(np.abs(one - other)).max(initial=0.0))
    raise InputError(
        "the model gives another embedding for the same input: something in it is drawn at random",
        where=where,
        got=f"two passes over {len(few)} inputs differ by up to {np.nanmax(np.abs(one - other)):.2g}",
        expected="equal embeddings",
        step="look for dropout, drop path or patch dropout that stays on in evaluation mode",
    )


def unit(features: torch.Tensor) -> NDArray[np.float32]:
    """Return rows of length 1: cast to float32 first, then normalised; a row of zeros or without a number gives NaN.

    >>> unit(torch.tensor([[3.0, 4.0], [0.0, 0.0]], dtype=torch.bfloat16)).tolist()[0]
    [0.6000000238418579, 0.800000011920929]
    """
    whole = features.detach().to(torch.float32)
    made = whole / whole.norm(dim=-1, keepdim=True)
    found: NDArray[np.float32] = made.cpu().numpy()
    return found


def check_unit(rows: NDArray[Any], where: str) -> None:
    """Make sure that vectors have length 1 where they are finite at all.

    Raises:
        RuntimeError: If an adapter broke its contract.
    """
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    wrong = np.isfinite(lengths) & (np.abs(lengths - 1) > UNIT)
    if wrong.any():
        msg = f"{where}: an adapter returns unit vectors, this one has length {lengths[wrong][0]:.6g}"
        raise RuntimeError(msg)
