"""Run the command line as a user does: in a process of its own, from another folder, away from any hub."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
Cli = Callable[..., subprocess.CompletedProcess]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Return a function that runs `python -m audits` in `tmp_path` with a cache of its own."""

    def run(*words: str, cwd: Path = tmp_path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(TOP), str(tmp_path)]),
            "PYTHONSAFEPATH": "1",
            "AUDITS_CACHE": str(tmp_path / "cache"),
            "HF_HUB_OFFLINE": "1",
            "COLUMNS": "120",
            "CI": "1",
        }
        return subprocess.run(
            [sys.executable, "-m", "audits", *words],
            cwd=cwd, env=environment | (env or {}), capture_output=True, text=True, encoding="utf-8", timeout=300,
            check=False,
        )  # fmt: skip

    return run


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Return a user's own table with the columns caption and foil."""
    path = tmp_path / "mine.csv"
    rows = ["caption,foil", *(f"a red cup number {k},a blue cup number {k} and a spoon" for k in range(40))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path
