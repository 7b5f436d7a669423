"""Costumes of the people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.tableaux.drawing.body import Costume, Stance, belt, eyes, mouth
from benchmarks.tableaux.drawing.svg import Pen, oval, path, polygon, rect, ring

_SKINS: Final = ("#f2c7a0", "#d79a6b", "#9a6240", "#f6d3b4")


def _round(pen: Pen, skin: str) -> None:
    pen.form(oval(0, 0, 21), skin, "ball", outline=1.8)


def _clown(pen: Pen, stance: Stance) -> None:
    for x, y, r in ((-21, -4, 11), (21, -4, 11), (-17, -15, 9), (17, -15, 9)):
        pen.form(oval(x, y, r), "#f07a22", "ball")
    _round(pen, "#fdf6ee")
    eyes(pen, stance, white=5)
    for x in (-8, 8):
        pen.line(path("M", x + 5 * stance.look, -12, "v", 18), "#2f6fd0", 1.8, 0.6)
    pen.line(path("M", -9 + 5 * stance.look, 8, "q", 9, 11, 18, 0), "#c8202c", 5)
    if stance.mouth == "open":
        mouth(pen, stance, y=12)
    pen.form(oval(5 * stance.look, 3, 5.6), "#e02a2a", "ball", outline=1.2)
    pen.form(polygon((-11, -17), (11, -17), (2, -44)), "#7a3fb5", "flat")
    pen.form(oval(2, -44, 5), "#f8d222", "ball")


def _ruffle(pen: Pen) -> None:
    for x in (-16, -8, 0, 8, 16):
        pen.form(oval(x, -43, 6.5, 5.5), "#ffffff", "", outline=1.2)
    for x, y, tone in ((-8, -28, "#e02a2a"), (8, -22, "#2f6fd0"), (-6, -10, "#3aa648"), (9, -5, "#e02a2a")):
        pen.fill(oval(x, y, 4), tone)


def _chef(pen: Pen, stance: Stance) -> None:
    _round(pen, _SKINS[0])
    eyes(pen, stance)
    mouth(pen, stance)
    pen.line(path("M", -8 + 5 * stance.look, 5, "q", 4, -3, 8, 0, "q", 4, -3, 8, 0), "#4b2f1c", 3)
    for x, y, r in ((-13, -31, 11), (13, -31, 11), (0, -36, 13)):
        pen.form(oval(x, y, r), "#ffffff", "ball", outline=1.5)
    pen.fill(oval(0, -29, 15, 9), "#ffffff")
    pen.form("M -18 -25 L -17 -11 Q 0 -17 17 -11 L 18 -25 Z", "#f4f4f2", "round")


def _jacket(pen: Pen) -> None:
    for x in (-6, 6):
        for y in (-30, -20, -10):
            pen.fill(oval(x, y, 2), "#3c3f46")
    pen.form(polygon((-10, -45), (10, -45), (0, -33)), "#d2302a", "flat")


def _farmer(pen: Pen, stance: Stance) -> None:
    _round(pen, _SKINS[1])
    eyes(pen, stance)
    mouth(pen, stance)
    pen.form(oval(0, -13, 33, 7.5), "#e8c565", "flat")
    pen.form("M -17 -14 Q -18 -35 0 -35 Q 18 -35 17 -14 Q 0 -8 -17 -14 Z", "#e8c565")
    pen.line("M -17 -17 Q 0 -11 17 -17", "#a5392c", 4)


def _overalls(pen: Pen) -> None:
    for x in (-11, 11):
        pen.line(path("M", x, -44, "L", x * 0.75, -24), "#23488f", 5)
    pen.form("M -11 -27 H 11 L 15 -12 V 6 Q 0 11 -15 6 V -12 Z", "#335fb5", "round")
    pen.line(rect(-7, -20, 14, 9, 2), "#1f3c78", 1.4)


def _pirate(pen: Pen, stance: Stance) -> None:
    _round(pen, _SKINS[1])
    pen.form(
        "M -21 2 Q -18 27 0 27 Q 18 27 21 2 Q 12 8 0 7 Q -12 8 -21 2 Z",
        "#3b2618",
        "flat",
    )
    eyes(pen, stance)
    mouth(pen, stance, y=13)
    shift = 5 * stance.look
    pen.line("M -20 -12 L 20 2", "#1b1720", 2)
    pen.fill(oval(8 + shift, -2, 6.5), "#1b1720")
    pen.form(
        "M -36 -10 Q -22 -20 -17 -36 Q 0 -46 17 -36 Q 22 -20 36 -10 Q 0 -20 -36 -10 Z",
        "#26232b",
        "flat",
    )
    pen.line("M -34 -11 Q 0 -21 34 -11", "#e8c14a", 2)
    pen.fill(oval(0, -29, 5.2), "#f4f1e8")
    pen.fill(rect(-3, -26, 6, 5, 1.5), "#f4f1e8")
    pen.fill(oval(-2, -29, 1.4), "#26232b")
    pen.fill(oval(2, -29, 1.4), "#26232b")


def _sailor(pen: Pen) -> None:
    for y in (-34, -23, -12):
        pen.line(path("M", -17, y, "H", 17), "#c8323a", 5)
    belt(pen, "#2a211b", "#e8c14a")


def _knight(pen: Pen, stance: Stance) -> None:
    pen.form("M 0 -22 C -6 -46 -34 -40 -30 -18 C -24 -28 -12 -28 -2 -20 Z", "#c8262e", "flat")
    pen.form(
        "M -20 14 L -21 -4 Q -20 -25 0 -25 Q 20 -25 21 -4 L 20 14 Q 0 24 -20 14 Z",
        "#aab4bd",
    )
    shift = 4 * stance.look
    pen.form(rect(-15 + shift, -7, 30, 8, 3), "#23262c", "")
    for x in (-7, 7):
        pen.fill(oval(x + shift * 1.5, -3, 2.6), "#f2f6f8")
    for x in (-8, 0, 8):
        pen.line(path("M", x + shift, 7, "v", 7), "#3c434b", 2)
    if stance.mouth == "open":
        mouth(pen, stance, y=10)


def _plate(pen: Pen) -> None:
    pen.line("M 0 -44 V -6 M -16 -20 Q 0 -12 16 -20", "#5b6670", 1.8)
    pen.form(
        "M -8 -38 H 8 V -28 Q 8 -20 0 -17 Q -8 -20 -8 -28 Z",
        "#c8262e",
        "flat",
        outline=1.2,
    )
    pen.line("M 0 -36 v 16 M -6 -29 h 12", "#f7e9b0", 2.4)
    belt(pen, "#5a4326", "#d8b04a")


def _wizard(pen: Pen, stance: Stance) -> None:
    _round(pen, _SKINS[3])
    eyes(pen, stance)
    pen.form(
        path(
            "M", -19, 5, "Q", -8, 2, 5 * stance.look, 5, "Q", 8, 2, 19, 5, "Q", 16, 34, 0, 46, "Q", -16, 34, -19, 5, "Z"
        ),
        "#f2f2ee",
        "flat",
    )
    mouth(pen, stance, y=11)
    pen.form(oval(0, -13, 30, 6.5), "#3b3fa8", "flat")
    pen.form("M -18 -14 L 2 -62 Q 6 -66 12 -58 L 18 -14 Q 0 -8 -18 -14 Z", "#3b3fa8")
    for x, y, r in ((-5, -24, 5), (7, -32, 4), (2, -46, 3.4)):
        pen.fill(ring(5, x, y, r, inner=r * 0.42), "#f8dc5a")


def _robe(pen: Pen) -> None:
    belt(pen, "#d8b04a", "#f8dc5a")
    for x, y in ((-10, -14), (11, -24), (9, -10)):
        pen.fill(ring(5, x, y, 4, inner=1.7), "#f8dc5a")


def _robot(pen: Pen, stance: Stance) -> None:
    pen.line("M 0 -20 V -36", "#59636c", 3)
    pen.form(oval(0, -38, 5), "#e8413a", "ball")
    for x in (-25, 20):
        pen.form(rect(x, -7, 5, 14, 2), "#6f7a84", "flat")
    pen.form(rect(-21, -20, 42, 39, 6), "#9fb6bf", "flat", outline=1.8)
    shift = 3 * stance.look
    pen.form(rect(-15 + shift, -12, 30, 13, 5), "#182026", "")
    for x in (-7, 7):
        pen.fill(oval(x + shift * 1.4, -5.5, 3.8), "#5be3e8")
    if stance.mouth == "open":
        mouth(pen, stance, y=10)
    else:
        pen.form(rect(-10 + shift, 6, 20, 7, 2), "#e8eef0", "", outline=1.2)
        pen.line(path("M", -5 + shift, 6, "v", 7, "m", 5, -7, "v", 7, "m", 5, -7, "v", 7), "#59636c", 1.2)


def _panel(pen: Pen) -> None:
    pen.form(rect(-11, -36, 22, 18, 2), "#dfe8eb", "flat", outline=1.2)
    for x, tone in ((-5.5, "#e8413a"), (0, "#f3c52d"), (5.5, "#3aa648")):
        pen.fill(oval(x, -30, 2.2), tone)
    pen.line("M -7 -22 l 3 -3 l 4 3 l 3 -3 l 4 3", "#2f6fd0", 1.5)
    for x in (-8, 0, 8):
        pen.fill(oval(x, -6, 2), "#56616a")


def _astronaut(pen: Pen, stance: Stance) -> None:
    pen.form(oval(0, -1, 26), "#f4f6f8", "ball", outline=1.8)
    visor = oval(4 * stance.look, 0, 18.5, 16)
    pen.form(visor, "#bfe0ee", "", outline=2)
    with pen.clip(visor):
        pen.fill(oval(5 * stance.look, 4, 15, 16), _SKINS[2])
        pen.fill("M -20 -4 Q 0 -18 20 -4 L 20 -20 L -20 -20 Z", "#241a16")
        eyes(pen, stance, y=1, gap=6.5)
        mouth(pen, stance, y=10)
        pen.line("M -13 6 Q -14 -8 -4 -13", "#ffffff", 3.2, 0.8)
    pen.form(rect(-30, -6, 6, 12, 3), "#e0563a", "flat")
    pen.form(rect(24, -6, 6, 12, 3), "#e0563a", "flat")


def _suit(pen: Pen) -> None:
    pen.form(rect(-10, -34, 20, 15, 3), "#c9d1d8", "flat", outline=1.3)
    for x, tone in ((-5, "#e8413a"), (0, "#3a7bd0"), (5, "#3aa648")):
        pen.fill(oval(x, -29, 2), tone)
    pen.line("M -6 -23 h 12", "#5b6670", 1.6)
    pen.line("M -17 -10 H 17", "#e0563a", 3.6)


def _pack(pen: Pen) -> None:
    pen.form(rect(-26, -42, 52, 40, 8), "#d4dae0", "flat")


PEOPLE: Final[Mapping[str, Costume]] = {
    "clown": Costume("#f8d222", "#f8d222", "#c8202c", "#ffffff", _clown, _ruffle),
    "chef": Costume("#fbfbf8", "#5d6470", "#26262b", _SKINS[0], _chef, _jacket),
    "farmer": Costume("#c0453b", "#335fb5", "#5a3a22", _SKINS[1], _farmer, _overalls, sleeves="#c0453b"),
    "pirate": Costume("#f4efe2", "#4a3326", "#1f1a18", _SKINS[1], _pirate, _sailor),
    "knight": Costume("#98a3ad", "#87929c", "#5b6670", "#7d8892", _knight, _plate),
    "wizard": Costume("#4a4fc0", "#3b3fa8", "#6b4a2c", _SKINS[3], _wizard, _robe),
    "robot": Costume("#86a2ad", "#6d8792", "#3f4a52", "#3f4a52", _robot, _panel),
    "astronaut": Costume("#eef1f4", "#e4e8ec", "#8a949d", "#c9d1d8", _astronaut, _suit, _pack),
}
