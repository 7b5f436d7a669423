"""Draw toys and groups of small things. Frame: 100 units tall, foot at the origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.tableaux.drawing.paints import colored
from benchmarks.tableaux.drawing.palette import darker, lighter
from benchmarks.tableaux.drawing.svg import Paint, Pen, oval, path, polygon, rect
from benchmarks.tableaux.scene import Item

Prop = Callable[[Pen, Item], None]


def _hat(pen: Pen, item: Item) -> None:
    paint = colored(item.color)
    pen.shadow(0, 0, 48, 6)
    pen.form(oval(0, -8, 49, 10), paint, "flat")
    pen.form(
        "M -28 -10 C -30 -40 -27 -62 -18 -66 Q 0 -56 18 -66 C 27 -62 30 -40 28 -10 Q 0 -1 -28 -10 Z",
        paint,
    )
    band = "#f4ead2" if item.color in ("black", "brown", "blue", "purple", "red", "green") else "#4b3a2c"
    pen.form("M -29 -22 Q 0 -12 29 -22 L 28 -11 Q 0 -1 -28 -11 Z", band, "round", outline=1)


def _drum(pen: Pen, item: Item) -> None:
    paint = colored(item.color)
    pen.shadow(0, 0, 42, 7)
    pen.form("M -40 -58 L -40 -10 A 40 10 0 0 0 40 -10 L 40 -58 Z", paint)
    zig = [(-38, -50), (-26, -4), (-13, -44), (0, -1), (13, -44), (26, -4), (38, -50)]
    pen.line(
        path("M", *zig[0], *(v for p in zig[1:] for v in ("L", *p))),
        "#f7edcf" if item.color != "white" else "#8a6f3a",
        2.6,
    )
    pen.line("M -40 -10 A 40 10 0 0 0 40 -10", "#d8ae45", 5)
    pen.form(oval(0, -58, 40, 11), "#f6efdd", "flat")
    pen.line(oval(0, -58, 40, 11), "#c2962f", 3.4)
    for x0, x1 in ((-34, 10), (34, -10)):
        pen.rod([(x0, -82), (x1, -60)], "#c99a5c", 4.4)
        pen.form(oval(x1, -60, 4.4), "#e8cf9f", "ball", outline=1)


def _boot(pen: Pen, item: Item) -> None:
    paint = colored(item.color)
    pen.shadow(4, 0, 40)
    pen.form(
        "M -26 -80 L 10 -80 L 12 -34 Q 44 -32 46 -8 L -26 -8 Q -30 -40 -26 -80 Z",
        paint,
    )
    pen.form(
        "M -28 -9 H 47 V 1 H 2 V -3 H -8 V 1 H -28 Z",
        "#2a2522" if item.color != "black" else "#8b8378",
        "",
    )
    pen.form(rect(-29, -86, 42, 13, 4), lighter(paint.fills[0], 0.4), "round")
    for y in (-60, -49, -38):
        pen.line(path("M", -4, y, "L", 11, y + 4), "#f7f2e4" if item.color != "white" else "#6b6455", 2.6)


def _backpack(pen: Pen, item: Item) -> None:
    paint = colored(item.color)
    pen.shadow(0, 0, 36)
    pen.line("M -9 -84 C -8 -100 8 -100 9 -84", paint.ink, 5)
    for side in (-1, 1):
        pen.form(
            path("M", side * 30, -50, "q", side * 14, 18, side * 4, 42, "L", side * 28, -4, "Z"),
            darker(paint.fills[0], 0.3),
        )
    pen.form(
        "M -34 -4 L -34 -58 Q -32 -87 0 -87 Q 32 -87 34 -58 L 34 -4 Q 32 1 26 1 L -26 1 Q -32 1 -34 -4 Z",
        paint,
    )
    pen.line("M -31 -56 Q 0 -40 31 -56", paint.ink, 2)
    pen.form(rect(-23, -38, 46, 32, 6), lighter(paint.fills[0], 0.18), "flat")
    pen.line("M -19 -29 H 19", paint.ink, 1.8)
    pen.form(rect(-4, -52, 8, 13, 2), "#d8b96a", "flat", outline=1)


def _toy_car(pen: Pen, item: Item) -> None:
    paint = colored(item.color)
    pen.shadow(0, 0, 52, 6)
    pen.form(
        "M -50 -18 L -48 -36 Q -40 -42 -30 -42 L -18 -64 L 14 -64 L 28 -42 L 44 -38 "
        "Q 51 -34 50 -18 Q 50 -12 44 -12 L -44 -12 Q -50 -12 -50 -18 Z",
        paint,
    )
    for window in (((-23, -43), (-14, -59), (-3, -59), (-3, -43)), ((3, -43), (3, -59), (11, -59), (21, -43))):
        pen.form(polygon(*window), "#cfe6f2", "flat", outline=1.2)
    pen.form(oval(46, -27, 4, 4.6), "#fff2b0", "", outline=1)
    for x in (-28, 28):
        pen.form(oval(x, -12, 13), "#2a2a2e", "")
        pen.form(oval(x, -12, 6), "#c6ccd2", "ball", outline=1)


PROPS: Final[Mapping[str, Prop]] = {
    "hat": _hat,
    "drum": _drum,
    "boot": _boot,
    "backpack": _backpack,
    "toy car": _toy_car,
}


def _ball(pen: Pen, paint: Paint) -> None:
    pen.shadow(0, 0, 32, 7)
    pen.form(oval(0, -32, 33), paint, "ball")
    pen.line(
        "M -31 -40 Q 0 -24 31 -40",
        lighter(paint.fills[0], 0.5) if paint.fills[0] != "#f8f7f3" else "#a9a69c",
        3.4,
        0.9,
    )


def _balloon(pen: Pen, paint: Paint) -> None:
    pen.shadow(0, 0, 14, 4, 0.3)
    pen.line("M 0 -40 q 9 12 0 22 t 0 18", "#55504a", 1.8)
    pen.form(polygon((0, -44), (-6, -36), (6, -36)), paint, "")
    pen.form(
        "M 0 -42 C -22 -50 -32 -68 -30 -84 C -27 -110 27 -110 30 -84 C 32 -68 22 -50 0 -42 Z",
        paint,
        "ball",
    )


def _flower(pen: Pen, paint: Paint) -> None:
    pen.shadow(0, 0, 18, 4, 0.3)
    pen.line("M 0 0 Q 5 -26 0 -50", "#1f5a2a", 7)
    pen.line("M 0 0 Q 5 -26 0 -50", "#3f9a46", 4.4)
    pen.form("M 2 -16 q 12 -22 30 -16 q -8 18 -30 16 Z", "#3f9a46", "flat")
    pen.form("M 2 -8 q -12 -20 -28 -13 q 8 17 28 13 Z", "#3f9a46", "flat")
    for i in range(6):
        with pen.frame(0, -66, turn=60 * i):
            pen.form(oval(0, -18, 11, 15), paint, "")
    pen.form(oval(0, -66, 10), "#f0bf3c" if paint.fills[0] != "#f8d222" else "#8a5a1e", "ball")


def _cupcake(pen: Pen, paint: Paint) -> None:
    pen.shadow(0, 0, 28)
    pen.form(polygon((-31, -40), (31, -40), (23, 0), (-23, 0)), "#e9cf9d")
    for x in (-20, -10, 0, 10, 20):
        pen.line(path("M", x * 1.25, -39, "L", x, -1), "#9c7a41", 1.8, 0.8)
    pen.form(
        "M -35 -38 C -42 -54 -26 -58 -26 -58 C -30 -72 -14 -74 -14 -74 "
        "C -12 -88 12 -88 14 -74 C 14 -74 30 -72 26 -58 C 26 -58 42 -54 35 -38 Q 0 -28 -35 -38 Z",
        paint,
        "ball",
    )
    pen.line("M -25 -57 Q 0 -47 25 -57 M -14 -74 Q 0 -66 14 -74", paint.ink, 1.5, 0.6)
    for x, y in ((-14, -47), (4, -44), (18, -50), (-4, -62), (10, -66)):
        pen.fill(oval(x, y, 2), "#ffffff" if paint.fills[0] != "#f8f7f3" else "#c96a8e")


def _pencil(pen: Pen, paint: Paint) -> None:
    pen.shadow(6, 0, 18, 4)
    with pen.frame(0, 0, turn=14):
        pen.form(polygon((-11, -26), (11, -26), (0, 0)), "#ecd2a0", "round")
        pen.fill(polygon((-4, -10), (4, -10), (0, 0)), paint.fills[0])
        pen.fill(polygon((-3.6, -9), (3.6, -9), (0, 0)), "#2a2a2e", 0.65)
        pen.form(rect(-11, -84, 22, 58), paint, "")
        pen.fill(rect(pen.side * 7.5 - 3.5, -84, 7, 58), "#ffffff", 0.35)
        pen.fill(rect(-pen.side * 7.5 - 3.5, -84, 7, 58), "#140c1e", 0.22)
        pen.form(rect(-11, -92, 22, 9), "#c3cad0")
        pen.form(rect(-11, -103, 22, 12, 4), "#e58a92")


_GROUP: Final[Mapping[str, Callable[[Pen, Paint], None]]] = {
    "ball": _ball,
    "balloon": _balloon,
    "flower": _flower,
    "cupcake": _cupcake,
    "pencil": _pencil,
}

# Places of the members by their number, back row first: (x, y) of the foot in shares of the place.
_ROWS: Final = {
    2: ((-0.22, 0.0), (0.22, 0.0)),
    3: ((-0.34, 0.0), (0.0, 0.0), (0.34, 0.0)),
    4: ((-0.2, -0.46), (0.2, -0.46), (-0.2, 0.0), (0.2, 0.0)),
    5: ((-0.18, -0.46), (0.18, -0.46), (-0.34, 0.0), (0.0, 0.0), (0.34, 0.0)),
}


def group(pen: Pen, item: Item, width: float, height: float) -> None:
    """Draw as many of a thing as there are, none in front of another, all of one size."""
    for x, y in _ROWS[item.count]:
        with pen.frame(x * width, y * height, 0.0043 * height):
            _GROUP[item.kind](pen, colored(item.color))
