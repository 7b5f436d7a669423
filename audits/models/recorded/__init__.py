"""Scores, flags and answers that somebody else computed, as contestants: one per recorded run.

`recorded` is what the YAML's `_target_` names: it returns a list, one contestant per entry of `runs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from audits.models.recorded.run import Options, Run
from benchmarks.errors import InputError, near
from benchmarks.recordings.rows import ORDERS

WHERE = "model.recorded"
STANDS_ALONE = "benchmarks.recorded.Recorded"  # the `_target_` of a benchmark that is a recorded file
_KNOWN = tuple(field.name for field in fields(Options))


def recorded(
    runs: Mapping[str, Any] | None = None,
    own: Mapping[str, Any] | None = None,
    *,
    join: str = "auto",
    normalise: bool = False,
) -> list[Run]:
    """Return one contestant per recorded run.

    Args:
        runs: By name, a path, a list of paths, or a mapping with `path` and any of `layout`, `columns`, `join`,
            `normalise` (see `Options`).
        own: How the run of a benchmark that is itself a recorded file is read; used only where `runs` is empty, and
            where `of` says that the benchmark is one: another benchmark's table is no recorded run.
        join: For runs that do not say it themselves.
        normalise: Likewise.

    Raises:
        InputError: If there is no run, or one cannot be read.
    """
    given = dict(runs or {})
    if not given and own and own.get("path") is not None and own.get("of") == STANDS_ALONE:
        said = {key: value for key, value in own.items() if value is not None and key != "of"}
        given = {_stem(own["path"]): said}
    if not given:
        raise InputError(
            "model=recorded was selected, and no recorded run was given",
            where=f"{WHERE}.runs",
            got="none",
            expected="a name and a file; only benchmark=recorded is a run of its own",
            step="write +model.recorded.runs.clip=FILE",
        )
    return [
        Run(str(key), _options(str(key), value, join, normalise), where=f"{WHERE}.runs.{key}")
        for key, value in given.items()
    ]


def _options(key: str, value: Any, join: str, normalise: bool) -> Options:
    """Return how one run is read.

    Raises:
        InputError: If an option is unknown or of the wrong type.
    """
    where = f"{WHERE}.runs.{key}"
    if isinstance(value, str | Path) or (isinstance(value, Sequence) and all(isinstance(one, str) for one in value)):
        return Options(value, join=join, normalise=normalise)
    if isinstance(value, Mapping) and value and set(value) <= set(ORDERS):
        return Options(value, join=join, normalise=normalise)
    if not isinstance(value, Mapping) or value.get("path") is None:
        raise InputError(
            "a recorded run needs a path",
            where=where,
            got=repr(value)[:120],
            expected="a file, a list of files, {ab: FILE, ba: FILE}, or {path: FILE, layout: ..., columns: {...}}",
            step=_step_to_path(value),
        )
    wrong = [str(name) for name in value if name not in _KNOWN]
    if wrong:
        expected = ", ".join(_KNOWN)
        step = near(wrong[0], _KNOWN)
        raise InputError("unknown option of a recorded run", where=where, got=wrong[0], expected=expected, step=step)
    if not isinstance(value.get("columns") or {}, Mapping):
        raise InputError("columns by role are a mapping", where=f"{where}.columns", got=repr(value["columns"])[:120])
    return Options(**{"join": join, "normalise": normalise, **value})


def _step_to_path(value: Any) -> str:
    """Return the form to write where the orders of options stand beside other options, without `path`."""
    orders = [order for order in ORDERS if isinstance(value, Mapping) and order in value]
    if not orders:
        return "name the file: {path: FILE, ...}"
    return f"write {{path: {{{', '.join(f'{order}: FILE' for order in orders)}}}, ...}}"


def _stem(path: Any) -> str:
    """Return the name of a run after its first file."""
    first = path
    while isinstance(first, Mapping | list | tuple):
        first = next(iter(first.values() if isinstance(first, Mapping) else first), "file")
    return Path(str(first)).stem
