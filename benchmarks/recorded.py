"""Let a recorded file stand alone: its rows become instances without text or images, where a release may not be had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import files, sources
from benchmarks.cells import MAX_TAG_LENGTH, tag_value
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.recordings import entries
from benchmarks.recordings.entries import Entry, Recording, unfolded
from benchmarks.recordings.roles import Chosen
from benchmarks.recordings.rows import Source
from benchmarks.schema import Card, Instance, Provenance

MAX_TAG_VALUES = 20


class _Key(NamedTuple):
    subset: str
    name: str


class Recorded:
    """Yield one instance per question that a recorded source holds.

    Ids are the file's own, with the subset in front; where it has none they are made of the content. A question that
    stands twice, asked in both orders of options, is one instance.

    Args:
        card: The `card:` mapping of the YAML.
        path: The file, folder or files; see `benchmarks.recordings.rows.collect`.
        root: Folder that a relative path starts from; the current one by default.
        layout: See `benchmarks.recordings.roles.assign`.
        columns: Likewise.

    Raises:
        InputError: For everything that is wrong with the file.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        path: Source | None = None,
        root: str | Path | None = None,
        *,
        layout: str = "auto",
        columns: Chosen | None = None,
    ) -> None:
        self.card = sources.card(card)
        if path is None:
            raise InputError(
                "benchmark=recorded needs a file", where="benchmark.path", got="null", step=self.card.how_to_get
            )
        if isinstance(path, str | Path):
            self.card = sources.titled(self.card, Path(path).name, instead="recorded scores")
        source = Path(root).expanduser() / path if root is not None and isinstance(path, str | Path) else path
        self._recording = entries.read(source, layout=layout, columns=columns, where="benchmark")
        self._questions = _questions(self._recording)
        self._tags = _tags(self._recording)
        notices = (
            "The instances were made of a recorded file: they have neither text nor images, and only what is recorded "
            "can be shown.",
            f"Columns were read as {self._recording.told}.",
        )
        self.provenance = Provenance("table", _location(source), files=self._recording.files, notices=notices)

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in the order of the file."""
        for key, entry in self._questions.items():
            yield files.build(entry.spot, lambda key=key, entry=entry: self._instance(key, entry))  # type: ignore[misc]

    def _instance(self, key: _Key, entry: Entry) -> Instance:
        gold = _gold(entry, self._recording)
        return Instance(
            f"{key.subset}:{key.name}" if key.subset else key.name,
            (ImageRef.absent(),) * gold.shape[0],
            (None,) * gold.shape[1],
            gold,
            subset=key.subset,
            cluster=entry.cluster or entry.image,
            tags={tag: value for tag in self._tags if (value := tag_value(entry.cells.get(tag)))},
        )


def _questions(recording: Recording) -> dict[_Key, Entry]:
    """Return the first row of every question.

    Raises:
        InputError: If one id stands for two rows that were not asked in different orders.
    """
    several = len(recording.files) > 1
    first: dict[_Key, Entry] = {}
    orders: dict[tuple[_Key, str], Entry] = {}
    for entry in recording.entries:
        key = _Key(_subset(entry, several=several), entry.name)
        before = orders.setdefault((key, entry.order), entry)
        if before is not entry:
            entry.spot.refuse(
                f"the id stands twice, first in {before.spot.row}",
                got=entry.name,
                step="name another column of ids: columns={id: COLUMN}",
            )
        first.setdefault(key, entry)
    return first


def _subset(entry: Entry, *, several: bool) -> str:
    """Return the row's own word for its subset; the file's name where each file holds one."""
    names = entry.subsets if several else [name for name in entry.subsets if name not in _outer(entry)]
    return next(iter(names), "")


def _outer(entry: Entry) -> set[str]:
    """Return the names of the file and its folders, which say nothing where there is one file."""
    path = entry.spot.path
    return {path.stem, *(parent.name for parent in path.parents)}


def _gold(entry: Entry, recording: Recording) -> NDArray[np.bool_]:
    """Return gold [I, T]: two pairs, or one question with as many options as are recorded."""
    roles = recording.roles
    if roles.square:
        return np.eye(2, dtype=bool)
    positives = foils = 1
    if roles.layout == "captions":
        if "positive" not in roles.by_role:
            entry.spot.at(roles.one("scores")).refuse(
                "a list of scores does not say which option is right",
                expected="columns for the scores of the right and of the wrong options",
                step="name them: columns={positive: COLUMN, negative: COLUMN}",
            )
        positives, foils = (_count(entry, roles.by_role[role]) for role in ("positive", "negative"))
    elif len(entry.captions) > 2:
        foils = len(entry.captions) - 1
    return np.arange(positives + foils)[None, :] < positives


def _count(entry: Entry, columns: tuple[str, ...]) -> int:
    cells = [unfolded(entry.cells.get(column)) for column in columns]
    return sum(len(cell) if isinstance(cell, list) else 1 for cell in cells)


def _tags(recording: Recording) -> tuple[str, ...]:
    """Return the other columns of text that hold few distinct values."""
    used = {name for names in recording.roles.by_role.values() for name in names}
    seen: dict[str, set[str] | None] = {}
    for entry in recording.entries:
        for name, cell in entry.cells.items():
            values = seen.setdefault(name, set() if name and name not in used else None)
            if values is None or cell is None:
                continue
            if not isinstance(cell, str) or len(cell) > MAX_TAG_LENGTH or _is_number(cell):
                seen[name] = None
            elif cell.strip():
                values.add(cell)
                seen[name] = values if len(values) <= MAX_TAG_VALUES else None
    return tuple(name for name, values in seen.items() if values and len(values) > 1)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _location(source: Source) -> str:
    return str(source) if isinstance(source, str | Path) else str(list(source))[:200]
