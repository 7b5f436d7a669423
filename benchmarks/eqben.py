"""Parse EqBen: lists of pairs (streamed), the nested lists of its video part, and the older flat annotation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import files, json_lists, release, sources
from benchmarks.errors import InputError, near
from benchmarks.schema import Card, Instance

GOLD = np.eye(2, dtype=bool)
SIDES = ("c0i0", "c0i1", "c1i0", "c1i1")


class Entry(NamedTuple):
    """One pair before it becomes an instance: its key, images and captions."""

    key: str
    images: tuple[str, str]
    captions: tuple[str, str]


class EqBen:
    """Yield EqBen, 2x2: image0 and caption0 are the base side, image1 and caption1 the foil side. Source: eqben.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the annotations.
        annotations: Names of the annotation files; all that are there are read.
        known: Names of the sub-sets: the first part of an image path.
        index: For the flat annotation, the file that says which four entries make up a pair: a JSON list of lists
            [c0i0, c0i1, c1i0, c1i1] of positions counted from 0.
        images: Folder, zip or tar that holds the sub-sets' folders; the annotations' folder by default.
        suffix: Suffix that replaces `.png` in image names (the light release holds jpg pictures); empty keeps it.
        subsets: Names of the sub-sets to read; None reads all.
    """

    def __init__(  # noqa: PLR0913 - one argument per option of the YAML
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        annotations: Sequence[str],
        known: Sequence[str],
        index: str | Path | None = None,
        images: str | Path | None = None,
        suffix: str = "",
        subsets: str | Sequence[str] | None = None,
    ) -> None:
        self._index, self._suffix = None if index is None else Path(index).expanduser(), suffix
        wanted = sources.Wanted(tuple(annotations), required=release.ANY)
        self._release = release.opened(card, root, wanted, images=images, pictures="", subsets=subsets, known=known)
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in the order of the files, or of the index."""
        for path in self._release.tables():
            entries = self._paired(path) if self._index is not None else _entries(path)
            for entry, spot in entries:
                subset = entry.images[0].partition("/")[0]
                if subset not in self._release.known:
                    known = self._release.known
                    spot.at("image0").refuse(
                        "unknown sub-set", got=subset, expected=", ".join(known), step=near(subset, known)
                    )
                if subset in self._release.subsets:
                    yield self._instance(entry, subset, spot)

    def _instance(self, entry: Entry, subset: str, spot: files.Spot) -> Instance:
        refs = tuple(
            self._release.image(self._renamed(name), spot.at(f"image{side}")) for side, name in enumerate(entry.images)
        )
        # Neighbouring frames of one video lie in one folder below the sub-set's.
        folders = entry.images[0].split("/")[1:-1]
        cluster = f"{subset}/{folders[0]}" if folders else ""
        return files.build(
            spot, lambda: Instance(f"{subset}:{entry.key}", refs, entry.captions, GOLD, subset=subset, cluster=cluster)
        )

    def _renamed(self, name: str) -> str:
        return name.removesuffix(".png") + self._suffix if self._suffix and name.endswith(".png") else name

    def _paired(self, path: Path) -> Iterator[tuple[Entry, files.Spot]]:
        """Yield the pairs that the index makes of a flat annotation, each checked to be a pair."""
        flat = [_flat(value, files.Spot(path, f"row {number}")) for number, value in json_lists.stream_list(path)]
        index = self._index or path
        for number, places in json_lists.stream_list(index):
            spot = files.Spot(index, f"row {number}")
            if (
                not isinstance(places, list)
                or len(places) != len(SIDES)
                or not all(_place(one, flat) for one in places)
            ):
                spot.refuse("not four positions", got=places, expected=f"{', '.join(SIDES)}, each 0 to {len(flat) - 1}")
            four = [flat[place] for place in places]
            images, captions = (four[0][0], four[1][0]), (four[0][1], four[2][1])
            square = [(image, caption) for caption in captions for image in images]
            if four != square or images[0] == images[1]:
                spot.refuse("the four entries are not two images and two captions", told=f"{four}"[:200])
            yield Entry(str(number - 1), images, captions), spot


def _entries(path: Path) -> Iterator[tuple[Entry, files.Spot]]:
    """Yield the pairs of a list, or of an object that nests video, subject and list."""
    if _starts_with_object(path):
        yield from _nested(files.read_json(path), files.Spot(path), "")
        return
    for number, value in json_lists.stream_list(path):
        yield _entry(value, str(number - 1), files.Spot(path, f"row {number}"))


def _starts_with_object(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def _nested(value: files.Json, spot: files.Spot, key: str) -> Iterator[tuple[Entry, files.Spot]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            whole = f"{key}/{name}" if key else str(name)
            yield from _nested(inner, files.Spot(spot.path, f"key {files.shown(whole)}"), whole)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            place = files.Spot(spot.path, f"{spot.row}, item {number + 1}" if spot.row else f"row {number + 1}")
            yield _entry(inner, f"{key}/{number}", place)
    else:
        spot.refuse("wrong type", got=value, expected="objects by video and subject, then a list of pairs")


def _entry(value: files.Json, key: str, spot: files.Spot) -> tuple[Entry, files.Spot]:
    row = files.need_object(value, spot, what="an object with image0, image1, caption0 and caption1")
    if "image0" not in row and {"image", "caption"} <= set(row):
        raise InputError(
            "this is the older flat annotation, which does not say which four entries make up a pair",
            where=str(spot),
            step="give benchmark.index=FILE, or take the annotation with image0, image1, caption0 and caption1",
        )
    images = files.need_text(row, "image0", spot), files.need_text(row, "image1", spot)
    return Entry(key, images, (_caption(row, "caption0", spot), _caption(row, "caption1", spot))), spot


def _caption(row: Mapping[str, files.Json], field: str, spot: files.Spot) -> str:
    """Return a caption; the video part holds lists, of which upstream reads the first."""
    value = row.get(field)
    if isinstance(value, list) and value:
        return files.is_text(value[0], spot.at(field))
    return files.need_text(row, field, spot)


def _flat(value: files.Json, spot: files.Spot) -> tuple[str, str]:
    row = files.need_object(value, spot, what="an object with image and caption")
    return files.need_text(row, "image", spot), files.need_text(row, "caption", spot)


def _place(value: files.Json, flat: Sequence[object]) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(flat)
