"""One audited benchmark of an experiment, and which of its contestants' columns stand side by side with the others'."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reports.answer import Candidate, candidates, cannot_differ
from reports.captions import measure_title
from reports.index import KINDS, POOLED, SANITY, Contestant, Index
from reports.measures import distance
from reports.schema import Estimate, Kind, Record, VerdictFacts
from reports.text import visible

# The columns that are set side by side whatever they show, so that none is picked because of its number.
_FIXED = (
    r"length:words:fewer",
    r"likelihood:(?!.*:normalised:).*:norm",
    r"likelihood:(?!.*:normalised:).*:unnorm",
    r"ngram(:raw)?",
)
LIK_DIFF = "lik_diff"


@dataclass(frozen=True, slots=True)
class Audited:
    """Hold one benchmark's run.

    Attributes:
        name: Registry name, and the name of its folder.
        record: Of its run.
        index: Of its run's estimates.
    """

    name: str
    record: Record
    index: Index

    @property
    def label(self) -> str:
        """Return what its row is called."""
        return f"{visible(self.name)} (sample)" if self.record["sample"] else visible(self.name)

    @property
    def metric(self) -> str:
        """Return the metric that its blind baselines are judged by."""
        order: list[Contestant] = sorted(self.index.contestants, key=lambda item: "text" not in item.sees)
        blind = [item for item in order if item.kind != "model"] or order
        return next((metric for item in blind if (metric := self.index.headline(item))), "")

    @property
    def metric_title(self) -> str:
        """Return that metric's name with its unit."""
        return measure_title(self.metric, POOLED) if self.metric else ""

    @property
    def verdict(self) -> VerdictFacts | None:
        """Return what its run concludes of all instances together, as a verdict on the benchmark."""
        found = self.record.get("verdicts", [])
        # A benchmark with one subset may have its one verdict under that subset's name.
        chosen = [item for item in found if item["subset"] == POOLED] or (found if len(found) == 1 else [])
        return _renamed(chosen[0], self.name) if chosen else None

    def contestant(self, scorer: str) -> Contestant | None:
        """Return a contestant's column, or None where it did not run."""
        return next((item for item in self.index.contestants if item.scorer == scorer), None)

    def estimate(self, scorer: str) -> Estimate | None:
        """Return a column's value over all instances, by the metric that it is compared by, or None."""
        item = self.contestant(scorer)
        return None if item is None else self.index.find(scorer, self.index.compared(item))

    def can_only_tie(self, scorer: str) -> bool:
        """Return whether a column's value is fixed because every instance has a single item on the side it sees."""
        item = self.contestant(scorer)
        found = self.estimate(scorer)
        if item is None or found is None:
            return False
        return cannot_differ(Candidate(item, found.metric, found, [], False), self.record)

    def strongest(self, owner: str) -> Contestant | None:
        """Return a baseline's column that lies farthest from chance over all instances, picked on these data.

        Of the two directions of a cue it is the one that does better, as in the run's own report.
        """
        own = [item for item in candidates(self.index) if item.contestant.owner == owner]
        if own:
            return max(own, key=lambda item: distance(item.pooled)).contestant
        return next(iter(self.index.by_owner("trained").get(owner, [])), None)

    def seconds(self) -> float:
        """Return how long the run took, loading to findings."""
        return float(sum(self.record["timings"].values()))

    def fact(self, key: str, default: Any = "") -> Any:
        """Return what the record says of where the benchmark came from."""
        return self.record["benchmark"]["provenance"].get(key, default)


def _renamed(item: VerdictFacts, subset: str) -> VerdictFacts:
    found = item.copy()
    found["subset"] = subset
    return found


def fixed_columns(runs: Sequence[Audited]) -> list[str]:
    """Return the blind columns that stand side by side, in a fixed order."""
    names = _names(runs, ("blind", "trained"))
    return [name for pattern in _FIXED for name in names if re.fullmatch(pattern, name)]


def models(runs: Sequence[Audited]) -> list[str]:
    """Return the columns of models under audit."""
    return _names(runs, ("model",))


def owners(runs: Sequence[Audited]) -> list[str]:
    """Return the blind baselines, zero-shot ones first, without the check of the tie rule."""
    found = [item for run in runs for item in run.index.contestants if item.kind != "model" and item.owner != SANITY]
    return list(dict.fromkeys(item.owner for item in sorted(found, key=lambda item: KINDS.index(item.kind))))


def _names(runs: Sequence[Audited], kinds: Sequence[Kind]) -> list[str]:
    found = (item.scorer for run in runs for item in run.index.contestants if item.kind in kinds)
    return list(dict.fromkeys(found))


def lik_diffs(runs: Sequence[Audited]) -> list[str]:
    """Return the columns that have a Lik-Diff."""
    found = (item.scorer for run in runs for item in run.index.contestants if run.index.find(item.scorer, LIK_DIFF))
    return list(dict.fromkeys(found))
