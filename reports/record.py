"""The run folder: begin it, fill it, finish it, read it back.

`record.json` says `running` from the first moment and `done` as the very last step, so a folder is either finished,
or can be resumed by the same configuration; nothing in between can be mistaken for a result.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NotRequired, Self, cast, get_origin, get_type_hints

import pandas as pd

from benchmarks.errors import InputError
from reports import files
from reports.cases import Cases, read_cases
from reports.examples import Example, read_examples, write_examples
from reports.identity import config_digest, differences, scrubbed
from reports.index import Index
from reports.metrics import read_metrics, write_metrics
from reports.pages import write_pages
from reports.schema import Estimate, Finding, Record
from reports.scrub import scrub_override, scrub_values
from reports.stored import read_table, table_path, table_problems, write_parts
from reports.view import View, build_view

FORMAT = 1
__all__ = ["Run", "RunFolder", "config_digest", "read", "render_again", "view_of"]

State = Literal["new", "unfinished", "finished"]
RECORD, METRICS, FINDINGS = "record.json", "metrics.csv", "findings.json"
# Annotations are text here, so `__required_keys__` does not know which keys may be absent.
_REQUIRED = sorted(
    key for key, kind in get_type_hints(Record, include_extras=True).items() if get_origin(kind) is not NotRequired
)
# What may stand in a new folder before the run begins: the launcher's own files and what a killed run left behind.
_OURS = re.compile(rf"\.hydra|[^/]*\.log|{re.escape(files.LOCK)}|{re.escape(files.TEMPORARY)}.*|\.DS_Store")


@dataclass(frozen=True, slots=True)
class Run:
    """Hold a finished run as read from its folder; tables are read when asked for."""

    path: Path
    record: Record
    estimates: tuple[Estimate, ...]
    findings: tuple[Finding, ...]

    def table(self, name: str) -> pd.DataFrame:
        """Return one of the run's tables (`instances`, `scores`, `outcomes`, ...).

        Raises:
            InputError: If the run has no such table or it cannot be read.
        """
        return read_table(self.path, name)


class RunFolder:
    """Write one run into one folder, as the only writer. Use `open`, then as a context manager or with `close`."""

    def __init__(self, path: Path, identity: str, *, state: State, lock: files.Lock) -> None:
        self.path, self.identity, self.state = path, identity, state
        self._lock = lock
        self._fresh = state == "new"
        self._written: list[Path] = []

    @classmethod
    def open(cls, out: Path, identity: str, *, config: Mapping[str, Any] | None = None) -> Self:
        """Claim a folder for a run of this identity, creating it if need be.

        Args:
            out: The run folder.
            identity: Digest of the configuration (`config_digest`).
            config: The configuration itself, to say which keys differ from those of a run that is already there.

        Raises:
            InputError: If the folder holds another configuration's run or anything else, cannot be created, or is
                being written by another process.
        """
        out = out.absolute()
        try:
            _state(out, identity, config)  # refuse before the first file is put there
            out.mkdir(parents=True, exist_ok=True)
            lock = files.Lock(out)
        except OSError as error:
            raise InputError(
                "the run folder cannot be written", where=str(out), got=str(error), step="name another with out="
            ) from error
        try:
            state = _state(out, identity, config)
        except BaseException:
            lock.release()
            raise
        for left in out.glob(f"{files.TEMPORARY}*"):
            left.unlink(missing_ok=True)
        return cls(out, identity, state=state, lock=lock)

    def begin(self, record: Record) -> None:
        """Write the record with status `running`.

        Raises:
            ValueError: If the run is already finished: a finished one is rendered, never run over.
        """
        if self.state == "finished":
            raise ValueError(f"{self.path} is finished; render it again instead")
        self._written.append(self.path / RECORD)
        self._write_record(record, "running")
        self.state = "unfinished"

    def table(self, name: str, frames: pd.DataFrame | Iterable[pd.DataFrame]) -> Path:
        """Write a table, whole or in parts that follow each other, as `NAME.parquet` in one step; return its path."""
        path = table_path(self.path, name)
        self._written.append(path)
        parts = [frames] if isinstance(frames, pd.DataFrame) else frames
        files.write_atomically(path, lambda file: write_parts(file, parts))
        return path

    def examples(self, examples: Sequence[Example]) -> None:
        """Write example pictures as `figures/examples/*.png` and `examples.json`; call it before `finish`.

        Args:
            examples: In the order in which the report shows them.

        Raises:
            ValueError: If a picture is not a PNG file.
        """
        write_examples(self.path, examples)

    def finish(self, record: Record, estimates: Sequence[Estimate], findings: Sequence[Finding]) -> Run:
        """Write metrics, findings and the report, then the record with status `done`, in this order."""
        write_metrics(self.path / METRICS, estimates)
        files.write_json(self.path / FINDINGS, scrub_values(files.strict(list(findings))))
        shown = self._fixed(record, "done")
        _write_pages(Run(self.path, shown, tuple(estimates), tuple(findings)))
        self._write_record(record, "done")
        self.state = "finished"
        return read(self.path)

    def render(self) -> Run:
        """Write the pages of a finished run again from its record, and return the run."""
        run = read(self.path)
        _write_pages(run)
        return run

    def _write_record(self, record: Record, status: str) -> None:
        files.write_json(self.path / RECORD, self._fixed(record, status))

    def _fixed(self, record: Record, status: str) -> Record:
        """Return the record as it is written: clean, with what only the folder may set."""
        fixed = {"format": FORMAT, "status": status, "config_digest": self.identity}
        return cast("Record", {**_clean(record), **fixed})

    def abandon(self) -> None:
        """Take back everything that this process put into a folder that was new to it, and the folder if it is empty.

        A run that an earlier process began is left as it is, to be taken up again.
        """
        if self._fresh and self.state != "finished":
            for path in self._written:
                path.unlink(missing_ok=True)
            self._lock.remove()
            with suppress(OSError):
                self.path.rmdir()
        self.close()

    def close(self) -> None:
        """Let other processes write here; a second call does nothing."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read(path: Path) -> Run:
    """Return a finished run.

    Raises:
        InputError: If the folder holds no run, an unfinished one, or one of another format.
    """
    record = _read_record(path)
    if record is None:
        raise InputError(
            "this is not a run folder",
            where=str(path),
            got=_listing(path) if path.is_dir() else "no such folder",
            expected=f"a folder with {RECORD}",
            step="give the folder that a run named as its out=",
        )
    if record["status"] != "done":
        raise InputError(
            "the run is not finished",
            where=str(path),
            got=f"status {record['status']}",
            step=f"run it again with out={path} to resume it",
        )
    absent = [name for name in (METRICS, FINDINGS) if not (path / name).is_file()]
    if absent:
        raise InputError("files of the run are missing", where=str(path), got=", ".join(absent), step="run it again")
    listed = cast("list[dict[str, Any]]", files.read_json(path / FINDINGS))
    findings = tuple(_finding(item) for item in listed)
    return Run(path, record, tuple(read_metrics(path / METRICS)), findings)


