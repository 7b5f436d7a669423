"""Parse VL-CheckList: an image, true and false phrases about an object, an attribute or a relation, by source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import files, json_lists, release, sources
from benchmarks.schema import Card, Instance

GOLD = np.array([[True, False]])
SOURCES = ("vg", "vaw", "swig", "hake")


class VlChecklist:
    """Yield VL-CheckList's ITC task, 1x2: the first positive against the first negative. Source: vlchecklist.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds `data`, or `data` itself.
        sets: Files below `data` without suffix, by subset name; those that are absent are listed.
        images: By source (`vg`, `vaw`, `swig`, `hake`), the place of its images; `images/<source>` in `data` if null.
        subsets: Names of the subsets to read; None reads all that are there.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        sets: Mapping[str, Sequence[str]],
        images: Mapping[str, str | Path | None] | None = None,
        subsets: str | Sequence[str] | None = None,
    ) -> None:
        self._sets = {f"{aspect}/{name}": aspect for aspect, names in sets.items() for name in names}
        chosen = sources.choose(subsets, tuple(self._sets), option="benchmark.subsets")
        wanted = sources.Wanted(tuple(f"{name}.json" for name in chosen), "data", required=release.ANY)
        self._release = release.opened(card, root, wanted, subsets=subsets, known=tuple(self._sets))
        self._images = {
            source: sources.images_folder(place, self._release.images / source)
            for source, place in dict(images or {}).items()
        }
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances by subset, in the order of the files; some released files hold nothing."""
        for subset in self._release.subsets:
            name = f"{subset}.json"
            if name in self.provenance.files:
                for number, value in json_lists.stream_list(self._release.file(name)):
                    spot = files.Spot(self._release.folder / name, f"row {number}")
                    yield self._instance(subset, number - 1, value, spot)

    def _instance(self, subset: str, number: int, value: files.Json, spot: files.Spot) -> Instance:
        if not isinstance(value, list) or len(value) != 2:
            spot.refuse("not an item", got=value, expected="[image path, {POS, NEG}]")
        name = files.is_text(value[0], spot.at("image path"))
        row = files.need_object(value[1], spot, what="an object with POS and NEG")
        captions = tuple(_first(row, field, spot.at(field)) for field in ("POS", "NEG"))
        source = _source(subset)
        place = self._images.get(source, self._release.images / source)
        image = files.image_in(place, name, spot.at("image path"), search=True)
        tags = {"aspect": self._sets[subset], "source": source}
        return files.build(
            spot,
            lambda: Instance(
                f"{subset}:{number}", (image,), captions, GOLD, subset=subset, cluster=f"{source}/{name}", tags=tags
            ),
        )


def _first(row: Mapping[str, Any], field: str, spot: files.Spot) -> str:
    values = row.get(field)
    if not isinstance(values, list) or not values:
        spot.refuse("wrong type", got=values, expected="a list of at least one text")
    return [files.is_text(item, spot) for item in values][0]  # noqa: RUF015 - the others are checked too


def _source(subset: str) -> str:
    """Return the collection of images that a file speaks of, as its path names it."""
    words = (part.partition("_")[0] for part in subset.split("/"))
    return next((word for word in words if word in SOURCES), "")
