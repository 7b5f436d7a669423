"""Decide between captions in the cheapest way that can be trusted, and read again what it cannot decide.

Captions are read in ways of rising precision, the last of them in fp32. Two captions of one candidate set, of n and m
tokens and divided by the lengths N and M of a column, have a margin whose rounding error grows with
sqrt(n / N^2 + m / M^2), its scale. Of each way, a sample of pairs is read in the next better way too; the largest
|difference of margins| / scale over pairs and columns, times a factor, bounds the error of this way against the next,
and the sum of the bounds from here on its error against fp32. A set with a margin within that bound is read again, as a
whole, in the next way, and so on. What was read again is evidence too, and of the kind that counts, for its margins are
small: bounds are taken anew over all that was read both ways, until nothing new is doubted.

Errors of margins, not of sums: what two captions share (their beginning, and the loss that rounding costs on average)
does not decide between them. So the captions of one set are compared as read in one way, the best in which it was read.
The bounds are measured and not proven. Ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Sampled(NamedTuple):
    """Say how the error of a way is measured.

    Attributes:
        pairs: Pairs that are read in the next way to begin with.
        factor: What the largest error that was seen is multiplied by.
    """

    pairs: int
    factor: float


# The first way decides most, and its errors have a long tail: many pairs. The errors of later ways are a hundred times
# smaller, so a wide factor costs nothing there.
FIRST, LATER = Sampled(64, 1.5), Sampled(16, 4.0)


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
    """Hold how candidate sets were decided.

    Attributes:
        totals: Sums of each way.
        levels: Place of the way that decides, per set.
        limits: Bound of a margin's error over its scale, in nats, per way but the last, against the last.
    """

    totals: list[dict[str, float]]
    levels: list[int]
    limits: list[float]


def settle(groups: Sequence[Group], ways: int, read: Callable[[int, set[str]], Totals]) -> Settled:
    """Read what is needed to decide each candidate set as the last way would.

    Args:
        groups: Candidate sets.
        ways: How many ways there are, in rising precision.
        read: Gives the sums of captions, by key, in the way at that place.
    """
    wanted: list[set[str]] = [set() for _ in range(ways)]
    wanted[0] = {entry.key for group in groups for entry in group}
    chosen = groups
    for way in range(1, ways):
        chosen = sample(chosen, (FIRST if way == 1 else LATER).pairs)
        wanted[way] = {entry.key for pair in chosen for entry in pair}
    found = Settled([{} for _ in range(ways)], [0] * len(groups), [])
    while any(wanted):
        for way, keys in enumerate(wanted):
            if keys:
                found.totals[way].update(read(way, keys))
        found.limits[:] = _limits(groups, found.totals)
        wanted = [keys - known.keys() for keys, known in zip(_doubted(groups, found), found.totals, strict=True)]
    return found


def _limits(groups: Sequence[Group], totals: Sequence[Totals]) -> list[float]:
    """Return the bound of each way but the last against the last."""
    steps = [
        bound(groups, rough, better, (LATER if way else FIRST).factor)
        for way, (rough, better) in enumerate(pairwise(totals))
    ]
    return [sum(steps[way:]) for way in range(len(steps))]


def _doubted(groups: Sequence[Group], found: Settled) -> list[set[str]]:
    """Raise the level of doubted sets as far as they have been read, and return the keys that each way must know."""
    keys: list[set[str]] = [set() for _ in found.totals]
    for place, group in enumerate(groups):
        level = found.levels[place]
        while level < len(found.limits) and is_close(group, found.totals[level], found.limits[level]):
            level += 1
            keys[level].update(entry.key for entry in group)
            if any(entry.key not in found.totals[level] for entry in group):
                break
        found.levels[place] = level
    return keys


def margins(group: Group, totals: Totals) -> Margins:
    """Return margins and their scales."""
    lengths = np.array([entry.lengths for entry in group], np.float64)
    values = np.array([totals[entry.key] for entry in group])[:, None] / lengths
    squares = np.array([entry.scored for entry in group])[:, None] / lengths**2
    return Margins(values[:, None] - values[None], np.sqrt(squares[:, None] + squares[None]))


def sample(groups: Sequence[Group], count: int) -> list[Group]:
    """Return up to so many pairs, one of a candidate set, spread evenly over lengths; the same for any order.

    Args:
        groups: Candidate sets.
        count: Most pairs.
    """
    distinct = (sorted({entry.key: entry for entry in group}.values(), key=_place) for group in groups)
    pairs = {(group[0].key, group[-1].key): (group[0], group[-1]) for group in distinct if len(group) > 1}
    order = sorted(pairs.values(), key=lambda pair: (pair[0].scored + pair[1].scored, pair[0].key, pair[1].key))
    places = np.unique(np.linspace(0, len(order) - 1, num=min(count, len(order))).round().astype(int))
    return [order[place] for place in places.tolist()]


def _place(entry: Entry) -> tuple[int, str]:
    return entry.scored, entry.key


def bound(groups: Sequence[Group], rough: Totals, better: Totals, factor: float) -> float:
    """Return the largest error of a margin over its scale, times a factor, in nats; infinite if one is not finite.

    Args:
        groups: Candidate sets.
        rough: Sums in one way; what is not finite there is left out, as it is doubted in any case.
        better: Sums in a better way, as far as they are known.
        factor: What to multiply by.
    """
    worst = 0.0
    for group in groups:
        known = [entry for entry in group if entry.key in better and np.isfinite(rough.get(entry.key, np.nan))]
        if len(known) < 2:
            continue
        one, other = margins(known, rough), margins(known, better)
        errors = np.abs(one.values - other.values) / one.scales
        worst = max(worst, float(np.max(np.where(np.isfinite(errors), errors, np.inf))))
    return factor * worst


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
