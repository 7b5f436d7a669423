"""One SQLite file of ours: safe for several processes at once, and for a process that is killed.

Every commit is whole or not there; a write that was cut off is forgotten when the file is opened again.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from baselines.engine.folder import on_network
from benchmarks.errors import InputError

BUSY_SECONDS = 60.0


class Layout(NamedTuple):
    """Say whose file it is and what it holds.

    Attributes:
        what: What messages call it (`score cache`).
        application: SQLite's application id: keeps us from writing into somebody else's database.
        version: Of the table.
        table: Statement that makes the table, where there is none.
        anew: What happens once a damaged file is gone (`scores are then computed anew`).
        is_durable: Whether a commit survives a loss of power, not only the death of the process.
    """

    what: str
    application: int
    version: int
    table: str
    anew: str
    is_durable: bool = False


class Database:
    """Hold one open file. Close it with `close`.

    Args:
        path: The file; it and its folder are created if need be.
        layout: What it is.

    Attributes:
        connection: The open connection; statements commit by themselves outside of `transaction`.
        journal: SQLite's journal mode.

    Raises:
        InputError: If the folder cannot be written, or the file is damaged or not one of this layout.
    """

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path, self.layout = path, layout
        self.journal = "delete"
        with self.translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            self.connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            with self.translated():
                self._prepare()
        except BaseException:
            self.connection.close()
            raise

    def close(self) -> None:
        """Close the file; nothing is pending, every commit is already on disk."""
        self.connection.close()

    def _prepare(self) -> None:
        """Set the journal, check whose file this is, make the table."""
        self._set_journal()
        safe = "NORMAL" if self.journal == "wal" and not self.layout.is_durable else "FULL"
        self.connection.execute(f"PRAGMA synchronous = {safe}")
        with self.transaction():
            ours = (self.layout.application, self.layout.version)
            owner = (self._pragma("application_id"), self._pragma("user_version"))
            empty = self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
            if owner == (0, 0) and empty:
                self.connection.execute(self.layout.table)
                self.connection.execute(f"PRAGMA application_id = {self.layout.application}")
                self.connection.execute(f"PRAGMA user_version = {self.layout.version}")
            elif owner != ours:
                raise self._foreign(owner)

    def _set_journal(self) -> None:
        """Turn the write-ahead log on where it is safe, and wait while another process is doing the same."""
        if on_network(self.path.parent):
            return
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self.journal = str(self.connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
            except sqlite3.OperationalError as error:
                # SQLite does not wait for its busy timeout while the journal mode changes.
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def _pragma(self, name: str) -> int:
        return int(self.connection.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock from the start: a lock that is upgraded later fails at once instead of waiting."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn what the file system and SQLite say into a message with a next step."""
        try:
            yield
        except OSError as error:
            raise self._unwritable(str(error)) from error
        except sqlite3.OperationalError as error:
            raise self._operational(str(error)) from error
        except sqlite3.DatabaseError as error:
            raise self.damaged(str(error)) from error

    def _operational(self, said: str) -> InputError:
        if "locked" in said:
            return InputError(
                f"the {self.layout.what} is held by another process",
                where=str(self.path),
                got=f"{said} for {BUSY_SECONDS:.0f} s",
                step="end the process that holds it, or name another cache folder",
            )
        return self._unwritable(said)

    def _unwritable(self, said: str) -> InputError:
        return InputError(
            f"the {self.layout.what} cannot be written",
            where=str(self.path),
            got=said,
            expected="a folder that you may write to, with room left",
            step="free some room, or name another cache folder",
        )

    def damaged(self, said: str) -> InputError:
        """Return what to raise where the file does not hold what it should."""
        return InputError(
            f"the {self.layout.what} is damaged",
            where=str(self.path),
            got=said,
            step=f"move or delete {self.path.name} (and {self.path.name}-wal, {self.path.name}-shm); "
            f"{self.layout.anew}",
        )

    def _foreign(self, owner: tuple[int, int]) -> InputError:
        mine = owner[0] == self.layout.application
        what = self.layout.what
        return InputError(
            f"the {what} is of another version" if mine else f"this file is a database, but not a {what}",
            where=str(self.path),
            got=f"version {owner[1]}" if mine else f"application id {owner[0]}",
            expected=f"version {self.layout.version}",
            step="name another cache folder, or move this file away",
        )
