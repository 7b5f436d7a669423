"""Parse ARO's order sets: a caption and up to four shuffles of its words, read from a build or built by rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import files, json_lists, release, shuffles, sources
from benchmarks.images import ImageRef
from benchmarks.schema import Card, Instance

SUBSET = "test"
CAPTIONS = ("correct_caption", "original_caption")
FOILS = ("hard_text_", "shuffle_")
PARQUET = ("correct_caption", "hard_text_1", "hard_text_2", "hard_text_3", "hard_text_4")


class Row(NamedTuple):
    """One caption with its shuffles; `lost` counts cells of shuffles that are empty."""

    key: str
    image: ImageRef
    captions: tuple[str, ...]
    cluster: str
    spot: files.Spot
    lost: int = 0


class AroOrder:
    """Yield COCO-Order or Flickr30k-Order, 1xT: the caption and its shuffles. Source: aro.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the annotations, or its parent.
        annotations: Forms of the annotations, of which the first that is there is read: a JSON list of `image` and
            `caption` (a list), from which the shuffles are built; or a table with them (`hard_text_1`, `shuffle_...`).
        images: Folder, zip or tar of images.
        seed: Seed of the shuffles, where they are built here; upstream has none.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        annotations: Sequence[str],
        images: str | Path | None = None,
        seed: int = 0,
    ) -> None:
        self._seed = seed
        wanted = sources.Wanted(tuple(annotations))
        self._release = release.opened(card, root, wanted, images=images, known=(SUBSET,), forms=True)
        self.card = self._release.card
        self.provenance = self._release.noticed(*self._notices())

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in the order of the files; a row all of whose shuffles are empty is left out."""
        for row in self._rows():
            if len(row.captions) > 1:
                gold = np.zeros((1, len(row.captions)), dtype=bool)
                gold[0, 0] = True
                yield files.build(
                    row.spot,
                    lambda row=row, gold=gold: Instance(  # type: ignore[misc]
                        row.key, (row.image,), row.captions, gold, subset=SUBSET, cluster=row.cluster
                    ),
                )

    def _rows(self) -> Iterator[Row]:
        number = count()
        for path in self._release.tables():
            if path.suffix == ".json":
                yield from self._built(path)
            else:
                yield from self._listed(path, number)

    def _built(self, path: Path) -> Iterator[Row]:
        """Yield the captions of each image with shuffles made here."""
        for number, value in json_lists.stream_list(path):
            spot = files.Spot(path, f"row {number}")
            item = files.need_object(value, spot, what="an object with image and caption")
            name = files.need_text(item, "image", spot).rpartition("/")[2]
            image, texts = self._release.image(name, spot.at("image"), search=True), item.get("caption")
            if not isinstance(texts, list) or not texts:
                spot.at("caption").refuse("wrong type", got=texts, expected="a list of at least one text")
            for place, text in enumerate(texts):
                made = shuffles.shuffles(files.is_text(text, spot.at("caption")), f"{self._seed}|{name}|{place}")
                captions = (shuffles.clean(text), *made)
                if not all(captions):
                    spot.at("caption").refuse("a caption of marks alone", got=text, expected="words")
                yield Row(f"{name}:{place}", image, captions, name, spot)

    def _listed(self, path: Path, number: Iterator[int]) -> Iterator[Row]:
        """Yield the rows of a table that holds the shuffles."""
        cells = path.suffix == ".parquet"
        for place, (row, spot) in enumerate(self._release.rows(path, PARQUET if cells else None)):
            column = next((name for name in CAPTIONS if name in row), CAPTIONS[0])
            found = [name for name in row if str(name).startswith(FOILS)]
            if not found:
                spot.refuse(
                    "no column of shuffles", told=f"columns {', '.join(row)}"[:200], expected=" or ".join(FOILS)
                )
            texts = [_cell(row[name], spot.at(name)) for name in found]
            captions = (files.need_text(row, column, spot), *(text for text in texts if text))
            if cells:
                image, cluster = files.cell_image(path, place, "images"), captions[0]
            else:
                cluster = files.need_text(row, "image", spot).rpartition("/")[2]
                image = self._release.image(cluster, spot.at("image"), search=True)
            yield Row(str(next(number)), image, captions, cluster, spot, texts.count(""))

    def _notices(self) -> Iterator[str]:
        if any(name.endswith(".json") for name in self._release.provenance.files):
            yield f"Shuffles built here by rule with seed {self._seed}: no two builds of this set agree word by word."
            return
        rows = [(row.lost, len(row.captions)) for row in self._rows()]
        lost, gone = sum(one for one, _ in rows), sum(width == 1 for _, width in rows)
        if lost:
            yield f"{lost} shuffles are empty cells and no options; {gone} rows have no other and are left out."


def _cell(value: object, spot: files.Spot) -> str:
    """Return a shuffle, or an empty text where the cell is empty."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return ""
    return files.is_text(value, spot)
