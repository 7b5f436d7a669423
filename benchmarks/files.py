"""Read text, JSON and JSON lines in one way: UTF-8, no repair, every refusal names file, row and field."""

from __future__ import annotations

import codecs
import functools
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from benchmarks.archives import is_packed
from benchmarks.errors import InputError, near
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from benchmarks.stores import inside

CHUNK = 1 << 20
_HALF = re.compile("[\ud800-\udfff]")
UNSAID = object()  # null is a value too
AGAIN = "get the file again, or mend it there"
UTF16 = (b"\xff\xfe", b"\xfe\xff")
Json = Any


@dataclass(frozen=True, slots=True)
class Spot:
    """Name a place in a file.

    Attributes:
        path: The file.
        row: Row as a person counts it (`line 3`, `key '108'`), or empty.
        field: Field or column, or empty.
    """

    path: Path
    row: str = ""
    field: str = ""

    def at(self, field: str) -> Spot:
        """Return the same row's other field."""
        return Spot(self.path, self.row, field)

    def __str__(self) -> str:
        parts = [str(self.path), self.row, f"field {self.field!r}" if self.field else ""]
        return ", ".join(part for part in parts if part)

    def refuse(
        self, what: str, *, got: object = UNSAID, told: str = "", expected: str = "", step: str = ""
    ) -> NoReturn:
        """Raise an InputError for this place; `got` is a value, `told` is what was found in words."""
        found = told if got is UNSAID else shown(got)
        raise InputError(what, where=str(self), got=found, expected=expected, step=step or AGAIN)


