"""Find the comparisons that rounded sums cannot be trusted with, from the error of margins that was measured.

Two captions of one candidate set, of n and m tokens and divided by the lengths N and M of a column, have a margin whose
rounding error grows with sqrt(n / N^2 + m / M^2), its scale. A sample of pairs is read both ways; k is the largest
|error of a margin| / scale over pairs and columns, and SAFETY times k bounds the error of every margin. A margin within
its bound is doubted: both captions are read again in fp32. They then are evidence too, and of the kind that counts, for
their margins are small: k is taken anew over all that was read both ways, until nothing new is doubted. Errors of
margins, not of sums: what two captions share (their beginning, and the loss that rounding costs on average) does not
decide between them. Ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PAIRS = 64
SAFETY = 1.25


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


Group = Sequence[Entry]


class Margins(NamedTuple):
    """Hold what can be said of every two captions of one candidate set of T, per column C.

    Attributes:
        values: Margins [T, T, C].
        scales: What their errors grow with [T, T, C].
    """

    values: NDArray[np.float64]
    scales: NDArray[np.float64]


def margins(group: Group) -> Margins:
    """Return margins and their scales."""
    lengths = np.array([entry.lengths for entry in group], np.float64)
    values = np.array([entry.total for entry in group])[:, None] / lengths
    squares = np.array([entry.scored for entry in group])[:, None] / lengths**2
    return Margins(values[:, None] - values[None], np.sqrt(squares[:, None] + squares[None]))


def sample(groups: Sequence[Group]) -> list[Group]:
    """Return up to PAIRS pairs, one of a candidate set, spread evenly over lengths; the same for any order.

    Args:
        groups: Candidate sets.
    """
    distinct = (sorted({entry.key: entry for entry in group}.values(), key=_place) for group in groups)
    pairs = {(group[0].key, group[-1].key): (group[0], group[-1]) for group in distinct if len(group) > 1}
    order = sorted(pairs.values(), key=lambda pair: (pair[0].scored + pair[1].scored, pair[0].key, pair[1].key))
    places = np.unique(np.linspace(0, len(order) - 1, num=min(PAIRS, len(order))).round().astype(int))
    return [order[place] for place in places.tolist()]


def _place(entry: Entry) -> tuple[int, str]:
    return entry.scored, entry.key


def bound(groups: Sequence[Group], exact: Mapping[str, float]) -> float:
    """Return SAFETY times the largest error of a margin over its scale, in nats; infinite if one is not finite.

    Args:
        groups: Candidate sets as they were read with rounded products.
        exact: Sums in fp32 by key, as far as they are known.
    """
    worst = 0.0
    for group in groups:
        known = [entry for entry in group if entry.key in exact]
        if len(known) < 2:
            continue
        rounded = margins(known)
        right = margins([entry._replace(total=exact[entry.key]) for entry in known])
        errors = np.abs(rounded.values - right.values) / rounded.scales
        worst = max(worst, float(np.max(np.where(np.isfinite(errors), errors, np.inf))))
    return SAFETY * worst


def close(groups: Sequence[Group], limit: float) -> set[str]:
    """Return the keys of all captions that take part in a comparison within its bound.

    Args:
        groups: Candidate sets; captions without a finite sum must not be in them.
        limit: Bound of a margin's error over its scale, in nats.
    """
    found: set[str] = set()
    for group in groups:
        distinct = list({entry.key: entry for entry in group}.values())
        if len(distinct) < 2:
            continue
        known = margins(distinct)
        near = np.any(np.abs(known.values) <= limit * known.scales, axis=2)
        np.fill_diagonal(near, val=False)
        found.update(distinct[place].key for place in np.flatnonzero(near.any(axis=1)).tolist())
    return found
