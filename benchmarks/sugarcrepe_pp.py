"""Parse SugarCrepe++: a caption, a second one that says the same, and one foil; five subsets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import files, json_lists, release, sources
from benchmarks.errors import InputError, near
from benchmarks.images import ImageRef
from benchmarks.schema import Card, Instance

READINGS = ("itt", "tot")
TEXTS = ("caption", "caption2", "negative_caption")
FIELDS = ("id", "filename", *TEXTS)
BOTH = np.array([[True, True, False]])
ONE = np.array([[True, False]])


class Item(NamedTuple):
    """One row: its id, image and three texts."""

    key: str
    subset: str
    filename: str
    texts: tuple[str, str, str]


class SugarCrepePlus:
    """Yield SugarCrepe++ in one of its two readings. Source: sugarcrepepp.

    `itt`, 1x3 with two positives: both captions above the foil for the image. `tot`, two 1x2 questions per item without
    image: after one caption, the other one above the foil; upstream counts an item where both are right.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds `<subset>.json`, or its parent.
        reading: `itt` or `tot`.
        images: Folder, zip or tar of COCO val2017; `images` beside the files by default.
        subsets: Names of the subsets to read; None reads all.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        reading: str = "itt",
        images: str | Path | None = None,
        subsets: str | Sequence[str] | None = None,
    ) -> None:
        if reading not in READINGS:
            expected = ", ".join(READINGS)
            raise InputError("unknown reading", where="benchmark.reading", got=str(reading), expected=expected)
        self._reading = reading
        chosen = sources.choose(subsets, tuple(sources.card(card).expected), option="benchmark.subsets")
        wanted = sources.Wanted(tuple(f"{name}.json" for name in chosen), "data")
        self._release = release.opened(card, root, wanted, images=images, subsets=subsets)
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances by subset, in the order of the files."""
        for subset in self._release.subsets:
            for number, value in json_lists.stream_list(self._release.file(f"{subset}.json")):
                spot = files.Spot(self._release.folder / f"{subset}.json", f"row {number}")
                item = _item(subset, value, spot)
                yield from self._itt(item, spot) if self._reading == "itt" else _tot(item, spot)

    def _itt(self, item: Item, spot: files.Spot) -> Iterator[Instance]:
        image = self._release.image(item.filename, spot.at("filename"))
        yield files.build(
            spot,
            lambda: Instance(item.key, (image,), item.texts, BOTH, subset=item.subset, cluster=item.filename),
        )


def _tot(item: Item, spot: files.Spot) -> Iterator[Instance]:
    first, second, foil = item.texts
    for name, query, other in (("caption", first, second), ("caption2", second, first)):
        yield files.build(
            spot,
            lambda name=name, query=query, other=other: Instance(  # type: ignore[misc]
                f"{item.key}:{name}",
                (ImageRef.absent(),),
                (other, foil),
                ONE,
                query=query,
                subset=item.subset,
                cluster=item.filename,
                group=item.key,
            ),
        )


def _item(subset: str, value: files.Json, spot: files.Spot) -> Item:
    row = files.need_object(value, spot, what=f"an object with {', '.join(FIELDS)}")
    for unknown in row.keys() - set(FIELDS):
        spot.at(unknown).refuse("unknown field", expected=", ".join(FIELDS), step=near(unknown, FIELDS))
    number = row.get("id")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 10**12:
        spot.at("id").refuse("not an id", got=number, expected="a whole number from 0")
    name, first, second, foil = (files.need_text(row, field, spot) for field in FIELDS[1:])
    return Item(f"{subset}:{number}", subset, name, (first, second, foil))
