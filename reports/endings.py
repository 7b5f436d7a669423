"""How a command that did not simply finish ends: the message of an error or a fault, and a sweep's summary."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from benchmarks.errors import InputError
from reports.messages import print_error
from reports.terminal import console_for, safe
from reports.text import visible


class JobEnding(NamedTuple):
    """Say how one job of a sweep ended."""

    number: int
    overrides: str
    status: str
    message: str


def error(problem: InputError) -> None:
    """Print a mistake in the input on standard error."""
    print_error(problem, console_for(sys.stderr))


def fault(problem: BaseException, log: Path) -> None:
    """Print a fault of ours on standard error: short, with the file that holds the traceback."""
    console = console_for(sys.stderr)
    reason = " ".join(f"{type(problem).__name__}: {problem}".split())[:300]
    text = Text("fault: the toolkit failed; this is not a mistake of yours", "bold red")
    text.append(f"\n  what: {safe(visible(reason), console)}\n  traceback: {safe(visible(str(log)), console)}")
    text.append("\n  next step: report it with that file; the same command goes on where this one stopped")
    console.print(text, overflow="fold", soft_wrap=True)


def sweep(folder: Path, jobs: Sequence[JobEnding]) -> None:
    """Print a sweep's jobs on standard output; a job that failed has a status and no number."""
    console = console_for(sys.stdout)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for head in ("job", "overrides", "status", "message"):
        table.add_column(head, overflow="fold")
    for job in jobs:
        cells = (str(job.number), job.overrides, job.status, job.message)
        table.add_row(*(Text(safe(visible(cell), console)) for cell in cells))
    failed = sum(job.status != "done" for job in jobs)
    console.print(Text(f"{len(jobs)} jobs in {safe(visible(str(folder)), console)}, {failed} of them failed"))
    console.print(table)
