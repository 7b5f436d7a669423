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
from reports.scrub import scrub_text
from reports.terminal import console_for, safe
from reports.text import visible

_LONGEST = 300


class JobEnding(NamedTuple):
    """Say how one job of a sweep ended."""

    number: int
    overrides: str
    status: str
    message: str


def error(problem: InputError) -> None:
    """Print a mistake in the input on standard error."""
    print_error(problem, console_for(sys.stderr))


def fault(problem: BaseException, log: Path, theirs: str = "") -> None:
    """Print a fault on standard error: short, with the file that holds the traceback.

    Args:
        problem: What was raised.
        log: The file.
        theirs: Where it happened, if that is code that the user added to the toolkit.
    """
    console = console_for(sys.stderr)
    reason = scrub_text(" ".join(f"{type(problem).__name__}: {problem}".split()))
    reason = reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}… (in full with the traceback)"
    ours = "fault: the toolkit failed; this is not a mistake of yours"
    head = f"fault: a contestant that was added to the toolkit failed, {theirs}" if theirs else ours
    text = Text(safe(visible(head), console), "bold red")
    text.append(f"\n  what: {safe(visible(reason), console)}\n  traceback: {safe(visible(str(log)), console)}")
    step = "mend it" if theirs else "report it with that file"
    text.append(f"\n  next step: {step}; the same command goes on where this one stopped")
    console.print(text, soft_wrap=True)


def job_begins(number: int, overrides: str) -> None:
    """Say on standard error that a job of a sweep begins, and what it was given."""
    console = console_for(sys.stderr)
    console.print(Text(f"job {number}: {safe(visible(scrub_text(overrides)), console)}"), soft_wrap=True)


def member_begins(name: str, number: int, total: int) -> None:
    """Say on standard error that a benchmark of an experiment begins."""
    _note(f"benchmark {number} of {total}: {name}")


def member_ends(name: str, status: str) -> None:
    """Say on standard error that a benchmark of an experiment was not audited."""
    _note(f"not run: {name} ({status})")


def _note(text: str) -> None:
    console = console_for(sys.stderr)
    console.print(Text(safe(visible(scrub_text(text)), console)), soft_wrap=True)


def shown_again(path: Path, finished: str) -> None:
    """Say on standard error that a run was not run anew: what is shown was finished before.

    Args:
        path: The run folder.
        finished: When the run was finished, as its record has it.
    """
    console = console_for(sys.stderr)
    text = f"finished run of {visible(finished)} shown again from {visible(str(path))}"
    console.print(Text(safe(text, console)), soft_wrap=True)


def sweep(folder: Path, jobs: Sequence[JobEnding]) -> None:
    """Print a sweep's jobs on standard output; a job that failed has a status and no number."""
    console = console_for(sys.stdout)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for head in ("job", "overrides", "status", "message"):
        table.add_column(head, overflow="fold")
    for job in jobs:
        cells = (str(job.number), scrub_text(job.overrides), job.status, scrub_text(job.message))
        table.add_row(*(Text(safe(visible(cell), console)) for cell in cells))
    failed = sum(job.status != "done" for job in jobs)
    console.print(Text(f"{len(jobs)} jobs in {safe(visible(str(folder)), console)}, {failed} of them failed"))
    console.print(table)
