"""Decide between captions by rounded sums where they can be trusted, and by fp32 where they cannot.

Two captions of one candidate set, of n and m tokens and divided by the lengths N and M of a column, have a margin whose
rounding error grows with sqrt(n / N^2 + m / M^2), its scale. A sample of pairs is read both ways; SAFETY times the
largest |error of a margin| / scale over pairs and columns bounds the error of every margin. A set with a margin within
its bound is read again in fp32, as a whole. What was read again is evidence too, and of the kind that counts, for its
margins are small: the bound is taken anew over all that was read both ways, until nothing new is doubted.

Errors of margins, not of sums: what two captions share (their beginning, and the loss that rounding costs on average)
does not decide between them. So the captions of one set are compared as read in one way. The bound is measured and not
proven: on 2,000 captions of SugarCrepe under SmolLM2-135M it is three times the largest margin that rounding turned.
Ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PAIRS = 32
SAFETY = 1.5


class Entry(NamedTuple):
    """Hold one caption of a candidate set.

    Attributes:
        key: Content key of its row.
        scored: Tokens that were scored.
        lengths: What the sum is divided by, one number per column.
    """

    key: str
    scored: int
    lengths: tuple[int, ...]


Group = Sequence[Entry]
Totals = Mapping[str, float]  # sums of log-probabilities in nats, by key


class Margins(NamedTuple):
    """Hold what can be said of every two captions of one candidate set of T, per column C.

    Attributes:
        values: Margins [T, T, C].
        scales: What their errors grow with [T, T, C].
    """

    values: NDArray[np.float64]
    scales: NDArray[np.float64]


class Settled(NamedTuple):
    """Hold what was read again.

    Attributes:
        exact: Sums in fp32 by key.
        limit: Bound of a margin's error over its scale, in nats.
    """

    exact: dict[str, float]
    limit: float


def settle(groups: Sequence[Group], rough: Totals, read: Callable[[set[str]], Totals]) -> Settled:
    """Read again what is needed to decide each candidate set as fp32 would.

    Args:
        groups: Candidate sets.
        rough: Rounded sums of all captions.
        read: Gives sums in fp32, by key.
    """
    exact: dict[str, float] = {}
    wanted = {entry.key for pair in sample(groups) for entry in pair}
    while True:
        if wanted:
            exact |= read(wanted)
        limit = bound(groups, rough, exact)
        doubted = (group for group in groups if is_close(group, rough, limit))
        wanted = {entry.key for group in doubted for entry in group} - exact.keys()
        if not wanted:
            return Settled(exact, limit)


def margins(group: Group, totals: Totals) -> Margins:
    """Return margins and their scales."""
    lengths = np.array([entry.lengths for entry in group], np.float64)
    values = np.array([totals[entry.key] for entry in group])[:, None] / lengths
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


def bound(groups: Sequence[Group], rough: Totals, exact: Totals) -> float:
    """Return SAFETY times the largest error of a margin over its scale, in nats; infinite if one is not finite.

    Args:
        groups: Candidate sets.
        rough: Rounded sums; what is not finite there is left out, as it is doubted in any case.
        exact: Sums in fp32, as far as they are known.
    """
    worst = 0.0
    for group in groups:
        known = [entry for entry in group if entry.key in exact and np.isfinite(rough.get(entry.key, np.nan))]
        if len(known) < 2:
            continue
        one, other = margins(known, rough), margins(known, exact)
        errors = np.abs(one.values - other.values) / one.scales
        worst = max(worst, float(np.max(np.where(np.isfinite(errors), errors, np.inf))))
    return SAFETY * worst


def is_close(group: Group, totals: Totals, limit: float) -> bool:
    """Return whether a candidate set has a comparison within its bound, or a sum that is not finite.

    Args:
        group: Captions of one set.
        totals: Sums, of all of them.
        limit: Bound of a margin's error over its scale, in nats.
    """
    distinct = list({entry.key: entry for entry in group}.values())
    if not all(np.isfinite(totals[entry.key]) for entry in distinct):
        return True
    if len(distinct) < 2:
        return False
    known = margins(distinct, totals)
    near = np.any(np.abs(known.values) <= limit * known.scales, axis=2)
    return int(near.sum()) > len(distinct)  # each is near itself
