"""The rows that claims are made from, by who stands in them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple

from audits.statistics.layout import MACRO, POOLED
from reports.schema import Estimate, Kind


class Rows(NamedTuple):
    """Hold the rows that claims are made from, primary ones without a tag, and the kind of each contestant."""

    rows: list[Estimate]
    kinds: Mapping[str, Kind]

    def chance(self, kind: Kind, subset: str) -> list[Estimate]:
        """Return the tests of contestants of a kind against chance on a subset."""
        return [
            row
            for row in self.rows
            if not row.against and isfinite(row.p) and row.subset == subset and self.kinds.get(row.scorer) == kind
        ]

    def paired(self, metric: str, kind: Kind, model: str, subset: str) -> list[Estimate]:
        """Return a model's rows against baselines of a kind on a subset."""
        return [
            row
            for row in self.rows
            if (row.metric, row.scorer, row.subset) == (metric, model, subset) and self.kinds.get(row.against) == kind
        ]

    @property
    def subsets(self) -> list[str]:
        """Return the subsets in order, `all` last."""
        found = dict.fromkeys(row.subset for row in self.rows if row.subset not in (POOLED, MACRO))
        return [*found, POOLED]
