"""Score a trained model on scenes that it never saw, by edit type and tier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audits.models.training.scenes import Pairs
from audits.statistics.outcomes import outcomes
from baselines.schema import BOTH

METRICS = ("i2t", "t2i", "group", "group_match")
TIERS = ("short", "medium", "long")
Score = Callable[[NDArray[np.uint8], Sequence[str], NDArray[np.int64]], NDArray[np.float64]]


def held_out_scores(score: Score, pairs: Pairs) -> dict[str, Any]:
    """Return the strict scores, proportions 0 to 1, by edit type and over all: of every tier, and of all tiers.

    Args:
        score: Scores of images [P, 2] and captions: float64 [P, 2, 2], image by caption.
        pairs: The held-out pairs.
    """
    rows = np.stack([pairs.base, pairs.foil], axis=1)
    credit: dict[str, dict[str, NDArray[np.float64]]] = {}
    for place, tier in enumerate(TIERS):
        captions = [caption for tiers in pairs.captions for caption in tiers[place]]
        found = outcomes(list(score(pairs.images, captions, rows)), [np.eye(2, dtype=bool)] * len(rows), sees=BOTH)
        credit[tier] = {metric: found[metric].credit for metric in METRICS}
    types = np.asarray(pairs.edit_types)
    told = {name: _told(credit, types == name) for name in sorted(set(pairs.edit_types))}
    return {**told, "all": _told(credit, np.ones(len(types), dtype=bool))}


def _told(credit: dict[str, dict[str, NDArray[np.float64]]], at: NDArray[np.bool_]) -> dict[str, Any]:
    exact = {tier: {metric: float(found[metric][at].mean()) for metric in METRICS} for tier, found in credit.items()}
    # Every tier tells the same pairs, so the mean over tiers is the mean over instances.
    pooled = {metric: round(float(np.mean([told[metric] for told in exact.values()])), 4) for metric in METRICS}
    by_tier = {tier: {metric: round(value, 4) for metric, value in told.items()} for tier, told in exact.items()}
    return {"n": int(at.sum()) * len(credit), **pooled, "by_tier": by_tier}
