"""Collect rows from recorded files: csv, tsv, JSON lines, parquet, and JSON however its rows are nested.

A row of a JSON file is an object that holds something recorded; the keys that enclose it are kept, since releases use
them as subset and id. Of a nested object in a row (`answer: {choice: ...}`) the names are joined with a dot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks import files, sheets
from benchmarks.errors import InputError, near

Order = Literal["", "ab", "ba"]
ORDERS: tuple[Order, ...] = ("ab", "ba")
MAX_DEPTH = 12  # of nested JSON
MAX_NAMES = 300  # cells of a row of JSON
Source = str | Path | Sequence[str | Path] | Mapping[str, str | Path | Sequence[str | Path]]
IsRow = Callable[[Sequence[str]], bool]
_FIRST = re.compile(
    r"(positive|pos|caption|true|correct|base|negative|neg|foil|false|wrong)[\s_-]*first", re.IGNORECASE
)
_TRUE = {"positive", "pos", "caption", "true", "correct", "base"}


@dataclass(frozen=True, slots=True)
class Raw:
    """Hold one row as it stands in its file.

    Attributes:
        spot: Where.
        cells: Values by name.
        keys: Keys of the JSON objects around it, the outermost first.
        names: Names that may tell its subset: the file's stem, then the folders above it.
        order: Order in which the options were shown, where the file or the folder says so: `ab` true caption first.
    """

    spot: files.Spot
    cells: Mapping[str, Any]
    keys: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    order: Order = ""


@dataclass(frozen=True, slots=True)
class Collected:
    """Hold all rows of a source.

    Attributes:
        rows: In the order of the files.
        files: SHA-256 by file name (with its folder, if several have one name).
        ignored: What stood between the rows in JSON and is no row (`accuracy`), with the file.
        typed: Whether cells have types of their own in every file (not csv).
    """

    rows: list[Raw]
    files: Mapping[str, str]
    ignored: tuple[str, ...] = ()
    typed: bool = True

    @property
    def header(self) -> list[str]:
        """Return the names of all cells, in order of appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row.cells))


@dataclass(slots=True)
class _Found:
    rows: list[Raw] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def collect(source: Source, is_row: IsRow, *, where: str) -> Collected:
    """Read every file of a source.

    Args:
        source: A file, a folder (every file in it that can be read, and in its folders), a list of these, or a mapping
            from the order of options (`ab`, `ba`) to these.
        is_row: Says whether a JSON object with these names holds something recorded.
        where: The option that names the source, for messages.

    Raises:
        InputError: If a file is missing or broken, or there is no row.
    """
    found, digests, typed = _Found(), {}, True
    listed = _listed(source, where)
    root = _common([path for path, _ in listed])
    for path, order in listed:
        digests[str(path.relative_to(root))] = files.digest(path)
        typed = _read(path, order, is_row, found) and typed
    if not found.rows:
        raise InputError(
            "nothing recorded was found",
            where=", ".join(str(path) for path, _ in listed)[:300],
            got="no row that holds a score, a flag or an answer",
            step="see `audits show recorded` for the names that are known, or name the columns",
        )
    return Collected(found.rows, digests, tuple(found.ignored), typed)


def _listed(source: Source, where: str) -> list[tuple[Path, Order]]:
    """Return the files of a source with the order that each was asked in."""
    if isinstance(source, Mapping):
        wrong = [str(key) for key in source if key not in ORDERS]
        if wrong or not source:
            raise InputError(
                "not an order of options",
                where=where,
                got=", ".join(wrong) or "an empty mapping",
                expected="ab (the true caption shown first) and ba",
            )
        return [(path, order) for order in ORDERS if order in source for path, _ in _listed(source[order], where)]
    if isinstance(source, str | Path):
        return [(path, order_of(path)) for path in _files(Path(source), where)]
    if not source:
        raise InputError("no file is named", where=where, got="an empty list", expected="a file or a folder")
    return [one for item in source for one in _listed(item, where)]


def _files(path: Path, where: str) -> list[Path]:
    """Return a file, or the readable files below a folder, in alphabetical order."""
    if path.is_dir():
        inside = sorted(item for item in path.rglob("*") if item.suffix.lower() in sheets.SUFFIXES and item.is_file())
        if not inside:
            expected = f"files with the suffix {', '.join(sheets.SUFFIXES)}"
            raise InputError("the folder holds no recorded file", where=f"{where}, {path}", expected=expected)
        return inside
    if not path.is_file():
        names = [item.name for item in path.parent.iterdir()] if path.parent.is_dir() else []
        step = near(path.name, names) or "check the path; it is relative to the folder that the command was started in"
        raise InputError("the recorded file is not there", where=f"{where}, {path}", got="no such file", step=step)
    return [path]


