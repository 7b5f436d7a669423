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

ANY = ("",)  # as `required` of Wanted: no file by itself is indispensable, but one must be there


@dataclasses.dataclass(frozen=True, slots=True)
class Release:
    """Hold an opened release.

    Attributes:
        card: The card; `expected` holds the selected subsets only.
        folder: Folder that holds the annotation files.
        images: Folder, zip or tar of images.
        subsets: The selected subsets, in the card's order.
        known: All subsets of the release.
        provenance: Where it came from.
    """

    card: Card
    folder: Path
    images: Path
    subsets: tuple[str, ...]
    known: tuple[str, ...]
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

    def noticed(self, *notices: str) -> Provenance:
        """Return the provenance with further notices."""
        return dataclasses.replace(self.provenance, notices=(*self.provenance.notices, *notices))

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


def opened(  # noqa: PLR0913 - one argument per option of the YAML
    card: Card | Mapping[str, Any],
    root: str | Path | None,
    wanted: sources.Wanted,
    *,
    images: str | Path | None = None,
    pictures: str = "images",
    subsets: str | Sequence[str] | None = None,
    known: Sequence[str] = (),
    forms: bool = False,
) -> Release:
    """Find a release and check its files.

    Args:
        card: The `card:` mapping of the YAML; its `expected` names the subsets.
        root: Folder that holds the files, or its parent; None looks on the hub.
        wanted: The files; those of `required` (all if empty) must be there.
        images: Place of the images; None takes `pictures` beside the files.
        pictures: The release's own folder of images, relative to the files.
        subsets: Names of the subsets to read; None reads all.
        known: Names of the subsets, where the card does not know their counts.
        forms: Whether the files are forms of one release, of which the first that is there is read.

    Raises:
        InputError: If an option is wrong.
        NotAvailableError: If the release or a file of it is not there.
    """
    full = sources.card(card)
    every = tuple(known or full.expected)
    chosen = sources.choose(subsets, every, option="benchmark.subsets")
    if forms and root is None:
        wanted = dataclasses.replace(wanted, required=wanted.names[:1])
    place = sources.locate(full, root, wanted)
    names = _first_form(place, wanted.names) if forms else wanted.names
    checked = sources.check(full, place, names)
    needed = [name for name in checked.absent if name in (wanted.required or names)]
    sources.require(full, place, dataclasses.replace(checked, absent=tuple(needed) or _nothing(checked)))
    where = sources.images_folder(images, place.folder / pictures)
    narrowed = dataclasses.replace(
        full, expected={name: full.expected[name] for name in chosen if name in full.expected}
    )
    provenance = Provenance(
        place.origin,
        place.location,
        place.revision,
        checked.files,
        checked.absent,
        (*checked.notices, *_pinning(full, place)),
    )
    return Release(narrowed, place.folder, where, chosen, every, provenance)


def _nothing(checked: sources.Checked) -> tuple[str, ...]:
    """Return the absent files where none is there at all."""
    return () if checked.files else checked.absent


def _first_form(place: sources.Place, names: Sequence[str]) -> tuple[str, ...]:
    """Return the files of the first form that is there; all names if none is."""
    for name in names:
        found = sources.expand(place.folder, [name])
        if any((place.folder / one).is_file() for one in found):
            return found
    return tuple(names)


def _pinning(card: Card, place: sources.Place) -> tuple[str, ...]:
    if place.origin == "hub" and place.revision and place.revision != card.revision:
        return (f"The hub's branch {card.revision} stood for commit {place.revision}; it is not pinned.",)
    return ()


def flag(value: object, option: str) -> bool:
    """Return an option that must be true or false.

    Raises:
        InputError: If it is not.
    """
    if not isinstance(value, bool):
        raise InputError("wrong type", where=option, got=f"{value!r}", expected="true or false")
    return value
