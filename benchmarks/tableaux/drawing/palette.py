"""Colours by their names, and mixtures of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

COLORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "red": "#d2302a",
        "blue": "#2b62d0",
        "green": "#2f9a45",
        "yellow": "#f8d222",
        "orange": "#f5811f",
        "purple": "#7a3fb5",
        "pink": "#f58fbd",
        "black": "#303036",
        "white": "#f8f7f3",
        "brown": "#7a4a26",
    }
)
"""Hex by the words of the vocabulary: far enough apart that shading never turns one into another."""

# A pattern in white would be lost on a pale ground.
_ON_PALE: Final = {"yellow": "#a86f00", "pink": "#a8326c", "white": "#6b7080", "orange": "#fff3d6"}
_DARKEST: Final = "#1d1a22"


def mix(first: str, second: str, share: float) -> str:
    """Return a mixture of two hex colours; `share` is that of the second.

    >>> mix("#000000", "#ffffff", 0.5)
    '#808080'
    """
    one, two = ([int(text[i : i + 2], 16) for i in (1, 3, 5)] for text in (first, second))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(one, two, strict=True))


def darker(color: str, share: float = 0.35) -> str:
    """Return the colour with a share of near-black in it."""
    return mix(color, _DARKEST, share)


def lighter(color: str, share: float = 0.35) -> str:
    """Return the colour with a share of white in it."""
    return mix(color, "#ffffff", share)


def ink(color: str) -> str:
    """Return the colour of an outline around a shape of this colour."""
    return mix(color, _DARKEST, 0.62)


def contrast(name: str) -> str:
    """Return the second colour of a pattern on a ground of this name."""
    return _ON_PALE.get(name, "#fbfaf6")
