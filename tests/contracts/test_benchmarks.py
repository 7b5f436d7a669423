"""Contracts of every benchmark in conf/: composes, instantiates, has a complete card, yields sound instances."""

import importlib.util
import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_module
from hydra.errors import InstantiationException
from hydra.utils import get_class, instantiate
from omegaconf import OmegaConf

from audits.statistics.outcomes import is_pairing, outcomes
from benchmarks import sources
from benchmarks.errors import InputError
from benchmarks.preflight import preflight

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
NAMES = sorted(path.stem for path in (ROOT / "conf" / "benchmark").glob("*.yaml") if not path.name.startswith("_"))
RUNNER = ("name", "missing", "limit", "fetch")
USERS = ("table", "recorded")  # no release: a file of the user's
RELEASES = Path(__file__).parent / "releases"
# Released files that may lie beside the repository, for a further look at real rows.
ROOTS = {
    "sugarcrepe": "sugar-crepe/data",
    "sugarcrepe_unrefined": "sugar-crepe/data_unrefined",
    "valse": "VALSE/data",
    "cola": "COLA/data",
    "winoground_style": "MCC225-Winoground-v3/data/curated",
    "sugarcrepe_five": "sugar-crepe/data",
}


def options(name, *overrides):
    with initialize_config_module("conf", version_base=None):
        conf = compose("run", [f"benchmark={name}", *overrides])
    return OmegaConf.to_container(conf.benchmark, resolve=True)


def build(name, *overrides):
    given = options(name, *overrides)
    return instantiate({key: value for key, value in given.items() if key not in RUNNER}, _convert_="all")


def written(name: str, folder: Path) -> list[str]:
    """Return overrides for a tiny release that the module named after the benchmark writes."""
    path = RELEASES / f"{name}.py"
    assert path.is_file(), (
        f"{name} has no {path.relative_to(ROOT)}: give it write(folder), which writes a few rows in the documented "
        "format and returns the overrides that read them"
    )
    spec = importlib.util.spec_from_file_location(f"release_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.write(folder)


@pytest.fixture
def present(request):
    """Return overrides that make the released files of a benchmark available, or skip and say why."""
    name = request.getfixturevalue("name")
    if not (DATA / ROOTS[name]).is_dir():
        pytest.skip(f"{ROOTS[name]} is not beside the repository")
    return [f"benchmark.root={DATA / ROOTS[name]}"]


def test_there_are_benchmarks():
    assert {"compset", "sugarcrepe", "sugarcrepe_unrefined", "table", "valse"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_yaml_is_named_after_the_benchmark_and_takes_the_base_options(name):
    given = options(name)
    assert given.get("name") == name, f"conf/benchmark/{name}.yaml says `name: {name}`"
    assert {"root", "missing", "limit", "card", "_target_"} <= set(given), (
        "the YAML starts with `defaults: [_base, _self_]`, and has _target_ and card"
    )
    assert callable(get_class(given["_target_"]))


@pytest.mark.parametrize("name", NAMES)
def test_the_card_is_complete(name):
    card = sources.card(options(name)["card"])
    assert card.title
    assert card.shape
    assert card.primary
    assert card.how_to_get.endswith("."), "how_to_get is a sentence: end it with a stop"
    assert all(count > 0 for count in card.expected.values())
    assert not set(card.expected) & {"all", "macro"}
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in card.files.values())
    assert not card.hub or card.revision
    assert all(address.startswith("https://") for address in card.addresses.values())
    assert set(card.addresses) <= set(card.files)  # nothing is fetched that cannot be checked
    if name not in USERS:
        assert card.homepage.startswith("https://")
        assert card.licence != "unknown", "say the licence as its authors state it, or `not stated`"
        assert card.expected or any("not confirmed" in issue for issue in card.issues), (
            "give `expected` (instances by subset), or an issue that says the counts are not confirmed"
        )
        assert card.issues, "name the release's known oddities under `issues`, at least one sentence"


@pytest.mark.parametrize("name", NAMES)
def test_what_shared_images_need_says_the_key_to_set(name):
    """An image root that several benchmarks share is set once, under `paths`; the message names its key."""
    with initialize_config_module("conf", version_base=None):
        conf = compose("run", [f"benchmark={name}"])
    raw = str(OmegaConf.to_container(conf.benchmark, resolve=False))
    card = sources.card(options(name)["card"])
    for key in set(re.findall(r"\$\{paths\.(\w+)\}", raw)) - {"cache"}:
        assert f"paths.{key}=" in card.how_to_get_images


def chance_of(gold: np.ndarray, metric: str) -> float:
    """Return chance recomputed from scratch: the share of orders of distinct scores in which the metric is right."""
    images, captions = gold.shape
    if (images, captions) == (2, 2) and metric != "accuracy":
        right = [
            order
            for order in itertools.permutations(range(4))
            if right_square(np.array(order).reshape(2, 2), gold, metric)
        ]
        return len(right) / 24
    flat = gold.reshape(-1)
    if metric == "accuracy_all":
        # Of the orders of all scores, those in which every positive comes before every foil.
        return 1 / math.comb(flat.size, int(flat.sum()))
    # Each positive by itself against all foils: it is the best of (foils + 1) equally often.
    return 1 / (int((~flat).sum()) + 1)


def right_square(scores: np.ndarray, gold: np.ndarray, metric: str) -> bool:
    own = scores[gold]
    text = all(scores[row, gold[row]] > scores[row, ~gold[row]] for row in (0, 1))
    image = all(scores[gold[:, column], column] > scores[~gold[:, column], column] for column in (0, 1))
    assert len(own) == 2
    return {"i2t": text, "t2i": image, "group": text and image}[metric]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in USERS])
