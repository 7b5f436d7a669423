"""Write contact sheets of the drawn sample: python tests/contact_sheet.py FOLDER [SEED].

`edits-*.png` show two pairs of every edit type with their captions, `things-*.png` every kind with every property,
`persons.png` every pose with every action, `pairs.png` every deed.
A person looks at them before a change of the drawing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from benchmarks.tableaux import specification
from benchmarks.tableaux.drawing.compose import Canvas
from benchmarks.tableaux.scene import Figure, Interaction, Item, Scene
from benchmarks.tableaux.vocabulary import (
    ACTIONS,
    COLORS,
    COUNTS,
    EDIT_TYPES,
    FAMILIES,
    HOSTS,
    INTERACTIONS,
    PLACES,
    POSES,
)

SIZE = 448
BAR = 46
Cell = tuple[Image.Image, str]


def sheet(cells: Iterable[Cell], path: Path, columns: int) -> None:
    """Write labelled pictures as one picture."""
    cells = list(cells)
    width, height = cells[0][0].size
    rows = -(-len(cells) // columns)
    page = Image.new("RGB", (columns * (width + 6), rows * (height + BAR + 6)), "#ffffff")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(13)
    for number, (picture, label) in enumerate(cells):
        x, y = number % columns * (width + 6), number // columns * (height + BAR + 6)
        page.paste(picture, (x, y))
        pen.multiline_text((x + 3, y + height + 3), wrapped(label, width // 7), "#000000", font, spacing=1)
    page.save(path)


def wrapped(text: str, width: int) -> str:
    """Break a text into lines of at most so many characters."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f"{word} "
    return "\n".join(lines[:3])


def edits(seed: int, each: int = 2) -> Iterator[Cell]:
    """Yield base and foil of pairs of every edit type."""
    found: dict[str, list[tuple[Image.Image, Image.Image, str, str]]] = {name: [] for name in EDIT_TYPES}
    for tableau in specification(40, seed):
        canvas = None
        for one in tableau.variations:
            if len(found[one.edit.type]) < each:
                canvas = canvas or Canvas(tableau.scene, SIZE)
                found[one.edit.type].append(
                    (canvas.base, canvas.foil(one.edit).picture, one.base.medium, one.foil.medium)
                )
                break
    for name, pairs in found.items():
        for base, foil, first, second in pairs:
            yield base, f"{name}: {first}"
            yield foil, second


def things(scene: Scene) -> Iterator[Cell]:
    """Yield every kind with every value of every property."""
    table = scene.item("table_1")
    others = [replace(table, family=name, state=None, color=None) for name in ("vessel", "clear", "light")]
    kept = [item for item in scene.items if not item.id.startswith("table")]
    for item in {item.family: item for item in (*kept, *others)}.values():
        family = FAMILIES[item.family]
        for kind in family.kinds:
            for change in _variants(item):
                changed = replace(item, kind=kind, **change)
                yield _close(scene, changed), " ".join([*(str(v) for v in change.values()), kind])


def _variants(item: Item) -> Iterator[dict[str, object]]:
    values = FAMILIES[item.family].values
    if item.family in HOSTS:
        yield from ({"host": host, "present": True} for host in HOSTS[item.family])
        return
    if item.family == "group":
        yield from ({"count": count, "color": color} for count, color in zip(COUNTS, COLORS, strict=False))
        return
    other = [name for name in values if name != "color"]
    hues = iter(COLORS * 9)
    options = [{name: value} for name in other[:1] for value in values[name]] or [{}] * 10
    for change in options:
        for name in other[1:] or [""]:
            for value in values.get(name, ("",)):
                more = {name: value} if name else {}
                yield {**change, **more, **({"color": next(hues)} if "color" in values else {})}


def _close(scene: Scene, item: Item) -> Image.Image:
    picture = Canvas(replace(scene, entities={item.id: item}, regions={}), 768).base
    place = PLACES[item.place]
    half = max(place.width, place.height) * 0.64
    x, y = min(max(place.x, half), 1 - half), min(max(place.y - place.height / 2, half), 1 - half)
    box = tuple(round(768 * edge) for edge in (x - half, y - half, x + half, y + half))
    return picture.crop(box).resize((150, 150), Image.Resampling.LANCZOS)


def persons(scene: Scene) -> Iterator[Cell]:
    """Yield people in every pose with every action."""
    people = FAMILIES["people"].kinds
    for number, pose in enumerate(POSES):
        for place, action in enumerate(ACTIONS):
            person = Figure("solo", "people", people[(2 * number + place) % len(people)], "left", pose, action)
            picture = Canvas(replace(scene, entities={"solo": person}, regions={}), 720).base
            yield picture.crop((0, 150, 250, 560)), f"{pose} {person.kind} {action}"


def pairs(scene: Scene) -> Iterator[Cell]:
    """Yield pairs in every deed, from both sides."""
    for family, deeds in INTERACTIONS.items():
        kinds = FAMILIES[family].kinds
        for number, deed in enumerate(deeds):
            for agent, patient in (("pair_1", "pair_2"), ("pair_2", "pair_1")):
                pair = {
                    "pair_1": Figure("pair_1", family, kinds[number % len(kinds)], "pair_left"),
                    "pair_2": Figure("pair_2", family, kinds[(number + 3) % len(kinds)], "pair_right"),
                    "interaction": Interaction(agent, patient, deed),
                }
                picture = Canvas(replace(scene, entities=pair, regions={}), 960).base
                names = [pair[key].kind for key in (agent, patient)]
                yield picture.crop((170, 670, 530, 960)), f" {deed} ".join(names)


def main(folder: Path, seed: int) -> None:
    """Write all sheets."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = list(edits(seed))
    for page in range(0, len(cells), 16):
        sheet(cells[page : page + 16], folder / f"edits-{page // 16 + 1}.png", 4)
    scene = next(iter(specification(1, seed))).scene
    tiles = list(things(scene))
    for page in range(0, len(tiles), 80):
        sheet(tiles[page : page + 80], folder / f"things-{page // 80 + 1}.png", 10)
    sheet(persons(scene), folder / "persons.png", 7)
    sheet(pairs(scene), folder / "pairs.png", 6)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(next(islice(sys.argv, 2, 3), "0")))
