"""Looks of the animals, who stand upright as in a picture book."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.tableaux.drawing.body import Costume, Stance, eyes, mouth
from benchmarks.tableaux.drawing.palette import darker, lighter
from benchmarks.tableaux.drawing.svg import Pen, oval, path, polygon

_DOG, _CAT, _RABBIT, _BEAR, _PIG, _MONKEY, _ELEPHANT = (
    "#b98046",
    "#e0913c",
    "#d9d4cd",
    "#6a4630",
    "#f2a5b3",
    "#8a5a36",
    "#9aa3b0",
)


def _round(pen: Pen, color: str) -> None:
    pen.form(oval(0, 0, 21), color, "ball", outline=1.8)


def _snout(pen: Pen, stance: Stance, color: str, rx: float = 11, ry: float = 8.5) -> None:
    x = 7.0 * stance.look
    pen.form(oval(x, 8, rx, ry), color, "", outline=1.2)
    pen.fill(oval(x, 3.5, 4.2, 3), "#1f1a1c")
    if stance.mouth == "smile":
        pen.line(path("M", x, 6, "v", 3, "m", -5, 0, "q", 2.5, 4, 5, 0, "q", 2.5, 4, 5, 0), "#2b1f20", 1.6)
    else:
        mouth(pen, stance, y=11, x=2 * stance.look)


def _dog(pen: Pen, stance: Stance) -> None:
    _round(pen, _DOG)
    for side in (-1, 1):
        pen.form(
            path("M", side * 13, -18, "Q", side * 34, -20, side * 29, 14, "Q", side * 20, 18, side * 16, -4, "Z"),
            darker(_DOG, 0.45),
            "flat",
        )
    eyes(pen, stance)
    _snout(pen, stance, "#f3dfc2")
    if stance.mouth == "smile":
        pen.form(path("M", 7 * stance.look - 3, 13, "q", 0, 9, 4, 9, "q", 4, 0, 3, -9, "Z"), "#ee6f83", "", outline=1)


def _cat(pen: Pen, stance: Stance) -> None:
    for side in (-1, 1):
        pen.form(polygon((side * 4, -18), (side * 19, -35), (side * 21, -6)), _CAT, "flat")
        pen.fill(polygon((side * 9, -18), (side * 17, -29), (side * 18, -11)), "#f4b9a8")
    _round(pen, _CAT)
    for mark in (-6, 0, 6):
        pen.line(path("M", mark, -20, "v", 8), "#8e4d12", 2.6)
    eyes(pen, stance, white=4.6)
    x = 5.0 * stance.look
    pen.fill(polygon((x - 3.4, 4), (x + 3.4, 4), (x, 8)), "#d8607a")
    if stance.mouth == "smile":
        pen.line(path("M", x - 6, 9, "q", 3, 5, 6, 0, "q", 3, 5, 6, 0), "#4b2a16", 1.8)
    else:
        mouth(pen, stance, y=12)
    for side in (-1, 1):
        pen.line(
            path("M", x + side * 10, 7, "l", side * 17, -4, "M", x + side * 10, 10, "l", side * 17, 2), "#4b2a16", 1.1
        )


def _rabbit(pen: Pen, stance: Stance) -> None:
    for side in (-1, 1):
        with pen.frame(side * 9, -16, turn=side * 12):
            pen.form(oval(0, -20, 7.5, 23), _RABBIT, "flat")
            pen.fill(oval(0, -19, 3.6, 16), "#f2b3bd")
    _round(pen, _RABBIT)
    eyes(pen, stance)
    x = 5.0 * stance.look
    pen.fill(oval(x, 4.5, 3.4, 2.6), "#e07088")
    if stance.mouth == "smile":
        pen.line(path("M", x - 6, 8, "q", 3, 4, 6, 0, "q", 3, 4, 6, 0), "#5b4a48", 1.7)
        pen.form(path("M", x - 3.4, 11, "v", 6, "h", 6.8, "v", -6, "Z"), "#ffffff", "", outline=1)
    else:
        mouth(pen, stance, y=12)


def _bear(pen: Pen, stance: Stance) -> None:
    for side in (-1, 1):
        pen.form(oval(side * 16, -16, 9), _BEAR, "ball")
        pen.fill(oval(side * 16, -15, 4.6), "#c79a72")
    _round(pen, _BEAR)
    eyes(pen, stance)
    _snout(pen, stance, "#c79a72")


def _pig(pen: Pen, stance: Stance) -> None:
    for side in (-1, 1):
        pen.form(polygon((side * 4, -18), (side * 24, -27), (side * 20, -7)), darker(_PIG, 0.12), "flat")
    _round(pen, _PIG)
    eyes(pen, stance)
    x = 7.0 * stance.look
    pen.form(oval(x, 5, 10, 7.5), darker(_PIG, 0.14), "flat", outline=1.3)
    for dx in (-3.6, 3.6):
        pen.fill(oval(x + dx, 5, 1.9, 2.8), "#7d3346")
    if stance.mouth == "smile":
        pen.line(path("M", x - 5, 14, "q", 5, 4, 10, 0), "#7d3346", 1.8)
    else:
        mouth(pen, stance, y=15)


def _monkey(pen: Pen, stance: Stance) -> None:
    for side in (-1, 1):
        pen.form(oval(side * 22, -1, 9.5), _MONKEY, "ball")
        pen.fill(oval(side * 22, -1, 5.4), "#e9c29a")
    _round(pen, _MONKEY)
    x = 3 * stance.look
    face = path(
        "M",
        x,
        -9,
        "C",
        x - 4,
        -18,
        x - 18,
        -14,
        x - 14,
        -1,
        "C",
        x - 22,
        18,
        x + 22,
        18,
        x + 14,
        -1,
        "C",
        x + 18,
        -14,
        x + 4,
        -18,
        x,
        -9,
        "Z",
    )
    pen.fill(face, "#e9c29a")
    eyes(pen, stance, gap=6.5)
    for dx in (-2, 2):
        pen.fill(oval(x * 1.6 + dx, 4, 1.1), "#5b3a24")
    mouth(pen, stance, y=10)


def _elephant(pen: Pen, stance: Stance) -> None:
    for side in (-1, 1):
        pen.form(
            path("M", side * 12, -16, "C", side * 44, -30, side * 46, 22, side * 15, 14, "Z"),
            _ELEPHANT,
            "flat",
            outline=1.6,
        )
        pen.fill(path("M", side * 17, -10, "C", side * 37, -18, side * 37, 14, side * 19, 9, "Z"), "#e3b8bf")
    _round(pen, _ELEPHANT)
    eyes(pen, stance, y=-5, gap=9)
    x = 6 * stance.look
    if stance.mouth != "smile":
        mouth(pen, stance, y=14, x=-5)
    trunk = path("M", x, 2, "C", x + 2, 16, x + 2, 30, x + 12, 30, "Q", x + 18, 30, x + 18, 24)
    pen.line(trunk, darker(_ELEPHANT, 0.62), 12)
    pen.line(trunk, _ELEPHANT, 9)
    for y in (9, 15, 21):
        pen.line(path("M", x - 2.5, y, "q", 3.5, 2, 7, 0), darker(_ELEPHANT, 0.4), 1.2)
    for side in (-1, 1):
        pen.form(
            path("M", x + side * 7, 9, "q", side * 3, 8, side * 8, 8, "q", side * -2, -5, side * -3, -10, "Z"),
            "#fffaf0",
            "",
            outline=1,
        )


def _belly(color: str) -> Callable[[Pen], None]:
    return lambda pen: pen.fill(oval(2, -18, 11, 17), color, 0.95)


def _tail(color: str, *curve: float) -> Callable[[Pen], None]:
    def draw(pen: Pen) -> None:
        shape = path("M", -13, 0, "c", *curve)
        pen.line(shape, darker(color, 0.62), 8.5)
        pen.line(shape, color, 5.5)

    return draw


def _puff(pen: Pen) -> None:
    pen.form(oval(-19, -1, 8), "#ffffff", "ball")


def _fur(color: str, head: Callable[[Pen, Stance], None], belly: str, tail: Callable[[Pen], None]) -> Costume:
    return Costume(color, color, darker(color, 0.25), lighter(color, 0.12), head, _belly(belly), tail)


ANIMALS: Final[Mapping[str, Costume]] = {
    "dog": _fur(_DOG, _dog, "#f3dfc2", _tail(_DOG, -10, 0, -22, -8, -22, -22)),
    "cat": _fur(_CAT, _cat, "#fbe6c8", _tail(_CAT, -20, 4, -30, -10, -20, -34)),
    "rabbit": _fur(_RABBIT, _rabbit, "#ffffff", _puff),
    "bear": _fur(_BEAR, _bear, "#a9795a", _tail(_BEAR, -3, 0, -5, -1, -6, -2)),
    "pig": _fur(_PIG, _pig, "#fbd3da", _tail(_PIG, -14, 2, -14, -12, -7, -7)),
    "monkey": _fur(_MONKEY, _monkey, "#e9c29a", _tail(_MONKEY, -26, 8, -38, -22, -20, -30)),
    "elephant": _fur(_ELEPHANT, _elephant, "#c3cad3", _tail(_ELEPHANT, -8, 4, -14, 8, -16, 14)),
}
