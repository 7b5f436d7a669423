"""Build ColorFoil from COCO captions as its authors' notebook does, with a seed; or read its rows from a table."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import ImageColor

from benchmarks import files, release, sources
from benchmarks.schema import Card, Instance

CAPTIONS = "captions_val2017.json"
FORMS = (CAPTIONS, "annotations/captions_val2017.json", "colorfoil.json", "colorfoil.jsonl", "colorfoil.csv")
NAMES = frozenset(ImageColor.colormap) - {"rebeccapurple"}  # the 147 names of CSS 3
COMMON = ("blue", "black", "red", "pink", "yellow", "grey", "orange", "white", "green", "brown")
GREYSCALE = frozenset({550, 1164, 1752, 2236})  # positions that the notebook leaves out
GOLD = np.array([[True, False]])
SUBSET = "colour"


class Pair(NamedTuple):
    """One image, its caption and its foil."""

    image: str
    caption: str
    foil: str
    spot: files.Spot


class ColorFoil:
    """Yield ColorFoil, 1x2: a caption that names a colour, and the same with another colour. Source: colorfoil.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds COCO's captions of val2017, or a table of `image, caption, foil`, or its parent.
        images: Folder, zip or tar of COCO val2017; `val2017` beside the file by default.
        seed: Seed of the replacements, where the foils are built here; the notebook has none.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        images: str | Path | None = None,
        seed: int = 0,
    ) -> None:
        self._seed = seed
        self._release = release.opened(
            card, root, sources.Wanted(FORMS), images=images, pictures="val2017", known=(SUBSET,), forms=True
        )
        self._path = next(self._release.tables())
        self._is_built = self._path.name == CAPTIONS
        self.card = self._release.card
        self.provenance = self._release.noticed(*self._notices()) if self._is_built else self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in the order of the images."""
        number = count()
        for pair in self._built() if self._is_built else self._listed():
            key, name = next(number), pair.image.rpartition("/")[2]
            if self._is_built and key in GREYSCALE:
                continue
            ref = self._release.image(name, pair.spot.at("image"), search=True)
            yield files.build(
                pair.spot,
                lambda key=key, ref=ref, pair=pair, name=name: Instance(  # type: ignore[misc]
                    str(key), (ref,), (pair.caption, pair.foil), GOLD, subset=SUBSET, cluster=name
                ),
            )

    def _built(self) -> Iterator[Pair]:
        """Yield the first caption of each image that has a colour, with each colour replaced wherever it stands."""
        for image, captions, spot in _by_image(self._path):
            for caption in captions:
                colours = [word for word in caption.split(" ") if word in NAMES]
                if colours:
                    yield Pair(image, caption, foiled(caption, colours, f"{self._seed}|{image}"), spot)
                    break

    def _listed(self) -> Iterator[Pair]:
        for row, spot in self._release.rows(self._path):
            image, caption, foil = (files.need_text(row, field, spot) for field in ("image", "caption", "foil"))
            yield Pair(image, caption, foil, spot)

    def _notices(self) -> Iterator[str]:
        found = sum(1 for _ in self._built())
        left = sum(place < found for place in GREYSCALE)
        yield (
            f"Built from {CAPTIONS} with seed {self._seed}: {found} captions name a colour, and {left} of their images "
            "are left out by position as greyscale, as in the authors' notebook, which has no seed."
        )


def foiled(caption: str, colours: list[str], key: str) -> str:
    """Return a caption in which each colour, wherever it stands, became another one of the ten common colours.

    Args:
        caption: The caption.
        colours: Its colours in order; one that an earlier replacement removed is not found any more.
        key: Seed of the draws.
    """
    draw = random.Random(key)
    for colour in colours:
        place = draw.randrange(len(COMMON))
        other = COMMON[place - 1] if COMMON[place] == colour else COMMON[place]
        caption = caption.replace(colour, other)
    return caption


def _by_image(path: Path) -> Iterator[tuple[str, list[str], files.Spot]]:
    """Yield (file name, captions, place) of COCO's captions, images and captions in the order of the file."""
    content = files.need_object(files.read_json(path), files.Spot(path), what="COCO's captions")
    captions: dict[int, list[str]] = {}
    for number, value in enumerate(_list(content, "annotations", path), 1):
        spot = files.Spot(path, f"annotations row {number}")
        row = files.need_object(value, spot, what="an object with image_id and caption")
        captions.setdefault(_whole(row, "image_id", spot), []).append(files.need_text(row, "caption", spot))
    for number, value in enumerate(_list(content, "images", path), 1):
        spot = files.Spot(path, f"images row {number}")
        row = files.need_object(value, spot, what="an object with id and file_name")
        yield files.need_text(row, "file_name", spot), captions.get(_whole(row, "id", spot), []), spot


def _list(content: Mapping[str, Any], field: str, path: Path) -> list[Any]:
    value = content.get(field)
    if not isinstance(value, list):
        files.Spot(path).at(field).refuse("wrong type", got=value, expected="a list")
    return value


def _whole(row: Mapping[str, Any], field: str, spot: files.Spot) -> int:
    value = row.get(field)
    if not isinstance(value, int) or isinstance(value, bool):
        spot.at(field).refuse("not an id", got=value, expected="a whole number")
    return value
