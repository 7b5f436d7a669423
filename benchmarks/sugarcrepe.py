"""Parse SugarCrepe's released files, refined or not: one JSON object per subset, keyed by decimal strings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import files, sources
from benchmarks.errors import near
from benchmarks.schema import Card, Instance, Provenance

FIELDS = ("filename", "caption", "negative_caption")
GOLD = np.array([[True, False]])


class SugarCrepe:
    """Yield SugarCrepe, 1x2: one image, the caption and its foil. Source: sugarcrepe.

    Args:
        card: The `card:` mapping of the YAML; the order of its subsets is the order of the benchmark.
        root: Folder that holds `<subset>.json`, or its parent.
        images: Folder of COCO val2017; `images` beside the files by default.
        subsets: Names of the subsets to read; None reads all.
        folder: The release's name of the folder that holds the files.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        images: str | Path | None = None,
        subsets: str | Sequence[str] | None = None,
        folder: str = "data",
    ) -> None:
        full = sources.card(card)
        self._subsets = sources.choose(subsets, tuple(full.expected), option="benchmark.subsets")
        self.card = dataclasses.replace(full, expected={name: full.expected[name] for name in self._subsets})
        names = tuple(f"{name}.json" for name in self._subsets)
        place = sources.locate(self.card, root, sources.Wanted(names, folder))
        checked = sources.check(self.card, place, names)
        sources.require(self.card, place, checked)
        self._folder = place.folder
        self._images = sources.images_folder(images, place.folder / "images")
        self.provenance = Provenance(
            place.origin, place.location, place.revision, checked.files, notices=checked.notices
        )

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances by subset, in the order of their keys as numbers."""
        for subset in self._subsets:
            name = f"{subset}.json"
            path = self._folder / name
            data = files.read_json(path, expect=self.provenance.files[name])
            rows = files.need_object(data, files.Spot(path), what="a JSON object of items by key")
            for key in sorted(rows, key=_as_number):
                yield self._instance(subset, key, rows[key], files.Spot(path, f"key {files.shown(key)}"))

    def _instance(self, subset: str, key: str, value: files.Json, spot: files.Spot) -> Instance:
        if not (key.isascii() and key.isdigit()):
            spot.refuse("not the key of an item", got=key, expected="a decimal number as text, such as '0'")
        row = files.need_object(value, spot, what=f"an object with {', '.join(FIELDS)}")
        for unknown in row.keys() - set(FIELDS):
            spot.at(unknown).refuse("unknown field", expected=", ".join(FIELDS), step=near(unknown, FIELDS))
        name, caption, foil = (files.need_text(row, field, spot) for field in FIELDS)
        image = files.image_in(self._images, name, spot.at("filename"))
        return files.build(
            spot, lambda: Instance(f"{subset}:{key}", (image,), (caption, foil), GOLD, subset=subset, cluster=name)
        )


def _as_number(key: str) -> tuple[int, str]:
    """Order decimal strings as numbers, without converting one of any length."""
    digits = key.lstrip("0")
    return len(digits), digits
