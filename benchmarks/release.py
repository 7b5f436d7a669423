"""Open a release in one call: find its files, check them, find its images, and say where all of it came from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import files, sheets, sources
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Card, Provenance


@dataclasses.dataclass(frozen=True, slots=True)
class Release:
    """Hold an opened release.

    Attributes:
        card: The card; `expected` holds the selected subsets only.
        folder: Folder that holds the annotation files.
        images: Folder, zip or tar of images.
        subsets: The selected subsets, in the card's order.
        provenance: Where it came from.
    """

    card: Card
    folder: Path
    images: Path
    subsets: tuple[str, ...]
    provenance: Provenance

    def tables(self) -> Iterator[Path]:
        """Yield the annotation files that are there, each checked to be what it was.

        Raises:
            InputError: If one has changed.
        """
        for name, digest in self.provenance.files.items():
            yield files.unchanged(self.folder / name, digest)

    def file(self, name: str) -> Path:
        """Return one annotation file, checked to be what it was.

        Raises:
            InputError: If it has changed.
        """
        return files.unchanged(self.folder / name, self.provenance.files[name])

    def rows(self, path: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[Mapping[str, Any], files.Spot]]:
        """Yield (cells, spot) of a table (csv, tsv, jsonl, a JSON list, parquet).

        Raises:
            InputError: At the first row that is broken.
        """
        for row in sheets.open_sheet(path).rows(columns):
            yield row.cells, files.Spot(path, row.place)

    def image(self, name: str, spot: files.Spot, *, search: bool = False) -> ImageRef:
        """Return the reference of an image of the release by its released name.

        Raises:
            InputError: If the name would leave the place of images.
        """
        return files.image_in(self.images, name, spot, search=search)


def opened(
    card: Card | Mapping[str, Any],
    root: str | Path | None,
    wanted: sources.Wanted,
    *,
    images: str | Path | None = None,
    subsets: str | Sequence[str] | None = None,
    pictures: str = "images",
) -> Release:
    """Find a release and check its files.

    Args:
        card: The `card:` mapping of the YAML; its `expected` names the subsets.
        root: Folder that holds the files, or its parent; None looks on the hub.
        wanted: The files; those of `required` (all if empty) must be there.
        images: Place of the images; None takes `pictures` beside the files.
        subsets: Names of the subsets to read; None reads all.
        pictures: The release's own folder of images, relative to the files.

    Raises:
        InputError: If an option is wrong.
        NotAvailableError: If the release or a file of it is not there.
    """
    full = sources.card(card)
    chosen = sources.choose(subsets, tuple(full.expected), option="benchmark.subsets")
    place = sources.locate(full, root, wanted)
    checked = sources.check(full, place, wanted.names)
    needed = [name for name in checked.absent if name in (wanted.required or wanted.names)]
    sources.require(full, place, dataclasses.replace(checked, absent=tuple(needed)))
    where = sources.images_folder(images, place.folder / pictures)
    narrowed = dataclasses.replace(full, expected={name: full.expected[name] for name in chosen})
    provenance = Provenance(
        place.origin, place.location, place.revision, checked.files, checked.absent, checked.notices
    )
    return Release(narrowed, place.folder, where, chosen, provenance)


def flag(value: object, option: str) -> bool:
    """Return an option that must be true or false.

    Raises:
        InputError: If it is not.
    """
    if not isinstance(value, bool):
        raise InputError("wrong type", where=option, got=f"{value!r}", expected="true or false")
    return value
