"""Find the word of direction in which two captions differ, or that stands between what they exchange."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audits.breakdown.spec import Directions
from audits.statistics.outcomes import is_pairing
from benchmarks.schema import Instance

_WORD = re.compile(r"[a-z0-9']+")


class Named(NamedTuple):
    """Hold the direction of the base caption and that of the foil caption; both empty where none was found."""

    base: str
    foil: str


@dataclass(frozen=True, slots=True, eq=False)
class Named2x2:
    """Hold the directions of n instances.

    Attributes:
        base: Direction told by the caption of the base side [n], or empty.
        foil: Direction told by the other caption [n].
    """

    base: NDArray[np.str_]
    foil: NDArray[np.str_]


def named(instances: Iterable[Instance], asked: Directions) -> Named2x2:
    """Return the directions of every instance; empty where it is no 2x2 pairing, or its pair is not asked for."""
    found = [_of_instance(instance, asked) for instance in instances]
    return Named2x2(np.array([one.base for one in found], dtype=str), np.array([one.foil for one in found], dtype=str))


def _of_instance(instance: Instance, asked: Directions) -> Named:
    captions = instance.captions
    if not is_pairing(instance.gold) or (asked.subsets and instance.subset not in asked.subsets):
        return Named("", "")
    base = int(instance.gold[0].argmax())
    first, second = captions[base], captions[1 - base]
    found = Named("", "") if first is None or second is None else directions(first, second, asked.words)
    wanted = not asked.pairs or frozenset(found) in asked.pairs
    return found if wanted else Named("", "")


def directions(base: str, foil: str, words: Mapping[str, tuple[str, ...]]) -> Named:
    """Return the direction of each caption.

    Only the part in which the captions differ counts, from its first to its last differing word: a direction is one
    whose spelling shares a word with that part, or lies within it. A caption must have exactly one, else both are
    empty.

    Args:
        base: A caption.
        foil: The other caption.
        words: Spellings by direction; where one spelling holds another, the longer counts.

    >>> spelt = {"on": ("on",), "left of": ("to the left of",), "right of": ("to the right of",)}
    >>> directions("a mug on the table", "a mug to the left of the table", spelt)
    Named(base='on', foil='left of')
    >>> directions("a mug to the left of a vase", "a vase to the left of a mug", spelt)
    Named(base='left of', foil='left of')
    """
    first, second = (_WORD.findall(text.lower()) for text in (base, foil))
    ahead = _same(first, second)
    behind = _same(first[ahead:][::-1], second[ahead:][::-1])
    found = [_one(text, ahead, len(text) - behind, words) for text in (first, second)]
    return Named(*found) if all(found) else Named("", "")


def _same(first: list[str], second: list[str]) -> int:
    """Return how many words are the same from the start."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


def _one(text: list[str], start: int, stop: int, words: Mapping[str, tuple[str, ...]]) -> str:
    """Return the only direction of the words from `start` to `stop`, or an empty string."""
    places = sorted(
        ((at, at + len(spelling), name) for name, several in words.items() for at, spelling in _spelt(text, several)),
        key=lambda place: (place[0] - place[1], place[0]),
    )
    taken: set[int] = set()
    names = set()
    for first, last, name in places:
        if not taken.isdisjoint(range(first, last)):
            continue
        taken.update(range(first, last))
        if first < stop and last > start:
            names.add(name)
    return names.pop() if len(names) == 1 else ""


def _spelt(text: list[str], several: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    """Return where the spellings of a direction begin, with their words."""
    found = []
    for spelling in (one.split() for one in several):
        ends = range(len(text) - len(spelling) + 1)
        found += [(at, spelling) for at in ends if text[at : at + len(spelling)] == spelling]
    return found
