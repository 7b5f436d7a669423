"""Write on the standard streams, and tell a full disk, a closed stream or a reader who left from a fault of ours."""

from __future__ import annotations

import errno
import os
import sys
from typing import IO

from benchmarks.errors import InputError

_CANNOT_WRITE = (errno.ENOSPC, errno.EBADF, errno.EIO, errno.EDQUOT, errno.EFBIG)


def stand_in() -> None:
    """Put something in the place of a standard stream that was closed from the start.

    Python has None there, and the next file that is opened would get the stream's number, and with it whatever a
    library prints. Writing results on the stand-in fails like on any closed stream; messages are lost in silence.
    """
    if sys.stdout is None:
        sys.stdout = _opened(1, os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = _opened(2, os.O_WRONLY)


def _opened(number: int, flags: int) -> IO[str]:
    handle = os.open(os.devnull, flags)
    if handle != number:
        os.dup2(handle, number)
        os.close(handle)
    return os.fdopen(number, "w", encoding="utf-8", closefd=False)


def write_out(text: str) -> None:
    """Write text on standard output as it stands, and all that was written there before.

    Raises:
        InputError: If it cannot be written; who reads no further (`| head`) is no failure.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        lost(sys.stdout, error)


def lost(stream: IO[str], error: OSError) -> None:
    """Deal with what could not be written on a stream.

    Raises:
        InputError: If it was the results; where messages cannot be written there is nobody to tell.
    """
    silence(stream)
    if stream is not sys.stderr and not isinstance(error, BrokenPipeError):
        raise InputError(
            "the results cannot be written to standard output",
            where="standard output",
            got="it is closed" if error.errno == errno.EBADF else error.strerror or str(error),
            step="send it elsewhere; a run's folder is complete, and `audits report DIR` shows it again",
        ) from error


def is_lost(error: BaseException) -> bool:
    """Return whether an exception comes from writing to a stream, and not to a file that has a name."""
    return isinstance(error, OSError) and not error.filename and (error.errno in (*_CANNOT_WRITE, errno.EPIPE))


def silence(stream: IO[str]) -> None:
    """Let all that is written on a stream from now on go nowhere; what its buffer holds would fail again at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
