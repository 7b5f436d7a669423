"""Write contact sheets of the drawn sample: python tests/contact_sheet.py FOLDER [SEED].

`edits-*.png` show two pairs of every edit type with their captions, `things-*.png` every kind with every property,
`figures-*.png` every person in every pose and deed. They are looked at by a person before a change of the drawing.
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
    for item in scene.items:
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
    options = values[other[0]] if other else ("",) * 3
    for option in options:
        change = {other[0]: option} if other else {}
        for name in other[1:]:
            change[name] = values[name][0]
        yield {**change, **({"color": next(hues)} if "color" in values else {})}


def _close(scene: Scene, item: Item) -> Image.Image:
    picture = Canvas(replace(scene, entities={item.id: item}, regions={}), 768).base
    place = PLACES[item.place]
    half = max(place.width, place.height) * 0.64
    x, y = min(max(place.x, half), 1 - half), min(max(place.y - place.height / 2, half), 1 - half)
    box = tuple(round(768 * edge) for edge in (x - half, y - half, x + half, y + half))
    return picture.crop(box).resize((150, 150), Image.Resampling.LANCZOS)


def figures(scene: Scene) -> Iterator[Cell]:
    """Yield people in every pose with every action, then pairs in every deed."""
    people = FAMILIES["people"].kinds
    for number, pose in enumerate(POSES):
        for place, action in enumerate(ACTIONS):
            person = Figure("solo", "people", people[(2 * number + place) % len(people)], "left", pose, action)
            picture = Canvas(replace(scene, entities={"solo": person}, regions={}), 720).base
            yield picture.crop((0, 150, 250, 560)), f"{pose} {person.kind} {action}"
    for family, deeds in INTERACTIONS.items():
        kinds = FAMILIES[family].kinds
        for number, deed in enumerate(deeds):
            for agent, patient in (("pair_1", "pair_2"), ("pair_2", "pair_1")):
                pair = {
                    "pair_1": Figure("pair_1", family, kinds[number % len(kinds)], "pair_left"),
                    "pair_2": Figure("pair_2", family, kinds[(number + 3) % len(kinds)], "pair_right"),
                    "interaction": Interaction(agent, patient, deed),
                }
                picture = Canvas(replace(scene, entities=pair, regions={}), 720).base
                names = [pair[key].kind for key in (agent, patient)]
                yield (
                    picture.crop((100, 310, 460, 720)).resize((250, 285)).crop((0, 0, 250, 410)),
                    f" {deed} ".join(names),
                )


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
    sheet(figures(scene), folder / "figures.png", 8)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(next(islice(sys.argv, 2, 3), "0")))
