"""Recognise a lack of memory, whichever library reports it, and give back what can be given back."""

from __future__ import annotations

import gc
import sys

SIGNS = (
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "cublas_status_alloc_failed",
    "unable to allocate",
)


def is_memory_error(error: BaseException) -> bool:
    """Return whether an exception says that memory ran out.

    Judged by class name and message, so that no library needs to be imported to ask.
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in SIGNS)


def free_memory() -> None:
    """Collect garbage and, where torch already runs on a GPU, return its cached blocks.

    Call it outside the `except` block: the traceback keeps the failed batch alive.
    """
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
