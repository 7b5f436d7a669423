"""Turn the composed configuration into objects: a benchmark and the contestants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from hydra.errors import InstantiationException
from hydra.utils import instantiate

from audits.jobs import as_input_error
from baselines.schema import Scorer
from benchmarks.errors import InputError
from benchmarks.schema import Benchmark

Kind = Literal["blind", "model"]
# Options of a benchmark that the runner, not the parser, acts on.
_RUNNERS = ("name", "missing", "limit")


class Contestant(NamedTuple):
    """Name a scorer and say whether it is a blind baseline or a model under audit."""

    kind: Kind
    scorer: Scorer

    def full_name(self, column: str) -> str:
        """Return the name of one of its columns in every table."""
        return f"{self.scorer.name}:{column}" if column else self.scorer.name


def benchmark(values: Mapping[str, Any]) -> Benchmark:
    """Build the benchmark that the configuration names."""
    options = {key: value for key, value in values["benchmark"].items() if key not in _RUNNERS}
    built: Benchmark = _build(options, "benchmark")
    return built


def contestants(values: Mapping[str, Any]) -> list[Contestant]:
    """Build the blind baselines and models under audit, in the order of the configuration.

    Raises:
        InputError: If there are none, one is not a scorer, or two would share a name in the tables.
    """
    groups: tuple[tuple[str, Kind], ...] = (("baseline", "blind"), ("model", "model"))
    panel = [
        Contestant(kind, _scorer(_build(options, f"{group}.{name}"), f"{group}.{name}"))
        for group, kind in groups
        for name, options in (values.get(group) or {}).items()
    ]
    names = [one.full_name(column) for one in panel for column in one.scorer.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError("two contestants have the same name", got=", ".join(twice), step="give one another `name`")
    if not panel:
        raise InputError(
            "nothing to run", where="baseline, model", got="none", step="select one, for example baseline=length"
        )
    for one in panel:
        if one.kind == "blind" and one.scorer.sees == frozenset({"text", "image"}):
            raise InputError(
                "a baseline must be denied one side",
                where=f"baseline {one.scorer.name}",
                got="it declares that it sees text and image",
                step="select it under `model` instead",
            )
    return panel


def _build(options: Mapping[str, Any], where: str) -> Any:
    if not isinstance(options, Mapping) or "_target_" not in options:
        raise InputError("not a leaf of the configuration", where=where, expected="a mapping with _target_")
    try:
        return instantiate(dict(options), _convert_="all")
    except InstantiationException as error:
        known = as_input_error(error, "run")
        raise (known or error) from error


def _scorer(built: Any, where: str) -> Scorer:
    if not isinstance(built, Scorer):
        raise InputError(
            "not a contestant",
            where=where,
            got=type(built).__name__,
            expected="name, sees, columns, signature and score(batch, work); see CONTRIBUTING.md",
        )
    return built
