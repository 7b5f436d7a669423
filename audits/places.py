"""Where releases lie: one folder that holds many, named after the benchmarks or as their repositories are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.errors import InputError


def with_root(values: Mapping[str, Any], names: Sequence[str] = ()) -> dict[str, Any]:
    """Return a run's configuration in which `benchmark.root` is filled in from `paths.benchmarks`, where it can be.

    Args:
        values: The configuration, its paths absolute.
        names: Folders below `paths.benchmarks` to look for after the one that is named after the benchmark.
    """
    options = values["benchmark"]
    shared = values["paths"].get("benchmarks")
    if shared is None or options.get("root") is not None or "root" not in options:
        return dict(values)
    found = place(Path(shared), [str(options["name"]), *names])
    return {**values, "benchmark": {**options, "root": None if found is None else str(found)}}


def place(shared: Path, names: Sequence[str]) -> Path | None:
    """Return the first of the folders that exists below the one that holds the releases, or None.

    Raises:
        InputError: If that one is no folder.
    """
    if not shared.is_dir():
        raise InputError(
            "the folder that holds the releases is not there",
            where="paths.benchmarks",
            got=str(shared),
            expected="a folder with one folder for each benchmark, by its name or as its repository is called",
        )
    return next((shared / name for name in names if (shared / name).is_dir()), None)
