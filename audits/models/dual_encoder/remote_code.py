"""Models that only code in their own repository can run: named, and refused with one message."""

from __future__ import annotations

from typing import NoReturn

from benchmarks.errors import NotAvailableError


def needs_remote_code(source: str) -> NoReturn:
    """Say that a model cannot be run here.

    Args:
        source: Its hub id.

    Raises:
        NotAvailableError: Always.
    """
    raise NotAvailableError(
        "this model needs code from its own repository, and such code is never run here",
        status="script-only",
        where=f"model {source!r}",
        got="a model that neither transformers nor sentence-transformers builds by itself",
        expected="a model of a known architecture",
        step="run it elsewhere, write its scores to a table and audit them with model=recorded",
    )
