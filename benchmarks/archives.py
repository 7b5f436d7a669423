"""Read single members of archives, shards and folders, and single cells of parquet files, without unpacking anything.

A place is a folder, a zip, an uncompressed tar, a folder of tar shards (webdataset), or a parquet file of the hub. Its
names are listed once; listings are kept for `KEPT` places per process and dropped when the file changes.
"""

from __future__ import annotations

import functools
import os
import zipfile
import zlib
from pathlib import Path

from benchmarks.stores import FolderStore, ParquetStore, Store, TarStore, ZipStore, refuse, told

KEPT = 16  # places whose names are kept per process
PACKED = (".zip", ".tar")
COMPRESSED = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".gz", ".bz2", ".xz", ".zst", ".rar", ".7z")
# What the readers of the standard library raise for broken members.
FAULTS = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)


def has(place: Path, name: str) -> bool:
    """Tell whether a place holds exactly one member of a released name, without reading it.

    Raises:
        InputError: If the place itself is hostile or broken.
    """
    store = _store(place)
    return store is not None and len(store.find(name)) == 1


def read(place: Path, name: str) -> bytes:
    """Return the bytes behind a released name.

    Raises:
        InputError: If it is not there, ambiguous, broken or too large, or the place is hostile.
    """
    store = _store(place)
    if store is None:
        refuse(place, "an image place is not there", step="put it there, or leave such rows out")
    found = store.find(name)
    if len(found) != 1:
        what = "several files have this name" if found else "no file has this name"
        refuse(
            place,
            what,
            name=name,
            got=", ".join(found[:3]),
            step="put it there, or leave such rows out with benchmark.missing=exclude",
        )
    try:
        return store.read(found[0])
    except FAULTS as error:
        refuse(place, "a member cannot be read", name=name, got=told(error), step="fetch the archive again")


def is_packed(place: Path) -> bool:
    """Tell whether a path names an archive whose members can be read where they are.

    Raises:
        InputError: If it is one that can only be read from its beginning.
    """
    name = place.name.lower()
    if name.endswith(COMPRESSED) and not place.is_dir():
        refuse(
            place,
            "a compressed archive has no random access",
            got=place.suffix,
            expected="a folder, a zip or an uncompressed tar",
            step="decompress it once (gunzip -k FILE), or unpack it",
        )
    return name.endswith(PACKED) and not place.is_dir()


def _store(place: Path) -> Store | None:
    """Return the open store of a place, or None where nothing is."""
    try:
        seen = place.stat()
    except (OSError, ValueError):
        return None
    # A process that was forked must not share the position of its parent's file handles.
    return _opened(place, seen.st_mtime_ns, seen.st_size, os.getpid())


@functools.lru_cache(maxsize=KEPT)
def _opened(place: Path, mtime: int, size: int, process: int) -> Store:  # the key of the cache
    if place.is_dir():
        return FolderStore(place)
    if place.suffix.lower() == ".parquet":
        return ParquetStore(place)
    if not is_packed(place):
        refuse(place, "not a place of images", expected="a folder, a zip, an uncompressed tar or a parquet file")
    return ZipStore(place) if place.suffix.lower() == ".zip" else TarStore([place])
