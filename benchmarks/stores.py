"""The places that images lie in: a zip, tars, a folder, a parquet file. Only `archives` uses them.

An archive that holds a path outside of itself, a link, a device, two members of one name or a locked member is refused
as a whole; a member larger than `MAX_MEMBER` is refused, whatever size it declares.
"""

from __future__ import annotations

import os
import re
import stat
import tarfile
import threading
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NoReturn, Protocol

from benchmarks.cell_files import CellFile
from benchmarks.errors import InputError

MAX_MEMBER = 256 << 20  # bytes of one encoded image; more is a bomb or no image
MAX_MEMBERS = 5_000_000
REPACK = "fetch it again; if it is meant to be so, unpack it by hand and give the folder"
_PLAIN = re.compile(r"[^\\/:\0][^\\:\0]*")


class Store(Protocol):
    """A place whose members can be found and read."""

    def find(self, name: str) -> list[str]:
        """Return the members that a released name stands for: none, one, or several where it is ambiguous."""

    def read(self, member: str) -> bytes:
        """Return a member's bytes."""


class Names:
    """Find members by their whole name or, where a place adds folders of its own, by its end."""

    def __init__(self, names: Iterable[str]) -> None:
        self._whole = set(names)
        self._ends: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    def find(self, name: str) -> list[str]:
        """Return the name itself if it is there, else all names that end with it after a slash."""
        if name in self._whole:
            return [name]
        ends = self._by_end().get(name.rpartition("/")[2], [])
        return sorted(one for one in ends if one.endswith(f"/{name}"))

    def _by_end(self) -> dict[str, list[str]]:
        with self._lock:
            if not self._ends:
                ends = defaultdict(list)
                for one in self._whole:
                    ends[one.rpartition("/")[2]].append(one)
                self._ends = dict(ends)
        return self._ends


def inside(folder: Path, name: str) -> Path:
    """Return the path of a released file name below a folder.

    Raises:
        ValueError: If the name is empty, absolute or leaves the folder; the message says which.
    """
    if _PLAIN.fullmatch(name) and ".." not in name and name.strip():
        return folder / name  # the ordinary case, without parsing the name twice
    parts = (PurePosixPath(name), PureWindowsPath(name))
    if not name.strip() or "\0" in name:
        raise ValueError("the file name is empty or holds a null character")
    if any(part.is_absolute() or part.drive or part.root for part in parts):
        raise ValueError("the file name is an absolute path")
    if any(".." in part.parts for part in parts):
        raise ValueError("the file name leaves its folder")
    return folder / name


def refuse(place: Path, what: str, *, name: str = "", got: str = "", expected: str = "", step: str = "") -> NoReturn:
    """Raise an InputError about a place or one of its members."""
    where = f"{place}, member {name[:200]!r}" if name else str(place)
    raise InputError(what, where=where, got=got, expected=expected, step=step)


class ZipStore:
    """A zip; its handle is shared by threads under a lock."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        try:
            self._file = zipfile.ZipFile(path)
        except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
            refuse(path, "a zip file cannot be read", got=told(error), step="fetch the archive again")
        infos = self._file.infolist()
        for info in infos:
            kind = info.external_attr >> 16
            if stat.S_IFMT(kind) not in (0, stat.S_IFREG, stat.S_IFDIR):
                refuse(path, "a hostile archive: a link or device", name=info.filename, step=REPACK)
            if info.flag_bits & 1:
                refuse(path, "a locked archive: a member needs a password", name=info.filename)
        files = _checked(path, (info.orig_filename for info in infos if not info.is_dir()))
        self._names = Names(files)

    def find(self, name: str) -> list[str]:
        """Return the members of a released name."""
        return self._names.find(name)

    def read(self, member: str) -> bytes:
        """Return a member's bytes; what it declares and what it really holds are both limited."""
        with self._lock:
            info = self._file.getinfo(member)
            _check_size(self._path, member, info.file_size)
            with self._file.open(info) as stream:
                data = stream.read(MAX_MEMBER + 1)
        _check_size(self._path, member, len(data))
        return data


