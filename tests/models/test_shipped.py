"""The models that are shipped: what their cards say is so, and the generator is still the one they learned from."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

from audits.models.home import shipped_notices
from audits.models.training.files import generator_digest
from audits.models.training.ship import NAMES
from audits.models.weights import SHIPPED_FOLDER
from benchmarks.tableaux.vocabulary import EDIT_TYPES

TOP = Path(__file__).resolve().parents[2]
MEBIBYTES = 12 * 1000 * 1000
SHIPPED = sorted(NAMES.values())


def card(name: str) -> dict:
    return json.loads((SHIPPED_FOLDER / name / "card.json").read_text(encoding="utf-8"))


def leaf(name: str) -> dict:
    return yaml.safe_load((TOP / "conf" / "model" / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SHIPPED)
def test_files_are_those_of_the_card(name) -> None:
    told = card(name)["sha256"]
    assert told
    there = {path.name for path in (SHIPPED_FOLDER / name).iterdir()}
    assert there == {*told, "card.json"}
    for file, digest in told.items():
        assert sha256((SHIPPED_FOLDER / name / file).read_bytes()).hexdigest() == digest, file


@pytest.mark.parametrize("name", SHIPPED)
def test_the_generator_is_the_one_that_it_learned_from(name) -> None:
    command = f"python -m audits.models.training {next(kind for kind, own in NAMES.items() if own == name)}"
    assert card(name)["generator"] == generator_digest(), f"the generator changed: retrain with {command}"


@pytest.mark.parametrize("name", SHIPPED)
def test_nothing_that_is_scored_was_learned_from(name) -> None:
    sample = yaml.safe_load((TOP / "conf" / "benchmark" / "compset.yaml").read_text(encoding="utf-8"))["sample"]
    recipe = card(name)["recipe"]
    assert len({sample["seed"], recipe["seed"], recipe["held_out_seed"]}) == 3


@pytest.mark.parametrize("name", SHIPPED)
def test_scores_of_every_edit_type_and_tier_are_told(name) -> None:
    held_out = card(name)["held_out"]
    assert set(held_out) == {*EDIT_TYPES, "all"}
    whole = sum(held_out[kind]["n"] for kind in EDIT_TYPES)
    assert held_out["all"]["n"] == whole == 3 * card(name)["data"]["held_out_pairs"]
    for told in held_out.values():
        assert set(told["by_tier"]) == {"short", "medium", "long"}
        for metric in ("i2t", "t2i", "group"):
            assert told[metric] == pytest.approx(sum(one[metric] for one in told["by_tier"].values()) / 3, abs=2e-4)
            assert 0 <= told["group"] <= told[metric] <= 1 or metric == "group"


def test_all_of_them_are_small_and_share_one_tokenizer() -> None:
    files = [path for path in SHIPPED_FOLDER.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MEBIBYTES
    assert len({(SHIPPED_FOLDER / name / "tokenizer.json").read_bytes() for name in SHIPPED}) == 1


@pytest.mark.parametrize("name", SHIPPED)
def test_the_configuration_says_what_the_card_says(name) -> None:
    assert leaf(name)["card"]["parameters"] == round(card(name)["parameters"] / 1e6, 1)
    assert leaf(name)["card"]["licence"] == card(name)["licence"]


OURS = {"tableaux_clip": {"arch": "shipped:tableaux_clip"}, "clip_b32": {"arch": "ViT-B-32"}}


def test_a_report_says_what_they_were_trained_on() -> None:
    [told] = shipped_notices(OURS, is_sample=True, seed=0)
    assert told == "tableaux_clip was trained on other scenes of the generator that drew this sample."
    [told] = shipped_notices(OURS, is_sample=False, seed=None)
    assert "on nothing else" in told
    assert "model=none" in told


def test_a_sample_that_they_were_trained_on_is_no_test_of_them() -> None:
    seed = card("tableaux_clip")["recipe"]["seed"]
    told = shipped_notices(OURS, is_sample=True, seed=seed)
    assert len(told) == 2
    assert f"seed {seed}" in told[1]


def test_other_models_need_no_such_words() -> None:
    assert shipped_notices({"clip_b32": {"arch": "ViT-B-32"}, "x": None}, is_sample=True, seed=0) == []
