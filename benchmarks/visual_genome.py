"""Read what several benchmarks of Visual Genome regions share: a box of numbers, given as such or as text."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import files
from benchmarks.images import Box, ImageRef

NUMBER = re.compile(r"-?\d{1,9}(\.\d{1,9})?")


def box(row: Mapping[str, Any], fields: Sequence[str], spot: files.Spot) -> Box:
    """Return the box of a row in pixels, right and bottom exclusive, rounded as the image libraries round a crop.

    Args:
        row: The row.
        fields: Names of left, top, width and height.
        spot: Where it was read.

    Raises:
        InputError: If a number is missing or is none, or the box is empty.
    """
    left, top, width, height = (_number(row, field, spot.at(field)) for field in fields)
    for field, side in zip(fields[2:], (width, height), strict=True):
        if side <= 0:
            spot.at(field).refuse("an empty box", got=row[field], expected="a number above 0")
    return Box(round(left), round(top), round(left + width), round(top + height))


def cropped(ref: ImageRef, region: Box) -> ImageRef:
    """Return the reference of a region of an image; its key stays the image's."""
    return dataclasses.replace(ref, box=region)


def image_name(value: object, spot: files.Spot) -> str:
    """Return the file name of an image id, which some files hold as a number and others as text.

    Raises:
        InputError: If it is no image id.
    """
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 20):
        spot.refuse("not an image id", got=value, expected="a whole number")
    return f"{text}.jpg"


def _number(row: Mapping[str, Any], field: str, spot: files.Spot) -> float:
    value = row.get(field)
    if isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        return float(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value) or abs(value) > 1e9:
        spot.refuse("not a number of pixels", got=value, expected="a number")
    return float(value)
