"""Read single recorded values: numbers, flags, the scores of one instance. Whatever is odd is refused or counted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audits.models.recorded.joining import Target, is_square
from benchmarks import files
from benchmarks.recordings.entries import Entry, unfolded
from benchmarks.recordings.roles import CELLS, Roles

NO_VALUE, NOT_FINITE = "no value is recorded", "the recorded value is not finite"
_TRUE, _FALSE = {"1", "true", "yes", "1.0"}, {"0", "false", "no", "0.0"}
_NONE = {"", "nan", "none", "null", "na", "n/a"}


def number(cell: Any, spot: files.Spot) -> float:
    """Return a score; NaN where none is recorded, infinite where it is infinite.

    Raises:
        InputError: If the cell holds something else than a number.
    """
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in _NONE):
        return math.nan
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        spot.refuse("not a score", got=cell, expected="a number, or nothing")
    try:
        return float(cell)
    except (ValueError, OverflowError):
        spot.refuse("not a score", got=cell, expected="a number, or nothing")


def flag(cell: Any, spot: files.Spot) -> bool | None:
    """Return whether a row is right; None where that is not recorded.

    Raises:
        InputError: If the cell holds something else than a flag.
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    text = str(cell).strip().lower() if isinstance(cell, bool | int | float | str) else "?"
    if text in _NONE:
        return None
    if text not in _TRUE and text not in _FALSE:
        spot.refuse("not a flag", got=cell, expected="1 or 0, true or false, or nothing")
    return text in _TRUE


def grid(entry: Entry, roles: Roles, target: Target) -> NDArray[np.float64]:
    """Return the scores [I, T] that a row records of an instance, in the order of the instance.

    Raises:
        InputError: If there are not as many as the instance has options, or one is no number.
    """
    if roles.layout == "pairs":
        return _square(entry, roles, target)
    if is_square(target) or 1 not in target.shape:
        entry.spot.refuse(
            f"a score per caption cannot be read for instance {target.id!r}, which has two images and two captions",
            told=roles.told()[:200],
            expected="four similarities (c0_i0, c0_i1, c1_i0, c1_i1)",
        )
    if "scores" in roles.by_role and "positive" not in roles.by_role:
        return _listed(entry, roles, target).reshape(target.shape)
    flat, gold = np.full(target.gold.size, np.nan), target.gold.ravel()
    for role, places in (("positive", np.flatnonzero(gold)), ("negative", np.flatnonzero(~gold))):
        found = _several(entry, roles.by_role[role])
        if len(found) != len(places):
            entry.spot.at(roles.one(role)).refuse(
                f"another number of scores than instance {target.id!r} has options of that kind",
                told=str(len(found)),
                expected=str(len(places)),
            )
        flat[places] = found
    return flat.reshape(target.shape)


def _square(entry: Entry, roles: Roles, target: Target) -> NDArray[np.float64]:
    """Return a 2x2 [image, caption]; the file's caption 0 is the one that matches its image 0."""
    if not is_square(target):
        entry.spot.refuse(
            f"four similarities cannot be read for instance {target.id!r}, which is no 2x2 of two pairs",
            told=f"{target.shape.images} images, {target.shape.captions} captions",
        )
    found = np.array([_only(entry, roles.one(cell)) for cell in CELLS]).reshape(2, 2)
    turned = np.empty((2, 2))
    turned[:, target.gold.argmax(axis=1)] = found
    return turned


def _listed(entry: Entry, roles: Roles, target: Target) -> NDArray[np.float64]:
    """Return the scores of a list in one cell, in the instance's own order of options."""
    found = _several(entry, roles.by_role["scores"])
    if len(found) != target.gold.size:
        entry.spot.at(roles.one("scores")).refuse(
            f"another number of scores than instance {target.id!r} has options",
            told=str(len(found)),
            expected=str(target.gold.size),
        )
    return np.array(found)


def _only(entry: Entry, column: str) -> float:
    if column not in entry.cells:
        entry.spot.at(column).refuse("a field is missing", told=f"fields {', '.join(entry.cells)}"[:200])
    return number(entry.cells[column], entry.spot.at(column))


def _several(entry: Entry, columns: Sequence[str]) -> list[float]:
    """Return the numbers of one or several columns, each a number or a list of numbers."""
    found: list[float] = []
    for column in columns:
        cell = unfolded(entry.cells.get(column))
        if isinstance(cell, list):
            found += [number(item, entry.spot.at(column)) for item in cell]
        else:
            found.append(_only(entry, column))
    return found


def flags(entry: Entry, roles: Roles, names: Sequence[str]) -> Mapping[str, bool | None]:
    """Return the flags of a row by role."""
    found = {}
    for role in names:
        column = roles.one(role)
        if column:
            found[role] = flag(entry.cells.get(column), entry.spot.at(column))
    return found
