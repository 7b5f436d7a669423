import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from reports.progress import ConsoleProgress

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = (
    "from reports.progress import ConsoleProgress\n"
    "p = ConsoleProgress(); p.begin('likelihood [red]', 40, 'captions')\n"
    "for _ in range(40):\n    p.advance(1)\n"
    "print('result', flush=True)\np.end()\n"
)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def lines_of(steps, total=100):
    """Advance by (seconds, units) steps and return the lines written."""
    stream, clock = io.StringIO(), Clock()
    progress = ConsoleProgress(stream, environment={}, clock=clock)
    progress.begin("likelihood", total, "captions")
    for seconds, units in steps:
        clock.now += seconds
        progress.advance(units)
    progress.end()
    return stream.getvalue().splitlines()


def test_a_line_every_fifteen_seconds_and_one_at_the_end():
    # 1 unit a second: lines after 15, 30, ... 90 s, and the last.
    lines = lines_of([(1, 1)] * 100)
    assert len(lines) == 7
    assert lines[0] == "likelihood: 15 of 100 captions (15 %), 1.0/s, about 1 min 25 s left"
    assert lines[-1] == "likelihood: 100 of 100 captions (100 %), 1 min 40 s"


def test_quick_work_writes_one_line():
    assert lines_of([(0.01, 1)] * 100) == ["likelihood: 100 of 100 captions (100 %), 1 s"]


def test_work_that_ends_early_or_has_nothing_to_do():
    assert lines_of([(1, 30)]) == ["likelihood: 30 of 100 captions (30 %), stopped, 1 s"]
    assert lines_of([], total=0) == ["likelihood: 0 of 0 captions, 0 s"]


def test_calls_out_of_turn_do_no_harm():
    stream = io.StringIO()
    progress = ConsoleProgress(stream, environment={})
    progress.end()
    progress.advance(3)
    progress.begin("a", 1, "x")
    progress.begin("b", 1, "x")
    progress.end()
    progress.end()
    assert [line.partition(":")[0] for line in stream.getvalue().splitlines()] == ["a", "b"]


def test_a_label_cannot_steer_the_terminal():
    stream = io.StringIO()
    progress = ConsoleProgress(stream, environment={})
    progress.begin("a\x1b[2J\rb", 1, "x\n")
    progress.end()
    assert stream.getvalue() == "a\\x1b[2J\\rb: 0 of 1 x\\n (0 %), stopped, 0 s\n"


@pytest.mark.parametrize("environment", [{}, {"CI": "1"}, {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1"}])
def test_a_file_gets_no_carriage_return_and_no_escape(tmp_path, environment):
    with (tmp_path / "log").open("wb") as log:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, **environment},
        )
    written = (tmp_path / "log").read_bytes()
    assert b"\r" not in written
    assert b"\x1b" not in written
    assert b"40 of 40 captions" in written
    assert done.stdout == b"result\n"


def on_a_terminal(environment):
    ours, theirs = pty.openpty()
    base = {key: value for key, value in os.environ.items() if key not in ("CI", "TERM", "NO_COLOR")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**base, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    with os.fdopen(ours, "rb", buffering=0) as file:
        written = file.read(65536)
    assert done.stdout == b"result\n"
    return written.decode("utf-8")


def test_a_terminal_gets_one_bar_and_standard_output_only_results():
    written = on_a_terminal({})
    assert "\x1b[" in written
    assert "likelihood [red]" in written
    assert "40/40 captions" in written


@pytest.mark.parametrize("environment", [{"CI": "true"}, {"TERM": "dumb"}])
def test_a_terminal_in_ci_gets_plain_lines(environment):
    written = on_a_terminal(environment)
    assert "\x1b[" not in written
    assert written.count("\n") == 1
