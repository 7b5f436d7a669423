"""Standard output that cannot be written: one message, status 3, and a run folder that is complete."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
FULL = Path("/dev/full")
RUN = ("run", "benchmark=table", "benchmark.path=mine.csv", "baseline=[constant,length]", "out=out")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


def start(folder, words, redirection):
    """Run the command behind a shell's redirection and return its end."""
    added = {"PYTHONPATH": str(TOP), "PYTHONSAFEPATH": "1", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; "$0" -m audits "$@" {redirection}', sys.executable, *words],
        cwd=folder, env=os.environ | added | {"AUDITS_CACHE": str(folder / "cache"), "COLUMNS": "100"},
        capture_output=True, text=True, encoding="utf-8", timeout=300, check=False,
    )  # fmt: skip


@needs_full
@pytest.mark.parametrize(("redirection", "reason"), [(">/dev/full", "No space left"), (">&-", "it is closed")])
def test_results_that_cannot_be_written_are_one_message_and_the_run_is_complete(
    pairs, tmp_path, redirection, reason
) -> None:
    done = start(tmp_path, RUN, redirection)
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("error: ") == 1
    assert "cannot be written to standard output" in done.stderr
    assert reason in done.stderr
    assert "fault" not in done.stderr
    assert json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8"))["status"] == "done"
    assert (tmp_path / "out" / "report.md").stat().st_size > 0


def test_a_reader_that_left_is_no_failure(pairs, tmp_path) -> None:
    done = start(tmp_path, RUN, "| head -1")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_a_closed_standard_error_changes_nothing(pairs, tmp_path) -> None:
    done = start(tmp_path, RUN, "2>&-")
    assert done.returncode == 0
    assert ".csv need the image?" in done.stdout


@needs_full
@pytest.mark.parametrize(
    "words", [("--help",), ("list", "benchmark"), ("run", "--cfg", "job"), (*RUN, "-m", "seed=1,2")]
)
def test_every_verb_says_so(pairs, tmp_path, words) -> None:
    done = start(tmp_path, words, ">/dev/full")
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("error: the results cannot be written to standard output") == 1
