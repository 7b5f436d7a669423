"""Say which layers a scene has and draw each of them.

A layer is named by a key that holds everything its pixels depend on, so equal keys mean equal pixels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from benchmarks.tableaux.drawing import containers, guests, hangings, tableware, toys
from benchmarks.tableaux.drawing.background import background
from benchmarks.tableaux.drawing.duo import GAP, partner, props
from benchmarks.tableaux.drawing.furniture import FURNITURE, HOSTS, SEAT
from benchmarks.tableaux.drawing.solo import solo
from benchmarks.tableaux.drawing.svg import UNIT, Layer, Pen
from benchmarks.tableaux.scene import Figure, Item, Scene
from benchmarks.tableaux.vocabulary import PLACES

PROPS = {**tableware.PROPS, **hangings.PROPS, **toys.PROPS, **containers.PROPS}


class Key(NamedTuple):
    """Name a layer: what is drawn, as what (`host`, `guest`, a role, ...), with what, and under which light.

    Attributes:
        depth: Drawing order; the nearer is drawn later.
        order: Order within a depth.
        part: What of the entity this layer is.
        entity: The entity; a host goes by its own kind.
        action: What figures who act on each other do.
        mirrored: Whether the agent stands right of the patient.
        light: Side of the light.
    """

    depth: int
    order: int
    part: str
    entity: Item | Figure
    action: str
    mirrored: bool
    light: str


def keys(scene: Scene) -> list[Key]:
    """Return the layers of a scene in drawing order, without the background."""
    light = scene.backdrop.light
    found = []
    for item in scene.items:
        depth = PLACES[item.place].depth
        if item.host is None:
            found.append(Key(depth, 0, "item", _bare(item), "", False, light))
            continue
        found.append(
            Key(depth, 0, "host", replace(_bare(item), kind=item.host, present=True, scale=1.0), "", False, light)
        )
        if item.present:
            found.append(Key(depth, 1, "guest", _bare(item), "", False, light))
    if "solo" in scene.entities:
        person = scene.figure("solo")
        found.append(Key(PLACES[person.place].depth, 0, "solo", replace(person, id=""), "", False, light))
    if "interaction" in scene.entities:
        found += _pair(scene)
    return sorted(found, key=lambda key: (key.depth, key.order, str(key)))


_UNTURNED = ("furniture", "group", "board", "perched", "hung")
_ONE_SIZE = ("furniture", "group")


def _bare(item: Item) -> Item:
    """Return the item without what no pixel of it depends on."""
    turned = item.flip and item.family not in _UNTURNED
    scale = 1.0 if item.family in _ONE_SIZE else item.scale
    return replace(item, id="", host=None, flip=turned, scale=scale)


def _pair(scene: Scene) -> list[Key]:
    acting, light = scene.interaction, scene.backdrop.light
    agent, patient = scene.figure(acting.agent), scene.figure(acting.patient)
    mirrored = PLACES[agent.place].x > PLACES[patient.place].x
    depth = PLACES["pair_left"].depth
    # Steps of one deed touch each other, so both partners have one size whatever their scale.
    one = replace(agent, id="", scale=1.0)
    other = replace(patient, id="", scale=1.0)
    nobody = replace(one, kind="", family="")
    return [
        Key(depth, 0, "patient", other, acting.action, mirrored, light),
        Key(depth, 1, "agent", one, acting.action, mirrored, light),
        Key(depth, 2, "props", nobody, acting.action, mirrored, light),
    ]


def draw_background(scene: Scene, size: int) -> Layer:
    """Return the background of a scene, which fills the picture."""
    pen = Pen(scene.backdrop.light)
    background(pen, scene)
    return pen.render((0, 0, UNIT, UNIT), size)


def draw_layer(key: Key, size: int, *, bounded: bool = True) -> Layer:
    """Return the pixels of a layer; unless bounded, the whole picture is searched for them, which is slow."""
    pen = Pen(key.light)
    entity = key.entity
    if isinstance(entity, Figure):
        _draw_figure(pen, key, entity)
    else:
        _draw_item(pen, key.part, entity)
    return pen.render(_bounds(key) if bounded else (0, 0, UNIT, UNIT), size)


def _bounds(key: Key) -> tuple[float, float, float, float]:
    """Return a box that holds all of a layer, with its shadow and glow, in units of the picture."""
    entity = key.entity
    if isinstance(entity, Figure) and key.part != "solo":
        left, right, y = (PLACES["pair_left"].x * UNIT, PLACES["pair_right"].x * UNIT, PLACES["pair_left"].y * UNIT)
        return left - 70, y - 180, right + 70, y + 20
    place, (x, y) = PLACES[entity.place], _foot(entity.place)
    half, height = place.width * UNIT / 2, place.height * UNIT
    left, top, right, below = _ROOM.get(entity.family, (24, 36, 24, 20))
    return x - half - left, y - height - top, x + half + right, y + below


# What layers need around their places: to the left, above, to the right, below.
_ROOM = {"furniture": (36, 72, 36, 20), "people": (24, 60, 72, 20), "light": (24, 30, 24, 28)}


def _foot(name: str) -> tuple[float, float]:
    return PLACES[name].x * UNIT, PLACES[name].y * UNIT


def _draw_figure(pen: Pen, key: Key, person: Figure) -> None:
    x, y = _foot(person.place)
    if key.part == "solo":
        # The flag and the trumpet reach to the right, the elbows of a reader to both sides.
        with pen.frame(x + 8, y, 1.12 * person.scale):
            solo(pen, person.kind, str(person.pose), str(person.action))
        return
    left, right = (PLACES[name].x * UNIT for name in ("pair_left", "pair_right"))
    scale = (right - left) / GAP
    with pen.frame(right if key.mirrored else left, y, scale, flip=key.mirrored):
        if key.part == "props":
            props(pen, key.action)
        else:
            partner(pen, person.kind, key.action, key.part)


def _draw_item(pen: Pen, part: str, item: Item) -> None:
    place, (x, y) = PLACES[item.place], _foot(item.place)
    width, height = place.width * UNIT, place.height * UNIT
    if item.family == "furniture":
        with pen.frame(x, y):
            FURNITURE[item.kind](pen, item)
    elif item.family == "group":
        with pen.frame(x, y):
            toys.group(pen, item, width, height)
    elif item.family in ("perched", "hung"):
        _draw_guest(pen, part, item, y - height)
    else:
        # Kinds of one family fill the narrower side of their place.
        scale = min(width / 100, height / 104) * (0.94 + 0.4 * (item.scale - 0.85))
        with pen.frame(x, y, scale, flip=item.flip):
            PROPS[item.kind](pen, item)


def _draw_guest(pen: Pen, part: str, item: Item, top: float) -> None:
    x, y = _foot(item.place)
    if item.family == "perched":
        with pen.frame(x, y):
            if part == "host":
                HOSTS[item.kind](pen)
                return
            with pen.frame(0, -SEAT, 0.86 * item.scale):
                guests.PERCHED[item.kind](pen)
        return
    with pen.frame(x, top + 16):
        if part == "host":
            HOSTS[item.kind](pen)
            return
        with pen.frame(0, 2, 0.9 * item.scale):
            guests.HUNG[item.kind](pen)
