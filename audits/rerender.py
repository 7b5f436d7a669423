"""Show a finished run: on the terminal, and again as the files made for people."""

from __future__ import annotations

import sys
from pathlib import Path

from omegaconf import DictConfig
from reports.record import read

from audits.config import plain
from audits.status import Exit
from reports import markdown, terminal


def job(cfg: DictConfig) -> Exit:
    """Render the run folder that was named."""
    return show(Path(plain(cfg)["dir"]))


def show(folder: Path) -> Exit:
    """Print a finished run and write its `report.md` again.

    Raises:
        InputError: If the folder is not a finished run.
    """
    run = read(folder)
    markdown.write(run)
    terminal.render(run, terminal.console(sys.stdout))
    return Exit.DONE