class TarStore:
    """One or several uncompressed tars, opened for each reading: no handle is shared by threads or processes."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._at: dict[str, tuple[Path, int, int]] = {}
        for path in paths:
            members = dict(_tar_members(path))
            twice = next((name for name in members if name in self._at), None)
            if twice is not None:
                refuse(path, f"two shards hold the same name, first {self._at[twice][0].name}", name=twice)
            self._at |= {name: (path, *span) for name, span in members.items()}
        self._names = Names(self._at)

    def find(self, name: str) -> list[str]:
        """Return the members of a released name."""
        return self._names.find(name)

    def read(self, member: str) -> bytes:
        """Return a member's bytes."""
        path, start, size = self._at[member]
        _check_size(path, member, size)
        with path.open("rb") as stream:
            stream.seek(start)
            data = stream.read(size)
        if len(data) != size:
            raise EOFError(f"{len(data)} of {size} bytes")
        return data


class FolderStore:
    """A folder: the file itself, else a file below that ends with the name, else a member of its tar shards."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._listed: tuple[Names, TarStore] | None = None

    def find(self, name: str) -> list[str]:
        """Return the files, or members of shards, of a released name."""
        if inside(self._folder, name).is_file():
            return [name]
        below, shards = self._listing()
        return below.find(name) or shards.find(name)

    def read(self, member: str) -> bytes:
        """Return the bytes of a file or of a shard's member."""
        path = inside(self._folder, member)
        if not path.is_file():
            return self._listing()[1].read(member)
        _check_size(path, member, path.stat().st_size)
        return path.read_bytes()

    def _listing(self) -> tuple[Names, TarStore]:
        with self._lock:
            if self._listed is None:
                self._listed = (Names(_below(self._folder)), TarStore(sorted(self._folder.glob("*.tar"))))
            return self._listed


class ParquetStore:
    """A parquet file whose cells are named `ROW/COLUMN`, rows counted from 0."""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, CellFile(path)

    def find(self, name: str) -> list[str]:
        """Return the name if there is such a cell."""
        row, _, column = name.partition("/")
        return [name] if row.isdecimal() and self._file.holds(int(row), column) else []

    def read(self, member: str) -> bytes:
        """Return the encoded image of a cell."""
        row, _, column = member.partition("/")
        data = self._file.image(int(row), column)
        _check_size(self._path, member, len(data))
        return data


def _tar_members(path: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield (name, (offset, size)) of the files of a tar."""
    found: list[tarfile.TarInfo] = []
    try:
        with tarfile.open(path, "r:") as tar:
            for info in tar:
                if not (info.isreg() or info.isdir()) or info.issparse():
                    refuse(path, "a hostile archive: a link or device", name=info.name, step=REPACK)
                found += [info] if info.isreg() else []
            ended = tar.offset
    except (OSError, tarfile.TarError, ValueError, EOFError) as error:
        refuse(path, "a tar file cannot be read", got=told(error), step="fetch the archive again, uncompressed")
    end = path.stat().st_size
    if ended >= end and found:
        refuse(path, "a tar file is cut off", got="no mark of its end", step="fetch the archive again")
    for info, name in zip(found, _checked(path, (one.name for one in found)), strict=True):
        if info.offset_data + info.size > end:
            refuse(path, "a tar file is cut off", name=name, step="fetch the archive again")
        yield name, (info.offset_data, info.size)


def _checked(path: Path, names: Iterable[str]) -> list[str]:
    """Return the names of an archive's members; refuse one that is not what it seems."""
    found: list[str] = []
    for name in names:
        if not _PLAIN.fullmatch(name) or ".." in name:
            try:
                inside(path, name)
            except ValueError as error:
                refuse(path, f"a hostile archive: {error}", name=name, step=REPACK)
        found.append(name)
        if len(found) > MAX_MEMBERS:
            refuse(path, "an archive holds too many members", expected=f"at most {MAX_MEMBERS}")
    if len(set(found)) != len(found):
        seen: set[str] = set()
        twice = next(name for name in found if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        refuse(path, "a hostile archive: two members have one name", name=twice, step=REPACK)
    return found


def _below(folder: Path) -> Iterator[str]:
    """Yield the files below a folder by relative name; links to folders are not followed."""
    count = 0
    for parent, _, names in os.walk(folder):
        base = Path(parent).relative_to(folder).as_posix()
        for name in names:
            count += 1
            if count > MAX_MEMBERS:
                refuse(folder, "a folder holds too many files", expected=f"at most {MAX_MEMBERS}")
            yield name if base == "." else f"{base}/{name}"


def _check_size(path: Path, name: str, size: int) -> None:
    if size > MAX_MEMBER:
        refuse(path, "a file is too large for an image", name=name, got=f"{size} bytes", expected=f"{MAX_MEMBER}")


def told(error: Exception) -> str:
    """Return an exception in words short enough for a message."""
    return f"{type(error).__name__}: {str(error)[:120]}"
