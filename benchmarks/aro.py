"""Parse ARO's Visual Genome files: a region, its caption, and the same caption with two of its parts exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import files, json_lists, release, sources, visual_genome
from benchmarks.errors import InputError
from benchmarks.schema import Card, Instance

GOLD = np.array([[True, False]])
BOX = ("bbox_x", "bbox_y", "bbox_w", "bbox_h")
LABELS = {"relation_name": "relation", "attributes": "attributes"}


class AroVisualGenome:
    """Yield VG-Relation or VG-Attribution, 1x2: the true caption and the one with its parts exchanged. Source: aro.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the file.
        annotations: Name of the file.
        label: Field that upstream averages over: `relation_name`, or `attributes` (a list of two).
        subset: Name of the only subset.
        images: Folder, zip or tar of images; `images` beside the file by default.
        crop: Whether the image is cut to the released box, as upstream does.
    """

    def __init__(  # noqa: PLR0913 - one argument per option of the YAML
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        annotations: str,
        label: str,
        subset: str,
        images: str | Path | None = None,
        crop: bool = True,
    ) -> None:
        if label not in LABELS:
            raise InputError("unknown label", where="benchmark.label", got=str(label), expected=", ".join(LABELS))
        self._label, self._subset, self._crop = label, subset, release.flag(crop, "benchmark.crop")
        self._name = annotations
        self._release = release.opened(card, root, sources.Wanted((annotations,)), images=images, known=(subset,))
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in the order of the file; ids are positions, for the rows have none."""
        for number, value in json_lists.stream_list(self._release.file(self._name)):
            spot = files.Spot(self._release.folder / self._name, f"row {number}")
            row = files.need_object(value, spot, what="an object with image_path, true_caption and false_caption")
            yield self._instance(number - 1, row, spot)

    def _instance(self, number: int, row: Mapping[str, Any], spot: files.Spot) -> Instance:
        name = files.need_text(row, "image_path", spot)
        captions = tuple(files.need_text(row, field, spot) for field in ("true_caption", "false_caption"))
        image = self._release.image(name, spot.at("image_path"), search=True)
        region = visual_genome.box(row, BOX, spot)
        if self._crop:
            image = visual_genome.cropped(image, region)
        tags = {LABELS[self._label]: self._value(row, spot.at(self._label))}
        return files.build(
            spot,
            lambda: Instance(str(number), (image,), captions, GOLD, subset=self._subset, cluster=name, tags=tags),
        )

    def _value(self, row: Mapping[str, Any], spot: files.Spot) -> str:
        """Return the relation, or the two attributes joined as upstream joins them."""
        if self._label == "relation_name":
            return files.need_text(row, self._label, spot)
        pair = row.get(self._label)
        if not isinstance(pair, list) or len(pair) != 2:
            spot.refuse("wrong type", got=pair, expected="a list of two attributes")
        return "_".join(files.is_text(part, spot) for part in pair)