def _common(paths: Sequence[Path]) -> Path:
    """Return the deepest folder that holds all files."""
    parents = [path.parent for path in paths]
    common = parents[0]
    while not all(parent.is_relative_to(common) for parent in parents):
        common = common.parent
    return common


def order_of(path: Path) -> Order:
    """Return the order of options that the name of a file or of a folder above it tells.

    >>> order_of(Path("positive-first/gpt4v-add_obj.json")), order_of(Path("a/negative_first.csv")), order_of(Path("a"))
    ('ab', 'ba', '')
    """
    for name in (path.stem, *(parent.name for parent in path.parents)):
        if hit := _FIRST.search(name):
            return "ab" if hit[1].lower() in _TRUE else "ba"
    return ""


def _read(path: Path, order: Order, is_row: IsRow, found: _Found) -> bool:
    """Add the rows of one file; return whether its cells have types."""
    names = (path.stem, *(parent.name for parent in path.parents if parent.name))[:3]
    if path.suffix.lower() == ".json":
        files.check_text(path)
        value = files.read_json(path)
        walk = _Walk(path, names, order, is_row, found)
        walk.into(value, ())
        return True
    sheet = sheets.open_sheet(path)
    for row in sheet.rows():
        spot = files.Spot(path, row.place)
        found.rows.append(Raw(spot, dict(_flat(row.cells)), (), names, order))
    return sheet.typed


@dataclass(frozen=True, slots=True)
class _Walk:
    """Look for rows in a JSON value."""

    path: Path
    names: tuple[str, ...]
    order: Order
    is_row: IsRow
    found: _Found
    known: dict[tuple[str, ...], bool] = field(default_factory=dict)

    def into(self, value: Any, keys: tuple[str, ...], place: str = "") -> None:
        """Take a value as a row, or look inside it."""
        if len(keys) > MAX_DEPTH:
            files.Spot(self.path, place).refuse("rows are nested too deeply", told=f"more than {MAX_DEPTH} levels")
        if isinstance(value, list):
            self._list(value, keys, place)
        elif isinstance(value, dict) and self._is_row(value):
            spot = files.Spot(self.path, place or "the whole file")
            self.found.rows.append(Raw(spot, dict(_flat(value)), keys, self.names, self.order))
        elif isinstance(value, dict):
            for key, inner in value.items():
                self.into(inner, (*keys, key), f"key {'.'.join((*keys, key))!r}")
        else:
            self.found.ignored.append(f"{place} of {self.path.name}")

    def _list(self, values: Sequence[Any], keys: tuple[str, ...], place: str) -> None:
        for number, inner in enumerate(values, 1):
            at = f"{place}, row {number}" if place else f"row {number}"
            spot = files.Spot(self.path, at)
            row = files.need_object(inner, spot)
            if not self._is_row(row):
                spot.refuse(
                    "nothing recorded was found in a row",
                    told=f"fields {', '.join(map(str, row))}"[:200],
                    step="see `audits show recorded` for the names that are known, or name the columns",
                )
            self.found.rows.append(Raw(spot, dict(_flat(row)), keys, self.names, self.order))

    def _is_row(self, value: Mapping[str, Any]) -> bool:
        if any(_holds_rows(cell) for cell in value.values()):
            return False
        names = tuple(name for name, _ in _flat(value))
        if len(names) > MAX_NAMES:
            return False  # a table of rows by key, with all their names joined
        if names not in self.known:
            self.known[names] = self.is_row(names)
        return self.known[names]


def _holds_rows(cell: Any) -> bool:
    """Return whether a cell is itself a collection of objects."""
    inner = cell.values() if isinstance(cell, dict) else cell if isinstance(cell, list) else ()
    return any(isinstance(one, dict) for one in inner)


def _flat(cells: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the cells of a row, one level of nested objects unfolded."""
    for name, cell in cells.items():
        if isinstance(cell, dict) and not prefix:
            yield from _flat(cell, f"{name}.")
        else:
            yield f"{prefix}{name}", cell
