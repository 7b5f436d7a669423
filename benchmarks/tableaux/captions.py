"""Say a scene in English: short (the edit phrase), medium (with a local anchor), long (the whole scene).

Both sides of an edit are told by the same functions in the same `Frame`; a frame is drawn without looking at a value.
So whatever differs between the two captions is the edit itself.

Source: composet, section 3 (caption verbosity) and appendix B.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.tableaux.draws import Draw
from benchmarks.tableaux.scene import Edit, Figure, Item, Scene
from benchmarks.tableaux.vocabulary import FAMILIES, NUMERALS, RELATIONS

VOWELS = tuple("aeiou")
IDENTIFYING = ("color", "material")
OPENINGS = ("{}", "a view of {}", "a scene in {}")
# The pattern that begins with what stands on the furniture: "A mug and a vase on a table in a garden, with ...".
LEADING = len(OPENINGS)
# With more clauses about the surroundings a long caption could pass 77 CLIP tokens.
FEWEST_CLAUSES, MOST_CLAUSES = 3, 4


class Tiers(NamedTuple):
    """Hold one side's captions."""

    short: str
    medium: str
    long: str


class Frame(NamedTuple):
    """Fix everything about the wording of a variation that is not the edit.

    Attributes:
        opening: Number of the sentence pattern of the long caption.
        detail: Whether the edit phrase names a further property of its entity.
        mirrored: Whether a pair is told from right to left, and other choices between two wordings.
        clauses: Regions that the long caption tells beside the edit, in this order.
        slot: Where among them the edit phrase stands.
    """

    opening: int
    detail: bool
    mirrored: bool
    clauses: tuple[str, ...]
    slot: int


def frame(scene: Scene, edit: Edit, draw: Draw) -> Frame:
    """Draw the frame of a variation from the structure of the scene."""
    free = [name for name, ids in scene.regions.items() if name in _TOLD and not _touches(edit, name, ids)]
    clauses = draw.take(free, FEWEST_CLAUSES + draw.below(MOST_CLAUSES - FEWEST_CLAUSES + 1))
    opening, slot = draw.below(len(OPENINGS)), draw.below(len(clauses) + 1)
    if "anchor" in edit.targets:
        # The edit phrase introduces the furniture ("a wooden table"), so what stands on "the table" comes later.
        slot = 0
    elif "table" in clauses and draw.chance(0.5):
        opening, slot = LEADING, max(slot, 1)
        clauses = ["table", *(name for name in clauses if name != "table")]
    return Frame(opening, draw.chance(0.4), draw.chance(0.5), tuple(clauses), slot)


def _touches(edit: Edit, region: str, ids: Sequence[str]) -> bool:
    return any(key in ids for key in edit.targets) or (region == "pair" and "interaction" in edit.targets)


def tiers(scene: Scene, edit: Edit, frame: Frame) -> Tiers:
    """Tell one side: `scene` is the base scene or the foil scene of the edit.

    >>> from benchmarks.tableaux.grammar import scene as compose
    >>> from benchmarks.tableaux.edits import edits
    >>> base = compose(Draw("doc"))
    >>> edit = edits(base, Draw("doc"))[0]
    >>> said = tiers(base, edit, frame(base, edit, Draw("doc")))
    >>> said.short in said.medium and said.short in said.long
    True
    """
    phrase = _phrase(scene, edit, frame)
    local, within = _anchors(scene, edit)
    return Tiers(phrase, f"{phrase} {local}", _sentence(scene, edit, frame, f"{phrase} {within}".strip()))


def base_caption(scene: Scene) -> str:
    """Tell a whole base scene in one sentence, for `scene_captions.parquet`."""
    clauses = [_CLAUSES[region](scene, False) for region in scene.regions if region in _TOLD]
    return f"{_article(scene.setting).capitalize()} with {_listed(clauses)}."


def _sentence(scene: Scene, edit: Edit, frame: Frame, edited: str) -> str:
    """Return the long caption: the surroundings in the order of the frame, with the edit phrase among them."""
    told = _told(scene, edit, frame, edited)
    where = _article(scene.setting)
    if frame.opening == LEADING:
        text = f"{told[0]} in {where}, with {_listed(told[1:])}."
    else:
        text = f"{OPENINGS[frame.opening].format(where)} with {_listed(told)}."
    return f"{text[0].upper()}{text[1:]}"


def _told(scene: Scene, edit: Edit, frame: Frame, edited: str) -> list[str]:
    """Return the parts of the long caption; the furniture is "a wooden table" at first, then "the table"."""
    definite = f"the {scene.item('anchor').kind}"
    known = "anchor" in edit.targets
    told: list[str] = []
    for region in (*frame.clauses[: frame.slot], None, *frame.clauses[frame.slot :]):
        text = edited if region is None else _CLAUSES[region](scene, known)
        known = known or definite in text
        told.append(text)
    return told


def _listed(parts: Sequence[str]) -> str:
    return ", ".join([*parts[:-1], f"and {parts[-1]}"]) if len(parts) > 1 else parts[0]


def _article(words: str) -> str:
    return f"{'an' if words.startswith(VOWELS) else 'a'} {words}"


def noun(item: Item, *shown: str) -> str:
    """Name an item with its colour or material and the properties asked for: "three red balls", "a lit red lamp"."""
    names = [name for name in FAMILIES[item.family].values if name in (*IDENTIFYING, *shown)]
    words = [str(getattr(item, name)) for name in names]
    if item.family == "group":
        return " ".join([NUMERALS[item.count], *words, f"{item.kind}s"])
    return _article(" ".join([*words, item.kind]))


