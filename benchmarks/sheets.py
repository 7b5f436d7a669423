"""Read tables in one way: csv, tsv, JSON lines, a JSON list, parquet. Cells keep their type; csv cells are text."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import files, json_lists
from benchmarks.errors import InputError, near

DELIMITERS = {".csv": ",", ".tsv": "\t"}
OTHERS = ",\t;|"
SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
BATCH = 4096  # parquet rows held at a time


class Row(NamedTuple):
    """One row: its place as a person counts it (`line 3` of a text file, `row 3` else), and its cells by column."""

    place: str
    cells: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table on disk that can be read any number of times.

    Attributes:
        path: The file.
        header: Column names in order.
        digest: SHA-256 of the file when it was opened.
        delimiter: Of csv and tsv; empty for typed formats.
    """

    path: Path
    header: tuple[str, ...]
    digest: str
    delimiter: str = ""

    @property
    def typed(self) -> bool:
        """Whether cells have types of their own (not csv, in which every cell is text)."""
        return not self.delimiter

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[Row]:
        """Yield the rows in order.

        Args:
            columns: What is read of a parquet file (its image columns are large); None reads all.

        Raises:
            InputError: At the first row that is ragged or broken.
        """
        suffix = self.path.suffix.lower()
        if self.delimiter:
            return _csv_rows(self)
        if suffix == ".parquet":
            return _parquet_rows(self.path, columns)
        return _objects(self.path)


def open_sheet(path: Path, *, delimiter: str | None = None) -> Sheet:
    """Open a table: check that it can be read, and find its columns.

    Args:
        path: The file; its suffix names the format.
        delimiter: Of csv and tsv; None takes the suffix's, or another one if only that splits the header.

    Raises:
        InputError: If the file is missing, empty, not UTF-8, of another format, or has a broken header.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        # A spreadsheet's suffix is no misspelling of anything.
        hint = "" if suffix in SPREADSHEETS else near(suffix, SUFFIXES)
        how = (
            "export it from the spreadsheet program as csv (UTF-8)"
            if suffix in SPREADSHEETS
            else "save it as one of these"
        )
        step = f"{how}; {hint}" if hint else how
        raise InputError(
            "not a table format", where=str(path), got=suffix or "no suffix", expected=", ".join(SUFFIXES), step=step
        )
    if suffix == ".parquet":
        return Sheet(path, tuple(_parquet(path).schema_arrow.names), files.known_digest(path))
    seen = files.check_text(path)
    if suffix in DELIMITERS:
        mark = _delimiter(path, delimiter)
        return Sheet(path, _csv_header(path, mark), seen, mark)
    first = list(itertools.islice(_objects(path), 1000))
    return Sheet(path, tuple(dict.fromkeys(name for row in first for name in row.cells)), seen)


def _delimiter(path: Path, given: str | None) -> str:
    """Return the delimiter: some published csv files are tab-separated, some programs write semicolons."""
    if given is not None:
        if len(given) != 1:
            raise InputError("not a delimiter", where="benchmark.delimiter", got=repr(given), expected="one character")
        return given
    usual = DELIMITERS[path.suffix.lower()]
    with path.open(encoding="utf-8-sig", newline="") as stream:
        head = stream.readline()
    if usual in head:
        return usual
    return max(OTHERS, key=lambda mark: (head.count(mark), mark == usual))


def _csv_header(path: Path, delimiter: str) -> tuple[str, ...]:
    rows = _records(path, delimiter)
    spot, cells = next(rows, (files.Spot(path), []))
    names = [cell.strip() for cell in cells]
    if not any(names):
        spot.refuse("the table has no header", expected="column names in the first line")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        spot.refuse("two columns have one name", got=twice[0], step="rename one of them")
    return tuple(names)


def _csv_rows(sheet: Sheet) -> Iterator[Row]:
    records = _records(sheet.path, sheet.delimiter)
    next(records)
    for spot, cells in records:
        if len(cells) != len(sheet.header):
            spot.refuse(
                "a row has another number of cells than the header",
                told=f"{len(cells)} cells: {cells!r}"[:200],
                expected=f"{len(sheet.header)} cells: {', '.join(sheet.header)}",
                step="quote cells that hold the delimiter",
            )
        yield Row(spot.row, dict(zip(sheet.header, cells, strict=True)))


def _records(path: Path, delimiter: str) -> Iterator[tuple[files.Spot, list[str]]]:
    """Yield (spot, cells), header included; blank lines are skipped. A quoted line break belongs to its cell."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, delimiter=delimiter, strict=True)
        while True:
            spot = files.Spot(path, f"line {reader.line_num + 1}")
            try:
                cells = next(reader, None)
            except csv.Error as error:
                spot.refuse(
                    f"a broken row: {error}",
                    expected='cells that hold quotes are quoted and double them: "a ""red"" cup"',
                )
            if cells is None:
                return
            if cells:
                yield spot, cells


def _objects(path: Path) -> Iterator[Row]:
    """Yield the objects of a JSON lines file or of a JSON list."""
    if path.suffix.lower() == ".jsonl":
        for number, value in files.read_jsonl(path):
            place = f"line {number}"
            yield Row(place, files.need_object(value, files.Spot(path, place)))
        return
    for number, value in json_lists.stream_list(path):
        yield Row(f"row {number}", files.need_object(value, files.Spot(path, f"row {number}")))


def _parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise InputError(
            "a parquet file cannot be read",
            where=str(path.absolute()),
            got=f"{type(error).__name__}: {str(error)[:120]}",
            step="fetch the file again",
        ) from error


def _parquet_rows(path: Path, columns: Sequence[str] | None) -> Iterator[Row]:
    number = 0
    with _parquet(path) as table:
        try:
            for batch in table.iter_batches(batch_size=BATCH, columns=None if columns is None else list(columns)):
                for cells in batch.to_pylist():
                    number += 1
                    yield Row(f"row {number}", cells)
        except (OSError, ValueError, pa.ArrowException) as error:
            spot = files.Spot(path, f"after row {number}")
            spot.refuse("a parquet file is broken", told=f"{type(error).__name__}: {str(error)[:120]}")
