"""Parse SPEC: six subsets, each with a file per direction: a query, its keys, and the index of the right one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import files, json_lists, release, sources
from benchmarks.errors import InputError
from benchmarks.schema import Card, Instance

SUBSETS = ("absolute_size", "relative_size", "absolute_spatial", "relative_spatial", "existence", "count")
DIRECTIONS = ("image2text", "text2image")


class Spec:
    """Yield SPEC in one direction: 1xT (an image and its texts) or Ix1 (a text and its images). Source: spec.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the six subsets' folders, or its parent.
        direction: `image2text` or `text2image`.
        images: Folder, zip or tar that holds the subsets' folders; the annotations' folder by default.
        subsets: Names of the subsets to read; None reads all.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        direction: str = "image2text",
        images: str | Path | None = None,
        subsets: str | Sequence[str] | None = None,
    ) -> None:
        if direction not in DIRECTIONS:
            expected = ", ".join(DIRECTIONS)
            raise InputError("unknown direction", where="benchmark.direction", got=str(direction), expected=expected)
        self._direction = direction
        chosen = sources.choose(subsets, SUBSETS, option="benchmark.subsets")
        names = tuple(f"{name}/{direction}.json" for name in chosen)
        self._release = release.opened(
            card, root, sources.Wanted(names, "data"), images=images, pictures="", subsets=subsets, known=SUBSETS
        )
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances by subset, in the order of the files."""
        for subset in self._release.subsets:
            path = self._release.file(f"{subset}/{self._direction}.json")
            for number, value in json_lists.stream_list(path):
                spot = files.Spot(path, f"row {number}")
                yield self._instance(subset, number - 1, value, spot)

    def _instance(self, subset: str, number: int, value: files.Json, spot: files.Spot) -> Instance:
        row = files.need_object(value, spot, what="an object with query, keys and label")
        query, keys = files.need_text(row, "query", spot), row.get("keys")
        if not isinstance(keys, list) or len(keys) < 2:
            spot.at("keys").refuse("wrong type", got=keys, expected="a list of at least two")
        texts = [files.is_text(key, spot.at(f"keys[{place}]")) for place, key in enumerate(keys)]
        right = row.get("label")
        if not isinstance(right, int) or isinstance(right, bool) or not 0 <= right < len(texts):
            spot.at("label").refuse("not a position among the keys", got=right, expected=f"0 to {len(texts) - 1}")
        forward = self._direction == DIRECTIONS[0]
        names, captions, field = ([query], texts, "query") if forward else (texts, [query], "keys")
        refs = tuple(self._release.image(f"{subset}/{name}", spot.at(field)) for name in names)
        gold = np.zeros((1, len(texts)), dtype=bool)
        gold[0, right] = True
        # The pictures of one text2image row are variants of one scene.
        return files.build(
            spot,
            lambda: Instance(f"{subset}:{number}", refs, tuple(captions), gold if forward else gold.T, subset=subset),
        )
