"""What a model's unscored instances could make of its result: bounds if all of them were wrong, or all right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from audits.statistics.outcomes import Outcome
from reports.schema import Finding

HEADLINES = (("accuracy",), ("accuracy_all",), ("group", "i2t", "t2i"))  # of each line, the first that there is
WRONG, RIGHT = "if_wrong", "if_right"
SHOWN = 20


def bounds(outcomes: Mapping[str, Outcome], never_asked: Set[int] = frozenset()) -> dict[str, Outcome]:
    """Return `X_if_wrong` and `X_if_right` for the leading metrics that lack a value somewhere.

    Both are taken over everything that was asked: what is unscored counts 0, or 1. Their chance is NaN, so no test is
    made of them.

    Args:
        outcomes: By metric, arrays [n].
        never_asked: Positions that nobody asked about; they stay out of both.

    Source: ours.

    >>> def known(credit, unscored):
    ...     return Outcome("accuracy", np.array(credit), np.zeros(2, bool), np.array(unscored), np.full(2, 0.5))
    >>> found = bounds({"accuracy": known([1.0, np.nan], [False, True])})
    >>> {name: float(one.credit.mean()) for name, one in found.items()}
    {'accuracy_if_wrong': 0.5, 'accuracy_if_right': 1.0}
    """
    found: dict[str, Outcome] = {}
    for line in HEADLINES:
        outcome = next((outcomes[metric] for metric in line if metric in outcomes), None)
        if outcome is None or f"{outcome.metric}_{WRONG}" in outcomes:
            continue
        open_ = _open(outcome, never_asked)
        if open_.any() and not np.isnan(outcome.credit).all():
            found |= {f"{outcome.metric}_{name}": _if(outcome, name, open_) for name in (WRONG, RIGHT)}
    return found


def _open(outcome: Outcome, never_asked: Set[int]) -> NDArray[np.bool_]:
    """Return which instances were asked and have no value, boolean [n]."""
    found = outcome.unscored.copy()
    found[sorted(never_asked)] = False
    return found


def _if(outcome: Outcome, name: str, open_: NDArray[np.bool_]) -> Outcome:
    credit = np.where(open_, float(name == RIGHT), outcome.credit)
    return replace(
        outcome,
        metric=f"{outcome.metric}_{name}",
        credit=credit,
        tie=np.zeros(len(credit), dtype=bool),
        unscored=np.zeros(len(credit), dtype=bool),
        chance=np.full(len(credit), np.nan),
    )


def findings(
    name: str, outcomes: Mapping[str, Outcome], made: Mapping[str, Outcome], ids: Sequence[str]
) -> list[Finding]:
    """Say what the bounds are, how much was answered, and which instances were not.

    Args:
        name: The contestant.
        outcomes: By metric.
        made: The bounds of these.
        ids: Ids of the instances.
    """
    found = []
    for key, low in made.items():
        metric, _, end = key.rpartition("_if_")
        if end != "wrong":
            continue
        outcome, high = outcomes[metric], made[f"{metric}_{RIGHT}"]
        asked = ~np.isnan(low.credit)
        answered = int((~np.isnan(outcome.credit)).sum())
        open_ = np.flatnonzero(asked & np.isnan(outcome.credit))
        total, wrong, right = int(asked.sum()), float(low.credit[asked].mean()), float(high.credit[asked].mean())
        found.append(
            Finding(
                "unscored_bounds",
                "notice",
                f"{name}: {answered:,} of {total:,} instances have a value ({100 * answered / total:.1f} %); over all "
                f"of them {metric.replace('_', ' ')} lies between {100 * wrong:.1f} % if the others were wrong and "
                f"{100 * right:.1f} % if they were right.",
                instances=tuple(ids[place] for place in open_[:SHOWN].tolist()),
                values={
                    "metric": metric,
                    "answered": answered,
                    "asked": total,
                    "coverage": answered / total,
                    "if_wrong": wrong,
                    "if_right": right,
                },
            )
        )
    return found
