"""Show a finished run on the terminal, and write its pages again."""

from __future__ import annotations

import sys
from pathlib import Path

from omegaconf import DictConfig

from audits.config import plain
from audits.status import Exit
from reports.joint import render_joint
from reports.members import is_experiment
from reports.record import Run, render_again, view_of
from reports.terminal import console_for, render_terminal


def job(cfg: DictConfig) -> Exit:
    """Render the run folder, or the folder of an experiment, that was named.

    Raises:
        InputError: If the folder is neither a finished run nor an experiment.
    """
    folder = Path(plain(cfg)["dir"])
    return show_joint(folder) if is_experiment(folder) else show(render_again(folder))


def show_joint(folder: Path) -> Exit:
    """Write the pages of an experiment, and print it."""
    render_terminal(render_joint(folder), console_for(sys.stdout))
    return Exit.DONE


def show(run: Run) -> Exit:
    """Print a finished run."""
    render_terminal(view_of(run), console_for(sys.stdout))
    return Exit.DONE
