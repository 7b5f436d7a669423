"""What can be in a scene and what it is called: families of things, their properties, places, settings, edit types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

COLORS: Final = ("red", "blue", "green", "yellow", "orange", "purple", "pink", "black", "white", "brown")
PATTERNS: Final = ("striped", "spotted", "checkered", "floral")
SHAPES: Final = ("round", "square", "triangular", "hexagonal", "star-shaped")
MATERIALS: Final = ("wooden", "metal", "stone", "wicker", "cardboard")
TRANSPARENCIES: Final = ("transparent", "frosted", "opaque")
COUNTS: Final = (2, 3, 4, 5)
NUMERALS: Final = MappingProxyType({2: "two", 3: "three", 4: "four", 5: "five"})
POSES: Final = ("standing", "sitting", "kneeling", "jumping")
ACTIONS: Final = ("reading a book", "waving a flag", "holding an umbrella", "playing a trumpet", "lifting a dumbbell")

APPEARANCE: Final = "Identity & Appearance"
QUANTITY: Final = "Quantity"
SPATIAL: Final = "Spatial Relations"
ACTIVITY: Final = "Activity & State"

CATEGORY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "modify_color": APPEARANCE,
        "modify_pattern": APPEARANCE,
        "modify_material": APPEARANCE,
        "modify_shape": APPEARANCE,
        "modify_transparency": APPEARANCE,
        "modify_object": APPEARANCE,
        "swap_color": APPEARANCE,
        "swap_material": APPEARANCE,
        "modify_cardinality": QUANTITY,
        "modify_presence": QUANTITY,
        "modify_spatial": SPATIAL,
        "swap_spatial": SPATIAL,
        "modify_action": ACTIVITY,
        "modify_pose": ACTIVITY,
        "modify_state": ACTIVITY,
        "swap_role": ACTIVITY,
    }
)
"""Semantic category of each edit type, in the order of the paper. Source: composet, table 2."""

EDIT_TYPES: Final = tuple(CATEGORY)


@dataclass(frozen=True, slots=True)
class Family:
    """Hold kinds that share one set of properties, so that one kind can stand in for another.

    Attributes:
        kinds: Nouns; all families together hold each noun once.
        values: Possible values by property, in the order in which English puts the adjectives.
    """

    kinds: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))


def _family(kinds: str, **values: tuple[str, ...]) -> Family:
    return Family(tuple(kinds.split(", ")), MappingProxyType(values))


FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {
        "furniture": _family("table, bench, desk, cart", material=MATERIALS),
        "vessel": _family("mug, vase, teapot, bowl, kettle", pattern=PATTERNS, color=COLORS),
        "clear": _family("bottle, jar, flask, goblet", transparency=TRANSPARENCIES, color=COLORS),
        "light": _family("lamp, lantern, candle", state=("lit", "unlit"), color=COLORS),
        "board": _family("clock, mirror, sign, painting", shape=SHAPES, color=COLORS),
        "textile": _family("banner, towel, shirt, kite, apron", pattern=PATTERNS, color=COLORS),
        "toy": _family("hat, drum, boot, backpack, toy car", color=COLORS),
        "tub": _family("bucket, barrel, crate, basket, tub", state=("full", "empty"), material=MATERIALS),
        "chest": _family("chest, suitcase, box, toolbox", state=("open", "closed"), color=COLORS),
        "group": _family("ball, balloon, flower, cupcake, pencil", color=COLORS),
        "perched": _family("crown, pineapple, trophy, parrot, guitar, cake"),
        "hung": _family("coat, bell, wreath, horseshoe, key, rope"),
        "people": _family("clown, chef, farmer, pirate, knight, wizard, robot, astronaut"),
        "animals": _family("dog, cat, rabbit, bear, pig, monkey, elephant"),
    }
)

INTERACTIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "people": ("chasing", "pushing", "pulling", "carrying", "feeding", "photographing"),
        "animals": ("chasing", "pushing", "pulling", "carrying", "feeding", "licking"),
    }
)
"""What one figure can do to another, by family of both."""

HOSTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({"perched": ("stool", "chair"), "hung": ("hook", "peg")})
"""What an item that can be missing stands on or hangs from; the host itself is always there."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Hold a kind of surroundings: its names, the word for its upright back, and tints that no item wears."""

    category: str
    names: tuple[str, ...]
    back: str
    back_tints: tuple[str, ...]
    ground_tints: tuple[str, ...]


SETTINGS: Final = (
    Setting(
        "indoor",
        ("kitchen", "living room", "bedroom", "library", "classroom", "workshop", "hallway", "studio"),
        "wall",
        ("#d9cfc1", "#c9d3cf", "#d6d2de", "#cfd6dd"),
        ("#b39f86", "#a89a8c", "#9d9a94"),
    ),
    Setting(
        "outdoor",
        ("garden", "park", "courtyard", "farmyard", "orchard", "backyard", "schoolyard", "vineyard"),
        "fence",
        ("#c6dbe6", "#d3e0e4", "#cdd9e8"),
        ("#a9bd8b", "#b7b68d", "#9fb596"),
    ),
)


class Place(NamedTuple):
    """Say where something is drawn, in shares of the picture's width and height, and what hides what.

    Attributes:
        x: Centre, from the left.
        y: Foot (for things on a wall or hook: lower edge), from the top.
        width: Room to the left and right together.
        height: Room above the foot.
        depth: Drawing order; a larger depth is nearer and drawn later.
    """

    x: float
    y: float
    width: float
    height: float
    depth: int


PLACES: Final[Mapping[str, Place]] = MappingProxyType(
    {
        "wall_left": Place(0.32, 0.29, 0.20, 0.23, 1),
        "wall_right": Place(0.66, 0.29, 0.20, 0.23, 1),
        "upper_right": Place(0.92, 0.24, 0.13, 0.20, 1),
        "beside": Place(0.93, 0.70, 0.13, 0.34, 2),
        "centre": Place(0.52, 0.71, 0.46, 0.22, 3),
        "under_anchor": Place(0.52, 0.71, 0.16, 0.14, 4),
        "left_of_anchor": Place(0.22, 0.71, 0.12, 0.16, 4),
        "right_of_anchor": Place(0.81, 0.71, 0.11, 0.16, 4),
        "on_anchor": Place(0.52, 0.50, 0.14, 0.17, 4),
        "table_left": Place(0.36, 0.50, 0.15, 0.19, 5),
        "table_right": Place(0.68, 0.50, 0.15, 0.19, 5),
        "left": Place(0.09, 0.72, 0.17, 0.44, 6),
        "front_left": Place(0.10, 0.97, 0.17, 0.22, 7),
        "front_right": Place(0.90, 0.97, 0.17, 0.22, 7),
        "front": Place(0.67, 0.97, 0.26, 0.22, 8),
        "pair_left": Place(0.28, 0.97, 0.15, 0.25, 9),
        "pair_right": Place(0.45, 0.97, 0.15, 0.25, 9),
    }
)

RELATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "on_anchor": "on",
        "under_anchor": "under",
        "left_of_anchor": "to the left of",
        "right_of_anchor": "to the right of",
    }
)
"""Places that are told by their relation to the piece of furniture in the middle."""
