"""Parse COLA: the multi-object pairs (2x2), and the single-object files as retrieval by class (Ix1)."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import download, files, json_lists, release, sources
from benchmarks.images import ImageRef
from benchmarks.schema import Card, Instance

MULTI = "COLA_multiobjects_matching_benchmark.json"
GOLD = np.eye(2, dtype=bool)


class Cola:
    """Yield COLA's multi-object pairs, 2x2; its own score chooses the image (our t2i). Source: colabench.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the file, or its parent.
        images: Folder, zip or tar of Visual Genome or GQA images; the cache of fetched images by default.
        fetch_images: Whether to fetch the images from the addresses in the file, politely, one at a time.
        cache: Folder that fetched images go to.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        images: str | Path | None = None,
        fetch_images: bool = False,
        cache: str | Path = ".",
    ) -> None:
        self._fetch = release.flag(fetch_images, "benchmark.fetch_images")
        self._own = images is not None
        self._cache = Path(cache).expanduser() / "images" / "cola"
        self._release = release.opened(card, root, sources.Wanted((MULTI,), "data"), images=images)
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in the order of the file; those that share an image share a cluster."""
        path = self._release.file(MULTI)
        clusters = _components([(row[0], row[2]) for row, _ in _rows(path)])
        for number, (row, spot) in enumerate(_rows(path)):
            images = (self._image(row[0], spot), self._image(row[2], spot))
            captions, cluster = (row[1], row[3]), clusters[row[0]]
            made = functools.partial(Instance, str(number), images, captions, GOLD, subset="multi", cluster=cluster)
            yield files.build(spot, made)

    def prepare_images(self) -> None:
        """Fetch the images that are not in the cache yet, where `fetch_images` asks for it."""
        if self._fetch and not self._own:
            rows = [row for row, _ in _rows(self._release.file(MULTI))]
            addresses = dict.fromkeys(address for row in rows for address in (row[0], row[2]))
            download.images({address: self._cache / _name(address) for address in addresses})

    def _image(self, address: str, spot: files.Spot) -> ImageRef:
        if self._own:
            return self._release.image(address.rpartition("/")[2], spot, search=True)
        return ImageRef(address.rpartition("/")[2], self._cache / _name(address))


class ColaSingle:
    """Yield COLA's single-object files, Ix1: one class and its hard images, of which some hold it. Source: colabench.

    Upstream's score is the mean average precision over classes; ours is the accuracy with several positives.

    Args:
        card: The `card:` mapping of the YAML; its `expected` names the files' stems.
        root: Folder that holds the files, or its parent.
        files_by_subset: File of each subset.
        images: Folder, zip or tar of images.
        subsets: Names of the subsets to read; None reads all that are there.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        files_by_subset: Mapping[str, str],
        images: str | Path | None = None,
        subsets: str | Sequence[str] | None = None,
    ) -> None:
        self._files = dict(files_by_subset)
        names = tuple(self._files.values())
        self._release = release.opened(
            card,
            root,
            sources.Wanted(names, "data", required=release.ANY),
            images=images,
            subsets=subsets,
            known=[*self._files],
        )
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield one instance per subset and class that has hard images with and without it."""
        for subset in self._release.subsets:
            if self._files[subset] in self.provenance.files:
                yield from self._classes(subset, self._release.file(self._files[subset]))

    def _classes(self, subset: str, path: Path) -> Iterator[Instance]:
        labels, rows = _single(path)
        for column, label in enumerate(labels):
            kept = [(number, row) for number, row in enumerate(rows, 1) if row[-1][column] == 1]
            gold = np.array([[bool(row[-2][column])] for _, row in kept], dtype=bool).reshape(-1, 1)
            if not kept or gold.all() or not gold.any():
                continue  # average precision is not defined there, nor is a choice
            refs = tuple(
                self._release.image(row[0], files.Spot(path, f"data row {number}", "image"), search=True)
                for number, row in kept
            )
            made = functools.partial(Instance, f"{subset}:{column}", refs, (label,), gold, subset=subset)
            yield files.build(files.Spot(path, f"class {column}"), made)


def _rows(path: Path) -> Iterator[tuple[list[str], files.Spot]]:
    """Yield [image 1 address, caption 1, image 2 address, caption 2]."""
    for number, value in json_lists.stream_list(path):
        spot = files.Spot(path, f"row {number}")
        if not isinstance(value, list) or len(value) != 4:
            spot.refuse("not a pair", got=value, expected="[image address, caption, image address, caption]")
        yield [files.is_text(cell, spot.at(f"item {place}")) for place, cell in enumerate(value)], spot


def _single(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Return the class names and rows of a single-object file, which is an object or a list of the two."""
    value, spot = files.read_json(path), files.Spot(path)
    if isinstance(value, list) and len(value) == 2:
        value = dict(zip(("labels", "data"), value, strict=True))
    content = files.need_object(value, spot, what="an object with labels and data, or a list of the two")
    labels, rows = (_list(content.get(field), spot.at(field)) for field in ("labels", "data"))
    names = [files.is_text(name, spot.at(f"labels[{place}]")) for place, name in enumerate(labels)]
    for number, row in enumerate(rows, 1):
        _check_row(row, len(names), files.Spot(path, f"data row {number}"))
    return names, rows


def _check_row(row: files.Json, width: int, spot: files.Spot) -> None:
    if not isinstance(row, list) or len(row) not in (3, 4):
        spot.refuse("wrong type", got=row, expected="[image, objects (not in PACO), labels, hard list]")
    files.is_text(row[0], spot.at("image"))
    for name, flags in (("label", row[-2]), ("hard_list", row[-1])):
        if not isinstance(flags, list) or len(flags) != width or any(flag not in (0, 1) for flag in flags):
            spot.at(name).refuse("not flags by class", got=flags, expected=f"{width} numbers 0 or 1")


def _list(value: files.Json, spot: files.Spot) -> list[Any]:
    if not isinstance(value, list) or not value:
        spot.refuse("wrong type", got=value, expected="a list with something in it")
    return value


def _components(links: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return for every image the first image of those it is linked with, directly or by others."""
    head: dict[str, str] = {}

    def root(name: str) -> str:
        while head.setdefault(name, name) != name:
            name = head[name]
        return name

    for first, second in links:
        head[root(second)] = root(first)
    return {name: root(name).rpartition("/")[2] for name in list(head)}


def _name(address: str) -> str:
    """Return a file name for an address: distinct addresses never share one."""
    short = "".join(letter for letter in address.rpartition("/")[2] if letter.isalnum() or letter in "._-")[-60:]
    return f"{hashlib.sha256(address.encode()).hexdigest()[:16]}_{short}"
