"""The drawn sample: an edit moves no pixel outside its mask, and shows inside."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmarks.tableaux import specification
from benchmarks.tableaux.drawing.compose import Canvas, Foil
from benchmarks.tableaux.drawing.layers import draw_layer, keys
from benchmarks.tableaux.drawing.svg import UNIT, Pen, oval
from benchmarks.tableaux.scene import Change, Edit, Figure, Interaction, Item, Scene
from benchmarks.tableaux.vocabulary import (
    ACTIONS,
    COUNTS,
    EDIT_TYPES,
    FAMILIES,
    HOSTS,
    INTERACTIONS,
    PLACES,
    POSES,
    RELATIONS,
)

ROOT = Path(__file__).resolve().parents[2]
SIZE = 128
# Figures who trade roles move as a whole; two of them cover about a tenth of the picture.
LARGEST = 0.25
# A change must show: this many grey levels in some channel, on this many pixels at 128 x 128.
VISIBLE, PIXELS = 24, 12


def found(each: int, size: int = SIZE) -> list[tuple[Scene, Edit, Image.Image, Foil]]:
    """Return that many pairs of every edit type from different scenes."""
    left = dict.fromkeys(EDIT_TYPES, each)
    pairs = []
    for tableau in specification(40, seed=11):
        canvas = None
        for variation in tableau.variations:
            if left[variation.edit.type]:
                left[variation.edit.type] -= 1
                canvas = canvas or Canvas(tableau.scene, size)
                pairs.append((tableau.scene, variation.edit, canvas.base, canvas.foil(variation.edit)))
    assert not any(left.values())
    return pairs


@pytest.fixture(scope="module")
def pairs() -> list[tuple[Scene, Edit, Image.Image, Foil]]:
    return found(4)


def differs(first: Image.Image, second: Image.Image) -> np.ndarray:
    """Return the largest difference of a channel, by pixel."""
    return np.abs(np.asarray(first).astype(int) - np.asarray(second).astype(int)).max(axis=2)


# --- masks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edit_type", EDIT_TYPES)
def test_outside_the_mask_every_pixel_is_the_same(pairs, edit_type):
    mine = [(base, foil) for _, edit, base, foil in pairs if edit.type == edit_type]
    assert len(mine) == 4
    for base, foil in mine:
        assert not differs(base, foil.picture)[~np.asarray(foil.mask)].any()


@pytest.mark.parametrize("edit_type", EDIT_TYPES)
def test_inside_the_mask_the_edit_shows(pairs, edit_type):
    for _, edit, base, foil in pairs:
        if edit.type == edit_type:
            assert (differs(base, foil.picture)[np.asarray(foil.mask)] >= VISIBLE).sum() >= PIXELS


def test_a_mask_is_local(pairs):
    for _, edit, _, foil in pairs:
        share = np.asarray(foil.mask).mean()
        assert 0 < share < LARGEST, edit


def test_a_foil_is_what_its_own_scene_would_look_like(pairs):
    # Drawn anew from the foil scene, without a base picture to paste into: the oracle of the shortcut.
    for scene, edit, _, foil in pairs:
        whole = Canvas(edit.apply(scene), SIZE).base
        assert not differs(whole, foil.picture).any(), edit


def test_the_edit_back_leads_to_the_base(pairs):
    for scene, edit, base, foil in pairs[::4]:
        back = replace(
            edit, changes=tuple(change._replace(base=change.foil, foil=change.base) for change in edit.changes)
        )
        there = Canvas(edit.apply(scene), SIZE).foil(back)
        assert not differs(there.picture, base).any()
        assert np.array_equal(np.asarray(there.mask), np.asarray(foil.mask))


def test_a_mask_holds_the_shadow():
    # With and without the toy that a mover's mask is about: its shadow on the floor may differ within the mask only.
    scene = first_scene()
    mover = scene.item("mover")
    place = next(name for name in RELATIONS if name != mover.place)
    edit = Edit("modify_spatial", ("mover",), (Change("mover", "place", mover.place, place),))
    rest = {key: entity for key, entity in scene.entities.items() if key != "mover"}
    without = Canvas(replace(scene, entities=rest, regions={}), SIZE).base
    canvas = Canvas(scene, SIZE)
    mask = np.asarray(canvas.foil(edit).mask)
    gone = differs(without, canvas.base)
    assert gone[mask].any()
    assert not gone[~mask].any()


@pytest.mark.parametrize("size", [64, 512])
def test_masks_hold_at_other_sizes(size):
    for _, _, base, foil in found(1, size):
        assert base.size == foil.picture.size == foil.mask.size == (size, size)
        assert (base.mode, foil.picture.mode, foil.mask.mode) == ("RGB", "RGB", "1")
        assert not differs(base, foil.picture)[~np.asarray(foil.mask)].any()
        assert differs(base, foil.picture).max() >= VISIBLE


# --- everything can be drawn ------------------------------------------------------------------------------------------


def first_scene() -> Scene:
    return next(iter(specification(1))).scene


def alone(entity: Item | Figure, *more: Figure | Interaction) -> Scene:
    scene = first_scene()
    entities = {one.id: one for one in (entity, *more)}
    return replace(scene, entities=entities, regions={})


def variants(family: str) -> list[Item]:
    """Return every kind of a family with every value of every property."""
    place = {"furniture": "centre", "group": "front", "perched": "beside", "hung": "upper_right"}.get(
        family, "table_left"
    )
    values, hosts = FAMILIES[family].values, HOSTS.get(family, (None,))
    counts = COUNTS if family == "group" else (1,)
    first = {name: options[0] for name, options in values.items()}
    made = []
    for kind in FAMILIES[family].kinds:
        plain = Item("x", family, kind, place, count=counts[0], host=hosts[0], **first)
        made += [plain, replace(plain, flip=True, scale=0.85)]
        made += [replace(plain, **{name: value}) for name, options in values.items() for value in options]
        made += [replace(plain, count=count) for count in counts]
        made += [replace(plain, host=host) for host in hosts]
    return made


THINGS = [name for name in FAMILIES if name not in ("people", "animals")]


@pytest.mark.parametrize("family", THINGS)
def test_every_kind_in_every_look_is_drawn_and_differs_from_the_others(family):
    pictures = {}
    for item in variants(family):
        (*_, key) = keys(alone(item))  # of a guest and its host the guest
        layer = draw_layer(key, 256)
        pictures[key] = (layer.left, layer.top, layer.pixels.size, layer.pixels.tobytes())
        assert min(layer.pixels.size) > 8, item
    kinds = len(FAMILIES[family].kinds)
    assert len(pictures) >= kinds
    assert len(set(pictures.values())) == len(pictures), "two looks of a thing are drawn alike"


def test_every_pose_with_every_action_of_every_person_is_drawn():
    seen = set()
    for pose, action, kind in product(POSES, ACTIONS, FAMILIES["people"].kinds):
        (key,) = keys(alone(Figure("solo", "people", kind, "left", pose, action)))
        seen.add(draw_layer(key, 96).pixels.tobytes())
    assert len(seen) == len(POSES) * len(ACTIONS) * len(FAMILIES["people"].kinds)  # 4 * 5 * 8 = 160


@pytest.mark.parametrize("family", INTERACTIONS)
def test_every_deed_of_every_pair_is_drawn_and_tells_who_does_it(family):
    seen = set()
    kinds = FAMILIES[family].kinds
    for deed, kind, agent in product(INTERACTIONS[family], kinds, ("pair_1", "pair_2")):
        other = kinds[(kinds.index(kind) + 1) % len(kinds)]
        patient = "pair_2" if agent == "pair_1" else "pair_1"
        pair = (Figure("pair_1", family, kind, "pair_left"), Figure("pair_2", family, other, "pair_right"))
        scene = alone(*pair, Interaction(agent, patient, deed))
        seen.add(Canvas(scene, 96).base.tobytes())
    assert len(seen) == len(INTERACTIONS[family]) * len(kinds) * 2


def test_no_layer_is_cut_off_by_its_box():
    # A layer that touches an inner edge of the box it is drawn in would be cut there.
    for tableau in specification(12, seed=5):
        for key in keys(tableau.scene):
            small = draw_layer(key, SIZE)
            whole = draw_layer(key, SIZE, bounded=False)
            assert small.pixels.size == whole.pixels.size, key
            assert (small.left, small.top) == (whole.left, whole.top), key


def test_things_on_furniture_stand_at_one_height_whatever_the_furniture():
    heights = set()
    for kind in FAMILIES["furniture"].kinds:
        (key,) = keys(alone(Item("anchor", "furniture", kind, "centre", material="stone")))
        layer = draw_layer(key, UNIT)
        # The upper face of the board, a little left of the middle: the first row from the front edge upwards.
        column = np.asarray(layer.pixels)[:, round(0.45 * UNIT) - layer.left, 3]
        heights.add(bool(column[round(PLACES["table_left"].y * UNIT) - layer.top] == 255))
    assert heights == {True}


def test_light_comes_from_the_side_that_the_scene_names():
    sides = {}
    for light in ("left", "right"):
        pen = Pen(light)
        pen.form(oval(256, 256, 100), "#808080", "ball")
        pixels = np.asarray(pen.render((100, 100, 412, 412), 128).pixels).astype(int)
        half = pixels.shape[1] // 2
        sides[light] = pixels[:, :half, 0].mean() - pixels[:, half:, 0].mean()
    assert sides["left"] > 5
    assert sides["right"] < -5


def test_a_mirrored_thing_is_lit_from_the_same_side():
    pen, flipped = Pen("left"), Pen("left")
    pen.form(oval(256, 256, 100), "#808080", "ball")
    with flipped.frame(512, 0, flip=True):
        flipped.form(oval(256, 256, 100), "#808080", "ball")
    one, two = (np.asarray(p.render((100, 100, 412, 412), 128).pixels).astype(int) for p in (pen, flipped))
    # Within the outline, whose edges are smoothed a little differently.
    assert np.abs(one - two)[12:40, 12:40].max() <= 2


# --- the same everywhere ----------------------------------------------------------------------------------------------

_CODE = """
import sys, hashlib
from benchmarks.tableaux import specification
from benchmarks.tableaux.drawing.compose import Canvas
total = hashlib.sha256()
for tableau in specification(3, seed=2):
    canvas = Canvas(tableau.scene, 96)
    total.update(canvas.base.tobytes())
    for variation in tableau.variations[::3]:
        foil = canvas.foil(variation.edit)
        total.update(foil.picture.tobytes() + foil.mask.tobytes())
sys.stdout.write(total.hexdigest())
"""


def test_pixels_do_not_depend_on_the_process():
    digests = set()
    for seed in ("0", "1", "31337"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", _CODE], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
        )
        digests.add(done.stdout)
    assert len(digests) == 1
    assert len(digests.pop()) == 64


def test_the_order_of_entities_does_not_show():
    scene = first_scene()
    turned = replace(scene, entities=dict(reversed(scene.entities.items())))
    assert Canvas(scene, SIZE).base.tobytes() == Canvas(turned, SIZE).base.tobytes()
