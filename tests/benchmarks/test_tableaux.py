"""The bundled sample: the same everywhere, one property per edit, captions in three tiers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from benchmarks.errors import InputError
from benchmarks.tableaux import Tableau, Variation, specification
from benchmarks.tableaux.draws import Draw, digest
from benchmarks.tableaux.edits import changed_property
from benchmarks.tableaux.scene import Item, Scene
from benchmarks.tableaux.vocabulary import CATEGORY, EDIT_TYPES, FAMILIES, PLACES

ROOT = Path(__file__).resolve().parents[2]
SEEDS = range(5)
PINNED = "eb225fd4457bb97baf1a4d19077ffa14c235d7a88b889949b7077f2180304233"


def tableaux(scenes: int = 40) -> list[Tableau]:
    return [tableau for seed in SEEDS for tableau in specification(scenes, seed)]


@pytest.fixture(scope="module")
def all_tableaux() -> list[Tableau]:
    return tableaux()


@pytest.fixture(scope="module")
def sides(all_tableaux: list[Tableau]) -> list[tuple[Variation, Scene, Scene]]:
    return [(v, t.scene, v.edit.apply(t.scene)) for t in all_tableaux for v in t.variations]


def leaves(value: object, path: str = "") -> dict[str, object]:
    """Return the plain values of a JSON object by path."""
    if isinstance(value, dict):
        return {p: v for name, inner in value.items() for p, v in leaves(inner, f"{path}/{name}").items()}
    if isinstance(value, list):
        # An entity keeps its id, so lists of entities compare by position.
        return {p: v for i, inner in enumerate(value) for p, v in leaves(inner, f"{path}/{i}").items()}
    return {path: value}


def differences(base: Scene, foil: Scene) -> dict[str, tuple[object, object]]:
    first, second = leaves(base.as_json()), leaves(foil.as_json())
    assert first.keys() == second.keys()
    return {path: (first[path], second[path]) for path in first if first[path] != second[path]}


# --- the same on every machine ---------------------------------------------------------------------------------------


def test_digest_of_the_default_sample_is_pinned():
    # A change here changes the identity of every sample: raise GENERATOR_VERSION with it.
    assert specification().digest == PINNED


@pytest.mark.parametrize("hash_seed", ["0", "1", "4242"])
def test_digest_does_not_depend_on_the_process(hash_seed):
    code = "import sys; from benchmarks.tableaux import specification; sys.stdout.write(specification().digest)"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == PINNED


def test_generator_loads_no_model_library():
    code = "import sys, benchmarks.tableaux; sys.exit(bool({'torch', 'open_clip', 'transformers'} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, check=False).returncode == 0


def test_draws_are_pinned_by_their_key():
    # blake2b("a\x1fb"), 8 bytes, big-endian, computed with coreutils: printf 'a\037b' | b2sum -l 64
    assert digest("a", "b") == 0xF84C4D669FE0D410
    assert digest("a", "bc") != digest("ab", "c")


def test_take_reaches_every_order_alike():
    orders = Counter(tuple(Draw("take", i).take("abc", 2)) for i in range(6000))
    # 6 ordered pairs, 1000 each expected, sd sqrt(6000 * 1/6 * 5/6) = 28.9; 4 sd = 116.
    assert len(orders) == 6
    assert all(abs(n - 1000) < 116 for n in orders.values())


def test_iterating_twice_gives_the_same_and_seeds_differ():
    spec = specification(5, seed=3)
    assert list(spec) == list(spec)
    assert specification(5, seed=3).digest == spec.digest != specification(5, seed=4).digest


def test_a_smaller_sample_is_the_beginning_of_a_larger_one():
    assert list(specification(3)) == list(islice(specification(40), 3))


def test_ids_are_unique_and_widen_only_where_needed(all_tableaux):
    assert all_tableaux[0].id == "s001"
    assert all_tableaux[0].variations[0].id == "s001_v01"
    assert next(iter(specification(999))).id == "s001"
    assert next(iter(specification(10_000))).id == "s00001"  # 10,000 has five digits
    names = [v.id for v in specification(40).variations()]
    assert len(set(names)) == len(names)
    assert names == sorted(names)


def test_a_huge_sample_is_composed_one_scene_at_a_time():
    assert next(iter(specification(10**9))).id == "s0000000001"


# --- what a scene gets ------------------------------------------------------------------------------------------------


def test_sixteen_types_each_in_one_category():
    assert Counter(CATEGORY.values()) == {
        # composet, table 2: 8 + 2 + 2 + 4 = 16
        "Identity & Appearance": 8,
        "Quantity": 2,
        "Spatial Relations": 2,
        "Activity & State": 4,
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_every_type_occurs_often_over_forty_scenes(seed):
    found = Counter(v.edit.type for v in specification(40, seed).variations())
    assert set(found) == set(EDIT_TYPES)
    assert found.pop("swap_role") >= 8
    assert min(found.values()) >= 20


def test_fifteen_to_twenty_four_foils_a_scene(all_tableaux):
    counts = [len(t.variations) for t in all_tableaux]
    assert min(counts) >= 15
    assert max(counts) <= 24
    assert 19 <= np.mean(counts) <= 21


def test_nouns_belong_to_one_family_only():
    nouns = [kind for family in FAMILIES.values() for kind in family.kinds]
    assert len(set(nouns)) == len(nouns)


def test_every_entity_stands_in_a_place_of_its_own(sides):
    for _, base, foil in sides:
        for scene in (base, foil):
            taken = [entity.place for entity in (*scene.items, *scene.figures)]
            assert len(set(taken)) == len(taken)
            assert set(taken) <= set(PLACES)


def test_places_lie_within_the_picture():
    for place in PLACES.values():
        assert place.x - place.width / 2 >= 0
        assert place.x + place.width / 2 <= 1
        assert 0 <= place.y - place.height < place.y <= 1


# --- one edit, one property -------------------------------------------------------------------------------------------


def test_a_modify_edit_changes_one_property(sides):
    for variation, base, foil in sides:
        if variation.edit.type.startswith("modify_"):
            ((path, values),) = differences(base, foil).items()
            (change,) = variation.edit.changes
            assert path.endswith(f"/{changed_property(variation.edit.type)}")
            assert values == (change.base, change.foil)


def test_a_swap_edit_trades_the_values_of_a_pair(sides):
    for variation, base, foil in sides:
        if variation.edit.type.startswith("swap_"):
            first, second = differences(base, foil).values()
            assert first == second[::-1]
            assert first[0] != first[1]


def test_edits_of_a_scene_differ(all_tableaux):
    for tableau in all_tableaux:
        edits = [v.edit for v in tableau.variations]
        assert len(set(edits)) == len(edits)


def test_no_two_edits_lead_to_the_same_scene(sides):
    # Two foils of one scene that look alike would be one foil under two labels.
    seen: dict[int, list[Scene]] = {}
    for _, base, foil in sides:
        assert foil != base
        others = seen.setdefault(id(base), [])
        assert foil not in others
        others.append(foil)


def matching(scene: Scene, phrase: str) -> list[Item]:
    """Return the items of a scene that a phrase fits: its noun is there and none of its adjectives is wrong."""
    words = phrase.replace("-", "_").split()
    found = []
    for item in scene.items:
        noun = item.kind.split()
        plural = [*noun[:-1], f"{noun[-1]}s"]
        head = next((n for n in (noun, plural) if words[-len(n) :] == n), None)
        if head is None:
            continue
        adjectives = [word.replace("_", "-") for word in words[: -len(head)] if word not in ("a", "an")]
        has = {item.color, item.pattern, item.shape, item.material, item.transparency, item.state}
        has.add({1: None, 2: "two", 3: "three", 4: "four", 5: "five"}[item.count])
        if all(word in has for word in adjectives):
            found.append(item)
    return found


def test_a_phrase_fits_one_item_on_its_side_and_none_on_the_other(sides):
    named = {"color", "pattern", "shape", "material", "transparency", "state", "cardinality", "object"}
    checked = 0
    for variation, base, foil in sides:
        operation, _, what = variation.edit.type.partition("_")
        if operation != "modify" or what not in named or not isinstance(base.entities[variation.edit.targets[0]], Item):
            continue
        checked += 1
        target = variation.edit.targets[0]
        assert [item.id for item in matching(base, variation.base.short)] == [target]
        assert [item.id for item in matching(foil, variation.foil.short)] == [target]
        assert matching(foil, variation.base.short) == []
        assert matching(base, variation.foil.short) == []
    assert checked > 1500


# --- what the user may ask for ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenes", [0, -1, 2.5, True, "40", None])
def test_scenes_must_be_a_positive_whole_number(scenes):
    with pytest.raises(InputError, match="scenes="):
        specification(scenes)


@pytest.mark.parametrize("strength", [-0.1, 1.0001, float("nan"), float("inf"), True, "0.2", None])
def test_strength_must_be_a_share(strength):
    with pytest.raises(InputError, match="strength="):
        specification(1, shortcut="length", strength=strength)


def test_a_misspelt_shortcut_lists_near_matches():
    with pytest.raises(InputError, match="did you mean length"):
        specification(1, shortcut="lenght", strength=0.5)
    with pytest.raises(InputError, match="none, length, wording, format"):
        specification(1, shortcut="")


@pytest.mark.parametrize("seed", [1.5, "7", None, False])
def test_seed_must_be_a_whole_number(seed):
    with pytest.raises(InputError, match="seed="):
        specification(1, seed)


def test_a_strength_of_no_shortcut_is_refused():
    with pytest.raises(InputError, match=r"shortcut=none strength=0\.2"):
        specification(1, strength=0.2)


def test_numpy_numbers_and_negative_seeds_are_fine():
    assert specification(np.int64(2), np.int32(5)).digest == specification(2, 5).digest
    assert specification(1, -1).digest != specification(1, 1).digest
    assert specification(1, shortcut="length", strength=1).strength == 1.0
