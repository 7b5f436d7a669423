"""Refuse values of a run's configuration that could only give a wrong number, before anything is written."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from audits.models.schema import Recorded
from benchmarks.errors import InputError
from benchmarks.schema import Benchmark
from reports.schema import Record


class Rule(NamedTuple):
    """Say which values one key may have."""

    key: str
    allowed: Callable[[Any], bool]
    expected: str


def _whole(low: int, *, none: bool = False) -> Callable[[Any], bool]:
    """Return a test for whole numbers from `low` on; True and False are none."""
    return lambda value: (none and value is None) or (type(value) is int and value >= low)


def _real(low: float, high: float, *, inside: bool = False) -> Callable[[Any], bool]:
    def test(value: Any) -> bool:
        if type(value) not in (int, float) or not math.isfinite(value):
            return False
        return bool(low < value < high if inside else low <= value <= high)

    return test


RULES = (
    Rule("seed", _whole(0), "a whole number, 0 or more"),
    Rule("statistics.bootstrap", _whole(100), "a whole number of draws, 100 or more"),
    Rule("statistics.seed", _whole(0), "a whole number, 0 or more"),
    Rule("statistics.level", _real(0.5, 1.0, inside=True), "a proportion between 0.5 and 1, both excluded (0.95)"),
    Rule("statistics.tie_tolerance", _real(0.0, float("inf")), "a number, 0 or more"),
    Rule("crossfit.folds", _whole(2), "a whole number of folds, 2 or more"),
    Rule("crossfit.seed", _whole(0), "a whole number, 0 or more"),
    Rule("crossfit.seeds", _whole(1), "a whole number of fold seeds, 1 or more"),
    Rule("crossfit.shuffle", lambda value: type(value) is bool, "true or false"),
    Rule("engine.chunk", _whole(1), "a whole number of instances, 1 or more"),
    Rule("dry_run", lambda value: type(value) is bool, "true or false"),
    Rule("missing_contestants", lambda value: value in ("error", "skip"), "error or skip"),
    Rule("benchmark.limit", _whole(1, none=True), "a whole number of instances, 1 or more, or null"),
    Rule("benchmark.missing", lambda value: value in ("error", "exclude"), "error or exclude"),
    Rule(
        "benchmark.name",
        lambda value: isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", value) is not None,
        "letters, digits, and _ . - inside",
    ),
    Rule("verdict.alpha", _real(0.0, 0.5, inside=True), "a proportion between 0 and 0.5, both excluded (0.05)"),
    Rule("verdict.power", _real(0.5, 1.0, inside=True), "a proportion between 0.5 and 1, both excluded (0.8)"),
    *(
        Rule(f"verdict.{name}", _real(0.0, 1.0), "a distance from chance as a proportion, 0 to 1 (0.02 is 2 points)")
        for name in ("compromised", "weakened", "margin")
    ),
    Rule("paths.cache", lambda value: isinstance(value, str) and value != "", "a folder"),
)


def checked(values: Mapping[str, Any], words: Iterable[str]) -> Mapping[str, Any]:
    """Return the configuration of a run if every value that the runner itself reads is one it can use.

    Args:
        values: The configuration.
        words: The overrides, as they were typed.

    Raises:
        InputError: At the first value that is not allowed, or if two benchmarks are selected at once.
    """
    lists = [word.partition("=")[2].strip("[]") for word in words if word.startswith("benchmark=[")]
    for names in lists:
        raise InputError(
            "a run audits one benchmark",
            where="benchmark",
            got=f"[{names}]",
            step=f"sweep over them: audits run -m benchmark={names}",
        )
    for rule in RULES:
        value = _at(values, rule.key)
        if not rule.allowed(value):
            raise InputError(
                f"{rule.key} has a value that cannot be used",
                where=rule.key,
                got=repr(value),
                expected=rule.expected,
                step=f"write {rule.key}=VALUE",
            )
    return values


def _at(values: Mapping[str, Any], key: str) -> Any:
    """Return the value under a dotted key.

    Raises:
        InputError: If a branch on the way was deleted or replaced.
    """
    node: Any = values
    for part in key.split("."):
        if not isinstance(node, Mapping) or part not in node:
            raise InputError(f"the configuration lacks {key}", where=key, step="do not delete or replace that branch")
        node = node[part]
    return node


def refuse_changed_data(benchmark: Benchmark, record: Record) -> None:
    """Refuse to show a finished run again where the files that it read have changed since.

    Raises:
        InputError: If a file has another SHA-256 now, or other files are read.
    """
    before = record["benchmark"]["provenance"]
    now = benchmark.provenance
    if dict(now.files) == dict(before.get("files", {})):
        return
    names = sorted(set(now.files) | set(before["files"]))
    changed = [name for name in names if now.files.get(name) != before["files"].get(name)]
    raise InputError(
        "the data have changed since this run was finished",
        where=now.location,
        got=f"{', '.join(changed[:5])} differ{'s' if len(changed) == 1 else ''} from what the run read",
        expected="the same files",
        step="name another folder with out=, or show the old run with `audits report DIR`",
    )


def refuse_changed_recordings(panel: Iterable[object], record: Record) -> None:
    """Refuse to show a finished run again where a recorded file of a contestant has changed since.

    Args:
        panel: Recorded contestants, as they are read now.
        record: Of the finished run.

    Raises:
        InputError: If a file has another SHA-256 now.
    """
    for one in panel:
        if not isinstance(one, Recorded) or one.name not in record["contestants"]:
            continue
        before = record["contestants"][one.name]["signature"].get("files", "")
        if one.signature.get("files", "") != before:
            raise InputError(
                "a recorded file has changed since this run was finished",
                where=one.name,
                got=one.signature.get("files", "")[:200],
                expected=before[:200],
                step="name another folder with out=, or show the old run with `audits report DIR`",
            )
