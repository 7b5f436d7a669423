"""Apply corrections to wrong gold labels from a file of their own, never by position.

A correction names the content that it is for (query, captions, images), the captions that are right in the release,
and those that should be. Where the release says something else, nothing is changed and the run stops.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import files
from benchmarks.errors import InputError
from benchmarks.images import content_digest, exists
from benchmarks.schema import Benchmark, Card, Instance, Provenance

FIELDS = ("content", "row", "old", "new", "reason")


@dataclass(frozen=True, slots=True)
class Correction:
    """Correct the gold of one instance.

    Attributes:
        content: `content_key` of the instance.
        row: Where reports of the fault place it, counted from 0; checked if it is not None.
        old: Captions that the release holds for right.
        new: Captions that are right.
        reason: Why, with a source.
    """

    content: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    row: int | None = None
    reason: str = ""


def content_key(instance: Instance) -> str:
    """Return the SHA-256 of the query, the captions in any order, and the images (their bytes where they are there)."""
    images = [content_digest(image) if exists(image) else image.key for image in instance.images]
    parts = [instance.query, sorted(text or "" for text in instance.captions), images]
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


def read_corrections(path: Path) -> tuple[Correction, ...]:
    """Read corrections from a JSON list of objects.

    Raises:
        InputError: If the file is not that; the message names file, row and field.
    """
    values = files.read_json(path)
    if not isinstance(values, list):
        files.Spot(path).refuse("wrong type", got=values, expected="a JSON list of corrections")
    return tuple(_correction(value, files.Spot(path, f"row {number}")) for number, value in enumerate(values, 1))


class Corrected:
    """Yield a benchmark's instances with corrections applied.

    Raises:
        InputError: While iterating, if the old value of a correction is not what the release says, its row holds
            other content, or its content is nowhere.
    """

    def __init__(self, benchmark: Benchmark, corrections: Sequence[Correction]) -> None:
        self.card: Card = benchmark.card
        source = benchmark.provenance
        told = f"{len(corrections)} gold labels are corrected by an overlay."
        self.provenance: Provenance = dataclasses.replace(source, notices=(*source.notices, told))
        self._benchmark, self._corrections = benchmark, tuple(corrections)

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in the benchmark's order."""
        by_row = {item.row: item for item in self._corrections if item.row is not None}
        by_content = {item.content: item for item in self._corrections}
        pending = dict(by_content)
        for row, instance in enumerate(self._benchmark):
            key = content_key(instance)
            if row in by_row and by_row[row].content != key:
                raise _refusal(by_row[row], instance, row, "the row holds other content than the correction is for")
            if key in by_content:
                pending.pop(key, None)
                yield _apply(by_content[key], instance, row)
            else:
                yield instance
        for lost in pending.values():
            raise InputError("a correction fits no instance", where=f"content {lost.content[:12]}", got=str(lost.old))


def _apply(item: Correction, instance: Instance, row: int) -> Instance:
    if item.row is not None and item.row != row:
        raise _refusal(item, instance, row, f"the correction is for row {item.row}")
    if len(instance.images) != 1:
        raise _refusal(item, instance, row, "with several images it does not say which of them a caption matches")
    if set(_right(instance)) != set(item.old):
        raise _refusal(item, instance, row, "the release does not hold the old value")
    gold = np.array([[text in item.new for text in instance.captions]])
    return dataclasses.replace(instance, gold=gold)


def _refusal(item: Correction, instance: Instance, row: int, what: str) -> InputError:
    return InputError(
        f"a correction is refused: {what}",
        where=f"row {row} (counted from 0), instance {instance.id!r}",
        got=f"right in the release: {_right(instance)}",
        expected=f"right before the correction: {list(item.old)}",
        step="nothing was changed; find the instance by its content",
    )


def _right(instance: Instance) -> list[str | None]:
    """Return the captions that match some image."""
    return [text for t, text in enumerate(instance.captions) if instance.gold[:, t].any()]


def _correction(value: files.Json, spot: files.Spot) -> Correction:
    fields = files.need_object(value, spot)
    for name in fields.keys() - set(FIELDS):
        spot.at(name).refuse("unknown field", expected=", ".join(FIELDS))
    row = fields.get("row")
    if row is not None and (isinstance(row, bool) or not isinstance(row, int)):
        spot.at("row").refuse("wrong type", got=row, expected="a whole number counted from 0, or null")
    old, new = (_texts(fields, name, spot.at(name)) for name in ("old", "new"))
    reason = files.need_text(fields, "reason", spot)
    return Correction(files.need_text(fields, "content", spot), old, new, row, reason)


def _texts(fields: files.Json, name: str, spot: files.Spot) -> tuple[str, ...]:
    values = fields.get(name)
    if not isinstance(values, list) or not values:
        spot.refuse("wrong type", got=values, expected="a list of captions")
    return tuple(files.is_text(item, spot) for item in values)
