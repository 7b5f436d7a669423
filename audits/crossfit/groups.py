"""Spread the instances of a subset over folds so that nothing that two of them share lies in two folds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from benchmarks.schema import Instance

_OTHER = re.compile(r"[^a-z0-9]+")
_OTHER_UNICODE = re.compile(r"[\W_]+")


def same_caption(text: str) -> str:
    """Return the form in which two captions count as the same one: lower case, words and numbers, single blanks.

    Text with letters beyond ASCII keeps them: otherwise all captions in some scripts would be one.

    >>> same_caption("A  dog!"), same_caption("一只狗。")
    ('a dog', '一只狗')
    """
    foreign = any(not letter.isascii() and letter.isalnum() for letter in text)
    lowered = text.casefold() if foreign else text.lower()
    return (_OTHER_UNICODE if foreign else _OTHER).sub(" ", lowered).strip()


def shared(instance: Instance) -> set[tuple[str, str]]:
    """Return what an instance may share with others: its images, and its captions as `same_caption` gives them."""
    images = {("image", image.key) for image in instance.images if not image.is_absent}
    return images | {("caption", same_caption(text)) for text in instance.captions if text is not None}


def connected(instances: Sequence[Instance]) -> list[list[int]]:
    """Return groups of positions, connected through any image or caption, each group ascending.

    Groups come in the order of their smallest id, so the order of the instances does not matter.
    """
    parent = list(range(len(instances)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first: dict[tuple[str, str], int] = {}
    for place, instance in enumerate(instances):
        for key in shared(instance):
            parent[root(place)] = root(first.setdefault(key, place))
    groups: dict[int, list[int]] = {}
    for place in range(len(instances)):
        groups.setdefault(root(place), []).append(place)
    return sorted(groups.values(), key=lambda group: _name(group, instances))


def folds(instances: Sequence[Instance], groups: Sequence[Sequence[int]], *, k: int, seed: int) -> list[list[int]]:
    """Return the positions in each of at most k folds, balanced in instances; no group in two folds.

    The largest group is placed first, each in the fold that holds the fewest instances; among equals the seed decides.

    Args:
        instances: Instances of one subset.
        groups: As `connected` gives them.
        k: Folds wanted; there are no more than groups.
        seed: Of the spread.

    Raises:
        RuntimeError: If two folds share an image or a caption (a fault of ours).
    """
    made: list[list[int]] = [[] for _ in range(min(k, len(groups)))]

    def drawn(group: Sequence[int]) -> bytes:
        return hashlib.sha256(f"{seed}\0{_name(group, instances)}".encode()).digest()

    for group in sorted(groups, key=lambda one: (-len(one), drawn(one))):
        min(made, key=len).extend(group)
    _refuse_overlap([{key for place in fold for key in shared(instances[place])} for fold in made])
    return [sorted(fold) for fold in made]


def _refuse_overlap(keys: Sequence[set[tuple[str, str]]]) -> None:
    """Refuse folds that share anything: a fitted model would be tested on what it saw."""
    if sum(map(len, keys)) != len(set().union(*keys)):
        raise RuntimeError("two folds share an image or a caption")


def _name(group: Sequence[int], instances: Sequence[Instance]) -> str:
    return min(instances[place].id for place in group)
