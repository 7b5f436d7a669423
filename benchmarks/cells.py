"""Read single cells of a user's table: lists of texts, labels, tags."""

from __future__ import annotations

import ast
import json
import warnings

from benchmarks import files

MAX_TAG_LENGTH = 64  # characters; longer values are data, not labels


def listed(cell: str) -> object:
    """Return the list of texts that a csv cell holds as JSON or as a Python literal, else the cell itself."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return cell
    for parse in (json.loads, ast.literal_eval):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                value = parse(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return value
    return cell


def label(cell: object, spot: files.Spot) -> str:
    """Return a label as text: whole numbers and truth values of typed formats become text, null becomes empty."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int):
        return str(cell)
    if not isinstance(cell, str):
        spot.refuse("wrong type", got=cell, expected="text or a whole number")
    return files.is_text(cell, spot) if cell.strip() else ""


def tag_value(cell: object) -> str | None:
    """Return a cell as a tag value; None where it is none. Lists and numbers with fractions are data, not labels."""
    if isinstance(cell, (bool, int)):
        return str(cell).lower()
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return None
    return cell if isinstance(cell, str) else "\0" * (MAX_TAG_LENGTH + 1)
