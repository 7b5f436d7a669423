"""Let every contestant of a run measure the same instances."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from audits import crossfit
from audits.choosing import chosen
from audits.crew import ALONE, Crew
from audits.dataset import Dataset, Roster
from audits.jobs import FOREIGN
from audits.load import Contestant
from audits.measured import Measured, from_cells, from_recalled
from audits.models.schema import Chooser, Recorded
from audits.scoring import score
from baselines.engine import Engine
from baselines.schema import CrossFitted, Scorer, Surveys
from reports.progress import ConsoleProgress

OURS = ("audits", "baselines")
Way = Callable[[Contestant, Dataset, Roster, Engine, Mapping[str, Any]], Measured]


def measure(
    panel: Sequence[Contestant], dataset: Dataset, roster: Roster, values: Mapping[str, Any], crew: Crew = ALONE
) -> Iterator[Measured]:
    """Yield what each contestant measured, in the order of the panel.

    Args:
        panel: The contestants.
        dataset: The instances.
        roster: What statistics need of them.
        values: The configuration of the run.
        crew: Which of several processes this is. Those that do not lead take part in what the engine shares out, and
            leave everything else (trained baselines, recordings, endpoints) to the leader.
    """
    cache = Path(values["paths"]["cache"]) / "scores.sqlite"
    for one in panel:
        shared = isinstance(one.scorer, Scorer)
        if not (crew.leads or shared):
            continue
        progress, share = ConsoleProgress() if crew.leads else None, crew if shared else ALONE
        with Engine(cache, progress, share) as engine, _named(one):
            yield _way(one)(one, dataset, roster, engine, values)


def _way(contestant: Contestant) -> Way:
    """Return how a contestant of this kind is asked."""
    if isinstance(contestant.scorer, Recorded):
        return _recorded
    if isinstance(contestant.scorer, Chooser):
        return _prompted
    return crossfit.measure if isinstance(contestant.scorer, CrossFitted) else _scored


def _scored(
    contestant: Contestant, dataset: Dataset, roster: Roster, engine: Engine, values: Mapping[str, Any]
) -> Measured:
    scorer = contestant.scorer
    if not isinstance(scorer, Scorer):
        raise TypeError(f"{scorer.name} is no scorer")
    if isinstance(scorer, Surveys):
        scorer.survey(one.candidates() for one in dataset)
    cells = score(scorer, dataset, engine, seed=values["seed"], chunk=values["engine"]["chunk"])
    counts = tuple(engine.counts.values())
    return from_cells(contestant, cells, roster, tolerance=values["statistics"]["tie_tolerance"], counts=counts)


def _recorded(
    contestant: Contestant, dataset: Dataset, roster: Roster, engine: Engine, values: Mapping[str, Any]
) -> Measured:
    """Take what somebody else recorded; nothing is computed, so the engine has nothing to do."""
    scorer = contestant.scorer
    if not isinstance(scorer, Recorded):
        raise TypeError(f"{scorer.name} is not recorded")
    started = time.perf_counter()
    recalled = scorer.recall(dataset)
    seconds = time.perf_counter() - started
    tolerance = values["statistics"]["tie_tolerance"]
    return from_recalled(contestant, recalled, roster, tolerance=tolerance, seconds=seconds)


def _prompted(
    contestant: Contestant, dataset: Dataset, roster: Roster, engine: Engine, values: Mapping[str, Any]
) -> Measured:
    """Ask a model that picks; its answers are kept by itself, so the engine has nothing to do."""
    scorer = contestant.scorer
    if not isinstance(scorer, Chooser):
        raise TypeError(f"{scorer.name} is no chooser")
    started = time.perf_counter()
    recalled = chosen(scorer, dataset, ConsoleProgress(), seed=values["seed"])
    seconds = time.perf_counter() - started
    return from_recalled(contestant, recalled, roster, tolerance=0.0, seconds=seconds)


@contextmanager
def _named(contestant: Contestant) -> Iterator[None]:
    """Let a fault say in which contestant it happened."""
    try:
        yield
    except Exception as error:
        kind = type(contestant.scorer)
        error.add_note(f"while scoring with {contestant.scorer.name} ({kind.__module__}.{kind.__qualname__})")
        if kind.__module__.partition(".")[0] not in OURS:
            error.add_note(FOREIGN)
        raise
