"""Draw tubs (full or empty) and chests (open or closed). Frame: 100 units tall, foot at the origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.tableaux.drawing.paints import colored, material
from benchmarks.tableaux.drawing.palette import darker, lighter
from benchmarks.tableaux.drawing.svg import Paint, Pen, oval, path, polygon, rect
from benchmarks.tableaux.scene import Item

Prop = Callable[[Pen, Item], None]


def _opening(pen: Pen, item: Item, y: float, rx: float, ry: float) -> None:
    """Draw the round opening, dark inside, or heaped with popcorn."""
    paint = material(pen, item.material)
    pen.form(oval(0, y, rx, ry), paint, "", outline=2)
    pen.fill(oval(0, y, rx, ry), "#ffffff", 0.15)
    hole = oval(0, y + 1, rx - 4, ry - 2.5)
    pen.fill(hole, "#2b2019")
    if item.state == "empty":
        with pen.clip(hole):
            pen.fill(oval(0, y + ry * 0.9, rx - 6, ry), "#57453a")
        pen.line(hole, paint.ink, 1.4)
    else:
        _heap(pen, y + ry * 0.35, rx - 5, ry)


def _heap(pen: Pen, y: float, rx: float, ry: float) -> None:
    """Heap popcorn over an opening, in rows that grow narrower to the top."""
    step = rx * 2 / 6.5
    rows = ((5, 0.0), (6, ry * 0.55), (4, -9.0), (3, -17.0), (2, -24.0))
    for number, (n, up) in enumerate(sorted(rows, key=lambda row: row[1])):
        for i in range(n):
            x = (i - (n - 1) / 2) * step
            lift = abs(x) / rx * (ry * 0.5 if up > 0 else 0)
            _kernel(pen, x, y + up - lift, step * 0.62, (number * 3 + i) % 3)


def _kernel(pen: Pen, x: float, y: float, r: float, tone: int) -> None:
    color = ("#fff6dd", "#fdeec3", "#fffaf0")[tone]
    pen.form(oval(x, y, r), Paint((color,), "#a9803b"), "ball", outline=1.1)
    pen.line(path("M", x - r * 0.4, y, "q", r * 0.3, r * 0.5, r * 0.8, 0.2), "#d9a94e", 1.6)


def _hoops(pen: Pen, item: Item, lines: tuple[str, ...]) -> None:
    tone = "#4b5158" if item.material != "metal" else "#3a4047"
    for one in lines:
        pen.line(one, tone, 4.5)
        pen.line(one, "#9aa3ab", 1.2, 0.8)


def _bucket(pen: Pen, item: Item) -> None:
    pen.shadow(0, 0, 30)
    bail = "M -36 -60 C -36 -112 36 -112 36 -60"
    pen.line(bail, "#2e3238", 4.6)
    pen.line(bail, "#aab3bb", 2)
    pen.form(
        "M -37 -60 L -27 -6 Q 0 6 27 -6 L 37 -60 Z",
        material(pen, item.material),
        outline=1.8,
    )
    _opening(pen, item, -60, 37, 10)
    for side in (-1, 1):
        pen.form(oval(side * 36, -57, 3.4), "#5b636b", "ball", outline=1)


def _barrel(pen: Pen, item: Item) -> None:
    pen.shadow(0, 0, 34)
    side = ("C", -46, -56, -46, -26, -31, -6, "Q", 0, 7, 31, -6, "C", 46, -26, 46, -56, 32, -74)
    pen.form(path("M", -32, -74, *side, "Z"), material(pen, item.material), outline=1.8)
    _hoops(pen, item, ("M -40 -56 Q 0 -42 40 -56", "M -39 -22 Q 0 -8 39 -22"))
    _opening(pen, item, -74, 32, 9)


def _crate(pen: Pen, item: Item) -> None:
    paint = material(pen, item.material)
    pen.shadow(0, 0, 46)
    pen.form(polygon((-36, -66), (36, -66), (45, -52), (-45, -52)), paint, "", outline=2)
    hole = polygon((-33, -64), (33, -64), (40, -53), (-40, -53))
    pen.fill(hole, "#2b2019")
    if item.state == "full":
        _heap(pen, -56, 37, 8)
    else:
        pen.fill(polygon((-33, -64), (33, -64), (34, -60), (-34, -60)), "#6b584a")
    pen.form(rect(-45, -52, 90, 53, 2), paint, "flat", outline=1.8)
    for y in (-35, -17):
        pen.line(path("M", -45, y, "H", 45), paint.ink, 3.4)
    for x in (-44, 33):
        pen.form(rect(x, -54, 11, 55, 1), paint, "flat", outline=1.4)


def _basket(pen: Pen, item: Item) -> None:
    pen.shadow(0, 0, 36)
    paint = material(pen, item.material)
    grip = "M -38 -46 C -34 -116 34 -116 38 -46"
    pen.line(grip, paint.ink, 9.5)
    pen.line(grip, _tone(item), 6.5)
    pen.form("M -43 -46 Q -42 -4 -28 0 L 28 0 Q 42 -4 43 -46 Z", paint, outline=1.8)
    _opening(pen, item, -46, 43, 10)
    front = "M -43 -46 Q 0 -24 43 -46"
    pen.line(front, paint.ink, 7)
    pen.line(front, _tone(item), 4.4)


def _tone(item: Item) -> str:
    tones = {"wooden": "#a86c35", "metal": "#b3bec6", "stone": "#a3a19b", "wicker": "#d9ae5f", "cardboard": "#cba473"}
    return tones[item.material or "wooden"]


def _tub(pen: Pen, item: Item) -> None:
    pen.shadow(0, 0, 48)
    paint = material(pen, item.material)
    for side in (-1, 1):
        pen.form(rect(side * 46 - 7, -44, 14, 16, 5), paint, "flat", outline=1.8)
    pen.form(
        "M -49 -44 C -48 -20 -44 -4 -34 0 L 34 0 C 44 -4 48 -20 49 -44 Z",
        paint,
        outline=1.8,
    )
    _hoops(pen, item, ("M -46 -16 Q 0 -2 46 -16",))
    _opening(pen, item, -44, 49, 12)


def _inside(pen: Pen, half: float, top: float, back: float) -> None:
    """Draw the dark inside that an open lid lets see."""
    pen.form(
        polygon((-half + 5, top - back), (half - 5, top - back), (half, top), (-half, top)), "#241a15", "", outline=1.8
    )
    pen.fill(
        polygon(
            (-half + 8, top - back + 2),
            (half - 8, top - back + 2),
            (half - 7, top - back + 6),
            (-half + 7, top - back + 6),
        ),
        "#5a473a",
    )


def _chest(pen: Pen, item: Item) -> None:
    paint = colored(item.color)
    trim = "#d8b04a"
    pen.shadow(0, 0, 46)
    if item.state == "open":
        pen.form(
            "M -40 -56 L -44 -82 Q -42 -100 0 -100 Q 42 -100 44 -82 L 40 -56 Z",
            darker(paint.fills[0], 0.25),
            "round",
            outline=1.8,
        )
        pen.fill(
            "M -35 -57 L -38 -80 Q -36 -93 0 -93 Q 36 -93 38 -80 L 35 -57 Z",
            "#3a2a20",
        )
        _inside(pen, 45, -44, 14)
    else:
        pen.form(
            "M -46 -44 L -46 -56 Q -44 -76 0 -76 Q 44 -76 46 -56 L 46 -44 Z",
            paint,
            outline=1.8,
        )
    pen.form(rect(-46, -45, 92, 46, 2), paint, "round", outline=1.8)
    for x in (-34, 24):
        pen.form(rect(x, -45, 10, 46), trim, "flat", outline=1)
        if item.state == "closed":
            pen.form(path("M", x, -45, "v", -26, "q", 5, -3, 10, -2, "v", 28, "Z"), trim, "flat", outline=1)
    pen.form(rect(-8, -50 if item.state == "closed" else -42, 16, 17, 3), trim, "flat", outline=1.2)
    pen.fill(oval(0, -43 if item.state == "closed" else -34, 2.6, 3.6), "#2a2018")


def _suitcase(pen: Pen, item: Item) -> None:
    paint = colored(item.color)
    pen.shadow(0, 0, 46)
    if item.state == "open":
        pen.form(rect(-46, -100, 92, 48, 7), darker(paint.fills[0], 0.2), "round", outline=1.8)
        pen.fill(rect(-40, -95, 80, 42, 5), "#efe2c8")
        pen.line("M -38 -86 L 38 -60 M 38 -86 L -38 -60", "#b59c6e", 3)
        _inside(pen, 46, -40, 14)
        pen.form(rect(-47, -41, 94, 41, 6), paint, "round", outline=1.8)
        _handle(pen, -24)
    else:
        pen.form(rect(-47, -62, 94, 62, 8), paint, "round", outline=1.8)
        pen.line("M -47 -40 H 47", paint.ink, 2.6)
        grip = "M -15 -62 v -10 q 0 -5 5 -5 h 20 q 5 0 5 5 v 10"
        pen.line(grip, "#2c241e", 6)
        for x in (-28, 22):
            pen.form(rect(x, -46, 7, 12, 1.5), "#d9c27a", "flat", outline=1)
    for x in (-47, 36):
        pen.form(
            path("M", x + (11 if x > 0 else 0), -14, "v", 14, "h", -11 if x > 0 else 11, "Z"),
            "#d0b98c",
            "flat",
            outline=1,
        )


def _handle(pen: Pen, y: float) -> None:
    pen.line(path("M", -13, y, "v", 6, "q", 0, 4, 4, 4, "h", 18, "q", 4, 0, 4, -4, "v", -6), "#2c241e", 5)


def _box(pen: Pen, item: Item) -> None:
    paint = colored(item.color)
    pen.shadow(0, 0, 44)
    top = -54
    if item.state == "open":
        pen.form(
            polygon((-38, top - 14), (38, top - 14), (32, top - 38), (-32, top - 38)),
            lighter(paint.fills[0], 0.1),
            "flat",
            outline=1.8,
        )
        _inside(pen, 44, top, 14)
        for side in (-1, 1):
            pen.form(
                polygon((side * 39, top - 14), (side * 44, top), (side * 58, top - 16), (side * 52, top - 28)),
                lighter(paint.fills[0], 0.2),
                "flat",
                outline=1.8,
            )
    else:
        face = polygon((-38, top - 14), (38, top - 14), (44, top), (-44, top))
        pen.form(face, lighter(paint.fills[0], 0.22), "", outline=1.8)
        pen.line(path("M", -41, top - 7, "H", 41), paint.ink, 1.6)
    pen.form(rect(-44, top, 88, 55, 1.5), paint, "flat", outline=1.8)
    if item.state == "closed":
        pen.fill(
            polygon((-7, top - 14), (7, top - 14), (8, top), (8, top + 20), (-8, top + 20), (-8, top)), "#e9d8b2", 0.92
        )
    else:
        # The front flap hangs down.
        pen.form(
            polygon((-44, top), (44, top), (50, top + 17), (-50, top + 17)),
            lighter(paint.fills[0], 0.25),
            "flat",
            outline=1.8,
        )


def _toolbox(pen: Pen, item: Item) -> None:
    paint = colored(item.color)
    pen.shadow(0, 0, 46)
    if item.state == "open":
        pen.form(
            polygon((-44, -54), (44, -54), (40, -86), (-40, -86)), darker(paint.fills[0], 0.2), "round", outline=1.8
        )
        pen.fill(polygon((-39, -56), (39, -56), (35, -81), (-35, -81)), "#4a4f55")
        _inside(pen, 46, -42, 13)
        pen.rod([(-16, -46), (-24, -72)], "#e0a43a", 6)
        pen.rod([(14, -46), (20, -70)], "#c0c8ce", 5)
        pen.form(rect(8, -80, 22, 10, 2), "#8d979f", "flat")
        pen.form(rect(-47, -43, 94, 44, 3), paint, "round", outline=1.8)
    else:
        pen.line("M -20 -64 v -14 h 40 v 14", "#26262b", 7)
        pen.line("M -20 -78 h 40", "#777e86", 2)
        pen.form(polygon((-47, -43), (-38, -66), (38, -66), (47, -43)), paint, "round", outline=1.8)
        pen.form(rect(-47, -43, 94, 44, 3), paint, "round", outline=1.8)
    for x in (-30, 18):
        y = -50 if item.state == "closed" else -40
        pen.form(rect(x, y, 12, 15, 2), "#d5dade", "flat", outline=1.2)


PROPS: Final[Mapping[str, Prop]] = {
    "bucket": _bucket,
    "barrel": _barrel,
    "crate": _crate,
    "basket": _basket,
    "tub": _tub,
    "chest": _chest,
    "suitcase": _suitcase,
    "box": _box,
    "toolbox": _toolbox,
}
