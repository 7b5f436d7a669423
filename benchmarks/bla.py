"""Parse BLA: an image, two true and two false sentences about it; active-passive, coordination, relative clause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import files, release, sources, visual_genome
from benchmarks.schema import Card, Instance

ORDER = ("True1", "True2", "False1", "False2")
GOLD = np.array([[True, True, False, False]])


class Bla:
    """Yield BLA, 1x4 with two positives; upstream ranks the four sentences of a set. Source: bla.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds `<subset>_captions.json`, or its parent.
        images: Folder, zip or tar of `<image id>.jpg`; the release's `images` beside its `annotations` by default.
        subsets: Names of the subsets to read; None reads all.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        images: str | Path | None = None,
        subsets: str | Sequence[str] | None = None,
    ) -> None:
        chosen = sources.choose(subsets, tuple(sources.card(card).expected), option="benchmark.subsets")
        wanted = sources.Wanted(tuple(f"{name}_captions.json" for name in chosen), "annotations")
        self._release = release.opened(card, root, wanted, images=images, pictures="../images", subsets=subsets)
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield one instance per set of four sentences, in the order of the files."""
        for subset in self._release.subsets:
            path = self._release.file(f"{subset}_captions.json")
            for key, image, texts, spot in _sets(path):
                yield self._instance(f"{subset}:{key}", subset, image, (texts, spot))

    def _instance(self, key: str, subset: str, image: object, at: tuple[tuple[str, ...], files.Spot]) -> Instance:
        texts, spot = at
        name = visual_genome.image_name(image, spot.at("image_id"))
        ref = self._release.image(name, spot.at("image_id"), search=True)
        return files.build(spot, lambda: Instance(key, (ref,), texts, GOLD, subset=subset, cluster=name))


def _sets(path: Path) -> Iterator[tuple[str, object, tuple[str, ...], files.Spot]]:
    """Yield (key, image id, four sentences, place) of either layout: a list of rows, or sentences by image id."""
    content = files.read_json(path)
    if isinstance(content, dict):
        for key, value in content.items():
            spot = files.Spot(path, f"key {files.shown(key)}")
            if not isinstance(value, list) or len(value) != len(ORDER):
                spot.refuse("wrong type", got=value, expected=f"a list of four texts: {', '.join(ORDER)}")
            yield key, key, tuple(files.is_text(text, spot) for text in value), spot
        return
    if not isinstance(content, list):
        files.Spot(path).refuse("wrong type", got=content, expected="a list of rows, or an object by image id")
    for number, value in enumerate(content):
        spot = files.Spot(path, f"row {number + 1}")
        row = files.need_object(value, spot, what="an object with image_id and caption_group")
        groups = row.get("caption_group")
        if not isinstance(groups, list) or not groups:
            spot.at("caption_group").refuse("wrong type", got=groups, expected="a list of at least one object")
        for place, group in enumerate(groups):
            key = str(number) if len(groups) == 1 else f"{number}.{place}"
            at = files.Spot(path, f"row {number + 1}, caption_group[{place}]")
            held = files.need_object(group, at, what=f"an object with {', '.join(ORDER)}")
            yield key, row.get("image_id"), tuple(files.need_text(held, field, at) for field in ORDER), spot
