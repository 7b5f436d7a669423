"""How a command ends: the exit statuses, and where each job says its own.

Hydra runs a job through a callback and drops what it returns, so a job notes its status here and `cli` collects it.
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Name the exit statuses. Never 1 for anything but the gate."""

    DONE = 0
    SHORTCUT = 1
    UNDECIDED = 2
    INPUT = 3
    FAULT = 4
    INTERRUPTED = 130


_noted: list[Exit] = []


def note(status: Exit) -> None:
    """Remember how one job of this process ended."""
    _noted.append(status)


def collect() -> Exit:
    """Return the worst status noted since the last call (a fault of ours before an input error), and forget them."""
    order = [Exit.FAULT, Exit.INTERRUPTED, Exit.INPUT, Exit.SHORTCUT, Exit.UNDECIDED]
    worst = next((status for status in order if status in _noted), Exit.DONE)
    _noted.clear()
    return worst
