"""Draw the furniture in the middle and the hosts of guests. Frame: units of the picture, foot at the origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.tableaux.drawing.paints import material
from benchmarks.tableaux.drawing.svg import Paint, Pen, oval, path, polygon, rect, ring
from benchmarks.tableaux.scene import Item

TOP = 108.0
"""Height of the middle of the top, on which things stand, whatever the furniture."""
SEAT = 82.0
"""Height of the seat of a stool or chair."""
HALF = 117.0


def _top(pen: Pen, paint: Paint, half: float = HALF) -> None:
    """Draw the board: its upper face seen from slightly above, and its front edge."""
    face = polygon((-half + 9, -TOP - 8), (half - 9, -TOP - 8), (half, -TOP + 7), (-half, -TOP + 7))
    pen.form(face, paint, "")
    pen.fill(face, "#ffffff", 0.26)
    pen.form(rect(-half, -TOP + 7, 2 * half, 10, 1.5), paint, "flat")


def _legs(pen: Pen, paint: Paint, at: tuple[float, ...], width: float, top: float, foot: float = 0) -> None:
    for x in at:
        pen.form(rect(x - width / 2, -top, width, top + foot, 1.5), paint)


def _table(pen: Pen, item: Item) -> None:
    paint = material(pen, item.material)
    pen.shadow(0, 0, 112, 7, 0.3)
    _legs(pen, paint, (-88, 88), 9, TOP - 16, -9)
    pen.fill(rect(-93, -TOP + 16, 186, 83, 0), "#20180f", 0.10)
    _legs(pen, paint, (-104, 104), 13, TOP - 16)
    pen.form(rect(-104, -TOP + 16, 208, 11), paint, "flat")
    _top(pen, paint)


def _bench(pen: Pen, item: Item) -> None:
    paint = material(pen, item.material)
    pen.shadow(0, 0, 112, 7, 0.3)
    _legs(pen, paint, (-96, 96), 10, 172, -8)
    for y in (-168, -146):
        pen.form(rect(-108, y, 216, 16, 3), paint, "flat")
    _legs(pen, paint, (-106, 106), 14, TOP - 14)
    for side in (-1, 1):
        pen.form(
            path(
                "M",
                side * 96,
                -138,
                "Q",
                side * 116,
                -142,
                side * 117,
                -130,
                "L",
                side * 112,
                -130,
                "Q",
                side * 108,
                -134,
                side * 96,
                -131,
                "Z",
            ),
            paint,
        )
        pen.form(rect(side * 111 - 4, -132, 8, 34, 1), paint)
    _top(pen, paint)
    for x in (-70, -35, 0, 35, 70):
        pen.line(path("M", x * 0.97, -TOP - 8, "L", x, -TOP + 7), paint.ink, 0.9, 0.6)


def _desk(pen: Pen, item: Item) -> None:
    paint = material(pen, item.material)
    pen.shadow(0, 0, 112, 7, 0.3)
    pen.fill(rect(-60, -TOP + 12, 120, TOP - 20), "#20180f", 0.20)
    for side in (-1, 1):
        pen.form(rect(side * 84 - 27, -TOP + 12, 54, TOP - 12, 2), paint, "flat", outline=1.8)
        for y in (-88, -58, -29):
            pen.line(rect(side * 84 - 22, y, 44, 25, 2), paint.ink, 1.8)
            pen.form(oval(side * 84, y + 12, 3.6), "#d8b24a", "ball")
    _top(pen, paint)


def _cart(pen: Pen, item: Item) -> None:
    paint = material(pen, item.material)
    pen.shadow(-86, 0, 30, 5)
    pen.shadow(86, 0, 30, 5)
    pen.shadow(0, 0, 70, 4, 0.22)
    handle = path("M", 98, -TOP + 8, "L", 113, -154)
    pen.line(handle, paint.ink, 9)
    pen.line(handle, paint.fills[0] if paint.fills[0].startswith("#") else "#98a4ad", 6)
    pen.rod([(103, -156), (118, -156)], "#33333a", 7)
    pen.form(rect(-110, -TOP + 14, 220, 14, 2), paint, "flat")
    _top(pen, paint)
    for x in (-84, 84):
        _wheel(pen, x, paint)


def _wheel(pen: Pen, x: float, paint: Paint) -> None:
    pen.line(path("M", x, -82, "V", -28), paint.ink, 9)
    for i in range(4):
        with pen.frame(x, -29, turn=45 * i):
            pen.line("M -26 0 H 26", paint.ink, 3.6)
    pen.line(oval(x, -29, 26), "#2b2a2e", 7)
    pen.line(oval(x, -29, 26), "#6f6f78", 1.6)
    pen.form(oval(x, -29, 7), paint, "ball")


FURNITURE: Final[Mapping[str, Callable[[Pen, Item], None]]] = {
    "table": _table,
    "bench": _bench,
    "desk": _desk,
    "cart": _cart,
}

_BEECH = "#caa06a"


def _stool(pen: Pen) -> None:
    pen.shadow(0, 0, 28, 4.5)
    pen.rod([(-9, -SEAT + 6), (-13, -5)], _BEECH, 5)
    pen.rod([(9, -SEAT + 6), (13, -5)], _BEECH, 5)
    pen.rod([(-20, -30), (20, -30)], _BEECH, 4)
    pen.rod([(-17, -SEAT + 6), (-24, -1)], _BEECH, 6)
    pen.rod([(17, -SEAT + 6), (24, -1)], _BEECH, 6)
    pen.form(path("M", -29, -SEAT, "v", 6, "a", 29, 7, 0, 0, 0, 58, 0, "v", -6, "Z"), _BEECH)
    pen.form(oval(0, -SEAT, 29, 7), "#dcb886", "")


def _chair(pen: Pen) -> None:
    pen.shadow(0, 0, 30, 4.5)
    for side in (-1, 1):
        pen.rod([(side * 22, -4), (side * 21, -165)], _BEECH, 6)
    for y in (-162, -146, -130):
        pen.form(rect(-20, y, 40, 8, 2), _BEECH, "flat")
    for side in (-1, 1):
        pen.rod([(side * 25, -SEAT + 8), (side * 26, -1)], _BEECH, 6.5)
    pen.rod([(-24, -34), (24, -34)], _BEECH, 4)
    pen.form(polygon((-24, -SEAT - 7), (24, -SEAT - 7), (30, -SEAT + 6), (-30, -SEAT + 6)), "#dcb886", "")
    pen.form(rect(-30, -SEAT + 6, 60, 7, 1.5), _BEECH, "flat")


def _hook(pen: Pen) -> None:
    pen.form(rect(-7, -26, 14, 24, 5), "#8c96a0", "flat")
    pen.fill(oval(0, -21, 1.6), "#3c444c")
    curl = "M 0 -12 v 8 q 0 9 8 8 q 5 -1 5 -7"
    pen.line(curl, "#2c333a", 6.5)
    pen.line(curl, "#aeb9c2", 3.8)


def _peg(pen: Pen) -> None:
    pen.form(ring(4, 0, -12, 17, turn=0), _BEECH, "flat")
    pen.form(oval(0, -8, 8.5, 8), "#9c6430", "ball")
    pen.form(oval(0, -9, 5.5, 5), "#b97b42", "ball")


HOSTS: Final[Mapping[str, Callable[[Pen], None]]] = {"stool": _stool, "chair": _chair, "hook": _hook, "peg": _peg}
"""A hook and a peg are drawn about the point from which things hang."""
