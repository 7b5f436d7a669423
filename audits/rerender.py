"""Show a finished run on the terminal, and write its pages again."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from audits.config import plain
from audits.status import Exit
from benchmarks.errors import InputError, near
from reports.joint import render_joint
from reports.members import is_experiment
from reports.record import Run, render_again, view_of
from reports.terminal import console_for, render_terminal


def job(cfg: DictConfig) -> Exit:
    """Render the run folder, or the folder of an experiment, that was named.

    Raises:
        InputError: If the folder is neither a finished run nor an experiment, or `terminal` is neither of its values.
    """
    values = plain(cfg)
    folder, full = Path(values["dir"]), is_full(values)
    return show_joint(folder) if is_experiment(folder) else show(render_again(folder), full=full)


def is_full(values: Mapping[str, Any]) -> bool:
    """Return whether the configuration asks for everything on the terminal.

    Raises:
        InputError: If `terminal` is neither `summary` nor `full`.
    """
    asked = values.get("terminal", "summary")
    if asked not in ("summary", "full"):
        step = near(str(asked), ("summary", "full"))
        raise InputError(
            "not a kind of output", where="terminal", got=str(asked), expected="summary or full", step=step
        )
    return bool(asked == "full")


def show_joint(folder: Path) -> Exit:
    """Write the pages of an experiment, and print it."""
    render_terminal(render_joint(folder), console_for(sys.stdout))
    return Exit.DONE


def show(run: Run, *, full: bool) -> Exit:
    """Print a finished run: all of it, or a summary."""
    render_terminal(view_of(run), console_for(sys.stdout), where=str(run.path), full=full)
    return Exit.DONE
