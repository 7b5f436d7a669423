"""Read the tables of a run folder; one that is missing or cut is named, never passed over."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.errors import InputError
from reports import files

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "instances": ("instance", "subset", "query", "images", "captions", "gold"),
    "scores": ("instance", "image", "caption", "scorer", "score"),
    "outcomes": ("instance", "scorer", "direction", "order", "comparison", "outcome"),
}


def table_path(folder: Path, name: str) -> Path:
    """Return where a run folder keeps a table."""
    plain = re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name)
    return folder / f"{name if plain else files.safe_name(name)}.parquet"


def read_table(folder: Path, name: str, *, ids: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a table of a run folder.

    Args:
        folder: The run folder.
        name: `instances`, `scores`, `outcomes`, ...
        ids: Read only the rows of these instances.

    Raises:
        InputError: If the run has no such table or it cannot be read.
    """
    path = table_path(folder, name)
    if not path.is_file():
        known = sorted(found.stem for found in folder.glob("*.parquet"))
        raise InputError("the run has no such table", where=str(folder), got=name, expected=", ".join(known))
    try:
        return pd.read_parquet(path, filters=None if ids is None else [("instance", "in", list(ids))])
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def table_problems(folder: Path) -> tuple[str, ...]:
    """Return what is wrong with the tables that a finished run must have, in a sentence each; contents are not read."""
    found = [_problem(table_path(folder, name), name) for name in COLUMNS]
    return tuple(text for text in found if text)


def _problem(path: Path, name: str) -> str:
    if not path.is_file():
        return f"{path.name} is missing from the run folder: the numbers here cannot be traced to single instances."
    try:
        there = set(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, ValueError) as error:
        return f"{path.name} cannot be read ({_first_line(error)}): it may have been cut; run the audit again."
    absent = [column for column in COLUMNS[name] if column not in there]
    return f"{path.name} lacks the columns {', '.join(absent)}." if absent else ""


def _unreadable(path: Path, error: Exception) -> InputError:
    step = "it may have been cut; run the audit again"
    return InputError("a table of the run cannot be read", where=str(path), got=_first_line(error), step=step)


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0][:120]
