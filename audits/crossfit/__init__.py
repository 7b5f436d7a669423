"""Let a baseline that is trained on the benchmark itself be tested on what it has not seen: the runner owns the folds.

One fit per subset and fold. Instances that share an image or a caption, directly or through others, lie in one fold.
The gold of the held-out fold is never shown. Beside the scores: their spread over further fold seeds, and a round on
shuffled gold, which must give chance.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from audits.crossfit.checks import by_subset, centre, credits, on_folds, pairwise, shuffled, spread
from audits.crossfit.fits import Fits, Runner, Subset, subsets
from audits.dataset import Dataset, Roster
from audits.load import Contestant
from audits.measured import Measured, from_cells
from baselines.engine import Engine
from baselines.schema import CrossFitted, Fitted, Side, Work
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates, Instance
from reports.schema import Finding

GROUPING = "connected by image or caption (lower case, words and numbers), within each subset; one fit per subset"


class Folded:
    """Declare what a cross-fitted baseline and its folds are: what stands behind the numbers in the tables.

    Args:
        trained: The baseline.
        folds: The options of the run, by name.
        facts: What a reader should know of the folds.
    """

    def __init__(self, trained: CrossFitted, folds: Mapping[str, str], facts: Mapping[str, str | int]) -> None:
        self.name, self.sees, self.columns = trained.name, trained.sees, trained.columns
        self.tolerance = float(getattr(trained, "tolerance", 0.0))
        self.facts = {**getattr(trained, "facts", {}), **facts}
        self._trained, self._folds = trained, dict(folds)

    @property
    def signature(self) -> Mapping[str, str]:
        """Return the baseline's signature and that of the folds."""
        return {**self._trained.signature, **self._folds}

    def prepare(self, batch: Sequence[Candidates], work: Work) -> None:
        """Compute what needs no gold."""
        self._trained.prepare(batch, work)

    def fit(self, training: Sequence[Instance], *, seed: int) -> Fitted:
        """Learn from instances with gold."""
        return self._trained.fit(training, seed=seed)


def measure(
    contestant: Contestant, dataset: Dataset, roster: Roster, engine: Engine, values: Mapping[str, Any]
) -> Measured:
    """Return what a contestant that is trained on the benchmark measured on held-out folds.

    Args:
        contestant: Who; its scorer is a `CrossFitted`.
        dataset: The instances.
        roster: What statistics need of them.
        engine: What it may measure with.
        values: The configuration of the run; `crossfit` says how.
    """
    scorer, options = contestant.scorer, values["crossfit"]
    if not isinstance(scorer, CrossFitted):
        raise TypeError(f"{scorer.name} is not trained on folds")
    parts = subsets(_held(dataset, scorer.sees), seed=values["seed"])
    scorer.prepare([one for part in parts for one in part.given], engine)
    runner = Runner(scorer, parts, k=options["folds"], seed=values["seed"])
    first = runner.fits(fold_seed=options["seed"])
    folded = Contestant(contestant.kind, Folded(scorer, _signature(options), _facts(parts, first)))
    tolerance = values["statistics"]["tie_tolerance"]
    counts = tuple(engine.counts.values())
    found = from_cells(folded, first.cells, roster, tolerance=tolerance, counts=counts)
    tolerance = max(tolerance, float(getattr(scorer, "tolerance", 0.0)))
    noticed = on_folds(scorer.name, parts, first, k=options["folds"])
    checks = _checks(contestant, runner, first, roster, options, tolerance=tolerance)
    return dataclasses.replace(found, findings=(*noticed, *checks))


def _held(dataset: Dataset, sees: frozenset[Side]) -> list[Instance]:
    """Return all instances; encoded images are let go where they are not looked at."""
    if "image" in sees:
        return list(dataset)
    return [
        dataclasses.replace(one, images=tuple(ImageRef(image.key) for image in one.images))
        if any(image.data is not None for image in one.images)
        else one
        for one in dataset
    ]


def _signature(options: Mapping[str, Any]) -> dict[str, str]:
    return {"folds": str(options["folds"]), "fold_seed": str(options["seed"]), "grouping": GROUPING}


def _facts(parts: Sequence[Subset], first: Fits) -> dict[str, str | int]:
    """Return how many groups there are, and how many folds of them were made."""
    names = {part.name: part.name or "all" for part in parts}
    return {
        "connected groups": sum(len(part.groups) for part in parts),
        "groups of instances": ", ".join(f"{names[p.name]} {len(p.groups)} of {len(p.places)}" for p in parts),
        "folds made": ", ".join(f"{names[name]} {count}" for name, count in first.counts.items()),
    }


def _checks(
    contestant: Contestant,
    runner: Runner,
    first: Fits,
    roster: Roster,
    options: Mapping[str, Any],
    *,
    tolerance: float,
) -> list[Finding]:
    """Return the findings on other fold seeds and on shuffled gold."""
    scorer, seed = runner.scorer, options["seed"]
    if (first.fold < 0).all():
        return []
    rounds = [first, *(runner.fits(fold_seed=seed + more) for more in range(1, options["seeds"]))]
    mixed = runner.fits(fold_seed=seed, shuffled=True) if options["shuffle"] else None
    found = []
    for column in scorer.columns:
        name = contestant.full_name(column)
        taken = [credits(one.cells, column, scorer, roster, tolerance=tolerance) for one in rounds]
        if len(rounds) > 1:
            found.append(spread(name, [by_subset(one, runner.parts) for one in taken], first=seed))
        if mixed is not None:
            right = pairwise(mixed.cells, column, scorer, roster, tolerance=tolerance)
            found.append(shuffled(name, centre(right, mixed.fold)))
    return found
