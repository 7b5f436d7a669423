"""Keep freed memory for the next batch, and keep it in large pages, where the system offers that."""

from __future__ import annotations

import ctypes
import logging
import mmap
import platform
from pathlib import Path

log = logging.getLogger(__name__)
# Parameters of glibc's mallopt (malloc.h) with what they are set to, in bytes.
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
KEPT = ((TRIM_THRESHOLD, 2**30), (TOP_PAD, 2**26), (MMAP_THRESHOLD, 2**28))
COLLAPSE = 25  # MADV_COLLAPSE of Linux 6.1 and later
PAGE = 2**21
LEAST = 2**24  # smaller mappings, such as stacks, are left alone
MAPS = Path("/proc/self/maps")


def keep_freed_memory() -> bool:
    """Let this process keep up to 1 GiB of freed memory; return whether the C library takes the advice.

    Activations of a few hundred tokens are just large enough that glibc returns them to the system at each step and
    gets them back page by page: a third of the time of a small model on a virtual machine. Numbers are not touched.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return all(mallopt(name, value) == 1 for name, value in KEPT)


def use_large_pages() -> int:
    """Ask for pages of 2 MiB under the memory in use now; return the bytes that were moved into such pages.

    Every product reads a weight that was last read a whole batch ago. In pages of 4 KiB most of that time goes into
    looking addresses up, on a virtual machine twice over: products take half as long again. Numbers are not touched.
    """
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is None or platform.libc_ver()[0] != "glibc" or not MAPS.is_file():
        return 0
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    moved = 0
    for begin, size in _own_memory(MAPS.read_text(encoding="utf-8")):
        if madvise(begin, size, advice) == 0 and madvise(begin, size, COLLAPSE) == 0:
            moved += size
    log.info("%.2f GiB in large pages", moved / 2**30)
    return moved


def _own_memory(maps: str) -> list[tuple[int, int]]:
    """Return begin and size, in whole large pages, of private writable memory that no file is behind."""
    found = []
    for line in maps.splitlines():
        where, rights, _, _, inode, *name = line.split()
        begin, end = (int(one, 16) for one in where.split("-"))
        begin, end = -(-begin // PAGE) * PAGE, end // PAGE * PAGE
        if rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]) and end - begin >= LEAST:
            found.append((begin, end - begin))
    return found
