"""Parse SVO-Probes: a sentence, the image that fits it, and one that differs in subject, verb or object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import download, files, release, sources
from benchmarks.images import ImageRef
from benchmarks.schema import Card, Instance

TABLE = "svo_probes.csv"
ROLES = ("subj_neg", "verb_neg", "obj_neg")
FLAGS = {"true": True, "false": False, "1": True, "0": False}
GOLD = np.array([[True], [False]])


class SvoProbes:
    """Yield SVO-Probes, 2x1: choose between the positive and the negative image of a sentence. Source: svoprobes.

    Rows whose flags name no role, or more than one, are left out as in the official notebook, and counted.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds `svo_probes.csv`.
        images: Folder, zip or tar of images named `<image id>.jpg`; the cache of fetched images by default.
        subsets: Some of `subj_neg`, `verb_neg`, `obj_neg`; None reads all.
        fetch_images: Whether to fetch the images from the addresses in the file, politely, one at a time.
        cache: Folder that fetched images go to.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        images: str | Path | None = None,
        subsets: str | Sequence[str] | None = None,
        fetch_images: bool = False,
        cache: str | Path = ".",
    ) -> None:
        self._fetch = release.flag(fetch_images, "benchmark.fetch_images")
        self._cache = None if images is not None else Path(cache).expanduser() / "images" / "svo_probes"
        self._release = release.opened(
            card, root, sources.Wanted((TABLE,)), images=images, subsets=subsets, known=ROLES
        )
        self.card = self._release.card
        self.provenance = self._release.noticed(*self._notices())

    def __iter__(self) -> Iterator[Instance]:
        """Yield one instance per row with exactly one negative role, in the order of the file."""
        for number, (row, spot) in enumerate(self._release.rows(self._release.file(TABLE))):
            roles = _roles(row, spot)
            if len(roles) == 1 and roles[0] in self._release.subsets:
                yield self._instance(number, roles[0], row, spot)

    def prepare_images(self) -> None:
        """Fetch the images that are not in the cache yet, where `fetch_images` asks for it."""
        if not self._fetch or self._cache is None:
            return
        wanted: dict[str, Path] = {}
        for row, spot in self._release.rows(self._release.file(TABLE)):
            for side in ("pos", "neg"):
                wanted[files.need_text(row, f"{side}_url", spot)] = self._cache / _name(row, side, spot)
        download.images(wanted)

    def _instance(self, number: int, role: str, row: Mapping[str, Any], spot: files.Spot) -> Instance:
        sentence = files.need_text(row, "sentence", spot)
        refs = tuple(self._image(_name(row, side, spot), spot.at(f"{side}_image_id")) for side in ("pos", "neg"))
        tags = {"role": role}
        # A sentence repeats with different negatives.
        return files.build(
            spot, lambda: Instance(str(number), refs, (sentence,), GOLD, subset=role, cluster=sentence, tags=tags)
        )

    def _image(self, name: str, spot: files.Spot) -> ImageRef:
        if self._cache is not None:
            return ImageRef(name, self._cache / name)
        return self._release.image(name, spot, search=True)

    def _notices(self) -> Iterator[str]:
        rows = self._release.rows(self._release.file(TABLE))
        left = sum(len(_roles(row, spot)) != 1 for row, spot in rows)
        if left:
            rows_are = "row is" if left == 1 else "rows are"
            yield f"{left} {rows_are} left out, whose flags name no role or several, as in the official notebook."


def _roles(row: Mapping[str, Any], spot: files.Spot) -> list[str]:
    """Return the roles that a row's flags call negative."""
    found = []
    for role in ROLES:
        value = files.need_text(row, role, spot)
        if value.strip().lower() not in FLAGS:
            spot.at(role).refuse("not a truth value", got=value, expected="True or False")
        found += [role] if FLAGS[value.strip().lower()] else []
    return found


def _name(row: Mapping[str, Any], side: str, spot: files.Spot) -> str:
    number = files.need_text(row, f"{side}_image_id", spot)
    if not (number.isascii() and number.isdigit() and len(number) < 20):
        spot.at(f"{side}_image_id").refuse("not an image id", got=number, expected="a whole number")
    return f"{number}.jpg"
