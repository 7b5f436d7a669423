"""Find the instance that each recorded row is about: by content, by id, or by position if that is asked for."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from audits.models.recorded.near_ids import alike
from audits.models.recorded.near_ids import hint as told_alike
from audits.statistics.outcomes import is_pairing
from benchmarks.errors import InputError, near
from benchmarks.recordings.entries import Entry
from benchmarks.schema import Instance, Shape

Way = Literal["auto", "content", "id", "position"]
WAYS: tuple[str, ...] = get_args(Way)
SHOWN = 3
OTHER_TEXT = "its id belongs to an instance with other captions"


@dataclass(frozen=True, slots=True)
class Target:
    """Hold what joining and reading need of one instance.

    Attributes:
        id: Its id.
        subset: Its subset.
        image: Name of its first image, without folders, or empty.
        captions: Its captions, those that match (the first image) first; empty where there are none.
        gold: Boolean [I, T].
        shape: (I, T).
    """

    id: str
    subset: str
    image: str
    captions: tuple[str, ...]
    gold: NDArray[np.bool_]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Joined:
    """Hold which instance each row is about.

    Attributes:
        place: Position of the instance by row, int64 [rows], -1 for none.
        way: How they were joined, in words.
        lost: Why a row is about none: number of rows by reason.
    """

    place: NDArray[np.int64]
    way: str
    lost: Mapping[str, int] = field(default_factory=dict)

    @property
    def found(self) -> int:
        """Return the number of rows that are about an instance."""
        return int((self.place >= 0).sum())


def targets(instances: Iterable[Instance]) -> list[Target]:
    """Return what joining needs of the instances, in order."""
    return [
        Target(one.id, one.subset, _file(one.images[0].key), ordered(one), one.gold, one.shape) for one in instances
    ]


def ordered(instance: Instance) -> tuple[str, ...]:
    """Return the captions as recorded files name them: those that match the first image first; empty without text."""
    matching = np.asarray(instance.gold[0])
    order = [*np.flatnonzero(matching).tolist(), *np.flatnonzero(~matching).tolist()]
    texts = [instance.captions[place] for place in order]
    return tuple(text for text in texts if text is not None) if None not in texts else ()


def join(entries: Sequence[Entry], instances: Sequence[Target], way: str, *, normalise: bool, where: str) -> Joined:
    """Join rows and instances.

    Args:
        entries: Recorded rows.
        instances: The instances of the run.
        way: `auto` takes content where the file has captions or images, and ids where that finds nothing or less.
        normalise: Whether captions are compared in lower case, with single blanks and without a final stop.
        where: The run, for messages.

    Raises:
        InputError: If the way is unknown or cannot be gone, or no row is about any instance.
    """
    if way not in WAYS:
        expected = ", ".join(WAYS)
        raise InputError("no such way to join", where=where, got=str(way), expected=expected, step=near(str(way), WAYS))
    if way == "position":
        return _by_position(entries, instances, where)
    book = _Book(entries, instances, normalise=normalise)
    tried = []
    if way != "id" and any(entry.captions or entry.image for entry in entries):
        tried.append(book.by_content())
    if way != "content":
        tried.append(book.by_id(strict=way == "auto"))
    best = max(tried, key=lambda joined: joined.found, default=None)
    if best is None or not best.found:
        raise _nothing(entries, instances, way, where)
    return best


def _by_position(entries: Sequence[Entry], instances: Sequence[Target], where: str) -> Joined:
    if len(entries) != len(instances):
        raise InputError(
            "rows can be joined by position only where there are as many as instances",
            where=where,
            got=f"{len(entries)} rows, {len(instances)} instances",
            step="join by content or id",
        )
    return Joined(np.arange(len(entries), dtype=np.int64), "by position, as asked")


class _Book:
    """Look up instances by content and by id."""

    def __init__(self, entries: Sequence[Entry], instances: Sequence[Target], *, normalise: bool) -> None:
        self.entries, self.instances, self.normalise = entries, instances, normalise
        subsets = {_words(name): name for name in {one.subset for one in instances if one.subset}}
        self.subset = [_subset(entry.subsets, subsets) for entry in entries]

    def by_content(self) -> Joined:
        """Join on captions and image, as far as the file has them, within the subset if the row tells it."""
        captions = any(entry.captions for entry in self.entries) and any(one.captions for one in self.instances)
        image = any(entry.image for entry in self.entries) and any(one.image for one in self.instances)
        index: dict[Hashable, list[int]] = defaultdict(list)
        if captions or image:
            for place, one in enumerate(self.instances):
                index[self._key(one, captions=captions, image=image)].append(place)
        keys = [[self._key(entry, captions=captions, image=image)] for entry in self.entries]
        named = [
            *(["subset"] if any(self.subset) else []),
            *(["image"] if image else []),
            *(["captions" + (", normalised" if self.normalise else "")] if captions else []),
        ]
        return self._join(index, keys, f"by content ({', '.join(named)})")

    def by_id(self, *, strict: bool) -> Joined:
        """Join on the id, alone or with the subset; if strict, rows whose captions differ are about something else."""
        index: dict[Hashable, list[int]] = defaultdict(list)
        for place, one in enumerate(self.instances):
            for key in {one.id, one.id.rpartition(":")[2]}:
                index[key].append(place)
        keys = []
        for entry, subset in zip(self.entries, self.subset, strict=True):
            keys.append([f"{subset}:{entry.name}", entry.name] if subset else [entry.name])
        joined = self._join(index, keys, "by id")
        return self._without_other_texts(joined) if strict else joined

    def _without_other_texts(self, joined: Joined) -> Joined:
        """Drop rows that have another text than the instance of their id."""
        place, lost = joined.place.copy(), dict(joined.lost)
        for row, (entry, found) in enumerate(zip(self.entries, joined.place.tolist(), strict=True)):
            target = self.instances[found]
            told = found >= 0 and bool(entry.captions) and bool(target.captions)
            if told and self._texts(entry.captions) != self._texts(target.captions):
                place[row] = -1
                lost[OTHER_TEXT] = lost.get(OTHER_TEXT, 0) + 1
        return Joined(place, joined.way, lost)

    def _join(self, index: Mapping[Hashable, list[int]], keys: Sequence[Sequence[Hashable]], way: str) -> Joined:
        place = np.full(len(self.entries), -1, dtype=np.int64)
        lost: dict[str, int] = defaultdict(int)
        for row, wanted in enumerate(keys):
            found = next((hits for key in wanted if (hits := index.get(key))), [])
            if self.subset[row]:
                found = [hit for hit in found if self.instances[hit].subset == self.subset[row]]
            if len(found) == 1:
                place[row] = found[0]
            else:
                lost["it fits several instances" if found else "it fits no instance"] += 1
        return Joined(place, way, dict(lost))

    def _key(self, one: Entry | Target, *, captions: bool, image: bool) -> Hashable:
        return (self._texts(one.captions) if captions else (), _file(one.image) if image else "")

    def _texts(self, captions: tuple[str, ...]) -> tuple[str, ...]:
        if not self.normalise:
            return captions
        return tuple(" ".join(text.lower().split()).rstrip(". ") for text in captions)


def _subset(hints: Sequence[str], by_name: Mapping[str, str]) -> str:
    """Return the subset that the first hint names which names any: as it is, or as a part of a file's name.

    >>> known = {"add_att": "add_att", "add_obj": "add_obj"}
    >>> _subset(("logits_add_att_log", "sugarcrepe"), known), _subset(("run1",), known)
    ('add_att', '')
    """
    for hint in hints:
        words = _words(hint)
        if words in by_name:
            return by_name[words]
        inside = [name for name in by_name if f"_{name}_" in f"_{words}_"]
        if inside:
            return by_name[max(inside, key=len)]
    return ""


def _words(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.lower()).strip("_")


def _file(key: str) -> str:
    return PurePosixPath(key.replace("\\", "/")).name


def _nothing(entries: Sequence[Entry], instances: Sequence[Target], way: str, where: str) -> InputError:
    def told(items: Sequence[Entry] | Sequence[Target]) -> str:
        return "; ".join(f"id {one.id!r}, captions {list(one.captions)!r}"[:120] for one in items[:SHOWN])

    near_ids = alike([one.name for one in entries], [one.id for one in instances])
    return InputError(
        "no recorded row is about any instance of this run",
        where=where,
        got=f"rows such as {told(entries)}",
        expected=f"instances such as {told(instances)}",
        step=(f"{told_alike(near_ids[0])}; " if near_ids else "")
        + "check that it is this benchmark's file; name the columns of id, subset, image, captions; "
        + ("or normalise=true" if way != "id" else "or join=content"),
    )


def is_square(target: Target) -> bool:
    """Return whether an instance is a 2x2 with one caption for each image."""
    return is_pairing(target.gold)
