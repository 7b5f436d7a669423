"""Say what every recorded row is about: its id, subset, image, captions, and the order of options."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from benchmarks import files
from benchmarks.cells import label, listed
from benchmarks.errors import InputError
from benchmarks.recordings.roles import Chosen, Roles, assign, holds_values
from benchmarks.recordings.rows import Collected, Order, Raw, Source, collect

_ORDERS: Mapping[str, Order] = {
    **{"ab": "ab", "positive-first": "ab", "caption-first": "ab", "true": "ab", "1": "ab", "a": "ab"},
    **{"ba": "ba", "negative-first": "ba", "foil-first": "ba", "false": "ba", "0": "ba", "b": "ba"},
}


@dataclass(frozen=True, slots=True)
class Entry:
    """Hold one recorded row.

    Attributes:
        spot: Where it stands.
        cells: Everything in it, by column.
        id: Its id, or empty.
        subsets: Names that may be its subset, the likeliest first.
        image: Name of its image file, or empty.
        captions: Its captions, the true ones first; empty where the file has none.
        order: Order in which the options were shown (`ab` the true caption first), or empty.
        cluster: What it shares with other rows, or empty.
    """

    spot: files.Spot
    cells: Mapping[str, Any]
    id: str
    subsets: tuple[str, ...]
    image: str
    captions: tuple[str, ...]
    order: Order
    cluster: str

    @property
    def name(self) -> str:
        """Return the id, else one made of the content, else of the place in this very file."""
        if self.id:
            return self.id
        if self.captions or self.image:
            text = json.dumps([self.image, *self.captions], ensure_ascii=True)
            return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
        return f"{self.spot.path.stem}, {self.spot.row}"


@dataclass(frozen=True, slots=True)
class Recording:
    """Hold a recorded source, read once.

    Attributes:
        entries: Its rows, in order.
        roles: What its columns are.
        files: SHA-256 by file name.
        ignored: What was no row.
        typed: Whether cells have types (not csv).
    """

    entries: tuple[Entry, ...]
    roles: Roles
    files: Mapping[str, str]
    ignored: tuple[str, ...]
    typed: bool

    @property
    def told(self) -> str:
        """Return in words how the files were read."""
        how = "guessed" if self.roles.guessed else "as given"
        return f"{self.roles.layout} ({how}): {self.roles.told()}"


def read(source: Source, *, layout: str = "auto", columns: Chosen | None = None, where: str) -> Recording:
    """Read a recorded source.

    Args:
        source: See `rows.collect`.
        layout: See `roles.assign`.
        columns: See `roles.assign`.
        where: The option that names the source, for messages.

    Raises:
        InputError: For everything that is wrong with the files or with the options.
    """
    chosen = dict(columns or {})
    collected = collect(source, lambda names: holds_values(names, chosen), where=where)
    roles = assign(collected.header, chosen, layout=layout, where=_place(collected, where))
    entries = tuple(_entries(collected, roles))
    return Recording(entries, roles, collected.files, collected.ignored, collected.typed)


def _place(collected: Collected, where: str) -> str:
    """Name the files for a message about their columns."""
    paths = list(dict.fromkeys(str(row.spot.path) for row in collected.rows))
    return f"{where}, {paths[0]}" + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


def _entries(collected: Collected, roles: Roles) -> Iterator[Entry]:
    for raw in collected.rows:
        order = _order(raw, roles)
        yield Entry(
            raw.spot,
            raw.cells,
            _id(raw, roles),
            _subsets(raw, roles),
            _image(raw, roles),
            tuple(_captions(raw, roles)),
            order,
            _text(raw, roles, "cluster"),
        )


def _text(raw: Raw, roles: Roles, role: str) -> str:
    """Return a label of a row, or an empty text."""
    column = roles.one(role)
    cell = raw.cells.get(column) if column else None
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        cell = int(cell)  # whole numbers turn into 7.0 where a program wrote a column with gaps
    if cell is not None and not isinstance(cell, str | int):
        return ""
    return label(cell, raw.spot.at(column))


def _id(raw: Raw, roles: Roles) -> str:
    name = _text(raw, roles, "id") or (raw.keys[-1] if raw.keys else "")
    tier = _text(raw, roles, "tier")
    return f"{name}:{tier}" if name and tier else name


def _subsets(raw: Raw, roles: Roles) -> tuple[str, ...]:
    """Return the column's word, joined with its part, then what encloses the row, then the names of the files."""
    own, part = _text(raw, roles, "subset"), _text(raw, roles, "subtype")
    named = [f"{own}_{part}", own] if own and part else [own]
    return tuple(dict.fromkeys(name for name in (*named, *reversed(raw.keys[:-1]), *raw.names) if name))


def _image(raw: Raw, roles: Roles) -> str:
    """Return the name of the image file, without its folders."""
    return PurePosixPath(_text(raw, roles, "image").replace("\\", "/")).name


def _captions(raw: Raw, roles: Roles) -> Iterator[str]:
    for role in ("caption", "foil"):
        for column in roles.by_role.get(role, ()):
            cell = raw.cells.get(column)
            texts = listed(cell) if isinstance(cell, str) else cell
            for text in texts if isinstance(texts, list) else [texts]:
                if isinstance(text, str):
                    yield text


def _order(raw: Raw, roles: Roles) -> Order:
    """Return the order of options: the row's own word for it, else what the file's name tells.

    Raises:
        InputError: If the row has a word for it that is not known.
    """
    column = roles.one("order")
    if not column or raw.cells.get(column) in (None, ""):
        return raw.order
    word = _text(raw, roles, "order").strip().lower().replace("_", "-").replace(" ", "-")
    if word not in _ORDERS:
        raise InputError(
            "not an order of options",
            where=str(raw.spot.at(column)),
            got=files.shown(raw.cells[column]),
            expected="ab or positive-first (the true caption shown first), ba or negative-first",
            step="name another column, or columns={order: null}",
        )
    return _ORDERS[word]


def unfolded(cell: Any) -> Any:
    """Return the list that a csv cell holds as JSON text, else the cell as it is.

    >>> unfolded("[0.1, 0.2]"), unfolded("[cup"), unfolded(0.3)
    ([0.1, 0.2], '[cup', 0.3)
    """
    if not isinstance(cell, str) or not cell.strip().startswith("["):
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell
