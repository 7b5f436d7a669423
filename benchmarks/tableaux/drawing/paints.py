"""Paints that show a pattern or a material."""

from __future__ import annotations

from benchmarks.tableaux.drawing.palette import COLORS, contrast, darker, ink, lighter
from benchmarks.tableaux.drawing.svg import Paint, Pen, oval, path, polygon, rect


def colored(name: str | None) -> Paint:
    """Return the paint of a colour word; things without one are grey."""
    color = COLORS[name] if name else "#9aa0a6"
    return Paint((color,), ink(color))


def patterned(pen: Pen, color: str | None, pattern: str | None, scale: float = 1) -> Paint:
    """Return a colour with a pattern over it; a larger scale makes the pattern coarser."""
    base = colored(color)
    if pattern is None:
        return base
    other = contrast(color or "")
    width, height, marks = _PATTERNS[pattern](other)
    return Paint((*base.fills, _tile(pen, f"{pattern}{round(scale * 100)}", (width, height), marks, scale)), base.ink)


def _tile(pen: Pen, name: str, size: tuple[float, float], marks: str, scale: float = 1) -> str:
    return pen.define(
        name,
        f'<pattern id="{{id}}" width="{size[0]}" height="{size[1]}" patternUnits="userSpaceOnUse" '
        f'patternTransform="scale({scale:.3f})">{marks}</pattern>',
    )


def _dab(data: str, color: str, opacity: float = 1) -> str:
    return f'<path d="{data}" fill="{color}" fill-opacity="{opacity}"/>'


def _stroke(data: str, color: str, width: float, opacity: float = 1) -> str:
    return (
        f'<path d="{data}" fill="none" stroke="{color}" stroke-width="{width}" stroke-opacity="{opacity}" '
        'stroke-linecap="round"/>'
    )


def _striped(color: str) -> tuple[float, float, str]:
    return 16, 16, _dab(rect(4, -1, 8, 18), color)


def _spotted(color: str) -> tuple[float, float, str]:
    # The second row stands between the spots of the first.
    return 22, 22, _dab(oval(5.5, 5.5, 4.4), color) + _dab(oval(16.5, 16.5, 4.4), color)


def _checkered(color: str) -> tuple[float, float, str]:
    return 20, 20, _dab(rect(0, 0, 10, 10), color) + _dab(rect(10, 10, 10, 10), color)


def _floral(color: str) -> tuple[float, float, str]:
    marks = ""
    for x, y in ((9, 9), (26, 27)):
        petals = ((0, -4.6), (4.4, -1.4), (2.7, 3.7), (-2.7, 3.7), (-4.4, -1.4))
        marks += "".join(_dab(oval(x + dx, y + dy, 3.1), color) for dx, dy in petals)
        marks += _dab(oval(x, y, 2.5), "#e8a21c")
    for x, y in ((26, 8), (8, 27)):
        marks += _dab(path("M", x - 5, y, "q", 5, -6, 10, 0, "q", -5, 6, -10, 0, "Z"), color, 0.75)
    return 34, 36, marks


_PATTERNS = {"striped": _striped, "spotted": _spotted, "checkered": _checkered, "floral": _floral}


def material(pen: Pen, name: str | None) -> Paint:
    """Return the paint of a material."""
    base, size, marks = _MATERIALS[name or "wooden"]
    if name == "metal":
        return Paint((_sheen(pen), _tile(pen, "metal", size, marks)), ink(base))
    return Paint((base, _tile(pen, name or "wooden", size, marks)), ink(base))


def _sheen(pen: Pen) -> str:
    tones = ("#7f8a94", "#dfe6ea", "#98a4ad", "#f4f8fa", "#8b97a1", "#69747e", "#b9c3ca")
    stops = "".join(f'<stop offset="{i / 6:.2f}" stop-color="{tone}"/>' for i, tone in enumerate(tones))
    return pen.define("sheen", f'<linearGradient id="{{id}}" x1="0" y1="0" x2="1" y2="0.35">{stops}</linearGradient>')


def _grain() -> str:
    dark = "#6f4118"
    marks = _stroke("M 0 0.5 H 64", dark, 1.4) + _stroke("M 0 16.5 H 64", dark, 1.4)
    for y in (4, 8, 12, 21, 25, 29):
        marks += _stroke(path("M", 0, y, "q", 16, -2.4, 32, 0, "t", 32, 0), dark, 0.8, 0.5)
    marks += _stroke(oval(22, 8.5, 5, 2.6), dark, 1, 0.7) + _dab(oval(22, 8.5, 2.2, 1), dark, 0.8)
    return marks + _stroke(oval(50, 25, 5, 2.4), dark, 1, 0.7) + _stroke("M 40 0.5 v 16", dark, 1.2)


def _blocks() -> str:
    marks = "".join(_dab(oval(x, y, r), "#5d5b57", 0.55) for x, y, r in _SPECKS)
    marks += "".join(_dab(oval(x + 5, y + 3, r), "#e2e0da", 0.8) for x, y, r in _SPECKS)
    joint = "M 0 1 H 44 M 0 17 H 44 M 10 1 V 17 M 32 17 V 33"
    return marks + _stroke(joint, "#66635e", 1.5) + _stroke("M 18 4 l 4 4 l -1 4 l 5 4", "#66635e", 0.8)


_SPECKS = (
    (4, 6, 1.1),
    (15, 11, 0.8),
    (24, 5, 1.2),
    (37, 8, 0.9),
    (7, 25, 0.9),
    (17, 21, 1.2),
    (27, 28, 0.8),
    (40, 23, 1.1),
)


def _weave() -> str:
    light, dark = "#dcb161", "#8a5d1f"
    marks = _dab(rect(0, 0, 12, 12), "#6e4714")
    for x, y in ((0, 0), (6, 6)):
        marks += _dab(rect(x, y + 0.7, 6, 4.8, 1.8), light) + _stroke(path("M", x + 1, y + 4.6, "h", 4), dark, 0.9)
    for x, y in ((6, 0), (0, 6)):
        marks += _dab(rect(x + 0.7, y, 4.8, 6, 1.8), "#c18f42") + _stroke(path("M", x + 4.8, y + 1, "v", 4), dark, 0.9)
    return marks


def _kraft() -> str:
    marks = "".join(_stroke(path("M", x, 0, "v", 46), "#a87f4e", 0.7, 0.45) for x in range(2, 46, 4))
    for x in (12, 20):
        marks += _stroke(path("M", x, 30, "v", -10), "#6b4a26", 1.8) + _dab(
            polygon((x - 4, 21), (x + 4, 21), (x, 15)), "#6b4a26"
        )
    return marks + _stroke("M 8 33 h 16", "#6b4a26", 1.8) + _dab(rect(34, 0, 9, 46), "#ead9b8", 0.75)


_MATERIALS = {
    "wooden": ("#a86c35", (64, 32), _grain()),
    "metal": ("#8d98a1", (26, 26), _dab(oval(13, 13, 1.5), "#56616b") + _dab(oval(12.6, 12.6, 0.7), "#ffffff", 0.9)),
    "stone": ("#a3a19b", (44, 32), _blocks()),
    "wicker": ("#c99b52", (12, 12), _weave()),
    "cardboard": ("#cba473", (46, 46), _kraft()),
}


def glass(color: str | None, transparency: str | None) -> tuple[str, float]:
    """Return the fill of glass and its opacity."""
    hue = COLORS[color or "blue"]
    if transparency == "transparent":
        return hue, 0.26
    if transparency == "frosted":
        return lighter(hue, 0.3), 0.6
    return darker(hue, 0.04), 1.0


def frost(pen: Pen) -> str:
    """Return the grain of frosted glass, to fill over its colour."""
    marks = "".join(
        _dab(
            oval((7 * i) % 17 + 0.5, (11 * i) % 13 + 0.5, 0.8),
            "#ffffff" if i % 2 else "#5d6670",
            0.75 if i % 2 else 0.28,
        )
        for i in range(26)
    )
    return _tile(pen, "frost", (17, 13), marks)
