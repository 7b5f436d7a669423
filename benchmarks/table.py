"""Parse a user's own table: one row per instance, columns guessed from common names or given."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import columns, files, sheets, sources
from benchmarks.cells import MAX_TAG_LENGTH, label, listed, tag_value
from benchmarks.errors import InputError, near
from benchmarks.images import ImageRef
from benchmarks.schema import Card, Instance, Provenance

MAX_TAG_VALUES = 20  # distinct values up to which a column is taken for a label rather than for data


@dataclass(slots=True)
class Scan:
    """What one pass over the rows collects.

    Attributes:
        values: Distinct values by column that may be a tag, None once there are too many.
        ids: Place of every id, by its digest.
        rows: Number of rows.
    """

    values: dict[str, set[str] | None]
    ids: dict[bytes, str] = field(default_factory=dict)
    rows: int = 0


class Table:
    """Yield a user's own table: 1xT, 2x2 with a column for the edited image, Ix1 without foils.

    Args:
        card: The `card:` mapping of the YAML.
        path: The file (csv, tsv, jsonl, json, parquet).
        root: Folder that a relative path starts from; the current one by default.
        images: Folder that relative image paths start from; the table's folder by default.
        delimiter: Of csv and tsv; None sees it from the header.
        tags: Columns to report by; None takes all others with few distinct values.
        **choices: Column by role (`caption`, `foil`, `image`, `image_foil`, `subset`, `cluster`, `id`, `query`);
            None guesses, False leaves the role empty.

    Raises:
        InputError: At the first row that cannot be an instance, and for everything that is wrong with the file.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        path: str | Path | None = None,
        root: str | Path | None = None,
        *,
        images: str | Path | None = None,
        delimiter: str | None = None,
        tags: str | Sequence[str] | None = None,
        **choices: columns.Choice,
    ) -> None:
        plain = sources.card(card)
        file = _file(path, root, plain)
        self.card = sources.titled(plain, file.name, instead="your own table")
        self._sheet = sheets.open_sheet(file, delimiter=delimiter)
        self._columns = columns.assign(self._sheet.header, choices, where=str(file))
        self._images = sources.images_folder(images, file.parent)
        self._tags = _tag_columns(tags, self._sheet)
        scan = self._scan(_candidates(tags, self._columns, self._tags))
        if tags is None:
            self._tags = tuple(name for name, values in scan.values.items() if values and 1 < len(values) < scan.rows)
        self.provenance = Provenance(
            "table", str(file), files={file.name: self._sheet.digest}, notices=tuple(self._notices(scan))
        )

    def __iter__(self) -> Iterator[Instance]:
        """Yield one instance per row, in the order of the file."""
        if files.digest(self._sheet.path) != self._sheet.digest:
            files.Spot(self._sheet.path).refuse("the file changed while it was in use", step="run again")
        for row in self._sheet.rows():
            yield self._instance(row)

    def _instance(self, row: sheets.Row) -> Instance:
        spot = files.Spot(self._sheet.path, row.place)
        images = self._refs(row.cells, spot)
        positives, foils = self._texts("caption", row.cells, spot), self._texts("foil", row.cells, spot)
        gold = _gold(len(images), len(positives), len(foils), spot)
        name, query, subset, cluster = (
            self._label(role, row.cells, spot) for role in ("id", "query", "subset", "cluster")
        )
        if not name and "id" in self._columns.by_role:
            spot.at(self._columns.one("id")).refuse("an empty id", got=name)
        tags = {tag: value for tag in self._tags if (value := label(row.cells.get(tag), spot.at(tag)))}
        return files.build(
            spot,
            lambda: Instance(
                name or row.place.replace(" ", ":"),
                images,
                (*positives, *foils),
                gold,
                query,
                subset,
                cluster,
                tags=tags,
            ),
        )

    def _texts(self, role: str, cells: Mapping[str, Any], spot: files.Spot) -> tuple[str, ...]:
        """Return the texts of a role: one cell, a list in a cell, or several columns."""
        texts: list[str] = []
        names = self._columns.by_role.get(role, ())
        for number, column in enumerate(names):
            place = spot.at(column)
            if number and all(_is_empty(cells.get(name, "")) for name in names[number:]):
                break  # of numbered columns, a row with fewer options leaves the last ones empty
            if column not in cells:
                place.refuse("a field is missing", expected=f"the {role}")
            cell = cells[column] if self._sheet.typed else listed(cells[column])
            if cell == []:
                place.refuse("an empty list", expected="at least one text")
            if number and _is_empty(cell):
                place.refuse(
                    f"an empty {role} before one that is there",
                    told=f"{column} is empty, a later one is not",
                    step=f"leave the last columns of a row empty, not one between: {', '.join(names)}",
                )
            texts += [files.is_text(text, place) for text in (cell if isinstance(cell, list) else [cell])]
        return tuple(texts)

    def _refs(self, cells: Mapping[str, Any], spot: files.Spot) -> tuple[ImageRef, ...]:
        """Return the images: one, absent if the table has none, or base and foil."""
        base = self._ref("image", cells, spot)
        if "image_foil" not in self._columns.by_role:
            return (base,)
        edited = self._ref("image_foil", cells, spot)
        for role, ref in (("image", base), ("image_foil", edited)):
            if ref.is_absent:
                spot.at(self._columns.one(role)).refuse("no image", expected="a file for both images")
        return base, edited

    def _ref(self, role: str, cells: Mapping[str, Any], spot: files.Spot) -> ImageRef:
        column = self._columns.one(role)
        cell = cells.get(column) if column else None
        if isinstance(cell, dict):
            # The layout of image columns in parquet files of the hub: the encoded bytes, and perhaps a file name.
            if isinstance(cell.get("bytes"), bytes):
                return ImageRef(str(cell.get("path") or f"{spot.row}/{column}"), data=cell["bytes"])
            cell = cell.get("path")
        name = label(cell, spot.at(column))
        if not name:
            return ImageRef.absent()
        if "\0" in name:
            spot.at(column).refuse("not a file name: it holds a null character", got=name)
        return ImageRef(name, self._images / name)

    def _label(self, role: str, cells: Mapping[str, Any], spot: files.Spot) -> str:
        column = self._columns.one(role)
        return label(cells.get(column), spot.at(column)) if column else ""

    def _scan(self, candidates: Sequence[str]) -> Scan:
        """Read every row once: all that is wrong is said before anything is scored."""
        scan = Scan({name: set() for name in candidates})
        for row in self._sheet.rows():
            scan.rows += 1
            instance = self._instance(row)
            key = hashlib.blake2b(instance.id.encode(), digest_size=16).digest()
            if key in scan.ids:
                files.Spot(self._sheet.path, row.place, self._columns.one("id")).refuse(
                    f"the id stands twice, first in {scan.ids[key]}",
                    got=instance.id,
                    step="make the ids unique, or give benchmark.id=false to use the row's place",
                )
            scan.ids[key] = row.place
            _collect(scan, row)
        if not scan.rows:
            files.Spot(self._sheet.path).refuse(
                "the table has no rows", told=f"a header only: {', '.join(self._sheet.header)}"
            )
        return scan

    def _notices(self, scan: Scan) -> Iterator[str]:
        yield f"Columns were read as: {self._columns.told()}."


