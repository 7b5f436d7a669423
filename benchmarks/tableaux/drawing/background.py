"""Draw what is behind everything: a wall or a fence, a floor or the ground, and a hint of the setting."""

from __future__ import annotations

from benchmarks.tableaux.drawing.palette import darker, lighter, mix
from benchmarks.tableaux.drawing.svg import UNIT, Pen, oval, path, polygon, rect
from benchmarks.tableaux.draws import Draw
from benchmarks.tableaux.scene import Backdrop, Scene


def background(pen: Pen, scene: Scene) -> None:
    """Draw the surroundings of a scene."""
    horizon = scene.backdrop.horizon * UNIT
    if scene.category == "indoor":
        _room(pen, scene.backdrop, horizon)
    else:
        _yard(pen, scene.backdrop, horizon, Draw(scene.setting, "yard"))
    _light(pen, scene.backdrop, horizon)


def _room(pen: Pen, backdrop: Backdrop, horizon: float) -> None:
    wall, floor = backdrop.back_tint, backdrop.ground_tint
    pen.fill(rect(0, 0, UNIT, horizon), wall)
    for x in range(0, UNIT + 1, 32):
        pen.fill(rect(x, 0, 16, horizon), lighter(wall, 0.16))
    panel = horizon - 62
    pen.fill(rect(0, panel, UNIT, 62), lighter(wall, 0.34))
    pen.fill(rect(0, panel - 5, UNIT, 6), lighter(wall, 0.55))
    pen.line(path("M", 0, panel + 1.5, "H", UNIT), darker(wall, 0.28), 1.2)
    for x in range(-10, UNIT, 58):
        pen.line(rect(x, panel + 11, 46, 36, 2), darker(wall, 0.16), 1.3)
    pen.fill(rect(0, horizon, UNIT, UNIT - horizon), floor)
    _boards(pen, floor, horizon)
    pen.fill(rect(0, horizon - 9, UNIT, 10), lighter(wall, 0.6))
    pen.line(path("M", 0, horizon + 1, "H", UNIT), darker(floor, 0.5), 1.6)


def _boards(pen: Pen, floor: str, horizon: float) -> None:
    """Draw floor boards that run towards us."""
    for i in range(-14, 15):
        near, far = 256 + i * 66, 256 + i * 30
        if i % 2:
            pen.fill(
                polygon((far, horizon), (far + 30, horizon), (near + 66, UNIT), (near, UNIT)), lighter(floor, 0.10)
            )
        pen.line(path("M", far, horizon, "L", near, UNIT), darker(floor, 0.24), 1)


def _yard(pen: Pen, backdrop: Backdrop, horizon: float, draw: Draw) -> None:
    fence, ground = backdrop.back_tint, backdrop.ground_tint
    pen.fill(rect(0, 0, UNIT, 60), "#eaf3f8")
    for _ in range(9):
        x, r = draw.below(UNIT), 20 + draw.below(18)
        pen.fill(oval(x, 20, r, r * 0.8), mix("#9dbb8c", "#eaf3f8", 0.25 + 0.05 * draw.below(5)))
    for y in (44, horizon - 46):
        pen.fill(rect(0, y, UNIT, 12), darker(fence, 0.30))
    for x in range(-4, UNIT, 27):
        board = polygon((x, horizon), (x, 22), (x + 12.5, 10), (x + 25, 22), (x + 25, horizon))
        pen.fill(board, lighter(fence, 0.06 + 0.05 * draw.below(4)))
        pen.line(board, darker(fence, 0.26), 1.1)
    pen.fill(rect(0, horizon, UNIT, UNIT - horizon), ground)
    pen.fill(rect(0, horizon, UNIT, 34), darker(ground, 0.08))
    for _ in range(190):
        _tuft(pen, ground, draw.below(UNIT), horizon + 4 + draw.below(int(UNIT - horizon)), draw.below(3))
    for x in range(0, UNIT, 9):
        pen.line(path("M", x, horizon + 2, "l", draw.below(5) - 2, -5 - draw.below(7)), darker(ground, 0.24), 1.6)


def _tuft(pen: Pen, ground: str, x: float, y: float, kind: int) -> None:
    tone = (darker(ground, 0.16), lighter(ground, 0.2), darker(ground, 0.1))[kind]
    pen.line(path("M", x - 3, y, "l", -2, -5, "m", 5, 5, "v", -7, "m", 3, 7, "l", 2, -5), tone, 1.1)


def _light(pen: Pen, backdrop: Backdrop, horizon: float) -> None:
    """Brighten the side of the light and darken the other; deepen the ground where it meets the wall."""
    x1, x2 = (0, 1) if backdrop.light == "left" else (1, 0)
    across = pen.define(
        "across",
        f'<linearGradient id="{{id}}" x1="{x1}" y1="0" x2="{x2}" y2="0"><stop offset="0" stop-color="#fffbe8" '
        'stop-opacity="0.30"/><stop offset="0.5" stop-color="#fffbe8" stop-opacity="0"/>'
        '<stop offset="1" stop-color="#1d1a2e" stop-opacity="0.16"/></linearGradient>',
    )
    pen.fill(rect(0, 0, UNIT, UNIT), across)
    down = pen.define(
        "down",
        '<linearGradient id="{id}" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#1d1a2e" '
        'stop-opacity="0.22"/><stop offset="1" stop-color="#1d1a2e" stop-opacity="0"/></linearGradient>',
    )
    pen.fill(rect(0, horizon, UNIT, 60), down)
