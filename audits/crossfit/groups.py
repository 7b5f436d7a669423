"""Spread the instances of a subset over folds so that nothing that two of them share lies in two folds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence, Set

from benchmarks.schema import Instance

Key = tuple[str, str]
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


def shared(instance: Instance) -> frozenset[Key]:
    """Return what an instance may share with others: its images, and its captions as `same_caption` gives them."""
    images = {("image", image.key) for image in instance.images if not image.is_absent}
    return frozenset(images | {("caption", same_caption(text)) for text in instance.captions if text is not None})


def connected(keys: Sequence[Set[Key]]) -> list[list[int]]:
    """Return groups of positions, connected through any image or caption, each group ascending.

    Args:
        keys: What each instance may share, as `shared` gives it.
    """
    parent = list(range(len(keys)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first: dict[Key, int] = {}
    for place, own in enumerate(keys):
        for key in own:
            parent[root(place)] = root(first.setdefault(key, place))
    groups: dict[int, list[int]] = {}
    for place in range(len(keys)):
        groups.setdefault(root(place), []).append(place)
    return list(groups.values())


def folds(ids: Sequence[str], groups: Sequence[Sequence[int]], *, k: int, seed: int) -> list[list[int]]:
    """Return the positions in each of at most k folds, balanced in instances; no group in two folds.

    The largest group is placed first, each in the fold that holds the fewest instances; among equals the seed and the
    smallest id of each decide, so the order of instances does not matter.

    Args:
        ids: Ids of the instances of one subset.
        groups: As `connected` gives them.
        k: Folds wanted; there are no more than groups.
        seed: Of the spread.
    """
    made: list[list[int]] = [[] for _ in range(min(k, len(groups)))]

    def drawn(group: Sequence[int]) -> bytes:
        return hashlib.sha256(f"{seed}\0{min(ids[place] for place in group)}".encode()).digest()

    for group in sorted(groups, key=lambda one: (-len(one), drawn(one))):
        min(made, key=len).extend(group)
    return [sorted(fold) for fold in made]


def refuse_overlap(keys: Sequence[Set[Key]], made: Sequence[Sequence[int]]) -> None:
    """Refuse folds that share an image or a caption: a fitted model would be tested on what it saw.

    Args:
        keys: What each instance may share.
        made: Positions in each fold.

    Raises:
        RuntimeError: If two folds share anything (a fault of ours).
    """
    held: list[set[Key]] = [set().union(*(keys[place] for place in fold)) for fold in made]
    if sum(map(len, held)) != len(set().union(*held)):
        raise RuntimeError("two folds share an image or a caption")
