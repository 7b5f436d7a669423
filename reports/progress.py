"""One progress bar on a terminal, a plain line now and then anywhere else."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from reports.text import count, visible

PLAIN_SECONDS = 15.0


class ConsoleProgress:
    """Show how far long work is, on standard error. A second `begin` closes the line before it.

    Args:
        stream: Where to show it; standard error by default.
        environment: Looked up for `CI` and `TERM`; the process's own by default.
        clock: Seconds from a monotonic clock.
    """

    def __init__(
        self,
        stream: IO[str] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        environment = os.environ if environment is None else environment
        # Asked of the stream itself: FORCE_COLOR makes rich take a file for a terminal and fill it with bars.
        animated = self._stream.isatty() and not environment.get("CI") and environment.get("TERM") != "dumb"
        self._clock = clock
        self._line: _Bar | _Plain | None = None
        self._animated = animated

    @property
    def animated(self) -> bool:
        """Whether a bar is drawn; where it is not, plain lines are written."""
        return self._animated

    def begin(self, label: str, total: int, unit: str) -> None:
        """Start a line of work of `total` units (`captions`, `tokens`)."""
        self.end()
        label, unit = visible(label), visible(unit)
        if self._animated:
            self._line = _Bar(self._stream, label, total, unit)
        else:
            self._line = _Plain(self._stream, label, total, unit, clock=self._clock)

    def advance(self, units: int) -> None:
        """Report that this many more units are done."""
        if self._line is not None:
            self._line.advance(units)

    def end(self) -> None:
        """Close the current line of work; without one, do nothing."""
        if self._line is not None:
            self._line.end()
            self._line = None


class _Rate(ProgressColumn):
    """Show units done, of how many, and units per second."""

    def render(self, task: Task) -> Text:
        total = "?" if task.total is None else count(int(task.total))
        speed = task.finished_speed or task.speed
        rate = f"  {count(round(speed))}/s" if speed else ""
        return Text(f"{count(int(task.completed))}/{total} {task.fields['unit']}{rate}")


class _Bar:
    """Draw one bar. Standard output is left alone: results go there."""

    def __init__(self, stream: IO[str], label: str, total: int, unit: str) -> None:
        console = Console(file=stream, force_terminal=True, markup=False, emoji=False, highlight=False)
        remaining = TimeRemainingColumn(elapsed_when_finished=True)
        description = TextColumn("{task.description}", markup=False)
        self._progress = Progress(
            description, BarColumn(), _Rate(), remaining, console=console, redirect_stdout=False, transient=False
        )
        self._task: TaskID = self._progress.add_task(label, total=total, unit=unit)
        self._progress.start()

    def advance(self, units: int) -> None:
        self._progress.advance(self._task, units)

    def end(self) -> None:
        self._progress.stop()


class _Plain:
    """Write a line when enough time has passed, and one at the end."""

    def __init__(self, stream: IO[str], label: str, total: int, unit: str, *, clock: Callable[[], float]) -> None:
        self._stream, self._label, self._total, self._unit, self._clock = stream, label, total, unit, clock
        self._done = 0
        self._started = self._shown = clock()

    def advance(self, units: int) -> None:
        self._done += units
        now = self._clock()
        if now - self._shown >= PLAIN_SECONDS and self._done < self._total:
            self._shown = now
            self._write(f"{self._share()}{self._pace(now)}")

    def end(self) -> None:
        seconds = self._clock() - self._started
        stopped = "" if self._done >= self._total else ", stopped"
        self._write(f"{self._share()}{stopped}, {_duration(seconds)}")

    def _share(self) -> str:
        percent = f" ({100 * self._done // self._total} %)" if self._total else ""
        return f"{count(self._done)} of {count(self._total)} {self._unit}{percent}"

    def _pace(self, now: float) -> str:
        seconds = now - self._started
        if not self._done or seconds <= 0:
            return ""
        rate = self._done / seconds
        return f", {rate:,.1f}/s, about {_duration((self._total - self._done) / rate)} left"

    def _write(self, text: str) -> None:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        shown = f"{self._label}: {text}".encode(encoding, "backslashreplace").decode(encoding)
        self._stream.write(f"{shown}\n")
        self._stream.flush()


def _duration(seconds: float) -> str:
    """Return a time span a person can read.

    >>> _duration(4.2), _duration(75), _duration(7300)
    ('4 s', '1 min 15 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
