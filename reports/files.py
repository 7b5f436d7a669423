"""Write files so that a crash never leaves half of one: strict JSON, safe names, and one writer per folder."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import math
import os
import re
import secrets
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from benchmarks.errors import InputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

log = logging.getLogger(__name__)

TEMPORARY = ".writing-"
LOCK = ".lock"
_LOCKED_BYTE = 1 << 20
_RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{port}{i}" for port in ("COM", "LPT") for i in range(10))}


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file beside its final place, flush it to the disk, then put it there in one step.

    Args:
        path: Final place; an older file there is replaced only when the new one is complete.
        write: Receives the open binary file.
    """
    temporary = path.with_name(f"{TEMPORARY}{path.name}-{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    temporary.replace(path)
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Make a rename survive a power cut, where the platform can."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes atomically."""
    write_atomically(path, lambda file: file.write(data))


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically; a lone surrogate becomes its visible escape, which JSON reads back."""
    write_atomically(path, lambda file: file.write(text.encode("utf-8", "backslashreplace")))


def write_json(path: Path, value: object) -> None:
    """Write strict JSON (no NaN), keys sorted, UTF-8."""
    write_text(path, json.dumps(strict(value), sort_keys=True, allow_nan=False, ensure_ascii=False, indent=2) + "\n")


def read_json(path: Path) -> object:
    """Return what a JSON file holds; a byte-order mark is accepted.

    Raises:
        InputError: If the file is not UTF-8 or not JSON.
    """
    try:
        found: object = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise InputError("the file is not readable as JSON", where=str(path), got=str(error)) from error
    return found


def strict(value: object) -> object:
    """Return plain JSON values: NaN becomes null, an infinity its name, everything else is kept or refused.

    >>> strict({"a": (1, float("nan")), "b": float("-inf")})
    {'a': [1, None], 'b': '-Infinity'}
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return _strict_float(float(value))
    if isinstance(value, Mapping):
        return {str(key): strict(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: strict(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
    return _strict_other(value)


def _strict_float(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _strict_other(value: object) -> object:
    if isinstance(value, set | frozenset):
        return sorted((strict(item) for item in value), key=str)
    if isinstance(value, Path):
        return str(value)
    item = getattr(value, "item", None)  # numpy scalars are not subclasses of int or bool
    if callable(item):
        return strict(item())
    raise TypeError(f"cannot be written as JSON: {type(value).__name__}")


def safe_name(name: str) -> str:
    """Return a file name for any name: readable where possible, told apart by a short hash, valid on every system.

    >>> safe_name("org/m") == safe_name("org_m")
    False
    """
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    stem = re.sub(r"[^A-Za-z0-9._-]+", "_", name)
    stem = re.sub(r"\.{2,}", ".", stem).strip(".-")[:80]
    if stem.partition(".")[0].upper() in _RESERVED:
        stem = f"_{stem}"
    return f"{stem or '_'}-{digest}"


class Lock:
    """Let one process at a time write into a folder.

    The operating system drops the lock when the process ends, however it ends, so a killed run blocks nobody. The
    file stays: removing it would let two processes lock two files of the same name.

    Raises:
        InputError: If another process holds it.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._handle: int | None = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(self._handle)
        except BlockingIOError as error:
            holder = os.read(self._handle, 32).decode("ascii", "replace").strip()
            self.release()
            raise InputError(
                "another process is writing into this run folder",
                where=str(folder),
                got=f"process {holder or 'unknown'}",
                step="wait until it has ended, or name another folder with out=",
            ) from error
        except OSError as error:
            log.warning("no lock can be had in %s (%s): do not start a second run there", folder, error)
            return
        os.ftruncate(self._handle, 0)
        os.write(self._handle, str(os.getpid()).encode())

    def remove(self) -> None:
        """Delete the lock file while holding it: only for a folder that is given up before anything was written."""
        self._path.unlink(missing_ok=True)

    def release(self) -> None:
        """Give the lock back; a second call does nothing."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)  # a locked byte cannot be read, and the holder's number should be
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(str(error)) from error
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
