"""The contract of models under audit, over every YAML in `conf/model`: a new one is tested the moment it exists."""

import importlib
import inspect
import re
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from audits import load
from audits.models.card import ModelCard, model_card
from benchmarks.errors import InputError, NotAvailableError

TOP = Path(__file__).resolve().parents[2]
CONF = TOP / "conf" / "model"
KINDS = {"dual encoder", "captioner", "vision-language model", "endpoint"}
BESIDE = {"none", "recorded"}  # select nothing, or what somebody else measured
# The 22 encoders of CompoSET's table 4, with the licences as it gives them.
TABLE_4 = {
    "clip_b32": "MIT", "clip_b16": "MIT", "clip_l14": "MIT", "clip_b16_laion400m": "MIT", "clip_b16_laion2b": "MIT",
    "clip_l14_laion2b": "MIT", "clip_h14_laion2b": "MIT", "siglip_b16": "Apache-2.0", "siglip_l16_384": "Apache-2.0",
    "siglip_so400m_384": "Apache-2.0", "siglip2_b16": "Apache-2.0", "siglip2_l16_384": "Apache-2.0",
    "siglip2_so400m_378": "Apache-2.0", "negclip_b32": "MIT", "clove_b32": "MIT", "dreamlip_b16": "CC-BY-4.0",
    "dfn_b16": "apple-amlr", "dfn_h14": "apple-amlr", "eva02_b16": "MIT", "eva02_l14": "MIT",
    "metaclip2_h14": "CC-BY-NC 4.0", "jina_v4": "Qwen Research License",
}  # fmt: skip


def leaves() -> list[str]:
    """Every YAML of the group that names a class."""
    paths = sorted(CONF.glob("*.yaml"))
    return [path.stem for path in paths if path.stem[0] != "_" and "_target_" in OmegaConf.load(path)]


NAMES = [name for name in leaves() if name not in BESIDE]


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "empty"))


def composed(name, tmp_path):
    with initialize_config_dir(str(CONF.parent), version_base=None):
        config = compose("run", overrides=["benchmark=table", f"model={name}", f"paths.cache={tmp_path}"])
    return OmegaConf.to_container(config.model, resolve=True)


def test_the_encoders_of_table_4_are_all_there_with_their_licences():
    found = {name: OmegaConf.load(CONF / f"{name}.yaml").card.licence for name in TABLE_4}
    assert len(TABLE_4) == 22
    assert found == TABLE_4


@pytest.mark.parametrize("name", leaves())
def test_it_says_where_it_belongs_and_what_it_is(name):
    first, second, *_ = (CONF / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
    assert first == f"# @package model.{name}"
    assert re.fullmatch(r"# [A-Z].*[.:].*", second), second


@pytest.mark.parametrize("name", NAMES)
def test_it_composes_with_a_complete_card_whose_paper_is_cited(name, tmp_path):
    values = composed(name, tmp_path)
    assert list(values) == [name]
    card = model_card(values[name]["card"], name)
    assert isinstance(card, ModelCard)
    assert all((card.title, card.licence, card.source))
    assert card.kind in KINDS
    if card.paper or name in TABLE_4:  # a model that is up to the user has no paper
        assert f"{{{card.paper}," in (TOP / "docs" / "refs.bib").read_text(encoding="utf-8")
    assert card.parameters is None or card.parameters > 0


@pytest.mark.parametrize("name", NAMES)
def test_its_target_takes_every_option_of_the_yaml(name):
    values = OmegaConf.to_container(OmegaConf.load(CONF / f"{name}.yaml"))
    module, _, attribute = values["_target_"].rpartition(".")
    target = getattr(importlib.import_module(module), attribute)
    known = inspect.signature(target).parameters
    if not any(one.kind is one.VAR_KEYWORD for one in known.values()):  # such a target checks names by itself
        assert {key for key in values if key not in ("_target_", "card", "defaults")} <= set(known)


def loaded(values):
    """Return the panel, or the error that says why there is none."""
    try:
        return load.panel({"model": values})
    except InputError as error:
        return error


@pytest.mark.parametrize("name", NAMES)
def test_without_a_hub_it_loads_what_is_here_or_says_what_is_missing(name, tmp_path):
    values = composed(name, tmp_path)
    found = loaded(values)
    if isinstance(found, load.Panel):
        first, *twins = found.contestants
        assert first.kind == "model"
        assert all(twin.kind == "blind" and twin.scorer.name.startswith(first.scorer.name) for twin in twins)
        return
    assert all((found.what, found.where, found.step)), "one message: what, where, and which option or file would do"
    if isinstance(found, NotAvailableError):
        assert found.status in ("absent", "gated", "script-only", "unreachable")
        # A run that may leave it out does.
        length = {"length": {"_target_": "baselines.length.Length", "units": ["words"]}}
        skipped = load.panel({"model": values, "baseline": length, "missing_contestants": "skip"})
        assert [one.scorer.name for one in skipped.contestants] == ["length"]
        assert f"model {name} was selected and not run" in skipped.absent[0]


@pytest.mark.parametrize("name", ["negclip_b32", "clove_b32", "dreamlip_b16"])
def test_a_model_whose_file_one_fetches_says_where_to_get_it_and_which_option_to_give(name, tmp_path):
    with pytest.raises(NotAvailableError) as caught:
        load.panel({"model": composed(name, tmp_path)})
    assert caught.value.status == "absent"
    assert "http" in caught.value.expected
    assert "checkpoint=FILE" in caught.value.step


def test_a_card_with_a_hole_or_a_misspelt_field_is_refused():
    whole = {"title": "x", "kind": "y", "licence": "z", "source": "s", "paper": "p", "parameters": 1}
    assert model_card(whole, "m").parameters == 1.0
    with pytest.raises(InputError, match="missing: licence; unknown: license"):
        model_card({("license" if key == "licence" else key): value for key, value in whole.items()}, "m")
