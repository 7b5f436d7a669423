"""Draw what hangs on the wall: boards of several shapes, textiles. Frame: 100 units tall, lower edge at the origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.tableaux.drawing.paints import colored, patterned
from benchmarks.tableaux.drawing.palette import darker, ink, lighter
from benchmarks.tableaux.drawing.svg import Pen, oval, path, polygon, rect, ring
from benchmarks.tableaux.scene import Item

Prop = Callable[[Pen, Item], None]


def _outline(shape: str | None, size: float) -> str:
    """Return the outline of a board about (0, -50); size 1 fills the place."""
    if shape == "square":
        return rect(-43 * size, -50 - 43 * size, 86 * size, 86 * size, 3)
    if shape == "triangular":
        # Its middle lies low, so that an inner triangle leaves an even frame.
        return ring(3, 0, -36, 62 * size)
    if shape == "hexagonal":
        return ring(6, 0, -50, 50 * size, turn=0)
    if shape == "star-shaped":
        return ring(5, 0, -47, 54 * size, inner=25 * size)
    return oval(0, -50, 48 * size)


def _centre(item: Item) -> float:
    return {"triangular": -36.0, "star-shaped": -47.0}.get(item.shape or "", -50.0)


def _frame(pen: Pen, item: Item, face: str) -> str:
    """Draw the shadow, the coloured frame and the face of a board; return the outline of the face."""
    pen.cast(_outline(item.shape, 1))
    pen.form(_outline(item.shape, 1), colored(item.color), "flat", outline=2)
    inner = _outline(item.shape, 0.74 if item.shape in ("triangular", "star-shaped") else 0.8)
    pen.form(inner, face, "", outline=1.6)
    return inner


def _clock(pen: Pen, item: Item) -> None:
    inner = _frame(pen, item, "#fbf8ee")
    y = _centre(item)
    with pen.clip(inner), pen.frame(0, y):
        reach = {"triangular": 17, "star-shaped": 19}.get(item.shape or "", 31)
        for hour in range(12):
            with pen.frame(0, 0, turn=30 * hour):
                pen.line(path("M", 0, -reach, "v", 4 if hour % 3 else 6.5), "#2a2a30", 1.6 if hour % 3 else 2.8)
        pen.line(path("M", 0, 0, "L", -reach * 0.38, -reach * 0.34), "#17171c", 4)
        pen.line(path("M", 0, 0, "L", reach * 0.36, -reach * 0.62), "#17171c", 2.8)
        pen.fill(oval(0, 0, 3.4), "#b02a20")


def _mirror(pen: Pen, item: Item) -> None:
    stops = "".join(f'<stop offset="{at}" stop-color="{tone}"/>' for at, tone in _SILVER)
    silver = pen.define("silver", f'<linearGradient id="{{id}}" x1="0" y1="0" x2="1" y2="1">{stops}</linearGradient>')
    inner = _frame(pen, item, "#cfe0ea")
    pen.fill(inner, silver)
    with pen.clip(inner):
        pen.line("M -40 -22 L 12 -92", "#ffffff", 9, 0.9)
        pen.line("M -22 -16 L 30 -86", "#ffffff", 3.5, 0.85)
    pen.line(inner, "#46525c", 1.6)


_SILVER = ((0, "#dcebf3"), (0.45, "#a9c3d3"), (0.55, "#cfe2ec"), (1, "#86a3b6"))


def _sign(pen: Pen, item: Item) -> None:
    paint = colored(item.color)
    pen.cast(_outline(item.shape, 1))
    pen.form(_outline(item.shape, 1), paint, "flat", outline=2)
    mark = "#24242a" if item.color in ("yellow", "white", "pink", "orange") else "#fdfcf7"
    pen.line(_outline(item.shape, 0.86), mark, 2.2)
    with pen.frame(0, _centre(item), 0.62 if item.shape in ("triangular", "star-shaped") else 1):
        pen.fill(polygon((-28, -6), (4, -6), (4, -19), (29, 0), (4, 19), (4, 6), (-28, 6)), mark)


def _painting(pen: Pen, item: Item) -> None:
    inner = _frame(pen, item, "#a8d4ec")
    y = _centre(item)
    with pen.clip(inner):
        pen.fill(oval(16, y - 12, 7), "#fff0a0")
        pen.fill(
            polygon((-60, y + 14), (-22, y - 20), (-4, y), (12, y - 9), (60, y + 20), (60, y + 60), (-60, y + 60)),
            "#7d8aa8",
        )
        pen.fill(polygon((-31, y - 12), (-22, y - 20), (-15, y - 12), (-21, y - 9)), "#ffffff")
        pen.fill(path("M", -60, y + 14, "Q", -20, y + 2, 0, y + 12, "T", 60, y + 10, "V", 30, "H", -60, "Z"), "#7fb069")
        pen.fill(path("M", -4, y + 50, "Q", 14, y + 22, 0, y + 13, "Q", 22, y + 24, 16, y + 50, "Z"), "#e8d9a8")
    pen.line(inner, ink("#8a6a3a"), 1.6)


def _banner(pen: Pen, item: Item) -> None:
    shape = "M -32 -92 L 32 -92 L 32 -1 L 0 -20 L -32 -1 Z"
    pen.cast(shape)
    pen.line("M -24 -92 L 0 -101 L 24 -92", "#4a3a28", 1.6)
    pen.form(shape, patterned(pen, item.color, item.pattern), "flat", outline=1.8)
    pen.rod([(-40, -92), (40, -92)], "#8c6a3e", 5)
    pen.form(oval(-42, -92, 4), "#c79a3c", "ball")
    pen.form(oval(42, -92, 4), "#c79a3c", "ball")


def _towel(pen: Pen, item: Item) -> None:
    shape = "M -36 -88 L 36 -88 L 36 -12 L -36 -12 Z"
    pen.cast(shape)
    pen.rod([(-46, -89), (46, -89)], "#b7bfc6", 5)
    paint = patterned(pen, item.color, item.pattern)
    for x in range(-33, 36, 6):
        pen.line(path("M", x, -12, "v", 8), paint.ink, 2.6)
        pen.line(path("M", x, -12, "v", 7.5), paint.fills[0], 1.6)
    pen.form(shape, paint, "flat", outline=1.8)
    pen.fill(rect(-36, -28, 72, 5), lighter(paint.fills[0], 0.7), 0.9)
    pen.line("M -12 -86 q -3 30 0 56", darker(paint.fills[0], 0.5), 1.2, 0.5)


def _shirt(pen: Pen, item: Item) -> None:
    sleeve = (
        "L",
        -48,
        -68,
        "L",
        -38,
        -50,
        "L",
        -27,
        -58,
        "L",
        -27,
        -4,
        "L",
        27,
        -4,
        "L",
        27,
        -58,
        "L",
        38,
        -50,
        "L",
        48,
        -68,
    )
    shape = path("M", -13, -88, "L", -26, -84, *sleeve, "L", 26, -84, "L", 13, -88, "Q", 0, -74, -13, -88, "Z")
    pen.cast(shape)
    pen.line("M 0 -88 v -5 q 5 -2 4 -6 q -3 -4 -7 0", "#6d5a40", 2.2)
    paint = patterned(pen, item.color, item.pattern)
    pen.form(shape, paint, "flat", outline=1.8)
    pen.line("M -14 -88 Q 0 -72 14 -88", darker(paint.fills[0], 0.5), 3)
    pen.line("M -27 -58 v 10 M 27 -58 v 10", paint.ink, 1.5)


def _kite(pen: Pen, item: Item) -> None:
    shape = polygon((0, -99), (34, -62), (0, -18), (-34, -62))
    pen.cast(shape)
    tail = "M 0 -18 q -14 6 -6 11 t 12 6"
    pen.line(tail, "#3b342c", 1.6)
    paint = patterned(pen, item.color, item.pattern)
    pen.form(shape, paint, "flat", outline=2)
    pen.line("M 0 -99 V -18 M -34 -62 H 34", paint.ink, 1.4)
    for x, y in ((-8, -10), (3, -3)):
        pen.form(polygon((x, y), (x - 7, y - 4), (x - 7, y + 4)), paint.fills[0], "", outline=1)
        pen.form(polygon((x, y), (x + 7, y - 4), (x + 7, y + 4)), paint.fills[0], "", outline=1)


def _apron(pen: Pen, item: Item) -> None:
    shape = "M -16 -80 L 16 -80 Q 18 -60 36 -54 L 38 -6 Q 0 3 -38 -6 L -36 -54 Q -18 -60 -16 -80 Z"
    pen.cast(shape)
    paint = patterned(pen, item.color, item.pattern)
    loop = "M -14 -80 C -14 -106 14 -106 14 -80"
    pen.line(loop, paint.ink, 4)
    pen.line(loop, paint.fills[0], 2.2)
    for side in (-1, 1):
        pen.line(path("M", side * 36, -52, "q", side * 12, 6, side * 8, 22), paint.ink, 4)
        pen.line(path("M", side * 36, -52, "q", side * 12, 6, side * 8, 22), paint.fills[0], 2.2)
    pen.form(shape, paint, "flat", outline=1.8)
    pen.form("M -17 -40 H 17 V -20 Q 0 -13 -17 -20 Z", lighter(paint.fills[0], 0.3), "flat")


PROPS: Final[Mapping[str, Prop]] = {
    "clock": _clock,
    "mirror": _mirror,
    "sign": _sign,
    "painting": _painting,
    "banner": _banner,
    "towel": _towel,
    "shirt": _shirt,
    "kite": _kite,
    "apron": _apron,
}
