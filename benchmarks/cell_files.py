"""Read single image cells of parquet files of the hub: a struct of encoded bytes and a file name."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.errors import InputError

CHUNKS = 4  # decoded columns of row groups kept per file
MAX_CHUNK = 2 << 30  # bytes that one column of one row group may decode to


class CellFile:
    """Read cells by row and column; neighbouring rows come from the same decoded chunk.

    Args:
        path: The parquet file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._chunks: OrderedDict[tuple[int, str], Any] = OrderedDict()
        try:
            self._file = pq.ParquetFile(path)
        except (OSError, pa.ArrowException) as error:
            raise self._refusal("a parquet file cannot be read", "", type(error).__name__) from error
        meta = self._file.metadata
        self._columns = set(self._file.schema_arrow.names)
        # First row of each row group, and the number of rows at the end.
        sizes = [meta.row_group(number).num_rows for number in range(meta.num_row_groups)]
        self._starts = [0, *accumulate(sizes)]

    def holds(self, row: int, column: str) -> bool:
        """Tell whether there is such a cell."""
        return 0 <= row < self._starts[-1] and column in self._columns

    def image(self, row: int, column: str) -> bytes:
        """Return the encoded image of a cell.

        Raises:
            InputError: If the cell holds none, or the file is broken.
        """
        group = bisect_right(self._starts, row) - 1
        with self._lock:
            value = self._chunk(group, column)[row - self._starts[group]].as_py()
        data = value.get("bytes") if isinstance(value, dict) else value
        if not isinstance(data, bytes) or not data:
            got = f"{type(value).__name__}" + (" with a file name only" if isinstance(value, dict) else "")
            raise self._refusal("a cell holds no encoded image", f"row {row + 1}, field {column!r}", got)
        return data

    def _chunk(self, group: int, column: str) -> Any:
        key = (group, column)
        if key not in self._chunks:
            size = self._size(group, column)
            if size > MAX_CHUNK:
                where = f"row group {group}, field {column!r}"
                raise self._refusal("a parquet file is too large to be read by the cell", where, f"{size} bytes")
            try:
                table = self._file.read_row_group(group, columns=[column])
            except (OSError, ValueError, pa.ArrowException) as error:
                raise self._refusal("a parquet file is broken", f"field {column!r}", type(error).__name__) from error
            self._chunks[key] = table.column(column)
            while len(self._chunks) > CHUNKS:
                self._chunks.popitem(last=False)
        self._chunks.move_to_end(key)
        return self._chunks[key]

    def _size(self, group: int, column: str) -> int:
        meta = self._file.metadata.row_group(group)
        parts = [meta.column(number) for number in range(meta.num_columns)]
        return sum(part.total_uncompressed_size for part in parts if part.path_in_schema.split(".")[0] == column)

    def _refusal(self, what: str, where: str, got: str) -> InputError:
        place = f"{self._path}, {where}" if where else str(self._path)
        return InputError(what, where=place, got=got, step="fetch the file again")
