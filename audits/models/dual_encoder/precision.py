"""Name the precisions that an encoder can run in."""

from __future__ import annotations

import torch

from benchmarks.errors import InputError, near

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def dtype_of(name: str) -> torch.dtype:
    """Return the dtype of that name.

    Raises:
        InputError: If it is none of float32, bfloat16, float16.
    """
    if name not in DTYPES:
        step = near(name, DTYPES) or "pick one"
        raise InputError("unknown dtype", where="dtype", got=name, expected=", ".join(DTYPES), step=step)
    return DTYPES[name]
