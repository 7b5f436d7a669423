"""Replies on disk: each is committed the moment it is there, and found again by the digest of all that was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

from audits.models.choice.reply import Reply
from audits.models.choice.request import Request
from baselines.engine.database import Database, Layout

FILE: Final = "answers.sqlite"
CHUNK: Final = 500
LAYOUT: Final = Layout(
    "cache of answers",
    0x414E5357,  # "ANSW"
    1,
    "CREATE TABLE IF NOT EXISTS answers "
    "(request BLOB PRIMARY KEY, asked TEXT NOT NULL, reply TEXT NOT NULL) WITHOUT ROWID",
    "what it held is then asked again",
    is_durable=True,  # an answer is paid for
)


class Answers:
    """Keep replies by request. Use it as a context manager or call `close`.

    Only replies are kept, whatever they say; a request that failed is asked again by the next run.

    Args:
        folder: Where the file is, or will be.

    Raises:
        InputError: If the file cannot be written, or is not one of ours.
    """

    def __init__(self, folder: Path) -> None:
        self._file = Database(folder / FILE, LAYOUT)

    def __enter__(self) -> Answers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def known(self, digests: Sequence[bytes]) -> dict[bytes, Reply]:
        """Return the replies that are there, by the digest of the request."""
        found: dict[bytes, Reply] = {}
        with self._file.translated():
            for start in range(0, len(digests), CHUNK):
                part = digests[start : start + CHUNK]
                query = f"SELECT request, reply FROM answers WHERE request IN ({','.join('?' * len(part))})"
                rows: Sequence[tuple[bytes, str]] = self._file.connection.execute(query, part).fetchall()
                found |= self._unpacked(dict(rows))
        return found

    def _unpacked(self, rows: Mapping[bytes, str]) -> dict[bytes, Reply]:
        try:
            return {digest: Reply.unpacked(line) for digest, line in rows.items()}
        except (ValueError, TypeError) as error:
            raise self._file.damaged(f"a row that is no reply ({type(error).__name__})") from error

    def keep(self, request: Request, reply: Reply) -> Reply:
        """Commit a reply and return what is kept: one that another process committed first stays."""
        row = (request.digest, request.text.encode("utf-8", "backslashreplace").decode("utf-8"), reply.packed())
        with self._file.translated(), self._file.transaction():
            self._file.connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", row)
        return self.known([request.digest])[request.digest]


def peek(folder: Path, digests: Sequence[bytes]) -> dict[bytes, Reply]:
    """Return the replies that are there; where there is no file, none is made."""
    if not (folder / FILE).is_file():
        return {}
    with Answers(folder) as answers:
        return answers.known(digests)
