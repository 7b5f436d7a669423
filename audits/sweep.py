"""The end of a sweep: one table of what each job did, failures included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from audits import status
from audits.jobs import JOB_FILE
from benchmarks.errors import InputError
from reports import endings

SWEEP_FILE = "multirun.yaml"
_written: list[Path] = []


class Summary(Callback):
    """List the jobs of a sweep with their status, and pass the worst on to the command's exit status.

    Hydra's sweeper writes the whole command line, secrets and all, into `multirun.yaml`, and no setting keeps it from
    that. What the file says stands, without secrets, in each job's own files; so it goes before the first job starts.
    """

    def on_multirun_start(self, config: DictConfig, **_: object) -> None:
        """Note where the sweeper will write; Hydra calls this before it does."""
        _written.append(Path(str(config.hydra.sweep.dir)).absolute() / SWEEP_FILE)

    def on_job_start(self, config: DictConfig, **_: object) -> None:
        """Take the sweeper's file away; Hydra calls this before each job."""
        if HydraConfig.get().mode == RunMode.MULTIRUN:
            tidy()

    def on_multirun_end(self, config: DictConfig, **_: object) -> None:
        """Read what each job left in its folder; Hydra calls this once, after the last job."""
        folder = Path(str(config.hydra.sweep.dir)).absolute()
        rows = read_jobs(folder)
        for row in rows:
            status.note(status.Exit(row["exit"]))
        listed = [
            endings.JobEnding(row["job"], " ".join(row["overrides"]), row["status"], row["message"]) for row in rows
        ]
        try:
            endings.sweep(folder, listed)
        except InputError as error:  # Hydra would turn what a callback raises into a warning
            endings.error(error)
            status.note(status.Exit.INPUT)


def tidy() -> None:
    """Remove what the sweeper wrote, also where a sweep failed before its first job."""
    for path in _written:
        path.unlink(missing_ok=True)


def read_jobs(folder: Path) -> list[dict[str, Any]]:
    """Return the job files below a sweep folder in the order of their numbers; a job without one counts as failed."""
    rows = []
    for job in sorted((path for path in folder.iterdir() if path.name.isdigit()), key=lambda path: int(path.name)):
        path = job / JOB_FILE
        if path.is_file():
            rows.append(json.loads(path.read_text(encoding="utf-8")))
        else:
            rows.append(
                {
                    "job": int(job.name),
                    "overrides": [],
                    "status": "failed",
                    "exit": int(status.Exit.FAULT),
                    "message": "ended without saying how",
                }
            )
    return rows
