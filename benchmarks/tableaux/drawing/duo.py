"""Draw two who act on each other. Frame: feet of the agent's place at the origin, the patient's place to the right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from benchmarks.tableaux.drawing.animals import ANIMALS
from benchmarks.tableaux.drawing.body import Costume, Stance, figure
from benchmarks.tableaux.drawing.people import PEOPLE
from benchmarks.tableaux.drawing.svg import Pen, oval, path, rect, ring

GAP = 121.0
"""Distance of the two places, in units of the body."""
LOOKS: Final[Mapping[str, Costume]] = {**PEOPLE, **ANIMALS}


class _Part(NamedTuple):
    """Say where a partner is and how it is held; `flip` if it faces to the left."""

    x: float
    stance: Stance
    flip: bool = False
    y: float = 0
    turn: float = 0


class _Deed(NamedTuple):
    agent: _Part
    patient: _Part
    props: Callable[[Pen], None]


_RUN = (((-12, -32), (-38, -30)), ((19, -36), (24, -6)))
_STAND = (((-8, -28), (-10, -3)), ((8, -28), (10, -3)))
_STEP = (((-20, -26), (-36, -3)), ((12, -30), (8, -3)))
_BRACED = (((4, -26), (18, -3)), ((16, -28), (32, -3)))


def _speed(pen: Pen) -> None:
    for x in (-52, 66):
        for y, length in ((-96, 15), (-76, 20), (-54, 15)):
            pen.line(path("M", x + 8 - length / 2, y, "h", length * 0.8), "#4d5560", 2.6, 0.85)
    for x, r in ((-46, 6), (-36, 4.5), (72, 5), (80, 3.8)):
        pen.form(oval(x, -5, r, r * 0.8), "#e5ddcf", "", outline=1)


def _shove(pen: Pen) -> None:
    for y in (-112, -94, -60):
        pen.line(path("M", -18, y, "h", 17), "#4d5560", 2.6, 0.85)
    for x in (112, 121, 130):
        pen.line(path("M", x, -2, "q", 4, -7, 10, -4), "#6b5a44", 2.4)


def _rope(pen: Pen) -> None:
    rope = "M -22 -68 L 12 -80 Q 55 -66 98 -60"
    waist = "M 97 -63 q 15 7 31 0 M 97 -57 q 15 7 31 0"
    for data in (rope, waist):
        pen.line(data, "#5c431d", 6.4)
        pen.line(data, "#d9b06a", 4)
    pen.form(oval(98, -60, 5), "#d9b06a", "ball")


def _nothing(pen: Pen) -> None:
    for x, y in ((60, -96), (96, -104), (132, -96)):
        pen.line(path("M", x, y, "q", 5, -6, 10, 0, "t", 10, 0), "#4d5560", 2.2, 0.7)


def _spoon(pen: Pen) -> None:
    pen.form("M 18 -74 Q 20 -54 34 -54 Q 48 -54 50 -74 Z", "#f1f3f4", "round")
    pen.form(oval(34, -74, 16, 4.6), "#d98a3c", "", outline=1.4)
    pen.line("M 28 -84 q -3 -5 0 -9 m 9 9 q -3 -5 0 -9", "#6c747c", 1.8, 0.8)
    pen.rod([(60, -90), (82, -105)], "#b9c3ca", 3.2)
    pen.form(oval(86, -107, 7, 4.4), "#d7dee3", "flat")
    pen.fill(oval(86, -108.5, 5, 3), "#d98a3c")


def _camera(pen: Pen) -> None:
    pen.form(rect(18, -124, 27, 19, 3), "#2b2e34", "flat", outline=1.6)
    pen.form(rect(24, -129, 11, 6, 2), "#464b53", "flat", outline=1.2)
    pen.form(rect(43, -121, 9, 13, 2), "#5b626b", "flat", outline=1.2)
    pen.fill(oval(52, -114.5, 2, 5.4), "#bfe4f2")
    pen.glow(52, -126, 24)
    pen.form(ring(8, 52, -127, 13, inner=5), "#fff3a8", "", outline=1.2)


def _tongue(pen: Pen) -> None:
    shape = "M 56 -103 Q 66 -106 76 -112 Q 83 -111 81 -104 Q 70 -95 57 -96 Z"
    pen.form(shape, "#ee6f86", "flat", outline=1.4)
    pen.line("M 60 -100 L 76 -107", "#b8405a", 1.2)
    for x, y in ((72, -122), (84, -126), (78, -88)):
        pen.form(path("M", x, y - 5, "q", 5, 6, 0, 8, "q", -5, -2, 0, -8, "Z"), "#8fd0ee", "", outline=1)


_DEEDS: Final[Mapping[str, _Deed]] = {
    "chasing": _Deed(
        _Part(2, Stance((0, -50), 15, _RUN, ((46, -92), (52, -84)), (1, 1), look=1)),
        _Part(GAP, Stance((0, -50), 15, _RUN, ((-26, -96), (38, -108)), (-1, 1), look=-0.9, mouth="open")),
        _speed,
    ),
    "pushing": _Deed(
        _Part(10, Stance((0, -48), 20, _STEP, ((66, -88), (68, -78)), (0, 0), look=1, mouth="small")),
        _Part(106, Stance((0, -50), -8, _BRACED, ((22, -98), (34, -104)), (1, 1), look=1, mouth="open")),
        _shove,
    ),
    "pulling": _Deed(
        _Part(6, Stance((0, -48), 20, _STEP, ((24, -70), (30, -66)), (1, 1), look=1, mouth="small"), flip=True),
        _Part(114, Stance((0, -50), 8, _BRACED, ((-26, -112), (34, -116)), (-1, 1), look=1, mouth="open"), flip=True),
        _rope,
    ),
    "carrying": _Deed(
        _Part(12, Stance((0, -54), -6, _STAND, ((50, -64), (58, -60)), (1, 1), look=0.6)),
        _Part(26, Stance((0, -52), 0, _STAND, ((-24, -62), (22, -62)), (1, -1), look=0), y=-76, turn=90, flip=True),
        _nothing,
    ),
    "feeding": _Deed(
        _Part(8, Stance((0, -54), 4, _STAND, ((18, -64), (54, -88)), (1, 1), look=0.9)),
        _Part(112, Stance((0, -54), 0, _STAND, ((-14, -62), (14, -62)), (1, -1), look=0.9, mouth="open"), flip=True),
        _spoon,
    ),
    "photographing": _Deed(
        _Part(0, Stance((0, -54), 0, _STAND, ((20, -106), (38, -104)), (1, 1), look=0.9)),
        _Part(118, Stance((0, -54), 0, _STAND, ((-30, -128), (30, -128)), (-1, 1), look=0.7), flip=True),
        _camera,
    ),
    "licking": _Deed(
        _Part(26, Stance((0, -52), 14, _STEP, ((18, -58), (30, -66)), (1, 1), look=0.9, mouth="open")),
        _Part(100, Stance((0, -54), 4, _STAND, ((-20, -60), (20, -60)), (1, -1), look=0.3), flip=True),
        _tongue,
    ),
}


def partner(pen: Pen, kind: str, action: str, role: str) -> None:
    """Draw the agent or the patient of a deed."""
    deed = _DEEDS[action]
    part = deed.agent if role == "agent" else deed.patient
    if not part.turn:
        pen.shadow(part.x, 0, 28, 5)
    elif role == "patient":
        pen.shadow(part.x + 70, 0, 62, 5, 0.22)
    with pen.frame(part.x, part.y, flip=part.flip, turn=part.turn):
        figure(pen, LOOKS[kind], part.stance)


def props(pen: Pen, action: str) -> None:
    """Draw what passes between the two."""
    _DEEDS[action].props(pen)
