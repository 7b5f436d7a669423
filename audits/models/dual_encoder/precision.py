"""Name the precisions that an encoder can run in, and what is fast where it runs."""

from __future__ import annotations

import torch

from benchmarks.errors import InputError, near

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
# On a CPU more positions at once no longer fit its caches: a third slower at 4096 than at 512.
FAST = {"cpu": 512, "cuda": 16384}


def tokens_for(asked: int | None, device: torch.device) -> int:
    """Return how many positions of captions are encoded at once: those asked for, else what is fast on the device."""
    return FAST.get(device.type, FAST["cuda"]) if asked is None else asked


def dtype_of(name: str) -> torch.dtype:
    """Return the dtype of that name.

    Raises:
        InputError: If it is none of float32, bfloat16, float16.
    """
    if name not in DTYPES:
        step = near(name, DTYPES) or "pick one"
        raise InputError("unknown dtype", where="dtype", got=name, expected=", ".join(DTYPES), step=step)
    return DTYPES[name]
