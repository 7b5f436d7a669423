"""Read the tables of a run folder; one that is missing or cut is named, never passed over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.errors import InputError
from reports import files

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "instances": ("instance", "subset", "query", "images", "captions", "gold"),
    "scores": ("instance", "image", "caption", "scorer", "score"),
    "outcomes": ("instance", "scorer", "direction", "order", "comparison", "outcome"),
}

GROUP = 1 << 18
"""Rows after which a part of a table is written."""
BATCH = 1 << 15
"""Rows looked through at once."""


def table_path(folder: Path, name: str) -> Path:
    """Return where a run folder keeps a table."""
    plain = re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name)
    return folder / f"{name if plain else files.safe_name(name)}.parquet"


def read_table(
    folder: Path, name: str, *, ids: Sequence[str] | None = None, columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return a table of a run folder.

    Args:
        folder: The run folder.
        name: `instances`, `scores`, `outcomes`, ...
        ids: Read only the rows of these instances, the others a part at a time: a table may be larger than memory.
        columns: Read only these.

    Raises:
        InputError: If the run has no such table or it cannot be read.
    """
    path = table_path(folder, name)
    if not path.is_file():
        known = sorted(found.stem for found in folder.glob("*.parquet"))
        raise InputError("the run has no such table", where=str(folder), got=name, expected=", ".join(known))
    try:
        if ids is None:
            return pd.read_parquet(path, columns=None if columns is None else list(columns))
        return _rows_of(path, ids, columns)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _rows_of(path: Path, ids: Sequence[str], columns: Sequence[str] | None) -> pd.DataFrame:
    """Return the rows of some instances, without holding the others."""
    wanted = pa.array(list(dict.fromkeys(ids)), pa.string())
    chosen = None if columns is None else list(columns)
    with pq.ParquetFile(path) as file:
        empty = file.schema_arrow.empty_table()
        found = [empty if chosen is None else empty.select(chosen)]
        for batch in file.iter_batches(BATCH, columns=chosen):
            table = pa.Table.from_batches([batch])
            found.append(table.filter(pc.is_in(table["instance"].cast(pa.string()), value_set=wanted)))
    rows: pd.DataFrame = pa.concat_tables(found).unify_dictionaries().to_pandas()
    return rows


def write_parts(file: IO[bytes], parts: Iterable[pd.DataFrame]) -> None:
    """Write frames of the same columns below each other as one parquet table, some at a time.

    Args:
        file: An open binary file.
        parts: At least one frame. Categories of a column may differ between them; readers see all of them.
    """
    writer: pq.ParquetWriter | None = None
    waiting: list[pa.Table] = []
    for table in map(_arrow, parts):
        if writer is None:
            writer = pq.ParquetWriter(file, table.schema)
        waiting.append(table)
        if sum(one.num_rows for one in waiting) >= GROUP:
            _write(writer, waiting)
            waiting = []
    if writer is None:
        raise ValueError("a table needs at least one part, if an empty one")
    _write(writer, waiting)
    writer.close()


def _arrow(frame: pd.DataFrame) -> pa.Table:
    """Return a frame as arrow writes it; codes of categories have one width, however many categories there are."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            own = table.column(place).combine_chunks()
            wide = pa.DictionaryArray.from_arrays(own.indices.cast(pa.int32()), own.dictionary)
            table = table.set_column(place, field.with_type(wide.type), wide)
    return table


def _write(writer: pq.ParquetWriter, waiting: Sequence[pa.Table]) -> None:
    """Write tables as one row group: many small ones would be slow to read."""
    if waiting:
        writer.write_table(pa.concat_tables(waiting).unify_dictionaries())


def table_problems(folder: Path) -> tuple[str, ...]:
    """Return what is wrong with the tables that a finished run must have, in a sentence each; contents are not read."""
    found = [_problem(table_path(folder, name), name) for name in COLUMNS]
    return tuple(text for text in found if text)


def _problem(path: Path, name: str) -> str:
    if not path.is_file():
        return f"{path.name} is missing from the run folder: the numbers here cannot be traced to single instances."
    try:
        there = set(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, ValueError) as error:
        return f"{path.name} cannot be read ({_first_line(error)}): it may have been cut; run the audit again."
    absent = [column for column in COLUMNS[name] if column not in there]
    return f"{path.name} lacks the columns {', '.join(absent)}." if absent else ""


def _unreadable(path: Path, error: Exception) -> InputError:
    step = "it may have been cut; run the audit again"
    return InputError("a table of the run cannot be read", where=str(path), got=_first_line(error), step=step)


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0][:120]
