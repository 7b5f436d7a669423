"""The questions that a prompted model is asked of an instance, each in every order of its options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from audits.models.schema import Direction, Question
from audits.models.squares import I2T, T2I, Name
from audits.models.squares import comparison as comparison_of
from audits.scoring import option_order
from audits.statistics.outcomes import is_pairing
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Instance

LINE = "line"
"""Name of the only question of an instance with one image, or with one caption."""


class Posed(NamedTuple):
    """Hold one question in one order, and what is needed to read the answer.

    Attributes:
        place: Position of the instance.
        name: Which of the instance's questions it is: `line`, or one of the four of a 2x2.
        order: `ab` where the base side's option (a line: the matching one) stands first, `ba` where second; with more
            options at which place the matching one stands (`2of5`).
        shown: Places in the release of the options as shown.
        right: Place in the release of the right option.
        comparison: As `statistics.comparisons` names it.
        question: What the model is told.
    """

    place: int
    name: str
    order: str
    shown: tuple[int, ...]
    right: int
    comparison: str
    question: Question


def posed(instances: Iterable[Instance], *, is_blind: bool, seed: int) -> Iterator[Posed]:
    """Yield every question in every order, in the order of the instances.

    Args:
        instances: The benchmark.
        is_blind: Whether the model is shown no image: it is then asked for captions only.
        seed: Of the order that the rotations start from.

    Raises:
        InputError: If an instance has no text, or is none that one answer settles.
    """
    for place, one in enumerate(instances):
        if None in one.captions:
            raise InputError(
                "an instance without text cannot be put into words",
                where=f"instance {one.id!r}",
                step="leave out the prompted models on this benchmark",
            )
        yield from (
            _square(place, one, seed, is_blind=is_blind)
            if is_pairing(one.gold)
            else _line(place, one, seed, is_blind=is_blind)
        )


def _square(place: int, one: Instance, seed: int, *, is_blind: bool) -> Iterator[Posed]:
    """Yield the four questions of a 2x2; the order of captions is the same for both images, and the other way round."""
    names: tuple[Name, ...] = I2T if is_blind else (*I2T, *T2I)
    base = one.gold.argmax(axis=1).tolist()  # the caption of each image
    for name in names:
        side = 0 if name.endswith("base") else 1
        direction: Direction = "i2t" if name in I2T else "t2i"
        given, right = (side, base[side]) if direction == "i2t" else (base[side], side)
        # Which option counts as the base side's: the base caption, or the base image.
        first = base[0] if direction == "i2t" else 0
        for shown in _orders(one, direction, seed):
            order = "ab" if shown[0] == first else "ba"
            asked = _question(one, direction, given, shown)
            yield Posed(place, name, order, shown, right, comparison_of(name, one), asked)


def _line(place: int, one: Instance, seed: int, *, is_blind: bool) -> Iterator[Posed]:
    """Yield the question of an instance with one image or one caption."""
    images, captions = one.shape
    if 1 not in one.shape or int(one.gold.sum()) != 1:
        raise InputError(
            "a prompted model picks one option, and this instance has no question that one pick settles",
            where=f"instance {one.id!r}",
            got=f"{images} images, {captions} captions, {int(one.gold.sum())} matching pairs",
            expected="one image and captions of which one matches, one caption and images likewise, or a 2x2",
            step="leave out the prompted models on this benchmark",
        )
    direction: Direction = "i2t" if images == 1 else "t2i"
    if is_blind and direction == "t2i":
        return  # without the images nothing is left to choose between
    right = int(np.flatnonzero(one.gold.ravel())[0])
    for shown in _orders(one, direction, seed):
        order = _order(shown, right)
        name = "image0" if direction == "i2t" else "caption0"
        yield Posed(place, LINE, order, shown, right, name, _question(one, direction, 0, shown))


def _orders(one: Instance, direction: Direction, seed: int) -> list[tuple[int, ...]]:
    """Return every rotation of an order that says nothing: with two options, both orders."""
    axis, count = ("caption", len(one.captions)) if direction == "i2t" else ("image", len(one.images))
    start = option_order(seed, one.id, axis, count)
    return [tuple(start[turn:] + start[:turn]) for turn in range(count)]


def _order(shown: tuple[int, ...], right: int) -> str:
    at = shown.index(right)
    return ("ab", "ba")[at] if len(shown) == 2 else f"{at + 1}of{len(shown)}"


def orders_of(one: Instance) -> tuple[str, ...]:
    """Return the names of the orders in which a line instance is asked."""
    count = max(one.shape)
    return ("ab", "ba") if count == 2 else tuple(f"{place + 1}of{count}" for place in range(count))


def _question(one: Instance, direction: Direction, given: int, shown: tuple[int, ...]) -> Question:
    captions = tuple(str(caption) for caption in one.captions)
    if direction == "i2t":
        return Question(direction, one.images[given], tuple(captions[place] for place in shown), one.query)
    images: tuple[ImageRef, ...] = tuple(one.images[place] for place in shown)
    return Question(direction, captions[given], images, one.query)
