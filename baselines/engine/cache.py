"""Measured values on disk: one SQLite file, safe for several processes at once and for a process that is killed.

A value is found by two digests: of the task (everything that could change it) and of the item (its content).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.engine.database import Database, Layout
from baselines.schema import Stored

CHUNK = 500  # placeholders per query; SQLite guarantees 999
ON_DISK: Mapping[Stored, str] = {"float64": "<f8", "float32": "<f4"}
LAYOUT = Layout(
    "score cache",
    0x424C4E44,  # "BLND"
    1,
    "CREATE TABLE IF NOT EXISTS scores "
    "(task BLOB NOT NULL, item BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (task, item)) WITHOUT ROWID",
    "scores are then computed anew",
)


class ScoreCache:
    """Keep rows of numbers by (task, item). Use it as a context manager or call `close`.

    Args:
        path: The cache file; it and its folder are created if need be.

    Raises:
        InputError: If the folder cannot be written, or the file is damaged or not a cache of this version.
    """

    def __init__(self, path: Path) -> None:
        self._file = Database(path, LAYOUT)
        self.path, self.journal = path, self._file.journal

    def __enter__(self) -> ScoreCache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; nothing is pending, every commit is already on disk."""
        self._file.close()

    def read(
        self, task: bytes, items: Sequence[bytes], width: int, stored: Stored = "float64"
    ) -> dict[bytes, NDArray[Any]]:
        """Return the rows that are known, by item digest.

        Args:
            task: Digest of the task, see `task_digest`.
            items: Digests of the items.
            width: Numbers per row.
            stored: Their dtype.
        """
        found: dict[bytes, NDArray[Any]] = {}
        with self._file.translated():
            for start in range(0, len(items), CHUNK):
                part = items[start : start + CHUNK]
                marks = ",".join("?" * len(part))
                query = f"SELECT item, value FROM scores WHERE task = ? AND item IN ({marks})"
                for item, blob in self._file.connection.execute(query, (task, *part)):
                    if len(blob) != width * np.dtype(stored).itemsize:
                        raise self._file.damaged(f"a row that is not {width} {stored} long")
                    found[item] = np.frombuffer(blob, ON_DISK[stored])
        return found

    def write(
        self, task: bytes, rows: Mapping[bytes, NDArray[Any]], stored: Stored = "float64"
    ) -> dict[bytes, NDArray[Any]]:
        """Commit rows in one transaction and return what the cache now says.

        A row that another process committed first wins, so that both report the same values.
        """
        width = len(next(iter(rows.values())))
        values = [(task, item, np.asarray(row, ON_DISK[stored]).tobytes()) for item, row in rows.items()]
        with self._file.translated(), self._file.transaction():
            self._file.connection.executemany("INSERT OR IGNORE INTO scores VALUES (?, ?, ?)", values)
        return self.read(task, list(rows), width, stored)


def task_digest(signature: str, width: int, stored: Stored = "float64") -> bytes:
    """Return the digest that names a task's values: its signature, the numbers per row and their dtype."""
    kind = "" if stored == "float64" else f" {stored}"
    return sha256(f"{width}{kind}\n{signature}".encode()).digest()


def item_digest(key: str) -> bytes:
    """Return the digest of an item's content key; lone surrogates, which some releases hold, are content too."""
    return sha256(key.encode("utf-8", "surrogatepass")).digest()
