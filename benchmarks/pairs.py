"""Parse releases of pairs, 2x2: one row holds two images and two captions, under names that the YAML gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import files, release, sources
from benchmarks.cells import label
from benchmarks.errors import InputError, near
from benchmarks.images import ImageRef
from benchmarks.schema import Card, Instance

GOLD = np.eye(2, dtype=bool)
ROLES = ("id", "caption_0", "caption_1", "image_0", "image_1", "subset", "subset_from", "cluster_from")
NEEDED = ("caption_0", "caption_1", "image_0", "image_1")


class Pairs:
    """Yield pairs, 2x2: side 0 is the base, side 1 the foil, gold on the diagonal. Source: winoground and its kin.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the annotations, or its parent.
        annotations: Forms of the annotation file (json, jsonl, csv, parquet), of which the first that is there is read;
            a name with `*` stands for several parts.
        fields: Column by role: `caption_0`, `caption_1`, `image_0`, `image_1`; `id` (the row's number if missing);
            `subset` (a fixed name) or `subset_from` (a column); `cluster_from`, a pattern whose first group in the id
            names what instances share (the base image if missing).
        tags: Columns that are kept as labels.
        images: Folder, zip or tar of images; `pictures` beside the annotations by default.
        pictures: The release's own folder of images.
        suffix: What is appended to image names that have none.
        subsets: Names of the subsets to read; None reads all.
        fetch: Further patterns that are fetched from the hub (`data/images.zip`), where `fetch_images` asks for it.
        fetch_images: Whether to fetch the images from the hub too.
    """

    def __init__(  # noqa: PLR0913 - one argument per option of the YAML
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        annotations: Sequence[str],
        fields: Mapping[str, str],
        tags: Sequence[str] = (),
        images: str | Path | None = None,
        pictures: str = "images",
        suffix: str = "",
        subsets: str | Sequence[str] | None = None,
        fetch: Sequence[str] = (),
        fetch_images: bool = False,
    ) -> None:
        self._fields, self._tags, self._suffix = _roles(fields), tuple(tags), suffix
        self._cluster = re.compile(self._fields.get("cluster_from", "^$"))
        extra = tuple(fetch) if release.flag(fetch_images, "benchmark.fetch_images") else ()
        known = (self._fields["subset"],) if "subset" in self._fields else ()
        wanted = sources.Wanted(tuple(annotations), patterns=(annotations[0], *extra))
        self._release = release.opened(
            card, root, wanted, images=images, pictures=pictures, subsets=subsets, known=known, forms=True
        )
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield one instance per row, in the order of the files."""
        number = count()
        for path in self._release.tables():
            cells = path.suffix == ".parquet"
            for place, (row, spot) in enumerate(self._release.rows(path, self._columns() if cells else None)):
                key = next(number)
                images = self._cells(path, place, row, spot) if cells else self._files(row, spot)
                instance = self._instance(row, spot, key, images)
                if instance.subset in self._release.subsets:
                    yield instance
                elif instance.subset not in self._release.known:
                    self._unknown(instance.subset, spot)

    def _instance(
        self, row: Mapping[str, Any], spot: files.Spot, key: int, images: tuple[ImageRef, ImageRef]
    ) -> Instance:
        field = self._fields
        captions = tuple(files.need_text(row, field[role], spot) for role in ("caption_0", "caption_1"))
        subset = field.get("subset", "")
        if "subset_from" in field:
            subset = files.need_text(row, field["subset_from"], spot)
        name = str(key)
        if "id" in field:
            name = label(row.get(field["id"]), spot.at(field["id"])) or spot.at(field["id"]).refuse("an empty id")
        shared = self._cluster.match(name)
        tags = {tag: value for tag in self._tags if (value := label(row.get(tag), spot.at(tag)))}
        cluster = shared[1] if shared and shared.groups() else ""
        return files.build(
            spot, lambda: Instance(name, images, captions, GOLD, subset=subset, cluster=cluster, tags=tags)
        )

    def _files(self, row: Mapping[str, Any], spot: files.Spot) -> tuple[ImageRef, ImageRef]:
        """Return the references of two released file names."""
        first, second = (files.need_text(row, self._fields[role], spot) for role in ("image_0", "image_1"))
        return self._file(first, spot, "image_0"), self._file(second, spot, "image_1")

    def _file(self, name: str, spot: files.Spot, role: str) -> ImageRef:
        whole = name if "." in name.rpartition("/")[2] else name + self._suffix
        return self._release.image(whole, spot.at(self._fields[role]), search=True)

    def _cells(self, path: Path, place: int, row: Mapping[str, Any], spot: files.Spot) -> tuple[ImageRef, ImageRef]:
        """Return the references of two image cells of the hub, whose file names are their keys."""
        refs = []
        for role in ("image_0", "image_1"):
            column = self._fields[role]
            cell = row.get(column)
            if not isinstance(cell, dict):
                spot.at(column).refuse("wrong type", got=cell, expected="an image of the hub: bytes and path")
            named = cell.get("path")
            refs.append(files.cell_image(path, place, column, key=named if isinstance(named, str) else ""))
        return refs[0], refs[1]

    def _columns(self) -> list[str]:
        """Return what is read of a parquet file: everything but the bytes of the images."""
        texts = [self._fields[role] for role in ("id", "caption_0", "caption_1", "subset_from") if role in self._fields]
        return [*texts, *self._tags, *(f"{self._fields[role]}.path" for role in ("image_0", "image_1"))]

    def _unknown(self, subset: str, spot: files.Spot) -> None:
        column = self._fields.get("subset_from", "subset")
        known = self._release.known
        spot.at(column).refuse("unknown subset", got=subset, expected=", ".join(known), step=near(subset, known))


def _roles(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the columns by role.

    Raises:
        InputError: If a role is unknown or a needed one is missing.
    """
    for role in fields:
        if role not in ROLES:
            expected = ", ".join(ROLES)
            raise InputError(
                "unknown role", where="benchmark.fields", got=role, expected=expected, step=near(role, ROLES)
            )
    lost = [role for role in NEEDED if role not in fields]
    if lost:
        raise InputError("a role has no column", where="benchmark.fields", got=f"no {', '.join(lost)}")
    return dict(fields)
