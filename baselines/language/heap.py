"""Keep freed memory for the next batch, and weights in large pages, where the system offers that."""

from __future__ import annotations

import ctypes
import math
import mmap
import platform
from typing import Any

import torch

# Parameters of glibc's mallopt (malloc.h) with what they are set to, in bytes.
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
KEPT = ((TRIM_THRESHOLD, 2**30), (TOP_PAD, 2**26), (MMAP_THRESHOLD, 2**28))
PAGE = 2**21
BLOCK = 2**26
LEAST = 2**16  # bytes of a weight that is worth moving
LINE = 64  # bytes of a cache line, at which tensors begin


def keep_freed_memory() -> bool:
    """Let this process keep up to 1 GiB of freed memory; return whether the C library takes the advice.

    Activations of a few hundred tokens are just large enough that glibc returns them to the system at each step and
    gets them back page by page: a third of the time of a small model on a virtual machine. Numbers are not touched.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return all(mallopt(name, value) == 1 for name, value in KEPT)


def return_freed_memory() -> None:
    """Give back to the system, once, what is free now."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


class Arena:
    """Hold tensors in memory that asks for pages of 2 MiB before it is first written.

    Every product reads a weight that was last read a whole batch ago. In pages of 4 KiB most of that time goes into
    looking addresses up, on a virtual machine twice over: products take half as long again. Numbers are not touched.
    A tensor keeps the block that it lies in.
    """

    def __init__(self) -> None:
        self._block: mmap.mmap | None = None
        self._used = 0

    def empty(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Return a tensor to be filled."""
        count = math.prod(shape)
        size = -(-count * dtype.itemsize // LINE) * LINE
        if self._block is None or self._used + size > len(self._block):
            self._block, self._used = _block(max(BLOCK, -(-size // PAGE) * PAGE)), 0
        found = torch.frombuffer(self._block, dtype=dtype, count=count, offset=self._used)
        self._used += size
        return found.view(shape)

    def copy(self, values: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Return the same values, of another dtype where one is given, held here."""
        return self.empty(*values.shape, dtype=dtype or values.dtype).copy_(values.detach())

    def move(self, *modules: Any) -> None:
        """Let the weights of modules on a CPU lie here, shared ones once; small ones stay where they are."""
        for weight in {id(one): one for module in modules for one in module.parameters()}.values():
            if weight.nbytes >= LEAST:
                weight.data = self.copy(weight)


def _block(size: int) -> mmap.mmap:
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is None:
        return mmap.mmap(-1, size)
    # Shared memory, the default, has settings of its own for large pages and mostly gets none.
    found = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    found.madvise(advice)
    return found
