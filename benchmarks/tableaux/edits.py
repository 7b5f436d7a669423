"""Plan the single edits of a scene and draw what each changes.

The plan (which type, on which entity) looks at the structure of the scene only, never at a value; the new value is
drawn uniformly from those that the base scene could have had there instead. So the edit from base to foil is as likely
as the one back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.tableaux.draws import Draw
from benchmarks.tableaux.scene import Change, Edit, Figure, Item, Scene, Value
from benchmarks.tableaux.vocabulary import (
    ACTIONS,
    COLORS,
    COUNTS,
    EDIT_TYPES,
    FAMILIES,
    HOSTS,
    INTERACTIONS,
    MATERIALS,
    POSES,
    RELATIONS,
)

FEWEST, MOST = 16, 24
# Nearly everything can become something else; without a bound these would crowd out the other types.
AT_MOST = {"modify_object": 3}
PROPERTY = {
    "modify_spatial": "place",
    "modify_cardinality": "count",
    "modify_object": "kind",
    "modify_presence": "present",
    "swap_spatial": "place",
}
"""Property that a type changes, where it is not the word after the underscore."""


class Target(NamedTuple):
    """Name what an edit type could be applied to."""

    type: str
    ids: tuple[str, ...]


def changed_property(edit_type: str) -> str:
    """Return the name of the property that an edit type changes (`swap_role` changes agent and patient)."""
    return PROPERTY.get(edit_type, edit_type.partition("_")[2])


def edits(scene: Scene, draw: Draw) -> list[Edit]:
    """Draw 16 to 24 edits of a scene, at least one of each type that the scene allows, in the order of the types."""
    chosen = plan(scene, draw)
    drawn: list[Edit] = []
    for target in dict.fromkeys(chosen):
        drawn += _realise(scene, target, chosen.count(target), draw)
    return drawn


def plan(scene: Scene, draw: Draw) -> list[Target]:
    """Draw which edits a scene gets, from its structure alone."""
    wanted = FEWEST + draw.below(MOST - FEWEST + 1)
    pools = {name: draw.take(pool, AT_MOST.get(name, len(pool))) for name, pool in _pools(scene).items()}
    chosen = [pool[0] for pool in pools.values()]
    rest = draw.take([target for pool in pools.values() for target in pool[1:]], wanted - len(chosen))
    return sorted([*chosen, *rest], key=lambda target: (EDIT_TYPES.index(target.type), target.ids))


def _pools(scene: Scene) -> dict[str, list[Target]]:
    """Return the targets by type; a target with several possible new values is listed several times."""
    pools: dict[str, list[Target]] = {}
    for target, times in (*_item_targets(scene), *_figure_targets(scene), *_swap_targets(scene)):
        pools.setdefault(target.type, []).extend([target] * times)
    return pools


def _item_targets(scene: Scene) -> Iterator[tuple[Target, int]]:
    twins = len({scene.item(key).kind for key in scene.regions["table"]}) == 1
    for item in scene.items:
        if item.family in HOSTS:
            yield Target("modify_presence", (item.id,)), 1
            continue
        for name, values in FAMILIES[item.family].values.items():
            several = name in ("pattern", "shape", "transparency", "material")
            yield Target(f"modify_{name}", (item.id,)), 2 if several and len(values) > 2 else 1
        # The middle piece of furniture is named in other captions, and twins are twins by their kind.
        if item.id != "anchor" and not (twins and item.id in scene.regions["table"]):
            yield Target("modify_object", (item.id,)), 1
    yield Target("modify_cardinality", ("group",)), 2
    yield Target("modify_spatial", ("mover",)), 2


def _figure_targets(scene: Scene) -> Iterator[tuple[Target, int]]:
    if "solo" in scene.regions:
        yield Target("modify_pose", ("solo",)), 2
        yield Target("modify_action", ("solo",)), 2
        yield Target("modify_object", ("solo",)), 1
    if "pair" in scene.regions:
        yield Target("modify_action", ("interaction",)), 2
        yield Target("swap_role", ("interaction",)), 1
        yield from ((Target("modify_object", (key,)), 1) for key in scene.regions["pair"])


def _swap_targets(scene: Scene) -> Iterator[tuple[Target, int]]:
    for region in ("table", "wall", "floor"):
        pair = scene.regions[region]
        first, second = (scene.item(key) for key in pair)
        yield Target("swap_spatial", pair), 1
        # Twins whose colours trade places would look as if they had traded places themselves.
        if first.color and second.color and first.kind != second.kind:
            yield Target("swap_color", pair), 1
        if first.material and second.material:
            yield Target("swap_material", pair), 1
    for key in scene.regions["floor"]:
        if scene.item(key).material:
            yield Target("swap_material", (key, "anchor")), 1


def _realise(scene: Scene, target: Target, times: int, draw: Draw) -> list[Edit]:
    """Draw as many edits of one target as were planned, each with another new value."""
    if target.type == "swap_role":
        return [Edit(target.type, target.ids, _role_change(scene))]
    name = changed_property(target.type)
    if target.type.startswith("swap_"):
        return [Edit(target.type, target.ids, _trade(scene, target.ids, name))]
    (key,) = target.ids
    old: Value = getattr(scene.entities[key], name)
    news = draw.take(_alternatives(scene, key, name), times)
    return [Edit(target.type, target.ids, (Change(key, name, old, new),)) for new in news]


def _role_change(scene: Scene) -> tuple[Change, Change]:
    acting = scene.interaction
    return (
        Change(acting.id, "agent", acting.agent, acting.patient),
        Change(acting.id, "patient", acting.patient, acting.agent),
    )


def _trade(scene: Scene, ids: Sequence[str], name: str) -> tuple[Change, ...]:
    first, second = (getattr(scene.item(key), name) for key in ids)
    return Change(ids[0], name, first, second), Change(ids[1], name, second, first)


def _alternatives(scene: Scene, key: str, name: str) -> list[Value]:
    """Return the values that the property could have had in this scene instead of the one that it has."""
    entity = scene.entities[key]
    if name == "action" and key == "interaction":
        options: Sequence[Value] = INTERACTIONS[scene.figure(scene.interaction.agent).family]
    elif name == "kind":
        options = FAMILIES[entity.family].kinds if isinstance(entity, Item | Figure) else ()
    elif isinstance(entity, Item) and name == "state":
        options = FAMILIES[entity.family].values["state"]
    else:
        options = _OPTIONS[name]
    taken = _taken(scene, name) | {getattr(entity, name)}
    return [value for value in options if value not in taken]


_OPTIONS: dict[str, Sequence[Value]] = {
    "color": COLORS,
    "material": MATERIALS,
    "pattern": FAMILIES["vessel"].values["pattern"],
    "shape": FAMILIES["board"].values["shape"],
    "transparency": FAMILIES["clear"].values["transparency"],
    "place": tuple(RELATIONS),
    "count": COUNTS,
    "present": (True, False),
    "pose": POSES,
    "action": ACTIONS,
}


def _taken(scene: Scene, name: str) -> set[Value]:
    """Return the values of a property that no two entities of a scene share."""
    if name not in ("color", "material", "kind"):
        return set()
    return {getattr(entity, name) for entity in scene.entities.values() if hasattr(entity, name)} - {None}
