"""Let every contestant of a run measure the same instances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from audits.dataset import Dataset, Roster
from audits.jobs import FOREIGN
from audits.load import Contestant
from audits.measured import Measured, from_cells
from audits.scoring import score
from baselines.engine import Engine
from reports.progress import ConsoleProgress

OURS = ("audits", "baselines")
Way = Callable[[Contestant, Dataset, Roster, Engine, Mapping[str, Any]], Measured]


def measure(
    panel: Sequence[Contestant], dataset: Dataset, roster: Roster, values: Mapping[str, Any]
) -> Iterator[Measured]:
    """Yield what each contestant measured, in the order of the panel.

    Args:
        panel: The contestants.
        dataset: The instances.
        roster: What statistics need of them.
        values: The configuration of the run.
    """
    cache = Path(values["paths"]["cache"]) / "scores.sqlite"
    for one in panel:
        with Engine(cache, ConsoleProgress()) as engine, _named(one):
            yield _way(one)(one, dataset, roster, engine, values)


def _way(contestant: Contestant) -> Way:
    """Return how a contestant of this kind is asked."""
    return _scored


def _scored(
    contestant: Contestant, dataset: Dataset, roster: Roster, engine: Engine, values: Mapping[str, Any]
) -> Measured:
    cells = score(contestant.scorer, dataset, engine, seed=values["seed"], chunk=values["engine"]["chunk"])
    counts = tuple(engine.counts.values())
    return from_cells(contestant, cells, roster, tolerance=values["statistics"]["tie_tolerance"], counts=counts)


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
