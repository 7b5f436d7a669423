"""Parse CounterCurate: tab-separated counterfactual pairs (2x2), and counting on Visual Genome (1x2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from benchmarks import files, release, sheets, sources
from benchmarks.images import ImageRef
from benchmarks.schema import Card, Instance

GOLD = np.eye(2, dtype=bool)
NONE = "nonexistent"
ANCHOR = "train_data/"
TEMPLATE = "there are {count} {name} in the image."
KINDS = ("noun", "adj", "rev")


class CounterCurate:
    """Yield counterfactual pairs, 2x2: the caption and image, the edited caption and image. Source: countercurate.

    Upstream's score is the mean of our i2t_base and i2t_foil.

    Args:
        card: The `card:` mapping of the YAML; its `expected`, or the keys of `tables`, names the subsets.
        root: Folder that holds the files, or its parent.
        tables: File of each subset, or one file for the subsets `noun`, `adj`, `rev`.
        images: Folder, zip or uncompressed tar that holds `train_data`; the files' folder by default.
        flickr: Folder, zip or tar of original Flickr30k images, for names below `flickr30k-images`.
        subsets: Names of the subsets to read; None reads all that are there.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        tables: Mapping[str, str],
        images: str | Path | None = None,
        flickr: str | Path | None = None,
        subsets: str | Sequence[str] | None = None,
    ) -> None:
        self._tables = dict(tables)
        names = tuple(dict.fromkeys(tables.values()))
        self._flickr = None if flickr is None else sources.images_folder(flickr, Path())
        self._release = release.opened(
            card,
            root,
            sources.Wanted(names, "clip_sample_data", required=release.ANY),
            images=images,
            pictures="",
            subsets=subsets,
            known=[*tables],
        )
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances by subset, in the order of the file."""
        for subset in self._release.subsets:
            if self._tables[subset] not in self.provenance.files:
                continue
            path = self._release.file(self._tables[subset])
            for number, row in enumerate(sheets.open_sheet(path, delimiter="\t").rows()):
                made = self._instance(subset, number, row.cells, files.Spot(path, row.place))
                if made is not None:
                    yield made

    def _instance(self, subset: str, number: int, row: Mapping[str, Any], spot: files.Spot) -> Instance | None:
        """Return the instance of a row; None where the release says that there is no such counterfactual."""
        prefix = subset if subset in KINDS else "neg"
        fields = (f"{prefix}_captions", f"{prefix}_images")
        caption, image, other, edited = (files.need_text(row, name, spot) for name in ("captions", "images", *fields))
        if NONE in (other, edited):
            if other != edited:
                spot.at(fields[0]).refuse(
                    "half of a counterfactual", told=f"{other!r}, and in {fields[1]} {edited!r}"[:200]
                )
            return None
        refs = (self._image(image, spot.at("images")), self._image(edited, spot.at(fields[1])))
        return files.build(
            spot,
            lambda: Instance(
                f"{subset}:{number}", refs, (caption, other), GOLD, subset=subset, cluster=PurePosixPath(image).stem
            ),
        )

    def _image(self, name: str, spot: files.Spot) -> ImageRef:
        """Return an image by the part of its name that is not the authors' own folder."""
        local = _local(name)
        if self._flickr is not None and "flickr30k-images/" in local:
            return files.image_in(self._flickr, PurePosixPath(local).name, spot, search=True)
        return self._release.image(local, spot, search=True)


class Counting:
    """Yield CounterCurate's counting test, 1x2: the true number, and the true number plus one. Source: countercurate.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds `vg_dict.json`, or its parent.
        images: Folder, zip or tar of Visual Genome images.
    """

    def __init__(
        self, card: Card | Mapping[str, Any], root: str | Path | None = None, *, images: str | Path | None = None
    ) -> None:
        self._release = release.opened(
            card, root, sources.Wanted(("vg_dict.json",)), images=images, pictures="visual_genome", known=("counting",)
        )
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield one instance per counted object, in the order of the file."""
        path = self._release.file("vg_dict.json")
        for image, items in files.need_object(files.read_json(path), files.Spot(path)).items():
            spot = files.Spot(path, f"key {files.shown(image)}")
            if not isinstance(items, list):
                spot.refuse("wrong type", got=items, expected="a list of objects with name and ans")
            ref = self._release.image(f"{image}.jpg", spot, search=True)
            for number, item in enumerate(items):
                yield _count(image, number, item, ref, files.Spot(path, f"{spot.row}, item {number + 1}"))


def _count(image: str, number: int, item: files.Json, ref: ImageRef, spot: files.Spot) -> Instance:
    row = files.need_object(item, spot, what="an object with name and ans")
    name, answer = files.need_text(row, "name", spot), row.get("ans")
    text = str(answer) if isinstance(answer, (int, str)) and not isinstance(answer, bool) else ""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        spot.at("ans").refuse("not a number of objects", got=answer, expected="a whole number")
    # The official test writes the answer as it stands and adds one to its value.
    captions = (TEMPLATE.format(count=text, name=name), TEMPLATE.format(count=int(text) + 1, name=name))
    gold = np.array([[True, False]])
    return files.build(
        spot, lambda: Instance(f"{image}:{number}", (ref,), captions, gold, subset="counting", cluster=image)
    )


def _local(name: str) -> str:
    """Return a released path from `train_data/` on; of another absolute path, the file name."""
    plain = name.replace("\\", "/") if PureWindowsPath(name).drive else name
    if ANCHOR in plain:
        return ANCHOR + plain.partition(ANCHOR)[2]
    return (
        PurePosixPath(plain).name
        if PurePosixPath(plain).is_absolute() or ":" in plain[:3]
        else plain.removeprefix("./")
    )