def _collect(scan: Scan, row: sheets.Row) -> None:
    """Note the values of the columns that may be tags."""
    for name, values in scan.values.items():
        if values is not None and (value := tag_value(row.cells.get(name))) is not None:
            values.add(value)
            too_many = len(values) > MAX_TAG_VALUES or len(value) > MAX_TAG_LENGTH
            scan.values[name] = None if too_many else values


def _file(path: str | Path | None, root: str | Path | None, card: Card) -> Path:
    if path is None:
        raise InputError("benchmark=table needs a file", where="benchmark.path", got="null", step=card.how_to_get)
    file = Path(root or "").expanduser() / Path(path).expanduser()
    if not file.is_file():
        names = [item.name for item in (file if file.is_dir() else file.parent).glob("*")]
        tables = sorted(name for name in names if Path(name).suffix.lower() in sheets.SUFFIXES)
        inside = f"name the file: benchmark.path={file / tables[0]}" if file.is_dir() and tables else ""
        raise InputError(
            "the table is not there",
            where=str(file.absolute()),
            got="a folder" if file.is_dir() else "no such file",
            step=inside or near(file.name, names) or card.how_to_get,
        )
    return file


def _tag_columns(tags: str | Sequence[str] | None, sheet: sheets.Sheet) -> tuple[str, ...]:
    """Return the columns that the user chose as tags."""
    return () if tags is None or list(tags) == [] else sources.choose(tags, sheet.header, option="benchmark.tags")


def _candidates(tags: str | Sequence[str] | None, found: columns.Columns, chosen: Sequence[str]) -> tuple[str, ...]:
    return found.others if tags is None else tuple(chosen)


def _is_empty(cell: Any) -> bool:
    """Return whether a cell holds nothing."""
    return (
        cell is None or (isinstance(cell, str) and not cell.strip()) or (isinstance(cell, float) and math.isnan(cell))
    )


def _gold(images: int, positives: int, foils: int, spot: files.Spot) -> NDArray[np.bool_]:
    """Return gold [I, T]: captions before foils, the base image before the edited one."""
    gold = np.zeros((images, positives + foils), dtype=bool)
    gold[0, :positives] = True
    if images == 2 and foils:
        if (positives, foils) != (1, 1):
            spot.refuse(
                "two images need one caption each", told=f"{positives} captions and {foils} foils", expected="1 and 1"
            )
        gold[1, 1] = True
    return gold
