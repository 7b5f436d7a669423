"""Take a share of the text's own probability off a likelihood: log P(t|i) - alpha log P(t), alpha from 0 to 1.

P(t) comes from a blind twin of the same model (no image, or images that hold nothing). The curve describes: it is in no
family of tests, and no alpha is picked on the data. Taking P(t) off moves no comparison between images of one text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audits.dataset import Roster
from audits.measured import Measured
from audits.scoring import Grids
from audits.statistics.estimates import estimates
from audits.statistics.layout import Layout
from audits.statistics.outcomes import Outcome, outcomes
from reports.schema import Estimate

ALPHAS = tuple(tenth / 10 for tenth in range(11))
SUFFIX = "_less_prior"
METRICS = ("accuracy", "accuracy_all", "accuracy_any", "accuracy_mean", "i2t", "i2t_base", "group", "i2t_mean")
BOTH = frozenset({"text", "image"})


class LessPrior(Sequence[NDArray[np.float64]]):
    """Present scores [I, T] minus alpha times scores that the text alone gets, without holding them all.

    >>> from audits.scoring import Grids
    >>> from benchmarks.schema import Shape
    >>> own = Grids(np.array([-4.0, -6.0]), np.array([0, 2]), [Shape(1, 2)], BOTH)
    >>> prior = Grids(np.array([-2.0, -5.0]), np.array([0, 2]), [Shape(1, 2)], frozenset({"text"}))
    >>> LessPrior(own, prior, 1.0)[0].tolist()
    [[-2.0, -1.0]]
    """

    def __init__(self, own: Grids, prior: Grids, alpha: float) -> None:
        self._own, self._prior, self._alpha = own, prior, alpha

    def __len__(self) -> int:
        """Return the number of instances."""
        return len(self._own)

    def __getitem__(self, index: Any) -> Any:
        """Return the scores of one instance."""
        return self._own[index] - self._alpha * self._prior[index]

    def stacked(self, rows: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the scores of instances of one shape at once, [m, I, T]."""
        found: NDArray[np.float64] = self._own.stacked(rows, shape) - self._alpha * self._prior.stacked(rows, shape)
        return found


def less_prior(
    measured: Sequence[Measured], roster: Roster, values: Mapping[str, Any], signatures: Mapping[str, str]
) -> list[Estimate]:
    """Return the curve of every model that has a twin which gives log P(t): rows over all instances.

    A row's metric ends in `_less_prior`, its tag is `alpha=0.3`, `against` is the twin's column.

    Args:
        measured: What the contestants measured.
        roster: The instances.
        values: The configuration of the run: `statistics`.
        signatures: Short signature by full column name.

    Source: visualgptscore, sec. 4.
    """
    found: dict[str, dict[str, Outcome]] = {}
    named: dict[str, tuple[str, str, float]] = {}
    tolerance = float(values["statistics"]["tie_tolerance"])
    for model, twin, column in _couples(measured):
        own, prior = model.contestant.full_name(column), twin.contestant.full_name(column)
        for alpha in ALPHAS:
            grids = LessPrior(_grids(model, column, roster), _grids(twin, column, roster), alpha)
            key = f"{own}\n{prior}\n{alpha}"
            made = outcomes(grids, roster.golds, sees=BOTH, tolerance=tolerance)
            found[key] = {name: made[name] for name in METRICS if name in made}
            named[key] = (own, prior, alpha)
    return [_row(one, *named[one.scorer], signatures) for one in _estimated(found, roster, values["statistics"])]


def _couples(measured: Sequence[Measured]) -> Iterator[tuple[Measured, Measured, str]]:
    """Yield each model with each twin that gives log P(t), and the columns that both have."""
    named = {one.contestant.scorer.name: one for one in measured}
    for twin in measured:
        model = named.get(str(getattr(twin.contestant.scorer, "prior_of", "")))
        if model is None or model.cells is None or twin.cells is None:
            continue
        for column in model.contestant.scorer.columns:
            if column in twin.contestant.scorer.columns:
                yield model, twin, column


def _grids(one: Measured, column: str, roster: Roster) -> Grids:
    if one.cells is None:
        raise TypeError(f"{one.contestant.scorer.name} has no scores")
    return one.cells.grids(column, roster.shapes)


def _estimated(
    found: Mapping[str, Mapping[str, Outcome]], roster: Roster, options: Mapping[str, Any]
) -> list[Estimate]:
    whole = Layout(roster.labels.benchmark, [""] * len(roster.ids), roster.labels.clusters)
    draws = {"draws": options["bootstrap"], "seed": options["seed"], "confidence": options["level"]}
    return estimates(found, whole, signatures={}, **draws).rows if found else []


def _row(one: Estimate, own: str, prior: str, alpha: float, signatures: Mapping[str, str]) -> Estimate:
    return dataclasses.replace(
        one,
        scorer=own,
        against=prior,
        metric=f"{one.metric}{SUFFIX}",
        tag=f"alpha={alpha:g}",
        signature=signatures.get(own, ""),
    )
