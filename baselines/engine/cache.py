"""Measured values on disk: one SQLite file, safe for several processes at once and for a process that is killed.

A value is found by two digests: of the task (everything that could change it) and of the item (its content).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.engine.folder import on_network
from baselines.schema import Stored
from benchmarks.errors import InputError

SCHEMA = 1
APPLICATION_ID = 0x424C4E44  # "BLND": keeps us from writing into somebody else's database
BUSY_SECONDS = 60.0
CHUNK = 500  # placeholders per query; SQLite guarantees 999
ON_DISK: Mapping[Stored, str] = {"float64": "<f8", "float32": "<f4"}
TABLE = (
    "CREATE TABLE IF NOT EXISTS scores "
    "(task BLOB NOT NULL, item BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (task, item)) WITHOUT ROWID"
)


class ScoreCache:
    """Keep rows of numbers by (task, item). Use it as a context manager or call `close`.

    Args:
        path: The cache file; it and its folder are created if need be.

    Raises:
        InputError: If the folder cannot be written, or the file is damaged or not a cache of this version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = "delete"
        with self._translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            with self._translated():
                self._prepare()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> ScoreCache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; nothing is pending, every commit is already on disk."""
        self._db.close()

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
        with self._translated():
            for start in range(0, len(items), CHUNK):
                part = items[start : start + CHUNK]
                marks = ",".join("?" * len(part))
                query = f"SELECT item, value FROM scores WHERE task = ? AND item IN ({marks})"
                for item, blob in self._db.execute(query, (task, *part)):
                    if len(blob) != width * np.dtype(stored).itemsize:
                        raise self._damaged(f"a row that is not {width} {stored} long")
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
        with self._translated(), self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO scores VALUES (?, ?, ?)", values)
        return self.read(task, list(rows), width, stored)

    def _prepare(self) -> None:
        """Set the journal, check whose file this is, make the table."""
        self._set_journal()
        self._db.execute("PRAGMA synchronous = NORMAL" if self.journal == "wal" else "PRAGMA synchronous = FULL")
        with self._transaction():
            ours = (APPLICATION_ID, SCHEMA)
            owner = (self._pragma("application_id"), self._pragma("user_version"))
            empty = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
            if owner == (0, 0) and empty:
                self._db.execute(TABLE)
                self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self._db.execute(f"PRAGMA user_version = {SCHEMA}")
            elif owner != ours:
                raise self._foreign(owner)

    def _set_journal(self) -> None:
        """Turn the write-ahead log on where it is safe, and wait while another process is doing the same."""
        if on_network(self.path.parent):
            return
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self.journal = str(self._db.execute("PRAGMA journal_mode = WAL").fetchone()[0])
            except sqlite3.OperationalError as error:
                # SQLite does not wait for its busy timeout while the journal mode changes.
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def _pragma(self, name: str) -> int:
        return int(self._db.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Hold the write lock from the start: a lock that is upgraded later fails at once instead of waiting."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what the file system and SQLite say into a message with a next step."""
        try:
            yield
        except OSError as error:
            raise self._unwritable(str(error)) from error
        except sqlite3.OperationalError as error:
            raise self._operational(str(error)) from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error

    def _operational(self, said: str) -> InputError:
        if "locked" in said:
            return InputError(
                "the score cache is held by another process",
                where=str(self.path),
                got=f"{said} for {BUSY_SECONDS:.0f} s",
                step="end the process that holds it, or name another cache folder",
            )
        return self._unwritable(said)

    def _unwritable(self, said: str) -> InputError:
        return InputError(
            "the score cache cannot be written",
            where=str(self.path),
            got=said,
            expected="a folder that you may write to, with room left",
            step="free some room, or name another cache folder",
        )

    def _damaged(self, said: str) -> InputError:
        return InputError(
            "the score cache is damaged",
            where=str(self.path),
            got=said,
            step=f"move or delete {self.path.name} (and {self.path.name}-wal, {self.path.name}-shm); "
            "scores are then computed anew",
        )

    def _foreign(self, owner: tuple[int, int]) -> InputError:
        mine = owner[0] == APPLICATION_ID
        return InputError(
            "the score cache is of another version" if mine else "this file is a database, but not a score cache",
            where=str(self.path),
            got=f"version {owner[1]}" if mine else f"application id {owner[0]}",
            expected=f"version {SCHEMA}",
            step="name another cache folder, or move this file away",
        )


def task_digest(signature: str, width: int, stored: Stored = "float64") -> bytes:
    """Return the digest that names a task's values: its signature, the numbers per row and their dtype."""
    kind = "" if stored == "float64" else f" {stored}"
    return sha256(f"{width}{kind}\n{signature}".encode()).digest()


def item_digest(key: str) -> bytes:
    """Return the digest of an item's content key; lone surrogates, which some releases hold, are content too."""
    return sha256(key.encode("utf-8", "surrogatepass")).digest()