def render_again(path: Path) -> Run:
    """Write the pages of a finished run again, alone in its folder, and return the run."""
    run = read(path)
    with RunFolder.open(path, run.record["config_digest"]) as folder:
        return folder.render()


def _clean(record: Record) -> dict[str, Any]:
    cleaned = {**record, "config": scrubbed(record["config"])}
    if command := record.get("command"):
        cleaned["command"] = shlex.join([scrub_override(word) for word in shlex.split(command)])
    return cast("dict[str, Any]", scrub_values(cleaned))


def _write_pages(run: Run) -> None:
    cases = read_cases(run.path, run.record, Index(run.record, run.estimates), run.findings)
    examples = read_examples(run.path)
    write_pages(run.path, build_view(run.record, run.estimates, run.findings, examples=examples, cases=cases))


def view_of(run: Run) -> View:
    """Return what a terminal shows of a finished run, with what is wrong with its tables among the notices."""
    cases = Cases("", "", table_problems(run.path))
    return build_view(run.record, run.estimates, run.findings, cases=cases)


def _finding(item: dict[str, Any]) -> Finding:
    values = {key: float("nan") if value is None else value for key, value in item["values"].items()}
    return Finding(**{**item, "instances": tuple(item["instances"]), "values": values})


def _read_record(path: Path) -> Record | None:
    """Return the record of a run folder, or None where there is none.

    Raises:
        InputError: If there is a record that this version cannot read.
    """
    file = path / RECORD
    if not file.is_file():
        return None
    record = files.read_json(file)
    shown = record.get("format") if isinstance(record, dict) else type(record).__name__
    if not isinstance(record, dict) or shown != FORMAT:
        raise InputError(
            "the record is not of a format that this version reads",
            where=str(file),
            got=f"format {shown}",
            expected=f"format {FORMAT}",
            step="use the version that wrote it, or name another folder with out=",
        )
    missing = [key for key in _REQUIRED if key not in record]
    if missing:
        raise InputError("the record is incomplete", where=str(file), got=f"without {', '.join(missing)}")
    return cast("Record", record)


def _state(out: Path, identity: str, config: Mapping[str, Any] | None) -> State:
    """Return what a folder is to a run of this identity, or refuse it."""
    if out.exists() and not out.is_dir():
        raise InputError("the run folder is a file", where=str(out), step="name another with out=")
    record = _read_record(out)
    if record is None:
        foreign = [name for name in _names(out) if not _OURS.fullmatch(name)]
        if not foreign:
            return "new"
        raise InputError(
            "the folder is not empty and holds no run",
            where=str(out),
            got=_listing(out),
            expected="a new or empty folder, or one of a run of this configuration",
            step="name another folder with out=",
        )
    if record["config_digest"] == identity:
        return "finished" if record["status"] == "done" else "unfinished"
    raise InputError(
        "the folder holds a run of another configuration",
        where=str(out),
        got=f"{_title(record)}, configuration {record['config_digest'][:12]}",
        expected=f"configuration {identity[:12]}{differences(record['config'], config)}",
        step="name another folder with out=; nothing here was changed",
    )


def _title(record: Record) -> str:
    status = "finished" if record["status"] == "done" else "unfinished"
    return f"{status} run on {record['benchmark']['name']} of {record['started']}"


def _names(folder: Path) -> list[str]:
    return sorted(found.name for found in folder.iterdir()) if folder.is_dir() else []


def _listing(folder: Path) -> str:
    names = _names(folder)
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "") or "an empty folder"
