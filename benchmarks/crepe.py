"""Parse CREPE: a region's caption of scene-graph phrases and its hard negatives, productivity and systematicity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import cells, files, release, sources, visual_genome
from benchmarks.schema import Card, Instance

BOX = ("x", "y", "width", "height")


class Crepe:
    """Yield CREPE, 1x(1+k): the caption and its hard negatives, as many as the row has. Source: crepe.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the files, or its parent.
        files_by_subset: By subset, the file and its column of hard negatives, as `FILE:COLUMN`.
        folder: The release's own name of the folder.
        images: Folder, zip or tar of Visual Genome images; `images` beside the files by default.
        subsets: Names of the subsets to read; None reads all whose file is there.
        crop: Whether the image is cut to the released box, as upstream does.
        tags: By subset, labels for tables.
    """

    def __init__(  # noqa: PLR0913 - one argument per option of the YAML
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        files_by_subset: Mapping[str, str],
        folder: str,
        images: str | Path | None = None,
        subsets: str | Sequence[str] | None = None,
        crop: bool = True,
        tags: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self._files = {name: tuple(place.rsplit(":", 1)) for name, place in files_by_subset.items()}
        self._crop, self._tags = release.flag(crop, "benchmark.crop"), dict(tags or {})
        chosen = sources.choose(subsets, tuple(self._files), option="benchmark.subsets")
        names = tuple(dict.fromkeys(self._files[name][0] for name in chosen))
        self._release = release.opened(
            card,
            root,
            sources.Wanted(names, folder, required=release.ANY),
            images=images,
            subsets=subsets,
            known=tuple(self._files),
        )
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances by subset, in the order of the files."""
        for subset in self._release.subsets:
            name, column = self._files[subset]
            if name in self.provenance.files:
                for number, (row, spot) in enumerate(self._release.rows(self._release.file(name))):
                    yield self._instance(f"{subset}:{number}", subset, _captions(row, column, spot), (row, spot))

    def _instance(
        self, key: str, subset: str, captions: tuple[str, ...], at: tuple[Mapping[str, Any], files.Spot]
    ) -> Instance:
        row, spot = at
        name = visual_genome.image_name(row.get("image_id"), spot.at("image_id"))
        image = self._release.image(name, spot.at("image_id"), search=True)
        region = visual_genome.box(row, BOX, spot)
        if self._crop:
            image = visual_genome.cropped(image, region)
        gold = np.zeros((1, len(captions)), dtype=bool)
        gold[0, 0] = True
        tags = self._tags.get(subset, {})
        return files.build(
            spot, lambda: Instance(key, (image,), captions, gold, subset=subset, cluster=name, tags=tags)
        )


def _captions(row: Mapping[str, Any], column: str, spot: files.Spot) -> tuple[str, ...]:
    """Return the caption and the hard negatives, which stand in one cell as a Python literal."""
    caption, cell = files.need_text(row, "caption", spot), files.need_text(row, column, spot)
    found = cells.listed(cell)
    if not isinstance(found, list) or not found:
        spot.at(column).refuse("not a list of texts", got=cell, expected="a Python literal such as ['a', 'b']")
    return (caption, *(files.is_text(item, spot.at(column)) for item in found))
