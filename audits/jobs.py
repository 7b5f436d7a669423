"""One job of a verb: run it, turn what it raises into a message and a status, and leave nothing half-made behind."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from audits import status
from audits.config import launch_folder, output_folder
from audits.config_errors import explain
from benchmarks.errors import InputError
from reports import endings
from reports.scrub import scrub_override, scrub_text

JOB_FILE = "job.json"
LOG_FILE = "audits.log"
DEFAULT_PLACE = "runs"  # as conf/run.yaml has it
TRACES = "AUDITS_TRACEBACK"
# A note on an exception that came out of a contestant's own code, which is not part of the toolkit.
FOREIGN = "this contestant is not part of the toolkit"


class Job:
    """Wrap the function of a verb into what Hydra calls, once or once per job of a sweep.

    Args:
        verb: Name of the verb.
        function: What it does; returns how it ended.
    """

    def __init__(self, verb: str, function: Callable[[DictConfig], status.Exit]) -> None:
        self.verb, self.function = verb, function

    def __call__(self, cfg: DictConfig) -> None:
        """Run one job; never raises, so that one failed job of a sweep does not stop the others."""
        for handler in logging.getLogger().handlers:
            handler.setLevel(logging.ERROR)  # what a library murmurs goes to the log file, not between the results
            if not isinstance(handler.formatter, ScrubbingFormatter):
                handler.setFormatter(ScrubbingFormatter())
        if HydraConfig.get().mode == RunMode.MULTIRUN:
            (output_folder() / JOB_FILE).unlink(missing_ok=True)
            endings.job_begins(int(HydraConfig.get().job.num), " ".join(_overrides()))
        ended, message = self._guarded(cfg)
        if HydraConfig.get().mode == RunMode.MULTIRUN:
            _write_job_file(ended, message)
        elif self.verb == "run":
            _tidy(output_folder())
        status.note(ended)

    def _guarded(self, cfg: DictConfig) -> tuple[status.Exit, str]:
        try:
            return self.function(cfg), ""
        except (InputError, HydraException, OmegaConfBaseException, OSError) as error:
            known = as_input_error(error, self.verb)
            if known is None:
                return self._fault(error)
            show_traceback(error)
            endings.error(known)
            return status.Exit.INPUT, scrub_text(known.what)
        except Exception as error:
            return self._fault(error)

    def _fault(self, error: Exception) -> tuple[status.Exit, str]:
        tell_fault(error, output_folder() if self.verb == "run" else None)
        return status.Exit.FAULT, scrub_text(f"{type(error).__name__}: {error}")


def tell_fault(error: Exception, folder: Path | None) -> None:
    """Print a fault on standard error and keep its traceback.

    Args:
        error: What was raised.
        folder: The run folder, whose log file takes the traceback, or None where there is none.
    """
    show_traceback(error)
    notes = getattr(error, "__notes__", [])
    theirs = notes[notes.index(FOREIGN) - 1] if FOREIGN in notes else ""
    endings.fault(error, keep_traceback(error, folder), theirs)


def _tidy(folder: Path) -> None:
    """Remove the output folder that Hydra made, if nothing was written, and what it made of the default place above."""
    runs = launch_folder() / DEFAULT_PLACE
    with contextlib.suppress(OSError):  # the first that is not empty, or not ours, ends it
        folder.rmdir()
        while folder != runs and folder.is_relative_to(runs):
            folder = folder.parent
            folder.rmdir()


class ScrubbingFormatter(logging.Formatter):
    """Format the records of a log without the secrets that a message or a traceback may repeat."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text."""
        return scrub_text(super().format(record))


def show_traceback(error: BaseException) -> None:
    """Print a traceback on standard error where the user asked for it."""
    if os.environ.get(TRACES):
        sys.stderr.write(scrub_text("".join(traceback.format_exception(error))))


def as_input_error(error: Exception, verb: str) -> InputError | None:
    """Return the mistake in the input behind an exception, or None if it is a fault of ours."""
    if isinstance(error, InputError):
        return error
    if isinstance(error, HydraException | OmegaConfBaseException):
        return explain(error, [verb])
    if isinstance(error, OSError) and error.filename:
        return InputError(
            "a file or folder cannot be used",
            where=str(error.filename),
            got=error.strerror or str(error),
            step="check that it exists, is of the right kind, and that you may read or write it",
        )
    return None


def keep_traceback(error: BaseException, folder: Path | None = None) -> Path:
    """Append the traceback to the job's log file, or to a temporary file where there is no job, and return its path."""
    text = scrub_text("".join(traceback.format_exception(error)))
    if folder is not None and folder.is_dir():
        path = folder / LOG_FILE
    else:
        handle, name = tempfile.mkstemp(prefix="audits-", suffix=".log")
        os.close(handle)
        path = Path(name)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(text)
    return path


@contextlib.contextmanager
def log_to(folder: Path) -> Iterator[None]:
    """Send the records of every logger, and warnings, to the log file of a run folder meanwhile."""
    handler = logging.FileHandler(folder / LOG_FILE, encoding="utf-8")
    handler.setFormatter(ScrubbingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


def _overrides() -> list[str]:
    """Return the job's overrides as they may be shown."""
    return [scrub_override(str(word)) for word in HydraConfig.get().overrides.task]


def _write_job_file(ended: status.Exit, message: str) -> None:
    """Say at once, in the job's own folder, how it ended: the sweep's summary reads it from there."""
    config = HydraConfig.get()
    content = {
        "job": int(config.job.num),
        "overrides": _overrides(),
        "status": ended.name.lower(),
        "exit": int(ended),
        "message": message,
    }
    path = output_folder() / JOB_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
    part.replace(path)
