"""Draw what stands on furniture: vessels, things of glass, lights. Frame: 100 units tall, foot at the origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.tableaux.drawing.paints import colored, frost, glass, patterned
from benchmarks.tableaux.drawing.palette import COLORS, darker, ink, lighter
from benchmarks.tableaux.drawing.svg import Paint, Pen, oval, path, rect
from benchmarks.tableaux.scene import Item

Prop = Callable[[Pen, Item], None]


def _mouth(pen: Pen, x: float, y: float, rx: float, ry: float, paint: Paint) -> None:
    """Draw the rim of an opening seen from slightly above."""
    pen.form(oval(x, y, rx, ry), lighter(paint.fills[0], 0.25), "flat")
    pen.fill(oval(x, y + 0.6, rx - 3, ry - 1.6), darker(paint.fills[0], 0.6))


def _mug(pen: Pen, item: Item) -> None:
    paint = patterned(pen, item.color, item.pattern)
    pen.shadow(4, 0, 38)
    handle = "M 26 -58 c 28 -6 28 42 0 38"
    pen.line(handle, paint.ink, 13)
    pen.line(handle, paint.fills[0], 9.6)
    pen.form("M -32 -72 L -30 -8 Q -29 0 -20 1 L 20 1 Q 29 0 30 -8 L 32 -72 Z", paint)
    _mouth(pen, 0, -72, 32, 8, paint)


def _vase(pen: Pen, item: Item) -> None:
    paint = patterned(pen, item.color, item.pattern)
    pen.shadow(0, 0, 26)
    side = ("C", -8, -72, -34, -64, -34, -38, "C", -34, -18, -20, -10, -19, 1)
    mirrored = ("C", 20, -10, 34, -18, 34, -38, "C", 34, -64, 8, -72, 17, -92)
    pen.form(path("M", -17, -92, *side, "L", 19, 1, *mirrored, "Z"), paint)
    _mouth(pen, 0, -92, 17, 5, paint)


def _teapot(pen: Pen, item: Item) -> None:
    paint = patterned(pen, item.color, item.pattern)
    pen.shadow(0, 0, 36)
    spout = "M 22 -22 C 38 -24 34 -52 50 -60 L 44 -66 C 26 -62 30 -44 20 -42 Z"
    pen.form(spout, paint.fills[0], "round")
    handle = "M -24 -54 C -54 -66 -56 -12 -22 -18"
    pen.line(handle, paint.ink, 10)
    pen.line(handle, paint.fills[0], 6.8)
    pen.form(oval(0, -33, 35, 33), paint)
    pen.form("M -20 -62 Q 0 -80 20 -62 Q 0 -55 -20 -62 Z", paint.fills[0])
    pen.form(oval(0, -76, 6), paint.fills[0], "ball")


def _bowl(pen: Pen, item: Item) -> None:
    paint = patterned(pen, item.color, item.pattern)
    pen.shadow(0, 0, 34)
    pen.form(rect(-16, -7, 32, 8, 2), paint.fills[0])
    pen.form("M -46 -50 C -44 -14 -22 -4 0 -4 C 22 -4 44 -14 46 -50 Z", paint)
    _mouth(pen, 0, -50, 46, 10, paint)


def _kettle(pen: Pen, item: Item) -> None:
    paint = patterned(pen, item.color, item.pattern)
    pen.shadow(0, 0, 40)
    bail = "M -27 -48 C -32 -104 32 -104 27 -48"
    pen.line(bail, "#26262b", 6.5)
    pen.line("M -13 -88 Q 0 -93 13 -88", "#8a5a33", 8)
    pen.form("M 26 -34 L 50 -58 L 43 -66 L 18 -46 Z", paint.fills[0])
    pen.form(
        "M -40 -6 C -42 -42 -26 -58 0 -58 C 26 -58 42 -42 40 -6 Q 38 1 30 1 L -30 1 Q -38 1 -40 -6 Z",
        paint,
    )
    pen.form("M -18 -55 Q 0 -66 18 -55 Z", paint.fills[0])
    pen.form(oval(0, -66, 5), "#26262b", "ball")


def _glass(pen: Pen, item: Item, outer: str, top: tuple[float, float], straw: tuple[float, float]) -> None:
    """Draw a body of glass with a stick in it: clear inside, blurred inside, or hidden."""
    color, opacity = glass(item.color, item.transparency)
    edge = ink(COLORS[item.color or "blue"])
    y, rx = top
    stick = path("M", straw[0], straw[1], "L", 11, y - 20)
    pen.line(stick, "#5b3415", 6)
    pen.line(stick, "#f4e3bb", 3.6)
    with pen.clip(outer):
        if item.transparency == "transparent":
            pen.fill(outer, "#ffffff", 0.16)
            pen.line(stick, "#5b3415", 6)
            pen.line(stick, "#f4e3bb", 3.6)
        elif item.transparency == "frosted":
            pen.fill(outer, "#e4e9ec", 0.94)
            pen.line(stick, "#6b4a26", 7, 0.6, blur=3)
        pen.fill(outer, color, opacity)
    if item.transparency == "frosted":
        pen.fill(outer, "#ffffff", 0.2)
        pen.fill(outer, frost(pen))
        with pen.clip(outer):
            pen.line(outer, "#ffffff", 5, 0.6)
    elif item.transparency == "transparent":
        _gleam(pen, outer)
    else:
        pen.form(outer, Paint((color,), edge), "round", outline=0)
    pen.line(outer, edge, 1.8)
    pen.line(oval(0, y, rx, 4), edge, 1.6)
    pen.fill(
        oval(0, y, rx - 1.5, 3),
        color if item.transparency != "opaque" else darker(color, 0.6),
        0.5 if opacity < 1 else 1,
    )
    pen.line(path("M", 10.2, y + 1, "L", 11, y - 20), "#5b3415", 6)
    pen.line(path("M", 10.2, y + 1, "L", 11, y - 20), "#f4e3bb", 3.6)


def _gleam(pen: Pen, outer: str) -> None:
    with pen.clip(outer):
        pen.line(path("M", pen.side * 17, -52, "Q", pen.side * 20, -30, pen.side * 16, -10), "#ffffff", 4.5, 0.95)
        pen.line(path("M", pen.side * 9, -46, "V", -16), "#ffffff", 2, 0.8)
        pen.line(outer, "#ffffff", 5, 0.6)


def _bottle(pen: Pen, item: Item) -> None:
    pen.shadow(0, 0, 24)
    shape = (
        "M -9 -90 L -9 -66 C -10 -56 -25 -56 -25 -42 L -25 -6 Q -24 1 -18 1 L 18 1 "
        "Q 24 1 25 -6 L 25 -42 C 25 -56 10 -56 9 -66 L 9 -90 Z"
    )
    _glass(pen, item, shape, (-90, 9), (-6, -6))


def _jar(pen: Pen, item: Item) -> None:
    pen.shadow(0, 0, 34)
    shape = (
        "M -24 -78 L -24 -68 Q -35 -64 -35 -54 L -35 -8 Q -34 1 -25 1 L 25 1 "
        "Q 34 1 35 -8 L 35 -54 Q 35 -64 24 -68 L 24 -78 Z"
    )
    _glass(pen, item, shape, (-78, 24), (-18, -6))
    pen.line("M -24 -72 Q 0 -66 24 -72", ink(COLORS[item.color or "blue"]), 1.6)


def _flask(pen: Pen, item: Item) -> None:
    pen.shadow(0, 0, 38)
    shape = "M -10 -90 L -10 -58 L -37 -10 Q -40 1 -30 1 L 30 1 Q 40 1 37 -10 L 10 -58 L 10 -90 Z"
    _glass(pen, item, shape, (-90, 10), (-14, -5))


def _goblet(pen: Pen, item: Item) -> None:
    pen.shadow(0, 0, 24)
    edge = COLORS[item.color or "blue"]
    pen.form("M -3.5 -42 L -3.5 -6 L 3.5 -6 L 3.5 -42 Z", edge)
    pen.form(oval(0, -3, 22, 5), edge)
    shape = "M -28 -86 C -30 -54 -16 -38 0 -37 C 16 -38 30 -54 28 -86 Z"
    _glass(pen, item, shape, (-86, 28), (-7, -46))


def _flame(pen: Pen, x: float, y: float, size: float) -> None:
    shape = ("C", x - 0.75 * size, y - 0.7 * size, x - 0.2 * size, y - 1.1 * size, x, y - 2 * size)
    back = ("C", x + 0.3 * size, y - 1.1 * size, x + 0.75 * size, y - 0.7 * size, x, y)
    pen.form(path("M", x, y, *shape, *back, "Z"), Paint(("#ff9d1e",), "#c4540b"), "")
    inner = size * 0.55
    pen.fill(path("M", x, y - 1, "q", -inner, -inner, 0, -2 * inner, "q", inner, inner, 0, 2 * inner, "Z"), "#fff6c8")


def _rays(pen: Pen, x: float, y: float, near: float, far: float) -> None:
    for dx, dy in ((-1, 0), (-0.8, -0.62), (0.8, -0.62), (1, 0), (-0.8, 0.6), (0.8, 0.6)):
        pen.line(path("M", x + dx * near, y + dy * near, "L", x + dx * far, y + dy * far), "#f2a900", 3)


def _lamp(pen: Pen, item: Item) -> None:
    lit = item.state == "lit"
    paint = colored(item.color)
    pen.shadow(0, 0, 26)
    if lit:
        pen.glow(0, -66, 62)
    pen.form(oval(0, -4, 24, 6), "#8a7345")
    pen.form(rect(-4, -46, 8, 42, 2), "#b2965c")
    if lit:
        pen.fill("M -24 -44 L -44 0 L 44 0 L 24 -44 Z", "#ffe58a", 0.45)
    pen.form("M -17 -96 L 17 -96 L 34 -46 Q 0 -38 -34 -46 Z", paint)
    if lit:
        pen.fill(oval(0, -62, 19, 20), "#fff3b0", 0.75, blur=5)
        pen.form(oval(0, -42, 9, 7), Paint(("#fff7c9",), "#e0a21a"), "")
        _rays(pen, 0, -64, 40, 50)
    else:
        pen.form(oval(0, -42, 9, 7), "#8d949b", "ball")


def _lantern(pen: Pen, item: Item) -> None:
    lit = item.state == "lit"
    paint = colored(item.color)
    pen.shadow(0, 0, 26)
    if lit:
        pen.glow(0, -40, 62)
    pen.line("M -12 -80 C -12 -104 12 -104 12 -80", paint.ink, 3.4)
    pane = rect(-20, -64, 40, 56, 3)
    pen.form(pane, "#fff1b5" if lit else "#56606a", "")
    if not lit:
        pen.line("M -12 -26 L 2 -52", "#aab4bc", 3)
    pen.fill(rect(-5, -24, 10, 16, 1), "#efe6cf" if lit else "#b9b2a2")
    if lit:
        _flame(pen, 0, -24, 13)
        _rays(pen, 0, -38, 33, 44)
    else:
        pen.line("M 0 -24 v -5", "#17171a", 2.4)
    for x in (-22, 17):
        pen.form(rect(x, -66, 5, 60), paint, "flat")
    pen.form("M -28 -64 L -14 -82 L 14 -82 L 28 -64 Z", paint)
    pen.form(rect(-28, -10, 56, 11, 2), paint)


def _candle(pen: Pen, item: Item) -> None:
    paint = colored(item.color)
    lit = item.state == "lit"
    pen.shadow(0, 0, 34)
    if lit:
        pen.glow(0, -80, 46)
    pen.form(oval(0, -5, 34, 7), "#b2965c")
    pen.form("M -15 -62 L -15 -8 Q 0 -1 15 -8 L 15 -62 Z", paint)
    pen.form(oval(0, -62, 15, 4.4), lighter(paint.fills[0], 0.3), "")
    pen.fill("M 5 -60 q 2 14 5 14 q 3 0 4 -16 Z", lighter(paint.fills[0], 0.35))
    pen.line(path("M", 0, -62, "q", 1, -5, 2 if not lit else 0, -9), "#17171a", 2.4)
    if lit:
        _flame(pen, 0, -67, 14)
        _rays(pen, 0, -80, 21, 31)


PROPS: Final[Mapping[str, Prop]] = {
    "mug": _mug,
    "vase": _vase,
    "teapot": _teapot,
    "bowl": _bowl,
    "kettle": _kettle,
    "bottle": _bottle,
    "jar": _jar,
    "flask": _flask,
    "goblet": _goblet,
    "lamp": _lamp,
    "lantern": _lantern,
    "candle": _candle,
}
