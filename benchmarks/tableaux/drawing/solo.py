"""Draw somebody alone: a pose of the legs, an action of the hands. Frame: feet at the origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from benchmarks.tableaux.drawing.body import Stance, figure
from benchmarks.tableaux.drawing.people import PEOPLE
from benchmarks.tableaux.drawing.svg import Pen, Point, oval, path, polygon, rect


class _Pose(NamedTuple):
    hip: Point
    legs: tuple[tuple[Point, Point], tuple[Point, Point]]
    below: Callable[[Pen], None]
    lean: float = 0


class _Action(NamedTuple):
    """Hands and the thing held, both relative to the neck."""

    hands: tuple[Point, Point]
    elbows: tuple[float, float]
    held: Callable[[Pen], None]
    look: float
    after: Callable[[Pen], None] | None = None
    mouth: str = "smile"


def _ground(pen: Pen) -> None:
    pen.shadow(0, 0, 27, 5)


def _pouf(pen: Pen) -> None:
    pen.shadow(4, 0, 34, 6)
    pen.form("M -29 -25 Q -33 -3 -24 1 L 16 1 Q 24 -3 21 -25 Z", "#8d8378", "round")
    pen.form(oval(-4, -26, 25, 7), "#b4a999", "")


def _knees(pen: Pen) -> None:
    pen.shadow(-2, 0, 36, 5)


def _air(pen: Pen) -> None:
    pen.shadow(0, 0, 18, 3.5, 0.3)
    for x, y in ((-18, -12), (0, -7), (18, -12)):
        pen.line(path("M", x, y, "v", -20), "#5b6470", 3, 0.8)


_POSES: Final[Mapping[str, _Pose]] = {
    "standing": _Pose((0, -54), (((-9, -28), (-11, -3)), ((9, -28), (11, -3))), _ground),
    "sitting": _Pose((-8, -36), (((14, -38), (17, -3)), ((20, -35), (26, -3))), _pouf),
    "kneeling": _Pose((-4, -36), (((-8, -6), (-31, -5)), ((19, -34), (19, -3))), _knees),
    "jumping": _Pose((0, -90), (((-27, -78), (-34, -52)), ((27, -80), (34, -54))), _air),
}


def _book(pen: Pen) -> None:
    for side in (-1, 1):
        pen.form(polygon((0, 24), (side * 24, 17), (side * 24, -9), (0, -2)), "#2f6a8f", "flat", outline=1.6)
        pen.form(
            path("M", 0, 20, "Q", side * 11, 11, side * 21, 14, "L", side * 21, -11, "Q", side * 11, -13, 0, -5, "Z"),
            "#fffdf4",
            "",
            outline=1.2,
        )
        for y in (-3, 2, 7):
            pen.line(path("M", side * 4, y, "Q", side * 11, y - 5, side * 17, y - 5), "#7d776c", 1.1)
    pen.line("M 0 -4 V 22", "#5b554c", 1.4)


def _flag(pen: Pen) -> None:
    pen.rod([(29, 22), (36, -74)], "#b98a4e", 4)
    pen.form(oval(36, -76, 3.6), "#e8c14a", "ball")
    cloth = "M 36 -72 q 11 -9 22 -1 t 22 -2 l -1 30 q -11 7 -22 1 t -23 4 Z"
    pen.form(cloth, "#1f9aa8", "flat", outline=1.8)
    with pen.clip(cloth):
        pen.line("M 30 -58 q 14 -9 28 -1 t 26 -2", "#fdfbf2", 8)
    for x, y in ((84, -86), (89, -60)):
        pen.line(path("M", x, y, "q", 5, 7, 1, 15), "#5b6470", 2, 0.7)


def _umbrella(pen: Pen) -> None:
    pen.rod([(21, 26), (21, -72)], "#6d4a2c", 4)
    pen.line("M 21 27 q 0 8 -6 8 q -6 0 -6 -5", "#6d4a2c", 4)
    edge = ("q", -8, -7, -16, 0, "q", -8, -7, -16, 0, "q", -8, -7, -16, 0, "q", -8, -7, -16, 0, "q", -8, -7, -16, 0)
    pen.form(
        path(
            "M",
            52,
            -50,
            "Q",
            46,
            -90,
            12,
            -92,
            "Q",
            -22,
            -90,
            -28,
            -50,
            *(-v if isinstance(v, int) and abs(v) > 7 else v for v in edge),
            "Z",
        ),
        "#157a6e",
        "round",
        outline=1.8,
    )
    for x in (-12, 4, 20, 36):
        pen.line(path("M", 12, -91, "Q", x, -78, x, -51), "#0c3f39", 1.3)
    pen.line("M 12 -92 v -7", "#0c3f39", 3)


def _trumpet(pen: Pen) -> None:
    gold = "#eebc31"
    pen.rod([(15, -9), (54, -13)], gold, 5)
    pen.form("M 50 -17 Q 62 -18 70 -30 L 74 2 Q 63 -8 50 -9 Z", gold, "round")
    pen.form(oval(72, -14, 4.6, 16.5), "#f7dc84", "", outline=1.4)
    pen.line("M 24 -9 q 0 13 10 12 h 8 q 9 -2 7 -15", "#7d5a10", 5)
    pen.line("M 24 -9 q 0 13 10 12 h 8 q 9 -2 7 -15", gold, 2.8)
    for x in (30, 36, 42):
        pen.form(rect(x - 2, -20, 4, 9, 1), "#f7dc84", "flat", outline=1)
    for x, y in ((82, -34), (90, -18)):
        pen.fill(oval(x, y, 4, 3), "#2a2a30")
        pen.line(path("M", x + 3.4, y, "v", -14, "l", 5, 3), "#2a2a30", 1.8)


def _dumbbell(pen: Pen) -> None:
    pen.rod([(-32, -48), (32, -48)], "#aab4bd", 5)
    for x in (-37, 37):
        for dx, r in ((5, 17), (-5, 13)):
            side = 1 if x > 0 else -1
            pen.form(rect(x - side * dx - 4, -48 - r, 8, 2 * r, 3), "#3a3f47", "flat", outline=1.4)


_ACTIONS: Final[Mapping[str, _Action]] = {
    "reading a book": _Action(((-22, 22), (22, 22)), (1, -1), _book, 0, mouth="small"),
    "waving a flag": _Action(((-22, 36), (31, 2)), (1, 1), _flag, 0.6),
    "holding an umbrella": _Action(((-20, 38), (22, 14)), (1, 1), _umbrella, 0),
    "playing a trumpet": _Action(((27, 0), (41, -3)), (1, 1), _trumpet, 0.9, mouth="small"),
    "lifting a dumbbell": _Action(((-31, -45), (31, -45)), (0, 0), _dumbbell, 0),
}


def solo(pen: Pen, kind: str, pose: str, action: str) -> None:
    """Draw a person in a pose, doing something."""
    held, doing = _POSES[pose], _ACTIONS[action]
    held.below(pen)
    x, y = held.hip[0], held.hip[1] - 45
    hands = tuple((x + dx, y + dy) for dx, dy in doing.hands)
    stance = Stance(
        held.hip,
        held.lean,
        held.legs,
        (hands[0], hands[1]),
        doing.elbows,
        look=doing.look,
        mouth=doing.mouth,
        near=doing.hands[0][1] < 30,
    )

    def thing(inner: Pen) -> None:
        with inner.frame(x, y):
            doing.held(inner)

    figure(pen, PEOPLE[kind], stance, thing)
