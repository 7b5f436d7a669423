"""Show a finished run on the terminal, and write its pages again."""

from __future__ import annotations

import sys
from pathlib import Path

from omegaconf import DictConfig

from audits.config import plain
from audits.status import Exit
from reports.record import Run, render_again, view_of
from reports.terminal import console_for, render_terminal


def job(cfg: DictConfig) -> Exit:
    """Render the run folder that was named.

    Raises:
        InputError: If the folder is not a finished run.
    """
    return show(render_again(Path(plain(cfg)["dir"])))


def show(run: Run) -> Exit:
    """Print a finished run."""
    render_terminal(view_of(run), console_for(sys.stdout))
    return Exit.DONE
