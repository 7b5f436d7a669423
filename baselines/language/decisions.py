"""Find the comparisons that rounded sums cannot be trusted with, from the rounding error that was measured.

Each caption's sum S over n tokens has an error that grows with sqrt(n). On a sample of rows read both ways, k is the
largest |error| / sqrt(n); times SAFETY it bounds the error of every row. Two captions of one candidate set whose margin
in any column is not larger than the sum of their two bounds, each divided by the caption's own length, are read again
in fp32. Ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.language.rows import Row

SAMPLE = 128
SAFETY = 1.5


class Entry(NamedTuple):
    """Hold one caption of a candidate set.

    Attributes:
        key: Content key of its row.
        total: Sum of its log-probabilities in nats, rounded.
        scored: Tokens that were scored.
        lengths: What the sum is divided by, one number per column.
    """

    key: str
    total: float
    scored: int
    lengths: tuple[int, ...]


def sample(rows: Sequence[Row]) -> list[Row]:
    """Return up to SAMPLE rows spread evenly over lengths; the same for the same rows in any order.

    Args:
        rows: Distinct rows.
    """
    order = sorted(rows, key=lambda row: (row.scored, row.key))
    places = np.unique(np.linspace(0, len(order) - 1, num=min(SAMPLE, len(order))).round().astype(int))
    return [order[place] for place in places]


def bound(rounded: NDArray[np.float64], exact: NDArray[np.float64], scored: Sequence[int]) -> float:
    """Return SAFETY times the largest error per square root of a token, in nats; infinite if one is not finite.

    Args:
        rounded: Sums [n] as they were read with rounded products.
        exact: Sums [n] of the same rows in fp32.
        scored: Tokens of each row.

    >>> bound(np.array([-10.2, -20.0]), np.array([-10.0, -20.1]), [4, 25])  # .2 / 2 = .1 and .1 / 5 = .02
    0.15
    """
    errors = np.abs(rounded - exact) / np.sqrt(scored)
    return round(SAFETY * float(np.max(np.where(np.isfinite(errors), errors, np.inf))), 12)


def close(groups: Sequence[Sequence[Entry]], per_root: float) -> set[str]:
    """Return the keys of all captions that take part in a comparison within the bound.

    Args:
        groups: Candidate sets; captions without a finite sum must not be in them.
        per_root: Bound of an error per square root of a token, in nats.
    """
    found: set[str] = set()
    for group in groups:
        if len({entry.key for entry in group}) < 2:
            continue
        lengths = np.array([entry.lengths for entry in group], np.float64)  # [T, C]
        values = np.array([entry.total for entry in group])[:, None] / lengths
        errors = per_root * np.sqrt([entry.scored for entry in group])[:, None] / lengths
        margins = np.abs(values[:, None] - values[None])  # [T, T, C]
        near = np.any(margins <= errors[:, None] + errors[None], axis=2)
        np.fill_diagonal(near, val=False)
        found.update(group[place].key for place in np.flatnonzero(near.sum(axis=1)).tolist())
    return found
