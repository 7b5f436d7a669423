"""Read what a card asks to be broken down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from benchmarks.errors import InputError, near

KEYS = ("tags", "gaps", "directions")
DIRECTION_KEYS = ("subsets", "words", "pairs")


@dataclass(frozen=True, slots=True)
class Directions:
    """Say which words are directions.

    Attributes:
        words: The spellings of each direction, in words of lower case.
        subsets: Subsets to read, each with rows of its own; empty reads all instances together.
        pairs: Which two directions make a pair; empty takes all that occur.
    """

    words: Mapping[str, tuple[str, ...]]
    subsets: tuple[str, ...] = ()
    pairs: frozenset[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Hold what a card asks.

    Attributes:
        tags: Tags whose values part every subset.
        gaps: Beginnings of two kinds of subsets to set against each other.
        directions: Words of direction, or None.
    """

    tags: tuple[str, ...] = ()
    gaps: tuple[tuple[str, str], ...] = ()
    directions: Directions | None = None


def read_breakdown(asked: Mapping[str, Any]) -> Breakdown:
    """Return what a card's `breakdown` asks.

    Raises:
        InputError: If a name is unknown or a value has another form than the package's page shows.

    >>> read_breakdown({"gaps": [["modify_", "swap_"]]}).gaps
    (('modify_', 'swap_'),)
    """
    _known(asked, KEYS, "breakdown")
    gaps = tuple(_texts(one, "breakdown.gaps", 2) for one in _list(asked.get("gaps", []), "breakdown.gaps"))
    found = asked.get("directions")
    return Breakdown(
        _texts(asked.get("tags", []), "breakdown.tags"),
        tuple((over, under) for over, under in gaps),
        None if found is None else _directions(found),
    )


def _directions(asked: Any) -> Directions:
    where = "breakdown.directions"
    if not isinstance(asked, Mapping):
        _refuse(where, asked, "words, and if wanted subsets and pairs")
    _known(asked, DIRECTION_KEYS, where)
    words = asked.get("words")
    if not isinstance(words, Mapping) or not words:
        _refuse(f"{where}.words", words, "spellings by direction: {on: [on], under: [under, below]}")
    spelt = {str(name): _texts(several, f"{where}.words") for name, several in words.items()}
    pairs = [_texts(one, f"{where}.pairs", 2) for one in _list(asked.get("pairs", []), f"{where}.pairs")]
    for name in (name for pair in pairs for name in pair):
        if name not in spelt:
            _unknown(name, tuple(spelt), f"{where}.pairs")
    subsets = _texts(asked.get("subsets", []), f"{where}.subsets")
    return Directions(spelt, subsets, frozenset(map(frozenset, pairs)))


def _known(asked: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    for key in asked:
        if key not in keys:
            _unknown(str(key), keys, where)


def _unknown(name: str, known: Sequence[str], where: str) -> NoReturn:
    expected, step = ", ".join(known), near(name, known)
    raise InputError("unknown name in a card", where=f"card, {where}", got=name, expected=expected, step=step)


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        _refuse(where, value, "a list")
    return list(value)


def _texts(value: Any, where: str, size: int = 0) -> tuple[str, ...]:
    found = _list(value, where)
    if not all(isinstance(one, str) and one for one in found) or (size and len(found) != size):
        _refuse(where, value, f"{size or 'any number of'} texts")
    return tuple(found)


def _refuse(where: str, value: Any, expected: str) -> NoReturn:
    raise InputError("wrong form in a card", where=f"card, {where}", got=repr(value)[:80], expected=expected)
