"""A scene as a value: everything that a renderer needs, and the edits that turn one scene into another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import NamedTuple, cast

Value = str | int | bool
Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Item:
    """Describe a thing. A property that its family lacks is None.

    Attributes:
        id: Name within the scene; an edit never changes it.
        family: Key of `vocabulary.FAMILIES`.
        kind: Noun.
        place: Key of `vocabulary.PLACES`.
        count: How many of it stand there.
        present: False if its host stands there without it.
        host: What it stands on or hangs from, or None.
        scale: Share of its place that it fills.
        flip: Whether it is drawn mirrored (handles, spouts).
    """

    id: str
    family: str
    kind: str
    place: str
    color: str | None = None
    pattern: str | None = None
    shape: str | None = None
    material: str | None = None
    transparency: str | None = None
    state: str | None = None
    count: int = 1
    present: bool = True
    host: str | None = None
    scale: float = 1.0
    flip: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """Describe a person or an animal. Pose and action are None for those who act on each other.

    Attributes:
        id: Name within the scene; an edit never changes it.
        family: `people` or `animals`.
        kind: Noun.
        place: Key of `vocabulary.PLACES`.
        pose: How the body is held.
        action: What the hands do.
        scale: Share of its place that it fills.
    """

    id: str
    family: str
    kind: str
    place: str
    pose: str | None = None
    action: str | None = None
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Interaction:
    """Say who does what to whom; agent and patient are ids of figures, who keep their places when roles change."""

    agent: str
    patient: str
    action: str
    id: str = "interaction"


Entity = Item | Figure | Interaction


class Backdrop(NamedTuple):
    """Hold what stands behind everything: tints as hex, the height of the horizon and the side of the light."""

    back: str
    back_tint: str
    ground_tint: str
    horizon: float
    light: str


@dataclass(frozen=True, slots=True)
class Scene:
    """Hold one scene. `regions` lists the ids that are told together, by name, and no edit changes it."""

    setting: str
    category: str
    framing: str
    backdrop: Backdrop
    entities: Mapping[str, Entity]
    regions: Mapping[str, tuple[str, ...]]

    def item(self, key: str) -> Item:
        """Return the item with this id."""
        return cast("Item", self.entities[key])

    def figure(self, key: str) -> Figure:
        """Return the figure with this id."""
        return cast("Figure", self.entities[key])

    @property
    def interaction(self) -> Interaction:
        """Return who does what to whom.

        Raises:
            KeyError: If no two figures of this scene act on each other.
        """
        return cast("Interaction", self.entities["interaction"])

    @property
    def figures(self) -> list[Figure]:
        """Return the people and animals."""
        return [entity for entity in self.entities.values() if isinstance(entity, Figure)]

    @property
    def items(self) -> list[Item]:
        """Return the things."""
        return [entity for entity in self.entities.values() if isinstance(entity, Item)]

    def as_json(self) -> Json:
        """Return the scene as plain values for `specification.json`, without properties that do not apply."""
        acting = self.entities.get("interaction")
        return {
            "setting": self.setting,
            "setting_category": self.category,
            "framing": self.framing,
            "backdrop": self.backdrop._asdict(),
            "items": [_plain(item) for item in self.items],
            "figures": [_plain(figure) for figure in self.figures],
            "interaction": _plain(acting) if acting is not None else None,
        }


def _plain(entity: Entity) -> Json:
    values = {spec.name: getattr(entity, spec.name) for spec in fields(entity)}
    return {name: value for name, value in values.items() if value is not None}


class Change(NamedTuple):
    """Say that one property of one entity has another value on the foil side."""

    entity: str
    name: str
    base: Value
    foil: Value


@dataclass(frozen=True, slots=True)
class Edit:
    """Hold one edit: its release type, the ids that its captions speak of, and what it changes.

    A `modify_` edit has one change, a `swap_` edit two, in which two values trade places.
    """

    type: str
    targets: tuple[str, ...]
    changes: tuple[Change, ...]

    def apply(self, scene: Scene) -> Scene:
        """Return the foil scene: the same but for the changes."""
        entities = dict(scene.entities)
        for change in self.changes:
            entities[change.entity] = _with(entities[change.entity], change.name, change.foil)
        return replace(scene, entities=entities)


def _with(entity: Entity, name: str, value: Value) -> Entity:
    # `replace` is generic in the class; naming the property at run time is beyond what a type can say.
    return replace(entity, **{name: value})  # type: ignore[arg-type]
