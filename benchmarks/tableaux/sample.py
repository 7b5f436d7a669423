"""The bundled sample: its parameters, its scenes one after another, its identity."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import nan
from numbers import Integral, Real
from types import MappingProxyType

from benchmarks.errors import InputError, near
from benchmarks.tableaux.captions import Tiers, base_caption, frame, tiers
from benchmarks.tableaux.draws import Draw, digest
from benchmarks.tableaux.edits import edits
from benchmarks.tableaux.grammar import scene as compose
from benchmarks.tableaux.scene import Edit, Json, Scene
from benchmarks.tableaux.shortcuts import SHORTCUTS, Shortcut, Sides, plant
from benchmarks.tableaux.vocabulary import CATEGORY, PLACES

GENERATOR_VERSION = 1
"""Goes into every draw and into the digest; raised with any change that alters a scene or a caption."""

WHERE = "sample of scenes"


@dataclass(frozen=True, slots=True)
class Variation:
    """Hold one edit of a scene with the captions of both sides.

    Attributes:
        id: Release id (`s001_v01`).
        scene_id: Release id of the scene (`s001`).
        edit: What the foil scene changes.
        base: Captions of the base scene.
        foil: Captions of the foil scene.
        carries: Whether the planted shortcut is in these captions.
    """

    id: str
    scene_id: str
    edit: Edit
    base: Tiers
    foil: Tiers
    carries: bool

    @property
    def captions(self) -> Mapping[str, tuple[str, str]]:
        """Return (base, foil) by tier."""
        pairs = zip(Tiers._fields, zip(self.base, self.foil, strict=True), strict=True)
        return MappingProxyType(dict(pairs))

    def as_json(self) -> Json:
        """Return the variation as plain values for `specification.json`."""
        return {
            "id": self.id,
            "edit_type": self.edit.type,
            "category": CATEGORY[self.edit.type],
            "targets": list(self.edit.targets),
            "changes": [change._asdict() for change in self.edit.changes],
            "captions": {tier: {"base": base, "var": foil} for tier, (base, foil) in self.captions.items()},
            "carries": self.carries,
        }


@dataclass(frozen=True, slots=True)
class Tableau:
    """Hold a base scene, its caption and its variations."""

    id: str
    scene: Scene
    caption: str
    variations: tuple[Variation, ...]

    def as_json(self) -> Json:
        """Return the scene and its variations as plain values for `specification.json`."""
        told = [variation.as_json() for variation in self.variations]
        return {"id": self.id, "caption": self.caption, **self.scene.as_json(), "variations": told}


@dataclass(frozen=True)
class Specification:
    """Stand for a sample. Scenes are composed anew at every iteration, so any size fits into memory.

    Scene k depends on the seed and k alone: a smaller sample is the beginning of a larger one.

    Attributes:
        scenes: Number of scenes.
        seed: Any integer.
        shortcut: The planted shortcut.
        strength: Expected share of variations that carry it, 0 to 1.
    """

    scenes: int
    seed: int
    shortcut: Shortcut
    strength: float

    def __iter__(self) -> Iterator[Tableau]:
        """Yield the scenes in order."""
        # The width of the release's ids, wider only where the number of scenes asks for it.
        width = max(3, len(str(self.scenes)))
        for number in range(1, self.scenes + 1):
            yield self._tableau(number, f"s{number:0{width}d}")

    def variations(self) -> Iterator[Variation]:
        """Yield the variations of all scenes in order."""
        for tableau in self:
            yield from tableau.variations

    @property
    def header(self) -> Json:
        """Return the parameters, the generator version and where the places are that scenes and edits name."""
        return {
            "generator": GENERATOR_VERSION,
            "scenes": self.scenes,
            "seed": self.seed,
            "shortcut": self.shortcut,
            "strength": self.strength,
            "places": {name: place._asdict() for name, place in PLACES.items()},
        }

    @cached_property
    def digest(self) -> str:
        """Return the identity of the sample: SHA-256 over canonical JSON, the header and then one line per scene."""
        total = sha256(canonical(self.header))
        for tableau in self:
            total.update(b"\n" + canonical(tableau.as_json()))
        return total.hexdigest()

    def _tableau(self, number: int, name: str) -> Tableau:
        key = (GENERATOR_VERSION, self.seed, number)
        scene = compose(Draw(*key, "scene"))
        found = [
            self._variation(scene, edit, (*key, position), f"{name}_v{position:02d}")
            for position, edit in enumerate(edits(scene, Draw(*key, "edits")), start=1)
        ]
        return Tableau(name, scene, base_caption(scene), tuple(found))

    def _variation(self, scene: Scene, edit: Edit, key: tuple[int, ...], name: str) -> Variation:
        wording = frame(scene, edit, Draw(*key, "frame"))
        sides = Sides(tiers(scene, edit, wording), tiers(edit.apply(scene), edit, wording))
        # The same variations carry at a small strength and, among others, at a larger one.
        carries = digest(*key, "carries") < self.strength * 2**64
        if carries:
            sides = plant(sides, self.shortcut, Draw(*key, "plant"))
        return Variation(name, name.partition("_")[0], edit, sides.base, sides.foil, carries)


def canonical(value: Json) -> bytes:
    """Return the one JSON spelling of a value: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def specification(scenes: int = 40, seed: int = 0, shortcut: str = "none", strength: float = 0.0) -> Specification:
    """Return the sample with these parameters; at strength 0 it is the one without a shortcut.

    Args:
        scenes: Number of scenes, at least 1; each has 16 to 24 variations.
        seed: Any integer.
        shortcut: `none`, `length`, `wording` or `format`.
        strength: Expected share of variations that carry the shortcut, in all tiers, 0 to 1.

    Raises:
        InputError: If a parameter is not one of these.

    >>> specification(2).scenes, len(specification(2).digest)
    (2, 64)
    """
    scenes = _integer("scenes", scenes)
    seed = _integer("seed", seed)
    if scenes < 1:
        raise InputError("a sample needs at least one scene", where=WHERE, got=f"scenes={scenes}", expected="1 or more")
    kind = _shortcut(shortcut)
    share = _strength(strength)
    if kind == "none" and share > 0:
        raise InputError(
            "a strength without a shortcut",
            where=WHERE,
            got=f"shortcut=none strength={share:g}",
            expected="strength=0, or one of the shortcuts " + ", ".join(SHORTCUTS[1:]),
            step="name the shortcut to plant, or leave the strength out",
        )
    return Specification(scenes, seed, kind if share else "none", share)


def _integer(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name} must be a whole number", where=WHERE, got=f"{name}={value!r}", expected="an integer")
    return int(value)


def _shortcut(name: str) -> Shortcut:
    for known in SHORTCUTS:
        if name == known:
            return known
    allowed = ", ".join(SHORTCUTS)
    raise InputError(
        "no such shortcut",
        where=WHERE,
        got=f"shortcut={name}",
        expected=allowed,
        step=near(str(name), SHORTCUTS) or "choose one of these",
    )


def _strength(value: object) -> float:
    share = float(value) if isinstance(value, Real) and not isinstance(value, bool) else nan
    if not 0 <= share <= 1:
        raise InputError(
            "strength is a share of the variations",
            where=WHERE,
            got=f"strength={value!r}",
            expected="a number from 0 to 1",
            step="write a fifth as 0.2",
        )
    return share
