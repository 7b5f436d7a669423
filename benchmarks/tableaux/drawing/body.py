"""Draw a figure: limbs by their joints, a torso, a costume. Frame: about 140 units tall, feet at the origin."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, hypot, radians, sin
from typing import NamedTuple

from benchmarks.tableaux.drawing.palette import darker
from benchmarks.tableaux.drawing.svg import Paint, Pen, Point, oval, path, plain, rect

ARM = 26.0
SHOULDER = (13.0, -39.0)
NECK = -45.0


class Stance(NamedTuple):
    """Say how a body is held. Of two limbs the one further away comes first.

    Attributes:
        hip: Where the hip is.
        lean: Degrees by which the torso leans forward.
        legs: Knee and foot of both legs.
        hands: Both hands.
        elbows: Side to which each elbow bends, 1 or -1, or 0 for a straight arm.
        nod: Degrees by which the head turns forward in its plane.
        look: Where the eyes look: 1 forward, -1 back, 0 at us.
        mouth: `smile`, `open` or `small`.
        near: Whether both arms are in front of the body.
    """

    hip: Point
    lean: float
    legs: tuple[tuple[Point, Point], tuple[Point, Point]]
    hands: tuple[Point, Point]
    elbows: tuple[float, float] = (-1, 1)
    nod: float = 0
    look: float = 0
    mouth: str = "smile"
    near: bool = False


class Costume(NamedTuple):
    """Say what a figure looks like.

    Attributes:
        top: Colour of the torso and sleeves.
        legs: Colour of the legs.
        shoes: Colour of the feet.
        hands: Colour of the hands.
        head: Draws the head about the origin, radius 21.
        torso: Draws on the torso; hip at the origin, neck at (0, -45).
        behind: Draws behind the body, in the frame of the torso.
    """

    top: str
    legs: str
    shoes: str
    hands: str
    head: Callable[[Pen, Stance], None]
    torso: Callable[[Pen], None] | None = None
    behind: Callable[[Pen], None] | None = None
    sleeves: str = ""


def figure(pen: Pen, look: Costume, stance: Stance, held: Callable[[Pen], None] | None = None) -> None:
    """Draw a figure; `held` draws what it holds, before the nearer arm."""
    with pen.frame(*stance.hip, turn=stance.lean):
        if look.behind:
            look.behind(pen)
    for shade, leg in zip((0.22, 0.0), stance.legs, strict=True):
        _leg(pen, look, stance.hip, leg, shade)
    if not stance.near:
        _arm(pen, look, stance, 0)
    with pen.frame(*stance.hip, turn=stance.lean):
        pen.form(_TORSO, plain(look.top), "round", outline=1.8)
        if look.torso:
            look.torso(pen)
        with pen.frame(0, NECK - 18, turn=stance.nod):
            look.head(pen, stance)
    if stance.near:
        _arm(pen, look, stance, 0)
    if held:
        held(pen)
    _arm(pen, look, stance, 1)


_TORSO = "M -16 -44 Q 0 -48 16 -44 Q 20 -40 18 -28 L 15 5 Q 0 11 -15 5 L -18 -28 Q -20 -40 -16 -44 Z"


def _leg(pen: Pen, look: Costume, hip: Point, leg: tuple[Point, Point], shade: float) -> None:
    knee, foot = leg
    color = darker(look.legs, shade)
    side = -6 if shade else 6
    pen.rod([(hip[0] + side, hip[1]), knee, foot], color, 13)
    dx, dy = foot[0] - knee[0], foot[1] - knee[1]
    length = hypot(dx, dy) or 1
    # The sole stands at a right angle to the shin, toes forward.
    turn = 0.0 if dy > 0.8 * length else 90.0 * (1 if dx < 0 else -0.5)
    with pen.frame(foot[0], foot[1] - 2, turn=turn * 0.8):
        pen.form("M -8 3 Q -9 -7 0 -7 Q 14 -5 16 3 Z", darker(look.shoes, shade), "flat")


def _arm(pen: Pen, look: Costume, stance: Stance, which: int) -> None:
    angle = radians(stance.lean)
    x, y = SHOULDER[0] * (1 if which else -1), SHOULDER[1]
    shoulder = (stance.hip[0] + x * cos(angle) - y * sin(angle), stance.hip[1] + x * sin(angle) + y * cos(angle))
    hand = stance.hands[which]
    color = look.sleeves or look.top
    color = color if which or stance.near else darker(color, 0.2)
    pen.rod([shoulder, _elbow(shoulder, hand, stance.elbows[which]), hand], color, 10.5)
    pen.form(oval(hand[0], hand[1], 6.6), look.hands, "ball", outline=1.4)


def _elbow(shoulder: Point, hand: Point, bend: float) -> Point:
    """Return the elbow between two arms of equal length."""
    dx, dy = hand[0] - shoulder[0], hand[1] - shoulder[1]
    length = hypot(dx, dy) or 1
    out = bend * max(ARM**2 - length**2 / 4, 0) ** 0.5
    return (shoulder[0] + hand[0]) / 2 - out * dy / length, (shoulder[1] + hand[1]) / 2 + out * dx / length


def eyes(pen: Pen, stance: Stance, *, y: float = -2, gap: float = 8, white: float = 0) -> None:
    """Draw two eyes; `white` is the radius of the white around them."""
    shift = 5 * stance.look
    for x in (-gap + shift, gap + shift):
        if white:
            pen.form(oval(x, y, white), Paint(("#ffffff",), "#3a332e"), "", outline=1)
        pen.fill(oval(x + 1.2 * stance.look, y, 2.7, 3.2), "#1b1720")
        pen.fill(oval(x + 1.2 * stance.look + 0.8, y - 1.1, 0.9), "#ffffff")


def mouth(pen: Pen, stance: Stance, *, y: float = 9, x: float = 0) -> None:
    """Draw the mouth."""
    x += 5 * stance.look
    if stance.mouth == "open":
        pen.form(oval(x, y, 5.4, 5.8), "#7a1f28", "", outline=1.2)
    elif stance.mouth == "small":
        pen.form(oval(x, y, 2.6, 2.4), "#7a1f28", "", outline=1)
    else:
        pen.line(path("M", x - 7, y - 2, "q", 7, 7, 14, 0), "#5b1f24", 2.2)


def belt(pen: Pen, color: str, buckle: str) -> None:
    """Draw a belt with a buckle."""
    pen.form(rect(-17, -3, 34, 7, 2), color, "", outline=1.2)
    pen.form(rect(-4.5, -4, 9, 9, 1.5), buckle, "", outline=1.2)
