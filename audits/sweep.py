"""The end of a sweep: one table of what each job did, failures included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from audits import status
from audits.jobs import JOB_FILE
from reports import endings


class Summary(Callback):
    """List the jobs of a sweep with their status, and pass the worst on to the command's exit status."""

    def on_multirun_end(self, config: DictConfig, **_: object) -> None:
        """Read what each job left in its folder; Hydra calls this once, after the last job."""
        folder = Path(str(config.hydra.sweep.dir)).absolute()
        rows = read_jobs(folder)
        endings.sweep(
            folder,
            [endings.JobEnding(row["job"], " ".join(row["overrides"]), row["status"], row["message"]) for row in rows],
        )
        for row in rows:
            status.note(status.Exit(row["exit"]))


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
