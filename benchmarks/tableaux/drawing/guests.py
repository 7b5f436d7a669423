"""Draw guests: what stands on a seat (foot at the origin) and what hangs from a hook or peg (top at the origin)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import cos, pi, sin
from typing import Final

from benchmarks.tableaux.drawing.svg import Pen, oval, path, polygon, rect, ring

_GOLD = "#eebc31"


def _crown(pen: Pen) -> None:
    pen.shadow(0, 0, 34, 4)
    points = ((-33, -58), (-18, -30), (0, -66), (18, -30), (33, -58))
    pen.form(polygon((-28, -2), *points, (28, -2)), _GOLD)
    for x, y in points[::2]:
        pen.form(oval(x, y, 6), "#f6d878", "ball")
    pen.form(rect(-29, -16, 58, 15, 3), _GOLD)
    for x, gem in ((-18, "#c62f44"), (0, "#2f6fd0"), (18, "#c62f44")):
        pen.form(oval(x, -8.5, 4.6), gem, "ball", outline=1)


def _pineapple(pen: Pen) -> None:
    pen.shadow(0, 0, 24, 4)
    for turn in (-48, 48, -26, 26, 0):
        with pen.frame(0, -58, turn=turn):
            pen.form("M -7 2 Q -8 -24 0 -44 Q 8 -24 7 2 Z", "#4c9a3c")
    body = oval(0, -31, 25, 31)
    pen.form(body, "#e3a01f")
    with pen.clip(body):
        for k in range(-5, 6):
            pen.line(path("M", k * 13 - 40, 0, "l", 80, -80, "M", k * 13 + 40, 0, "l", -80, -80), "#8f5a0e", 1.8, 0.85)
    pen.line(body, "#5c3a0c", 1.6)


def _trophy(pen: Pen) -> None:
    pen.shadow(0, 0, 26, 4)
    for side in (-1, 1):
        grip = path("M", side * 22, -82, "q", side * 26, -4, side * 20, 18, "q", side * -4, 14, side * -24, 16)
        pen.line(grip, "#7d5a10", 7)
        pen.line(grip, _GOLD, 4.4)
    pen.form(rect(-20, -12, 40, 12, 2), "#4a3328", "flat")
    pen.form(rect(-5, -40, 10, 29, 2), _GOLD)
    pen.form("M -28 -90 C -26 -50 -14 -36 0 -36 C 14 -36 26 -50 28 -90 Z", _GOLD)
    pen.form(oval(0, -90, 28, 5), "#f7dc84", "")
    pen.form(ring(5, 0, -66, 12, inner=5), "#fff4c4", "", outline=1)


def _parrot(pen: Pen) -> None:
    pen.shadow(-4, 0, 22, 4)
    pen.form(polygon((-14, -30), (-34, 6), (-24, 8), (-4, -14)), "#2d6fd0", "flat")
    pen.form("M -14 -78 C -34 -50 -26 -14 0 -8 C 20 -16 22 -56 12 -82 Z", "#3aa648")
    pen.form("M -13 -62 C -30 -42 -24 -22 -12 -16 C 2 -30 2 -52 -13 -62 Z", "#2d6fd0", "flat")
    pen.form(oval(2, -78, 19), "#d63a2e", "ball")
    pen.form("M 14 -88 C 32 -86 30 -68 20 -62 Q 22 -74 12 -74 Z", "#f0c63b", "flat")
    pen.form(oval(5, -82, 6), "#ffffff", "", outline=1)
    pen.fill(oval(6, -82, 3), "#17171a")
    for x in (-6, 6):
        pen.line(path("M", x, -9, "v", 7, "m", -4, 3, "l", 4, -3, "l", 4, 3), "#b8862b", 3)


def _guitar(pen: Pen) -> None:
    pen.shadow(0, 0, 24, 4)
    with pen.frame(0, 0, 1.06, turn=8):
        pen.form(rect(-4, -98, 8, 54, 1), "#5a3820", "flat")
        pen.form(polygon((-6, -112), (6, -112), (5, -96), (-5, -96)), "#3a2416", "flat")
        waist = ("C", -18, -52, -20, -42, -15, -36, "C", -30, -30, -29, -1, 0, -1)
        other = ("C", 29, -1, 30, -30, 15, -36, "C", 20, -42, 18, -52, 0, -54)
        pen.form(path("M", 0, -54, *waist, *other, "Z"), "#d38a3a")
        pen.form(oval(0, -32, 7), "#2b1a10", "", outline=1.6)
        pen.form(rect(-10, -14, 20, 4, 1), "#3a2416", "")
        for x in (-2, 0, 2):
            pen.line(path("M", x, -104, "V", -13), "#f4ead2", 0.7)


def _cake(pen: Pen) -> None:
    pen.shadow(0, 0, 36, 4)
    pen.form(oval(0, -4, 38, 6), "#e8ecef", "")
    pen.form("M -32 -42 V -8 Q 0 0 32 -8 V -42 Z", "#b9763a")
    pen.line("M -32 -24 Q 0 -16 32 -24", "#fff1da", 5)
    drips = "q 5 8 9 1 q 5 10 10 2 q 6 9 13 2 q 6 10 13 0 q 5 8 10 -1 q 5 4 9 -4"
    pen.form(f"M -32 -44 v 8 {drips} V -44 Z", "#fbe3ea", "flat")
    pen.form(oval(0, -44, 32, 7.5), "#fff2f5", "")
    for x in (-14, 0, 14):
        pen.form(rect(x - 2, -64, 4, 20, 1), "#7fc4d8", "flat", outline=1)
        pen.form(path("M", x, -64, "q", -5, -5, 0, -12, "q", 5, 7, 0, 12, "Z"), "#ff9d1e", "", outline=0.8)


def _coat(pen: Pen) -> None:
    shape = "M -8 2 Q 0 8 8 2 L 24 9 L 36 62 L 25 66 L 19 34 L 24 97 L -24 97 L -19 34 L -25 66 L -36 62 L -24 9 Z"
    pen.cast(shape)
    pen.form(shape, "#8a6f4e", "flat", outline=1.8)
    pen.line("M 0 14 V 97", "#463520", 1.6)
    pen.form(polygon((-8, 2), (0, 30), (-15, 20), (-12, 5)), "#a58962", "flat")
    pen.form(polygon((8, 2), (0, 30), (15, 20), (12, 5)), "#a58962", "flat")
    for y in (42, 58, 74):
        pen.fill(oval(-4.5, y, 2.2), "#2f2416")
    for x in (-18, 8):
        pen.line(path("M", x, 66, "h", 10), "#463520", 2)


def _bell(pen: Pen) -> None:
    pen.line("M 0 0 V 16", "#7a5a20", 4)
    pen.form(oval(0, 84, 8), "#8a6414", "ball")
    pen.form(
        "M -10 14 Q 0 8 10 14 C 26 26 20 56 36 76 Q 0 86 -36 76 C -20 56 -26 26 -10 14 Z",
        _GOLD,
    )
    pen.line("M -29 66 Q 0 74 29 66", "#7d5a10", 2)


def _wreath(pen: Pen) -> None:
    pen.line("M 0 0 V 14", "#b02a2a", 4)
    for i in range(22):
        with pen.frame(0, 48, turn=360 * i / 22):
            tone = ("#2f7d3a", "#3c9448", "#256b31")[i % 3]
            pen.form("M 0 -44 q 13 3 15 17 q -13 0 -15 -17 Z", tone, "", outline=1)
            pen.form("M 0 -22 q 11 -6 17 2 q -8 8 -17 -2 Z", tone, "", outline=1)
    for i in range(7):
        with pen.frame(0, 48, turn=24 + 51.4 * i):
            pen.form(oval(0, -31, 4), "#c9252f", "ball", outline=0.8)
    for side in (-1, 1):
        pen.form(
            path("M", 0, 80, "q", side * 10, -14, side * 22, -6, "q", side * -2, 12, side * -22, 6, "Z"),
            "#b4262e",
            "flat",
        )
        pen.form(polygon((0, 80), (side * 16, 98), (side * 5, 98)), "#b4262e", "flat")
    pen.form(oval(0, 80, 4.6), "#d8454c", "ball")


def _horseshoe(pen: Pen) -> None:
    bow = "M -20 86 C -44 40 -30 8 0 8 C 30 8 44 40 20 86"
    pen.line(bow, "#2c3238", 19)
    pen.line(bow, "#8b959e", 15.6)
    pen.line("M -26 76 C -40 38 -26 5 0 5", "#d7dfe5", 3, 0.8)
    for x, y in ((-24, 70), (-29, 48), (-22, 25), (22, 25), (29, 48), (24, 70)):
        pen.fill(oval(x, y, 2.4), "#2c3238")


def _key(pen: Pen) -> None:
    pen.line(oval(0, 20, 15), "#6d4f12", 11)
    pen.line(oval(0, 20, 15), "#e0ae3a", 8)
    pen.rod([(0, 38), (0, 92)], "#e0ae3a", 8)
    pen.form(polygon((4, 72), (20, 72), (20, 80), (12, 80), (12, 84), (20, 84), (20, 93), (4, 93)), "#e0ae3a", "flat")


def _rope(pen: Pen) -> None:
    for rx, ry in ((28, 43), (20, 39), (12, 35)):
        pen.line(oval(0, 48, rx, ry), "#6b4d22", 8.5)
        pen.line(oval(0, 48, rx, ry), "#cfa868", 6)
        for i in range(20):
            x, y = rx * cos(i * pi / 10), 48 + ry * sin(i * pi / 10)
            pen.line(path("M", x - 2, y + 2, "l", 4, -4), "#8a6631", 1.4)
    pen.form(rect(-14, 38, 28, 9, 4), "#cfa868", "flat")
    pen.form(rect(-14, 48, 28, 9, 4), "#cfa868", "flat")
    pen.line("M 12 56 q 8 16 4 34", "#6b4d22", 8)
    pen.line("M 12 56 q 8 16 4 34", "#cfa868", 5.4)


PERCHED: Final[Mapping[str, Callable[[Pen], None]]] = {
    "crown": _crown,
    "pineapple": _pineapple,
    "trophy": _trophy,
    "parrot": _parrot,
    "guitar": _guitar,
    "cake": _cake,
}
HUNG: Final[Mapping[str, Callable[[Pen], None]]] = {
    "coat": _coat,
    "bell": _bell,
    "wreath": _wreath,
    "horseshoe": _horseshoe,
    "key": _key,
    "rope": _rope,
}