def shown(value: object, *, limit: int = 80) -> str:
    """Return a value as it may stand in a message: quoted, short, with its type unless it is text."""
    if isinstance(value, str):
        # A lone surrogate cannot be printed; the escape can.
        text = repr(value[:limit]).encode("utf-8", "backslashreplace").decode("utf-8")
        return text + (f" ... ({len(value)} characters)" if len(value) > limit else "")
    text = "null" if value is None else type(value).__name__
    if isinstance(value, (bool, int, float)):
        return f"{str(value)[:limit] if not isinstance(value, int) or value.bit_length() < 256 else '...'} ({text})"
    return text


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal.

    Raises:
        InputError: If it cannot be read.
    """
    total = hashlib.sha256()
    for chunk in _chunks(path):
        total.update(chunk)
    return total.hexdigest()


def unchanged(path: Path, expect: str) -> Path:
    """Return a file that still is what it was; it is digested again only if its size or time has changed.

    Raises:
        InputError: If it has changed.
    """
    try:
        seen = path.stat()
    except OSError as error:
        _unreadable(path, error)
    if _digest_of(path, seen.st_size, seen.st_mtime_ns) != expect:
        Spot(path).refuse("the file changed while it was in use", step="run again")
    return path


def known_digest(path: Path) -> str:
    """Return the SHA-256 of a file; a file of the same size and time is not read again.

    Raises:
        InputError: If it cannot be read.
    """
    try:
        seen = path.stat()
    except OSError as error:
        _unreadable(path, error)
    return _digest_of(path, seen.st_size, seen.st_mtime_ns)


def check_text(path: Path) -> str:
    """Read a whole file once as UTF-8, in constant memory, and return its SHA-256.

    Raises:
        InputError: If it cannot be read, is empty, or is not UTF-8; the message names the byte.
    """
    total, decoder, offset, lines = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")(), 0, 1
    for chunk in _chunks(path):
        total.update(chunk)
        pending = len(decoder.getstate()[0])
        _decode(chunk, path, decoder.decode, start=offset - pending, line=lines)
        offset += len(chunk)
        lines += chunk.count(b"\n")
    _decode(
        b"", path, lambda data: decoder.decode(data, final=True), start=offset - len(decoder.getstate()[0]), line=lines
    )
    if offset == 0:
        Spot(path).refuse("the file is empty", told="0 bytes")
    return total.hexdigest()


def read_text(path: Path) -> str:
    """Return a whole file as text; a byte-order mark is accepted and dropped.

    Raises:
        InputError: If it cannot be read or is not UTF-8.
    """
    data = b"".join(_chunks(path))
    return _decode(data, path, lambda part: part.decode("utf-8"), start=0, line=1).removeprefix("\ufeff")


def text_chunks(path: Path) -> Iterator[str]:
    """Yield a UTF-8 file as text, without a byte-order mark.

    Raises:
        InputError: If it cannot be read or is not UTF-8.
    """
    decoder, offset, line, begun = codecs.getincrementaldecoder("utf-8")(), 0, 1, False
    for chunk in _chunks(path):
        pending = len(decoder.getstate()[0])
        text = _decode(chunk, path, decoder.decode, start=offset - pending, line=line)
        if text:
            rest = text if begun else text.removeprefix("\ufeff")
            begun = True
            if rest:
                yield rest
        offset += len(chunk)
        line += chunk.count(b"\n")
    _decode(b"", path, lambda data: decoder.decode(data, final=True), start=offset, line=line)


def read_json(path: Path, *, expect: str = "") -> Json:
    """Parse a JSON file strictly: no double keys, no NaN, nothing after the end.

    Args:
        path: The file.
        expect: SHA-256 that it had when it was first read, or empty.

    Raises:
        InputError: If it cannot be read, is not JSON, or has changed.
    """
    if expect and digest(path) != expect:
        Spot(path).refuse("the file changed while it was in use", step="run again")
    return parse_json(read_text(path), Spot(path))


def read_jsonl(path: Path) -> Iterator[tuple[int, Json]]:
    """Yield (line number, value) of a JSON lines file; blank lines are skipped.

    Raises:
        InputError: At the first line that is not JSON.
    """
    try:
        with path.open("rb") as stream:
            for number, raw in enumerate(stream, 1):
                line = _decode(raw, path, lambda data: data.decode("utf-8"), start=0, line=number)
                text = line.removeprefix("\ufeff") if number == 1 else line
                if text.strip():
                    yield number, parse_json(text, Spot(path, f"line {number}"))
    except OSError as error:
        _unreadable(path, error)


def strict() -> json.JSONDecoder:
    """Return a decoder that refuses double keys, NaN and numbers beyond any float."""
    return json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)


def parse_json(text: str, spot: Spot) -> Json:
    """Parse one JSON value strictly.

    Raises:
        InputError: If the text is not one strict JSON value; the message names line and column.
    """
    try:
        return strict().decode(text)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        ended = error.pos >= len(text.rstrip())
        told = "the text ends there" if ended else ""
        spot.refuse(f"not valid JSON at {at}: {error.msg}", told=told, step=AGAIN)
    except RecursionError:
        spot.refuse("not valid JSON: nested too deeply", step=AGAIN)
    except ValueError as error:
        spot.refuse(f"not valid JSON: {error}", step=AGAIN)


def need_object(value: Json, spot: Spot, *, what: str = "a JSON object") -> Mapping[str, Json]:
    """Return a value that must be an object."""
    if not isinstance(value, dict):
        spot.refuse("wrong type", got=value, expected=what)
    return value


def need_text(row: Mapping[str, Json], field: str, spot: Spot) -> str:
    """Return a field that must be a text with something in it, byte for byte; whatever it says, it is text.

    Raises:
        InputError: If the field is missing, not a text, or blank.
    """
    if field not in row:
        hint = near(field, row)
        spot.at(field).refuse("a field is missing", told=f"fields {', '.join(map(str, row))}"[:200], step=hint)
    value = row[field]
    # The ordinary case, without naming a place for every field of every row.
    if isinstance(value, str) and value.isascii() and value.strip():
        return value
    return is_text(value, spot.at(field))


def is_text(value: Json, spot: Spot) -> str:
    """Return a value that must be a text with something in it.

    Raises:
        InputError: If it is not.
    """
    if not isinstance(value, str):
        spot.refuse("wrong type", got=value, expected="text")
    if not value.strip():
        spot.refuse("an empty text", got=value, expected="text with at least one visible character")
    if not value.isascii() and _HALF.search(value):
        spot.refuse("not valid text: half of a surrogate pair", got=value)
    return value


def image_in(place: Path, name: str, spot: Spot, *, search: bool = False) -> ImageRef:
    """Return the reference of a released image file below a folder, or in an archive.

    Args:
        place: The folder, zip or tar.
        name: The released name, which is also the reference's key.
        spot: Where it was read.
        search: Whether to look in subfolders and tar shards too; archives are always searched.

    Raises:
        InputError: If the name would leave the place.
    """
    try:
        path = inside(place, name)
    except ValueError as error:
        spot.refuse(f"not a file name of this release: {error}", got=name, expected="a path below the image folder")
    return ImageRef(name, place, member=name) if search or is_packed(place) else ImageRef(name, path)


def cell_image(path: Path, row: int, column: str, *, key: str = "") -> ImageRef:
    """Return the reference of an image cell of a parquet file of the hub, unread.

    Args:
        path: The parquet file.
        row: Row counted from 0.
        column: Column whose cells are structs of `bytes` and `path`.
        key: Name within the benchmark; file, row and column by default.
    """
    member = f"{row}/{column}"
    return ImageRef(key or f"{path.name}/{member}", path, member=member)


def build(spot: Spot, make: Callable[[], Instance]) -> Instance:
    """Make an instance; what its record refuses is said with file and row.

    Raises:
        InputError: If the record refuses it.
    """
    try:
        return make()
    except InputError as error:
        raise InputError(error.what, where=f"{spot}, {error.where}", got=error.got, step=error.step) from error


@functools.lru_cache(maxsize=1024)
def _digest_of(path: Path, size: int, mtime: int) -> str:  # the key of the cache
    return digest(path)


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
    except (OSError, ValueError) as error:
        _unreadable(path, error)


def _unreadable(path: Path, error: Exception) -> NoReturn:
    raise InputError("a file cannot be read", where=str(path.absolute()), got=type(error).__name__) from error


def _decode(data: bytes, path: Path, decode: Callable[[bytes], str], *, start: int, line: int) -> str:
    try:
        return decode(data)
    except UnicodeDecodeError as error:
        bad = error.object[error.start] if error.start < len(error.object) else 0
        row = line + error.object.count(b"\n", 0, error.start)
        Spot(path, f"line {row}, byte {max(start, 0) + error.start}").refuse(
            "not valid UTF-8",
            told="UTF-16" if not start and data[:2] in UTF16 else f"byte 0x{bad:02x} ({error.reason})",
            expected="UTF-8, with or without a byte-order mark",
            step="save the file again as UTF-8",
        )


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {shown(twice)} stands twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value
