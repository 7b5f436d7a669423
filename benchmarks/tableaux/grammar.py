"""Compose a base scene: first its skeleton (which families stand where), then every value, each drawn uniformly.

No later choice depends on a value, and a foil's value is drawn from what the base could have had as well: this is what
makes base and foil exchangeable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.tableaux.draws import Draw
from benchmarks.tableaux.scene import Backdrop, Entity, Figure, Interaction, Item, Scene
from benchmarks.tableaux.vocabulary import (
    ACTIONS,
    COLORS,
    COUNTS,
    FAMILIES,
    HOSTS,
    INTERACTIONS,
    MATERIALS,
    POSES,
    RELATIONS,
    SETTINGS,
)

TABLE_FAMILIES = ("vessel", "clear", "light")
SIDES = (("table_left", "table_right"), ("wall_left", "wall_right"), ("front_left", "front_right"))
SUBJECTS = ((0, 0.15), (1, 0.4), (2, 0.15), (3, 0.3))


class Slot(NamedTuple):
    """Reserve a place for an item of a family; `region` names what is told together."""

    id: str
    family: str
    place: str
    region: str


class Skeleton(NamedTuple):
    """Hold the structure of a scene, which no edit changes."""

    slots: tuple[Slot, ...]
    twins: bool
    subjects: int
    pair: str


def skeleton(draw: Draw) -> Skeleton:
    """Draw which families stand where and how many figures there are."""
    twins = draw.chance(0.2)
    first, second = draw.take(TABLE_FAMILIES, 2)
    wall = ("board", "textile")
    floor = ("tub", "tub" if draw.chance(0.55) else "chest")
    hosts = [family for family in HOSTS if draw.chance(0.75)] or ["perched"]
    # Which of a pair stands left is drawn as well: after a swap of places the first may stand right.
    table_places, wall_places, floor_places = (draw.take(places, 2) for places in SIDES)
    slots = [
        Slot("anchor", "furniture", "centre", "anchor"),
        Slot("table_1", first, table_places[0], "table"),
        Slot("table_2", first if twins else second, table_places[1], "table"),
        Slot("wall_1", wall[0], wall_places[0], "wall"),
        Slot("wall_2", wall[1], wall_places[1], "wall"),
        Slot("floor_1", floor[0], floor_places[0], "floor"),
        Slot("floor_2", floor[1], floor_places[1], "floor"),
        Slot("group", "group", "front", "group"),
        Slot("mover", "toy", draw.pick(tuple(RELATIONS)), "mover"),
        *(Slot(f"guest_{family}", family, _guest_place(family), family) for family in hosts),
    ]
    return Skeleton(tuple(slots), twins, _subjects(draw), draw.pick(("people", "animals")))


def _guest_place(family: str) -> str:
    return "beside" if family == "perched" else "upper_right"


def _subjects(draw: Draw) -> int:
    """Draw 0 (things only), 1 (somebody alone), 2 (two who act on each other) or 3 (all of them)."""
    left = draw.below(100) / 100
    for number, share in SUBJECTS:
        left -= share
        if left < -1e-9:
            return number
    return SUBJECTS[-1][0]


def scene(draw: Draw) -> Scene:
    """Draw a base scene."""
    plan = skeleton(draw)
    kinds = _kinds(plan, draw)
    entities: dict[str, Entity] = {item.id: item for item in _items(plan, kinds, draw)}
    entities |= _figures(plan, draw)
    regions: dict[str, tuple[str, ...]] = {}
    for slot in plan.slots:
        regions[slot.region] = (*regions.get(slot.region, ()), slot.id)
    if "solo" in entities:
        regions["solo"] = ("solo",)
    if "interaction" in entities:
        regions["pair"] = ("pair_1", "pair_2")
    setting = draw.pick(SETTINGS)
    backdrop = Backdrop(
        setting.back,
        draw.pick(setting.back_tints),
        draw.pick(setting.ground_tints),
        draw.pick((0.44, 0.47, 0.5)),
        draw.pick(("left", "right")),
    )
    return Scene(draw.pick(setting.names), setting.category, _framing(backdrop), backdrop, entities, regions)


def _framing(backdrop: Backdrop) -> str:
    # A low horizon shows more of the ground, as a camera does that stands further back.
    return "wide shot" if backdrop.horizon < 0.46 else "medium shot"


def _kinds(plan: Skeleton, draw: Draw) -> Mapping[str, str]:
    """Draw nouns, no noun twice but for twins, who differ in colour and place."""
    chosen: dict[str, str] = {}
    for family in sorted({slot.family for slot in plan.slots}):
        ids = [slot.id for slot in plan.slots if slot.family == family]
        names = draw.take(FAMILIES[family].kinds, len(ids))
        chosen |= zip(ids, names, strict=True)
    if plan.twins:
        chosen["table_2"] = chosen["table_1"]
    return chosen


def _items(plan: Skeleton, kinds: Mapping[str, str], draw: Draw) -> list[Item]:
    """Draw every property of every item; colours and materials differ within a scene."""
    colors, materials = iter(draw.take(COLORS, len(COLORS))), iter(draw.take(MATERIALS, len(MATERIALS)))
    items = []
    for slot in plan.slots:
        values = FAMILIES[slot.family].values
        free = {name: draw.pick(values[name]) for name in values if name not in ("color", "material")}
        guest = slot.family in HOSTS
        items.append(
            Item(
                slot.id,
                slot.family,
                kinds[slot.id],
                slot.place,
                color=next(colors) if "color" in values else None,
                material=next(materials) if "material" in values else None,
                pattern=free.get("pattern"),
                shape=free.get("shape"),
                transparency=free.get("transparency"),
                state=free.get("state"),
                count=draw.pick(COUNTS) if slot.family == "group" else 1,
                present=draw.chance(0.5) if guest else True,
                host=draw.pick(HOSTS[slot.family]) if guest else None,
                scale=_scale(draw),
                flip=draw.chance(0.5),
            )
        )
    return items


def _figures(plan: Skeleton, draw: Draw) -> dict[str, Entity]:
    found: dict[str, Entity] = {}
    people = iter(draw.take(FAMILIES["people"].kinds, 3))
    if plan.subjects in (1, 3):
        pose, action = draw.pick(POSES), draw.pick(ACTIONS)
        found["solo"] = Figure("solo", "people", next(people), "left", pose, action, _scale(draw))
    if plan.subjects in (2, 3):
        names = people if plan.pair == "people" else iter(draw.take(FAMILIES["animals"].kinds, 2))
        for number, place in ((1, "pair_left"), (2, "pair_right")):
            key = f"pair_{number}"
            found[key] = Figure(key, plan.pair, next(names), place, scale=_scale(draw))
        agent, patient = draw.take(("pair_1", "pair_2"), 2)
        found["interaction"] = Interaction(agent, patient, draw.pick(INTERACTIONS[plan.pair]))
    return found


def _scale(draw: Draw) -> float:
    # Steps of one twentieth: exact to the letter in JSON on every machine.
    return (17 + draw.below(4)) / 20
