"""Instances whose positive and foil a contestant reads as the same text: counted, and the result without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from audits.scoring import Cells
from audits.statistics.outcomes import Outcome
from reports.schema import Finding

MARK = "identical_"  # how the note of a cell begins to say that other captions are read as the same
WITHOUT = "distinct"
HEADLINES = ("accuracy", "accuracy_all", "group", "i2t", "t2i", "caption_preference")
SHOWN = 20


def alike(cells: Cells, golds: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Return which instances have a positive and a foil that are read as the same text, boolean [n].

    Args:
        cells: What the contestant measured; the notes of a cell say that its caption is read as another one is.
        golds: Boolean [I, T] of each instance [n].
    """
    noted: dict[int, set[int]] = {}
    for cell, note in cells.notes.items():
        caption = int(cells.caption[cell])
        if MARK in note and caption >= 0:
            noted.setdefault(int(cells.instance[cell]), set()).add(caption)
    found = np.zeros(len(golds), dtype=bool)
    for place, captions in noted.items():
        fits = golds[place][:, sorted(captions)]
        found[place] = bool((fits.any(axis=1) & ~fits.all(axis=1)).any())
    return found


def without(outcomes: Mapping[str, Outcome], same: NDArray[np.bool_]) -> dict[str, Outcome]:
    """Return `X_distinct` for the leading metrics: the same result without the instances that are read as one.

    Args:
        outcomes: By metric, arrays [n].
        same: Which instances are left out, boolean [n].

    >>> none = np.zeros(2, bool)
    >>> tied = Outcome("accuracy", np.array([0.5, 1.0]), np.array([True, False]), none, np.full(2, 0.5))
    >>> made = without({"accuracy": tied}, np.array([True, False]))["accuracy_distinct"]
    >>> float(np.nanmean(made.credit)), int(made.tie.sum())
    (1.0, 0)
    """
    return {
        f"{metric}_{WITHOUT}": replace(
            outcomes[metric],
            metric=f"{metric}_{WITHOUT}",
            credit=np.where(same, np.nan, outcomes[metric].credit),
            tie=outcomes[metric].tie & ~same,
            unscored=outcomes[metric].unscored & ~same,
            chance=np.where(same, np.nan, outcomes[metric].chance),
        )
        for metric in HEADLINES
        if metric in outcomes and (same & np.isfinite(outcomes[metric].chance)).any()
    }


def finding(name: str, made: Mapping[str, Outcome], same: NDArray[np.bool_], ids: Sequence[str]) -> Finding:
    """Say how many instances are read as one, and what the result is without them.

    Args:
        name: The contestant.
        made: Its results without them, as `without` gives them.
        same: Which instances they are, boolean [n].
        ids: Ids of the instances.
    """
    count, total = int(same.sum()), len(same)
    shown = {metric: float(np.nanmean(one.credit)) for metric, one in made.items() if np.isfinite(one.credit).any()}
    said = ", ".join(f"{metric.removesuffix(f'_{WITHOUT}')} {100 * value:.1f} %" for metric, value in shown.items())
    return Finding(
        "identical_as_read",
        "notice",
        f"{name}: in {count:,} of {total:,} instances a positive and a foil are read as the same text, after cutting "
        f"or cleaning, and can only tie. Without them: {said or 'nothing is left'}.",
        instances=tuple(ids[place] for place in np.flatnonzero(same)[:SHOWN].tolist()),
        values={"instances": count, "of_instances": total, **shown},
    )
