"""Parse CC-Neg: an image, its caption, and the caption with a negation; a torch file, or the same rows as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import files, pickled, release, sources
from benchmarks.errors import InputError
from benchmarks.schema import Card, Instance

FORMS = ("ccneg_preprocessed.pt", "preprocessed_data.pt", "ccneg.json", "ccneg.jsonl", "ccneg.csv")
GOLD = np.array([[True, False]])
SUBSET = "test"


class Row(NamedTuple):
    """One image, its caption and its negation."""

    image: str
    caption: str
    negative: str
    spot: files.Spot


class CcNeg:
    """Yield CC-Neg's evaluation split, 1x2: the caption and its negated form. Source: ccneg.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the torch file, or a table of `image, caption, negative`.
        images: Folder, zip or tar of the images.
        last: How many entries at the end are the evaluation split; None reads all.
        strip_commas: Whether commas are taken out of the negative, as upstream does when it scores.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        images: str | Path | None = None,
        last: int | None = 40000,
        strip_commas: bool = False,
    ) -> None:
        if last is not None and (not isinstance(last, int) or isinstance(last, bool) or last < 1):
            raise InputError("not a number of entries", where="benchmark.last", got=f"{last!r}", expected="1 or more")
        self._last, self._strip = last, release.flag(strip_commas, "benchmark.strip_commas")
        self._release = release.opened(
            card, root, sources.Wanted(FORMS), images=images, pictures="ccneg_images", known=(SUBSET,), forms=True
        )
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in the order of the file; ids are positions in the whole file."""
        path = next(self._release.tables())
        rows = _pickled(path) if path.suffix == ".pt" else self._listed(path)
        first = max(sum(1 for _ in self._sizes(path)) - self._last, 0) if self._last is not None else 0
        for number, row in enumerate(rows):
            if number >= first:
                yield self._instance(number, row)

    def _instance(self, number: int, row: Row) -> Instance:
        # Paths are the authors' own; the file names are the release's.
        name = row.image.rpartition("/")[2]
        image = self._release.image(name, row.spot.at("image"), search=True)
        negative = row.negative.replace(",", "") if self._strip else row.negative
        return files.build(
            row.spot,
            lambda: Instance(str(number), (image,), (row.caption, negative), GOLD, subset=SUBSET, cluster=name),
        )

    def _sizes(self, path: Path) -> Iterator[object]:
        """Yield something for every row."""
        yield from _pickled(path) if path.suffix == ".pt" else self._release.rows(path)

    def _listed(self, path: Path) -> Iterator[Row]:
        for cells, spot in self._release.rows(path):
            image, caption, negative = (files.need_text(cells, name, spot) for name in ("image", "caption", "negative"))
            yield Row(image, caption, negative, spot)


def _pickled(path: Path) -> Iterator[Row]:
    """Yield the rows of the torch file, read weights only."""
    content = files.need_object(pickled.read_torch(path), files.Spot(path), what="image_paths and annotations")
    images, notes = (_list(content, field, path) for field in ("image_paths", "annotations"))
    if len(images) != len(notes):
        files.Spot(path).refuse(
            "images and annotations differ in number", told=f"{len(images)} and {len(notes)}", expected="as many"
        )
    for number, (image, note) in enumerate(zip(images, notes, strict=True), 1):
        spot = files.Spot(path, f"row {number}")
        row = files.need_object(note, spot.at("annotations"), what="an object with json and sop_data")
        texts = [
            files.need_text(files.need_object(row.get(part), spot.at(part)), field, spot)
            for part, field in (("json", "caption"), ("sop_data", "negative-prompt"))
        ]
        yield Row(files.is_text(image, spot.at("image_paths")), texts[0], texts[1], spot)


def _list(content: Mapping[str, Any], field: str, path: Path) -> list[Any]:
    value = content.get(field)
    if not isinstance(value, (list, tuple)):
        files.Spot(path).at(field).refuse("wrong type", got=value, expected="a list")
    return list(value)
