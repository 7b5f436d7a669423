"""Rows that describe a contestant by itself beside its accuracy: sensitivity, and the spread over subsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audits.compared import Settings
from audits.dataset import Roster
from audits.measured import Measured
from audits.scoring import Cells
from audits.statistics.bootstrap import method, replicates
from audits.statistics.facing import can_differ
from audits.statistics.intervals import Interval
from audits.statistics.layout import POOLED, Slice, codes, slices
from audits.statistics.outcomes import Outcome
from audits.statistics.separation import SUMS, cohen, cohen_intervals, score_sums, std_interval, subset_std
from audits.statistics.sums import ClusterSums, Floats, cluster_sums
from reports.schema import Estimate

Bools = NDArray[np.bool_]


def described(
    measured: Sequence[Measured], roster: Roster, settings: Settings, *, signatures: Mapping[str, str]
) -> list[Estimate]:
    """Return the sensitivity of every model that gave scores, and the spread over subsets of every contestant.

    Args:
        measured: What the contestants measured.
        roster: The instances.
        settings: Resampling; the spread is that of the primary metric.
        signatures: Short signature by name of the scorer.
    """
    of = _Of(roster, settings)
    rows: list[Estimate] = []
    for one in measured:
        signature = signatures[one.contestant.scorer.name]
        if one.contestant.kind == "model" and one.cells is not None:
            rows += of.sensitivity(one, one.cells, signature)
    return rows + of.spreads(measured, signatures)


class _Line(NamedTuple):
    """Hold what one row says, before its interval is known."""

    scorer: str
    signature: str
    subset: str
    value: float
    counts: tuple[int, int, int]
    """Instances that entered, the clusters that they form, and those that are unscored."""


class _Of:
    """Hold what the rows of all contestants share."""

    def __init__(self, roster: Roster, settings: Settings) -> None:
        self.roster, self.settings = roster, settings
        self.cut = slices(roster.labels)
        names, self.clusters = codes(roster.labels.clusters)
        self.n_clusters = len(names)

    def sensitivity(self, one: Measured, cells: Cells, signature: str) -> list[Estimate]:
        """Return Cohen's d by subset and on all instances, for each column."""
        matches = _matches(cells, self.roster.golds)
        lines: list[_Line] = []
        sums: list[Floats] = []
        for column, values in cells.columns.items() if matches is not None else ():
            for part in [*self.cut.subsets, self.cut.pooled]:
                entered = self._entered(cells, values, part)
                table = self._sums(cells, values, matches, entered)
                if not np.isnan(cohen(table.sum(axis=0))):
                    n, clusters = int(entered.sum()), len(np.unique(self.clusters[entered]))
                    value = float(cohen(table.sum(axis=0)))
                    counts = (n, clusters, len(part.rows) - n)
                    lines.append(_Line(one.contestant.full_name(column), signature, part.subset, value, counts))
                    sums.append(table)
        at = self.settings
        found = cohen_intervals(sums, self.n_clusters, draws=at.draws, seed=at.seed, confidence=at.confidence)
        return [self._row("sensitivity", line, bounds) for line, bounds in zip(lines, found, strict=True)]

    def _entered(self, cells: Cells, values: Floats, part: Slice) -> Bools:
        """Return which instances are in the part and have every score, boolean [n]."""
        entered = np.zeros(len(self.clusters), dtype=bool)
        entered[part.rows] = True
        entered[cells.instance[np.isnan(values)]] = False
        return entered

    def _sums(self, cells: Cells, values: Floats, matches: Bools | None, entered: Bools) -> Floats:
        """Return the sums of those instances' scores by cluster, about their mean."""
        inside = entered[cells.instance]
        if matches is None or not inside.any():
            return np.zeros((self.n_clusters, SUMS))
        centred = values[inside] - values[inside].mean()
        return score_sums(centred, matches[inside], self.clusters[cells.instance[inside]], self.n_clusters)

    def spreads(self, measured: Sequence[Measured], signatures: Mapping[str, str]) -> list[Estimate]:
        """Return the standard deviation of the subset values of the primary metric, where there are two or more."""
        lines: list[_Line] = []
        columns: list[list[ClusterSums]] = []
        for one in measured:
            for name, by_metric in one.outcomes.items():
                several = self._by_subset(by_metric.get(self.settings.primary))
                if len(several) > 1:
                    value = subset_std(np.array([column.value for column in several]))
                    counts = self._counts(by_metric[self.settings.primary])
                    lines.append(_Line(name, signatures[one.contestant.scorer.name], POOLED, value, counts))
                    columns.append(several)
        bounds = self._std_intervals(columns)
        return [self._row("subset_std", line, one) for line, one in zip(lines, bounds, strict=True)]

    def _by_subset(self, outcome: Outcome | None) -> list[ClusterSums]:
        """Return the credits of each subset that has any; none of a contestant that only ties."""
        if outcome is None or not can_differ(outcome):
            return []
        found = [cluster_sums(outcome.credit[part.rows], self.clusters[part.rows]) for part in self.cut.subsets]
        return [column for column in found if column.n_clusters]

    def _counts(self, outcome: Outcome) -> tuple[int, int, int]:
        rows = np.concatenate([part.rows for part in self.cut.subsets])
        scored = rows[~np.isnan(outcome.credit[rows])]
        return len(scored), len(np.unique(self.clusters[scored])), int(outcome.unscored[rows].sum())

    def _std_intervals(self, columns: Sequence[Sequence[ClusterSums]]) -> list[Interval]:
        """Resample the subsets of all contestants together."""
        at = self.settings
        flat = [column for several in columns for column in several]
        drawn = replicates(flat, self.n_clusters, draws=at.draws, seed=at.seed)
        edges = np.cumsum([0, *map(len, columns)]).tolist()
        found = []
        for several, left, right in zip(columns, edges, edges[1:], strict=False):
            values = np.array([column.value for column in several])
            low, high = std_interval(values, drawn[:, left:right], confidence=at.confidence)
            found.append(Interval(low, high, f"{method(at.draws)}, bias taken off", at.seed))
        return found

    def _row(self, metric: str, line: _Line, bounds: Interval) -> Estimate:
        n, n_clusters, unscored = line.counts
        return Estimate(
            benchmark=self.roster.labels.benchmark,
            subset=line.subset,
            tag="",
            scorer=line.scorer,
            against="",
            metric=metric,
            value=line.value,
            low=bounds.low,
            high=bounds.high,
            n=n,
            n_clusters=n_clusters,
            ties=0,
            unscored=unscored,
            chance=0.0 if metric == "sensitivity" else nan,
            method=bounds.method,
            seed=bounds.seed,
            primary=True,
            signature=line.signature,
        )


def _matches(cells: Cells, golds: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_] | None:
    """Return whether the caption of each cell fits its image, boolean [N]; None where one side was not shown."""
    if (cells.image < 0).any() or (cells.caption < 0).any():
        return None
    where = zip(cells.instance.tolist(), cells.image.tolist(), cells.caption.tolist(), strict=True)
    return np.array([golds[instance][image, caption] for instance, image, caption in where], dtype=bool)
