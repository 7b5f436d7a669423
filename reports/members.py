"""The folder of an experiment: a run folder for each benchmark that was audited, and how the others ended."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from benchmarks.errors import InputError
from reports import files
from reports.scrub import scrub_override, scrub_values

FORMAT = 1
EXPERIMENT, DONE = "experiment.json", "done"
_KEYS = ("name", "title", "command", "members")
# What may stand in the folder beside those of its benchmarks: its own files, the launcher's, what a killed run left.
_OURS = re.compile(
    rf"experiment\.json|metrics\.csv|report\.(html|md)|figures|job\.json|\.hydra|[^/]*\.log|{re.escape(files.LOCK)}"
    rf"|{re.escape(files.TEMPORARY)}.*|\.DS_Store"
)


@dataclass(frozen=True, slots=True)
class Member:
    """Say how one benchmark of an experiment ended.

    Attributes:
        name: Registry name, and the name of its run folder.
        status: `done`, `failed`, `fault`, or why it could not be had: `absent`, `gated`, `script-only`, `unreachable`.
        what: What was wrong, as a short sentence.
        where: In which place.
        got: What was found there.
        step: What to do next.
    """

    name: str
    status: str
    what: str = ""
    where: str = ""
    got: str = ""
    step: str = ""

    @property
    def is_done(self) -> bool:
        """Whether its run folder is finished."""
        return self.status == DONE


@dataclass(frozen=True, slots=True)
class Experiment:
    """Hold what `experiment.json` says: which benchmarks were to be audited, and how each ended."""

    name: str
    title: str
    command: str
    members: tuple[Member, ...]


class ExperimentFolder:
    """Claim a folder for an experiment, as its only writer; use it as a context manager.

    Args:
        path: The folder, which is created.
        name: Of the experiment.
        members: Names of its benchmarks.

    Raises:
        InputError: If it holds anything but an experiment of this name, cannot be created, or another process writes.
    """

    def __init__(self, path: Path, name: str, members: Sequence[str]) -> None:
        self.path = path.absolute()
        try:
            _refuse(self.path, name, members)
            self._fresh = not self.path.exists() or not any(self.path.iterdir())
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = files.Lock(self.path)
        except OSError as error:
            raise InputError(
                "the folder cannot be written", where=str(path), got=str(error), step="name another with out="
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let other processes write here; a folder in which nothing was written is given up."""
        if self._fresh and {found.name for found in self.path.iterdir()} <= {files.LOCK}:
            self._lock.remove()
            with suppress(OSError):
                self.path.rmdir()
        self._lock.release()

    def write(self, experiment: Experiment) -> None:
        """Write how every benchmark ended."""
        words = [scrub_override(word) for word in shlex.split(experiment.command)]
        content = {
            "format": FORMAT,
            "name": experiment.name,
            "title": experiment.title,
            "command": shlex.join(words),
            "members": list(experiment.members),
        }
        files.write_json(self.path / EXPERIMENT, scrub_values(files.strict(content)))


def is_experiment(folder: Path) -> bool:
    """Return whether a folder is one of an experiment."""
    return (folder / EXPERIMENT).is_file()


def read_experiment(folder: Path) -> Experiment:
    """Return what a folder's `experiment.json` says.

    Raises:
        InputError: If it cannot be read, or is not of a format that this version reads.
    """
    path = folder / EXPERIMENT
    found = files.read_json(path)
    if not isinstance(found, dict) or found.get("format") != FORMAT or any(key not in found for key in _KEYS):
        raise InputError(
            "the experiment is not of a format that this version reads",
            where=str(path),
            got=f"format {found.get('format')}" if isinstance(found, dict) else type(found).__name__,
            expected=f"format {FORMAT} with {', '.join(_KEYS)}",
        )
    members = tuple(_member(item, path) for item in found["members"])
    return Experiment(str(found["name"]), str(found["title"]), str(found["command"]), members)


def _member(item: Any, path: Path) -> Member:
    known = [field.name for field in fields(Member)]
    if not isinstance(item, dict) or not {"name", "status"} <= item.keys() <= set(known):
        raise InputError("a member cannot be read", where=str(path), got=repr(item)[:80], expected=", ".join(known))
    name = str(item["name"])
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise InputError("a member's name is no name of a folder", where=str(path), got=repr(name)[:80])
    return Member(**{key: str(value) for key, value in item.items()})


def _refuse(folder: Path, name: str, members: Sequence[str]) -> None:
    """Refuse a folder that holds something else."""
    if folder.exists() and not folder.is_dir():
        raise InputError("the folder is a file", where=str(folder), step="name another with out=")
    if is_experiment(folder) and (there := read_experiment(folder).name) != name:
        raise InputError(
            "the folder holds another experiment", where=str(folder), got=there, expected=name, step="name another out="
        )
    names = sorted(found.name for found in folder.iterdir()) if folder.is_dir() else []
    foreign = [found for found in names if found not in members and not _OURS.fullmatch(found)]
    if foreign and not is_experiment(folder):
        raise InputError(
            "the folder is not empty and holds no experiment",
            where=str(folder),
            got=", ".join(foreign[:5]) + (f" and {len(foreign) - 5} more" if len(foreign) > 5 else ""),
            expected="a new or empty folder, or one of this experiment",
            step="name another folder with out=",
        )
