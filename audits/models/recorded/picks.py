"""What a row says of one question: which option was picked, whether it was the right one, whether the first shown."""

from __future__ import annotations

import math
from collections.abc import Mapping

from audits.models.answers import FAILED, Answer, Pick, letter, repeated
from audits.models.recorded.joining import Target
from audits.models.recorded.values import flag
from benchmarks.recordings.entries import Entry
from benchmarks.recordings.roles import Roles
from benchmarks.recordings.rows import Order


def from_flag(entry: Entry, right: bool | None) -> Pick:
    """Return the pick behind a flag; with two options the order tells which was picked."""
    if right is None:
        return Pick(None, None, "failed")
    return Pick(right, _first(right, entry.order), "answered")


def from_answer(entry: Entry, roles: Roles, target: Target) -> Pick:
    """Return the pick behind an answer: a caption repeated, or a letter where the order of options is known.

    Raises:
        InputError: If a letter is given and nothing tells what it stood for.
    """
    text = None if _failed(entry, roles) else _text(entry, roles)
    captions = entry.captions or target.captions
    found = repeated(text, captions) if text is not None else FAILED
    if found.choice is not None:
        right = found.choice < int(target.gold.sum())
        return Pick(right, _first(right, entry.order) if len(captions) == 2 else None, "answered")
    if found.state != "unparsed":
        return Pick(None, None, found.state)
    return _from_letter(letter(text, target.gold.size), entry, roles, target)


def _from_letter(found: Answer, entry: Entry, roles: Roles, target: Target) -> Pick:
    if found.choice is None:
        return Pick(None, None, found.state)
    key = _key(entry, roles, target)
    if key is None:
        entry.spot.at(roles.one("answer")).refuse(
            "an answer names an option by its letter, and nothing tells what stood there",
            got=entry.cells.get(roles.one("answer")),
            expected="a column `label` with the right letter, or `order` (ab: the true caption was shown first)",
            step="name the order of a file: {path: {ab: FILE, ba: FILE}}",
        )
    return Pick(found.choice == key, found.choice == 0, "answered")


def _key(entry: Entry, roles: Roles, target: Target) -> int | None:
    """Return the place of the right option, or None if it is not known."""
    column = roles.one("label")
    if column and entry.cells.get(column) not in (None, ""):
        found = letter(str(entry.cells[column]), target.gold.size)
        if found.choice is None:
            entry.spot.at(column).refuse(
                "not the letter of an option", got=entry.cells[column], expected="A, B, ... or 1, 2, ..."
            )
        return found.choice
    if entry.order and target.gold.size == 2:
        return 0 if entry.order == "ab" else 1
    return None


def _first(right: bool, order: Order) -> bool | None:
    return None if not order else right == (order == "ab")


def _text(entry: Entry, roles: Roles) -> str | None:
    """Return the raw answer as text, or None if there is none."""
    column = roles.one("answer")
    cell = entry.cells.get(column)
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if not isinstance(cell, str | int) or isinstance(cell, bool):
        entry.spot.at(column).refuse("not an answer", got=cell, expected="text")
    return str(cell)


def _failed(entry: Entry, roles: Roles) -> bool:
    """Return whether the row says that the request failed."""
    column = roles.one("error")
    cell = entry.cells.get(column) if column else None
    if isinstance(cell, str) and cell.strip().lower() not in {"", "0", "1", "true", "false", "none", "nan", "null"}:
        return True
    return bool(flag(cell, entry.spot.at(column))) if column else False


def by_order(picks: Mapping[Order, Pick]) -> tuple[Order, ...]:
    """Return the orders that were asked."""
    return tuple(order for order in ("", "ab", "ba") if order in picks)
