"""Parse VALSE's released files: eleven pieces, each a JSON object of items by key."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import files, sources
from benchmarks.errors import InputError
from benchmarks.schema import Card, Instance, Provenance

VOTES_NEEDED = 2  # of three annotators


class Valse:
    """Yield VALSE, 1x2: one image, the caption and its foil. Source: valse.

    Args:
        card: The `card:` mapping of the YAML; its `expected` counts the valid items by piece.
        root: Folder that holds `<piece>.json`, or its parent. Pieces that are absent are listed in the provenance.
        images: Folder of images; `images` beside the files by default.
        subsets: Names of the pieces to read; None reads all that are there.
        valid_only: Whether to leave out items whose caption fewer than two of three annotators accepted.
        released: Number of items by piece before the vote.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        images: str | Path | None = None,
        subsets: str | Sequence[str] | None = None,
        valid_only: bool = True,
        released: Mapping[str, int] | None = None,
    ) -> None:
        full = sources.card(card)
        self._valid_only = _flag(valid_only)
        pieces = sources.choose(subsets, tuple(full.expected), option="benchmark.subsets")
        names = tuple(f"{piece}.json" for piece in pieces)
        place = sources.locate(full, root, sources.Wanted(names, "data"))
        checked = sources.check(full, place, names)
        self._folder, self._images = place.folder, sources.images_folder(images, place.folder / "images")
        self._pieces = tuple(piece for piece in pieces if f"{piece}.json" in checked.files)
        if not self._pieces:
            sources.require(full, place, checked)
        counts = full.expected if self._valid_only else released or {}
        expected = {piece: counts[piece] for piece in self._pieces if piece in counts}
        self.card = dataclasses.replace(full, expected=expected)
        self._digests = checked.files
        absent = tuple(name.removesuffix(".json") for name in checked.absent)
        notices = (*checked.notices, *self._notices())
        self.provenance = Provenance(place.origin, place.location, place.revision, checked.files, absent, notices)

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances by piece, in the order of the file."""
        for piece in self._pieces:
            for key, row, spot in self._rows(piece):
                if not self._valid_only or _votes(row, spot) >= VOTES_NEEDED:
                    yield self._instance(piece, key, row, spot)

    def _rows(self, piece: str) -> Iterator[tuple[str, Mapping[str, files.Json], files.Spot]]:
        name = f"{piece}.json"
        path = self._folder / name
        data = files.read_json(path, expect=self._digests[name])
        for key, value in files.need_object(data, files.Spot(path), what="a JSON object of items by key").items():
            spot = files.Spot(path, f"key {files.shown(key)}")
            yield key, files.need_object(value, spot, what="an object with image_file, caption and foil"), spot

    def _instance(self, piece: str, key: str, row: Mapping[str, files.Json], spot: files.Spot) -> Instance:
        name = files.need_text(row, "image_file", spot)
        captions = (files.need_text(row, "caption", spot), *_foils(row, spot))
        gold = np.zeros((1, len(captions)), dtype=bool)
        gold[0, 0] = True
        image = files.image_in(self._images, name, spot.at("image_file"))
        return files.build(
            spot, lambda: Instance(f"{piece}:{key}", (image,), captions, gold, subset=piece, cluster=name)
        )

    def _notices(self) -> Iterator[str]:
        """Count what is left out."""
        left_out = 0
        for piece in self._pieces:
            for _, row, spot in self._rows(piece):
                if self._valid_only and _votes(row, spot) < VOTES_NEEDED:
                    left_out += 1
        if self._valid_only:
            items = "item is" if left_out == 1 else "items are"
            yield (
                f"{left_out} {items} left out because fewer than {VOTES_NEEDED} annotators accepted the caption "
                "(benchmark.valid_only=false keeps them)."
            )


def _foils(row: Mapping[str, files.Json], spot: files.Spot) -> tuple[str, ...]:
    """Return the foils; some copies hold a list under `foils`."""
    if "foil" in row or "foils" not in row:
        return (files.need_text(row, "foil", spot),)
    values = row["foils"]
    if not isinstance(values, list) or not values:
        spot.at("foils").refuse("wrong type", got=values, expected="a list of at least one text")
    return tuple(files.is_text(value, spot.at("foils")) for value in values)


def _votes(row: Mapping[str, files.Json], spot: files.Spot) -> int:
    """Return how many annotators accepted the caption."""
    votes = row.get("mturk")
    count = votes.get("caption") if isinstance(votes, dict) else votes
    if not isinstance(count, int) or isinstance(count, bool):
        spot.at("mturk.caption").refuse(
            "the annotators' votes are missing",
            got=count,
            expected="a whole number of votes",
            step="benchmark.valid_only=false reads items without votes",
        )
    return count


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError("wrong type", where="benchmark.valid_only", got=f"{value!r}", expected="true or false")
    return value
