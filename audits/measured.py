"""What a contestant measured over the instances of a run, whatever kind of contestant it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

import pandas as pd

from audits.alike import alike, finding, without
from audits.bounds import bounds
from audits.bounds import findings as bounds_found
from audits.dataset import Roster
from audits.load import Contestant
from audits.models.schema import Recalled
from audits.scoring import Cells
from audits.statistics.comparisons import comparisons
from audits.statistics.outcomes import Outcome, outcomes
from baselines.engine import Counts
from reports.schema import Finding


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Hold what one contestant measured.

    Attributes:
        contestant: Who.
        outcomes: Outcomes by full column name (`likelihood:SmolLM2-135M-Instruct:norm`) and metric, arrays [n].
        comparisons: Yields full column name and long form, as `statistics.comparisons` gives it, of each column; made
            when asked for, since it is larger than all the rest.
        cells: The scores, or None where only outcomes are known.
        seconds: Time it took.
        counts: What the engine counted.
        reasons: Reason by instance position for what is unscored, where there are no cells to hold it.
        facts: What a reader should know of how it went, by name.
        findings: What was noticed on the way.
        answers: The answers themselves, where there are any to keep.
    """

    contestant: Contestant
    outcomes: Mapping[str, Mapping[str, Outcome]]
    comparisons: Callable[[], Iterator[tuple[str, pd.DataFrame]]]
    cells: Cells | None
    seconds: float
    counts: tuple[Counts, ...] = ()
    reasons: Mapping[int, str] = field(default_factory=dict)
    facts: Mapping[str, str | int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    answers: pd.DataFrame | None = None


def from_cells(
    contestant: Contestant,
    cells: Cells,
    roster: Roster,
    *,
    tolerance: float,
    counts: tuple[Counts, ...] = (),
    never_asked: Set[int] = frozenset(),
) -> Measured:
    """Decide the comparisons of a contestant that gave scores.

    Args:
        contestant: Who.
        cells: Its scores.
        roster: The instances.
        tolerance: Scores that differ by no more are tied; a contestant may ask for a larger one.
        counts: What the engine counted for it.
        never_asked: Positions of instances that a model was never asked about.
    """
    scorer = contestant.scorer
    tolerance = max(tolerance, float(getattr(scorer, "tolerance", 0.0)))
    grids = {contestant.full_name(column): cells.grids(column, roster.shapes) for column in scorer.columns}
    found = {name: outcomes(grid, roster.golds, sees=scorer.sees, tolerance=tolerance) for name, grid in grids.items()}

    def long() -> Iterator[tuple[str, pd.DataFrame]]:
        for name, grid in grids.items():
            yield name, comparisons(grid, roster.golds, sees=scorer.sees, tolerance=tolerance)

    facts = dict(getattr(scorer, "facts", {}))
    measured = _distinct(Measured(contestant, found, long, cells, cells.seconds, counts, facts=facts), cells, roster)
    return _bounded(measured, roster, never_asked) if contestant.kind == "model" else measured


def _distinct(measured: Measured, cells: Cells, roster: Roster) -> Measured:
    """Add the leading results without the instances whose positive and foil the contestant reads as one text."""
    same = alike(cells, roster.golds)
    if not same.any():
        return measured
    made = {name: without(own, same) for name, own in measured.outcomes.items()}
    found = {name: {**own, **made[name]} for name, own in measured.outcomes.items()}
    notes = [finding(name, more, same, roster.ids) for name, more in made.items()]
    return replace(measured, outcomes=found, findings=(*measured.findings, *notes))


def _bounded(measured: Measured, roster: Roster, never_asked: Set[int]) -> Measured:
    """Add, for a model that left something open, what its result would be if that were wrong, or right."""
    found, notes = {}, list(measured.findings)
    for name, own in measured.outcomes.items():
        made = bounds(own, never_asked)
        found[name] = {**own, **made}
        notes += bounds_found(name, own, made, roster.ids)
    return replace(measured, outcomes=found, findings=tuple(notes))


def from_recalled(
    contestant: Contestant, recalled: Recalled, roster: Roster, *, tolerance: float, seconds: float
) -> Measured:
    """Return what is recorded of a contestant: decided from scores where there are scores, as it stands where not.

    Args:
        contestant: Who.
        recalled: What is recorded.
        roster: The instances.
        tolerance: Scores that differ by no more are tied.
        seconds: Time it took to read it.
    """
    name = contestant.full_name("")
    if recalled.cells is not None:
        decided = from_cells(contestant, recalled.cells, roster, tolerance=tolerance, never_asked=recalled.never_asked)
        findings = (*recalled.findings, *decided.findings)
        return replace(decided, seconds=seconds, facts=recalled.facts, findings=findings)
    if recalled.comparisons is None:
        raise TypeError(f"{name} recalls neither scores nor comparisons")
    table = recalled.comparisons
    measured = Measured(
        contestant,
        {name: recalled.outcomes},
        lambda: iter([(name, table)]),
        None,
        seconds,
        reasons=recalled.reasons,
        facts=recalled.facts,
        findings=recalled.findings,
        counts=_counted(recalled.answers),
        answers=recalled.answers,
    )
    return _bounded(measured, roster, recalled.never_asked)


def _counted(answers: pd.DataFrame | None) -> tuple[Counts, ...]:
    """Return how many distinct requests had their answer in the cache, and how many were answered now."""
    if answers is None:
        return ()
    # Whoever names no requests is taken to have sent each by itself.
    named = answers["request"].where(answers["request"] != "", answers.index.astype(str))
    distinct = answers[~named.duplicated()]
    hits = int(distinct["cached"].sum())
    new = int((~distinct["cached"].astype(bool) & (distinct["state"] != "failed")).sum())
    return (Counts(items=len(answers), distinct=len(distinct), hits=hits, computed=new),)
