"""Run the command line as a user does: in a process of its own, from another folder, away from any hub.

Importing the toolkit takes seconds, so `cli` forks from a server that has imported it; `fresh` starts Python anew
for what only that can show (the import path, encodings).
"""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

TOP = Path(__file__).resolve().parents[2]
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["audits.cli"])


class Done(NamedTuple):
    """What a finished command left."""

    returncode: int
    stdout: str
    stderr: str


Cli = Callable[..., Done]


def environment(folder: Path) -> dict[str, str]:
    return {
        "AUDITS_CACHE": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
        "COLUMNS": "120",
        "CI": "1",
        "OMP_NUM_THREADS": "1",
    }


def _child(words: tuple[str, ...], folder: str, added: dict[str, str], files: tuple[str, str]) -> None:
    """Become the command: its folder, environment and streams, then its exit status."""
    os.chdir(folder)
    os.environ.pop("HYDRA_FULL_ERROR", None)
    os.environ.update(added)
    sys.path.append(folder)
    for number, name in ((1, files[0]), (2, files[1])):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", encoding="utf-8")
    from audits.cli import main

    status = main(list(words))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _finished(folder: Path, streams: Path, words: tuple[str, ...], env: dict[str, str] | None) -> Done:
    files = (str(streams / "stdout"), str(streams / "stderr"))
    process = SERVER.Process(target=_child, args=(words, str(folder), environment(folder) | (env or {}), files))
    process.start()
    process.join(300)
    assert process.exitcode is not None, f"no end within 300 s: {words}"
    return Done(process.exitcode, *(Path(name).read_text(encoding="utf-8") for name in files))


@pytest.fixture
def cli(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Return a function that runs a command in `tmp_path` with a cache of its own."""
    streams = tmp_path_factory.mktemp("streams")
    return lambda *words, env=None: _finished(tmp_path, streams, words, env)


@pytest.fixture(scope="module")
def module_cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Return a function that runs a command in a given folder, for a run that several tests look at."""
    streams = tmp_path_factory.mktemp("streams")
    return lambda folder, *words: _finished(folder, streams, words, None)


@pytest.fixture
def fresh(tmp_path: Path) -> Cli:
    """Return a function that runs `python -m audits` in a new interpreter."""

    def run(*words: str, env: dict[str, str] | None = None) -> Done:
        search = {"PYTHONPATH": os.pathsep.join([str(TOP), str(tmp_path)]), "PYTHONSAFEPATH": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "audits", *words],
            cwd=tmp_path, env=os.environ | environment(tmp_path) | search | (env or {}),
            capture_output=True, text=True, encoding="utf-8", timeout=300, check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Return a user's own table with the columns caption and foil."""
    path = tmp_path / "mine.csv"
    rows = ["caption,foil", *(f"a red cup number {k},a blue cup number {k} and a spoon" for k in range(40))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path