def test_the_primary_metric_is_defined_and_its_chance_follows_from_the_shapes(name, tmp_path):
    mine = build(name, *written(name, tmp_path))
    metric = mine.card.primary
    golds = [one.gold for one in itertools.islice(mine, 100)]
    several = metric == "accuracy_all" and all(1 in gold.shape and gold.sum() > 1 for gold in golds)
    if metric != "accuracy" and not several and not all(is_pairing(gold) for gold in golds):
        pytest.fail(f"{metric} is not defined on every instance")
    found = outcomes([np.zeros(gold.shape) for gold in golds], golds, sees={"text", "image"})
    assert metric in found
    np.testing.assert_allclose(found[metric].chance, [chance_of(gold, metric) for gold in golds])


@pytest.mark.parametrize("name", NAMES)
def test_what_it_cites_stands_in_the_bibliography(name):
    paper = options(name)["card"]["paper"]
    keys = re.findall(r"^@\w+\{([^,]+),", (ROOT / "docs" / "refs.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(keys) == len(set(keys))
    assert not paper or paper in keys, f'add the entry {paper} to docs/refs.bib, or say `paper: ""`'


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_root_is_refused_with_a_next_step(name, tmp_path):
    option = "path" if name in USERS else "root"
    with pytest.raises(InstantiationException) as caught:
        build(name, f"benchmark.{option}={tmp_path}/gone")
    cause = caught.value.__cause__
    assert isinstance(cause, InputError)
    assert cause.step
    assert "gone" in str(cause)


def check_instances(mine) -> None:
    """Hold every row to the contract of `Instance`, and the benchmark to being read again and again."""
    found = preflight(mine)
    assert found.n > 0
    assert preflight(mine).digest == found.digest
    assert mine.provenance.files
    assert mine.provenance.location
    for one in itertools.islice(mine, 200):
        assert one.subset in mine.card.expected or not mine.card.expected
        assert one.captions == (None,) * len(one.captions) or all(text.strip() for text in one.captions)
        assert one.gold.any()
        assert not one.gold.all()
        assert set(one.candidates().__slots__) == {"id", "images", "captions", "query"}


@pytest.mark.parametrize("name", NAMES)
def test_rows_in_the_documented_format_become_sound_instances(name, tmp_path):
    check_instances(build(name, *written(name, tmp_path)))


@pytest.mark.real_data
@pytest.mark.parametrize("name", sorted(ROOTS))
def test_released_rows_become_sound_instances_in_the_expected_number(name, present):
    mine = build(name, *present)
    check_instances(mine)
    found = preflight(mine, mine.card.expected)
    assert dict(found.subsets) == dict(mine.card.expected)
    assert found.notices == ()
