"""The contract of what takes part in a run without scoring anything: what somebody else recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import pandas as pd

from audits.scoring import Cells
from audits.statistics.outcomes import Outcome
from baselines.schema import Side
from benchmarks.schema import Instance
from reports.schema import Finding


@dataclass(frozen=True, slots=True, eq=False)
class Recalled:
    """Hold what a recorded contestant knows of the instances of a run.

    Attributes:
        cells: Scores, where scores were recorded; the outcomes are then decided from them.
        outcomes: Outcomes by metric, arrays [n], where only outcomes were recorded, or beside those of the cells.
        comparisons: The long form of these outcomes as `statistics.comparisons` gives it, without `scorer`.
        reasons: Reason by instance position for what is unscored.
        facts: What a reader should know: how the file was read, joined, and what is missing.
        findings: What was noticed.
        never_asked: Positions of instances that nothing is recorded of at all.
    """

    cells: Cells | None
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    comparisons: pd.DataFrame | None = None
    reasons: Mapping[int, str] = field(default_factory=dict)
    facts: Mapping[str, str | int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    never_asked: Set[int] = frozenset()


@runtime_checkable
class Recorded(Protocol):
    """Other people's scores, flags or answers. `name`, `sees`, `columns` and `signature` are as in `Scorer`."""

    name: str
    sees: frozenset[Side]
    columns: tuple[str, ...]

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number: the files' digests and how they are read."""

    def recall(self, instances: Iterable[Instance]) -> Recalled:
        """Return what is recorded of these instances.

        Raises:
            InputError: If the file does not fit the instances at all, or one of its values cannot be read.
        """