def _phrase(scene: Scene, edit: Edit, frame: Frame) -> str:
    """Return the edit phrase of one side: a noun phrase with the edited entity and property."""
    key = edit.targets[0]
    if edit.type == "modify_presence":
        return _guest(scene.item(key))
    if len(edit.targets) == 2:
        return _two(scene, edit, frame)
    if key == "interaction" or key in scene.regions.get("pair", ()):
        return _acting(scene)
    if key == "solo":
        return _solo(scene.figure(key), pose=_tells_pose(edit, frame))
    item = scene.item(key)
    if edit.type == "modify_spatial":
        return f"{noun(item)} {_relation(scene, item)}"
    return noun(item, *_shown(item, edit, frame))


def _tells_pose(edit: Edit, frame: Frame) -> bool:
    return edit.type == "modify_pose" or (edit.type != "modify_action" and frame.mirrored)


def _shown(item: Item, edit: Edit, frame: Frame) -> list[str]:
    """Return the properties to name: the edited one, else at times a further one."""
    edited = edit.changes[0].name
    if edited in ("color", "material", "kind"):
        return [name for name in FAMILIES[item.family].values if frame.detail]
    return [edited]


def _two(scene: Scene, edit: Edit, frame: Frame) -> str:
    """Tell a pair of things in an order that an edit of anything but their places leaves alone."""
    ids = edit.targets
    if "anchor" in ids:
        return f"{noun(scene.item(ids[0]))} in front of {noun(scene.item('anchor'))}"
    left, right = sorted((scene.item(key) for key in ids), key=lambda item: item.place)
    first, second = (right, left) if frame.mirrored else (left, right)
    if edit.type == "swap_spatial":
        return f"{noun(first)} to the {'right' if frame.mirrored else 'left'} of {noun(second)}"
    return f"{noun(first)} {'next to' if frame.detail else 'and'} {noun(second)}"


def _guest(item: Item) -> str:
    what = _article(item.kind) if item.present else f"no {item.kind}"
    return f"{_article(str(item.host))} with {what} on it"


def _acting(scene: Scene) -> str:
    acting = scene.interaction
    agent, patient = (_article(scene.figure(key).kind) for key in (acting.agent, acting.patient))
    return f"{agent} {acting.action} {patient}"


def _solo(figure: Figure, *, pose: bool) -> str:
    return _article(f"{figure.pose} {figure.kind}" if pose else f"{figure.kind} {figure.action}")


def _relation(scene: Scene, item: Item) -> str:
    return f"{RELATIONS[item.place]} the {scene.item('anchor').kind}"


def _anchors(scene: Scene, edit: Edit) -> tuple[str, str]:
    """Return the local anchor for the medium caption and the one for the long, which names the setting already."""
    setting, table = f"the {scene.setting}", f"the {scene.item('anchor').kind}"
    key = edit.targets[0]
    region = next(name for name, ids in scene.regions.items() if key in ids or (key, name) == ("interaction", "pair"))
    if "anchor" in edit.targets:
        return ("in the middle of " + setting, "in the middle") if key == "anchor" else ("in " + setting, "")
    if region == "mover":
        local = _relation(scene, scene.item(key))
        return (local, local) if edit.type != "modify_spatial" else ("in " + setting, "")
    if region == "solo":
        return "on the left side of " + setting, "on the left"
    if region in _NEAR:
        local = _NEAR[region].format(table=table)
    elif len(edit.targets) == 2:
        local = _where(scene, region)
    else:
        side = scene.item(key).place.rpartition("_")[2]
        local = f"in the {side} foreground" if region == "floor" else f"on the {side} side of {_surface(scene, region)}"
    return local, local


_NEAR = {
    "group": "in the foreground",
    "pair": "in front of {table}",
    "perched": "near {table}",
    "hung": "in the upper right corner",
}


def _surface(scene: Scene, region: str) -> str:
    return f"the {scene.backdrop.back if region == 'wall' else scene.item('anchor').kind}"


def _where(scene: Scene, region: str) -> str:
    return "in the foreground" if region == "floor" else f"on {_surface(scene, region)}"


def _pair_clause(scene: Scene, region: str) -> str:
    left, right = sorted((scene.item(key) for key in scene.regions[region]), key=lambda item: item.place)
    return f"{noun(left)} and {noun(right)}"


def _table_clause(scene: Scene, anchor_told: bool) -> str:
    anchor = scene.item("anchor")
    return f"{_pair_clause(scene, 'table')} on {f'the {anchor.kind}' if anchor_told else noun(anchor)}"


def _mover_clause(scene: Scene, _: bool) -> str:
    item = scene.item("mover")
    return f"{noun(item)} {_relation(scene, item)}"


_CLAUSES: dict[str, Callable[[Scene, bool], str]] = {
    "table": _table_clause,
    "wall": lambda scene, _: f"{_pair_clause(scene, 'wall')} on {_surface(scene, 'wall')}",
    "floor": lambda scene, _: f"{_pair_clause(scene, 'floor')} in the foreground",
    "group": lambda scene, _: noun(scene.item("group")),
    "mover": _mover_clause,
    "solo": lambda scene, _: _solo(scene.figure("solo"), pose=False),
    "pair": lambda scene, _: _acting(scene),
}
_TOLD = frozenset(_CLAUSES)
