"""The contract of scorers, over every baseline in `conf/baseline`: a new YAML is tested the moment it exists."""

from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import OmegaConf

from baselines.engine import Engine
from baselines.schema import IMAGE, TEXT, Scorer
from baselines.text_form import in_form
from tests.contracts.candidates import BATCH, turned

CONF = Path(__file__).resolve().parents[2] / "conf"
# A small local stand-in for what a baseline would fetch or load for minutes.
SMALL_MODELS = {
    "likelihood": "tiny_llama",
    "acceptability": "small_classifier",
    "acceptability_mrpc": "small_classifier",
    "acceptability_qqp": "small_classifier",
    "plausibility": "small_vera",
    "likelihood_flan_t5": "small_t5",
}
# They read no text, or none that matters.
WITHOUT_TEXT_FORM = {"constant", "image_cues"}


def leaves():
    """Every YAML of the group that names a class: neither a bundle, nor `none`, nor a base."""
    paths = sorted((CONF / "baseline").glob("*.yaml"))
    return [path.stem for path in paths if path.stem[0] != "_" and "_target_" in OmegaConf.load(path)]


def named_forms():
    """Every leaf as it is, and, where its YAML knows text forms, once more on normalised text."""
    known = {name for name in leaves() if "text_form" in OmegaConf.load(CONF / "baseline" / f"{name}.yaml")}
    return [(name, form) for name in leaves() for form in (None, "normalised") if form is None or name in known]


@pytest.fixture(params=named_forms(), ids=lambda pair: ":".join(filter(None, pair)))
def scorer(request, tmp_path):
    name, form = request.param
    overrides = ["benchmark=table", f"baseline={name}", f"paths.cache={tmp_path}"]
    if name in SMALL_MODELS:
        overrides.append(f"baseline.{name}.model='{request.getfixturevalue(SMALL_MODELS[name])}'")
    with initialize_config_dir(str(CONF), version_base=None):
        config = compose("run", overrides=overrides)
    leaf = {key: value for key, value in config.baseline[name].items() if key != "text_form"}
    made = instantiate(leaf)
    if not isinstance(made, Scorer):
        pytest.skip(f"{name} is not a scorer of this kind")
    return made if form is None else in_form(made, form, f"baseline.{name}")


def expected_shape(scorer, item):
    images, captions = item.shape
    return (1 if scorer.sees == TEXT else images, 1 if scorer.sees == IMAGE else captions)


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "cache") as engine:
        yield engine


def bits(scored):
    return [{name: values.tobytes() for name, values in one.columns.items()} for one in scored]


def test_it_declares_a_name_what_it_sees_and_its_columns(scorer):
    assert scorer.name
    assert "\n" not in scorer.name
    assert scorer.sees
    assert scorer.sees <= {"text", "image"}
    assert isinstance(scorer.columns, tuple)
    assert len(set(scorer.columns)) == len(scorer.columns) > 0


def test_its_signature_is_flat_text_and_stays_the_same(scorer, work):
    before = dict(scorer.signature)
    assert before
    assert all(isinstance(key, str) and isinstance(value, str) for key, value in before.items())
    assert not any("\n" in key + value for key, value in before.items())
    scorer.score(BATCH, work)
    assert dict(scorer.signature) == before


def test_it_returns_its_columns_in_order_with_the_declared_shapes(scorer, work):
    scored = scorer.score(BATCH, work)
    assert len(scored) == len(BATCH)
    for item, one in zip(BATCH, scored, strict=True):
        assert tuple(one.columns) == scorer.columns
        shape = expected_shape(scorer, item)
        for values in one.columns.values():
            assert values.shape == shape
            assert values.dtype == np.float64
        assert one.tokens is None or (one.tokens.shape == shape and one.tokens.dtype == np.int64)
        assert one.truncated is None or (one.truncated.shape == shape and one.truncated.dtype == np.bool_)


def test_every_score_is_finite_or_missing_with_a_reason(scorer, work):
    for item, one in zip(BATCH, scorer.score(BATCH, work), strict=True):
        rows, columns = expected_shape(scorer, item)
        for values in one.columns.values():
            missing = set(zip(*np.nonzero(np.isnan(values)), strict=True))
            assert all(np.isfinite(values[cell]) for cell in np.ndindex(values.shape) if cell not in missing)
            assert all(one.notes.get((int(row), int(column))) for row, column in missing)
        assert all(0 <= row < rows and 0 <= column < columns for row, column in one.notes)


def test_permuted_options_get_permuted_scores(scorer, tmp_path):
    with Engine(tmp_path / "one") as one, Engine(tmp_path / "two") as two:
        straight, reverse = scorer.score(BATCH, one), scorer.score([turned(item) for item in BATCH], two)
    for left, right in zip(straight, reverse, strict=True):
        for name in scorer.columns:
            assert left.columns[name].tobytes() == right.columns[name][::-1, ::-1].tobytes()


def test_the_order_of_instances_does_not_matter_and_the_same_gets_the_same(scorer, tmp_path):
    with Engine(tmp_path / "one") as one, Engine(tmp_path / "two") as two:
        straight, reverse = scorer.score(BATCH, one), scorer.score(BATCH[::-1], two)
    assert bits(straight) == bits(reverse[::-1])
    same = straight[-1].columns
    assert scorer.sees == IMAGE or all(values[0, 0] == values[0, -1] for values in same.values())


def test_no_candidates_is_no_score(scorer, work):
    assert scorer.score([], work) == []


def test_every_yaml_with_a_class_goes_into_its_own_package():
    for name in leaves():
        first = (CONF / "baseline" / f"{name}.yaml").read_text(encoding="utf-8").splitlines()[0]
        assert first == f"# @package baseline.{name}"


def test_every_text_baseline_declares_its_text_form_so_that_a_plain_override_works():
    silent = {name for name in leaves() if "text_form" not in OmegaConf.load(CONF / "baseline" / f"{name}.yaml")}
    assert silent == WITHOUT_TEXT_FORM
