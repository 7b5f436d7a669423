"""Turn the grids of scores that were read into the flat cells that scorers give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from audits.models.recorded.joining import Target
from audits.models.recorded.values import NO_VALUE, NOT_FINITE
from audits.scoring import Cells
from baselines.schema import BOTH


def cells(grids: Mapping[int, NDArray[np.float64]], targets: Sequence[Target], reasons: Mapping[int, str]) -> Cells:
    """Return one cell per image and caption of every instance; what is not recorded is NaN with a reason.

    Args:
        grids: Scores [I, T] by position of the instance.
        targets: The instances.
        reasons: Why positions have no scores.
    """
    sizes = np.array([target.gold.size for target in targets], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    values = np.full(int(starts[-1]), np.nan)
    images, captions = np.empty(len(values), np.int16), np.empty(len(values), np.int16)
    notes: dict[int, str] = {}
    for place, target in enumerate(targets):
        first, last = int(starts[place]), int(starts[place + 1])
        rows, columns = np.indices(target.shape)
        images[first:last], captions[first:last] = rows.ravel(), columns.ravel()
        if place in grids:
            values[first:last] = grids[place].ravel()
        reason = reasons.get(place, NO_VALUE)
        for cell in range(first, last):
            if not np.isfinite(values[cell]):
                notes[cell] = NOT_FINITE if np.isinf(values[cell]) else reason
    values[np.isinf(values)] = np.nan
    return Cells(
        np.repeat(np.arange(len(targets), dtype=np.int32), sizes),
        images,
        captions,
        {"": values},
        np.full(len(values), -1, np.int32),
        np.zeros(len(values), dtype=bool),
        notes,
        BOTH,
        0.0,
    )
