"""The runner of trained baselines: folds, order, the spread over fold seeds, shuffled gold."""

import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf

from audits import crossfit
from audits.contest import measure
from audits.crossfit.checks import centre, shuffled
from audits.crossfit.fits import CONNECTED, Runner, shuffle, subsets
from audits.dataset import Dataset
from audits.load import Contestant, panel
from baselines.engine import Engine
from baselines.ngram import Ngram
from baselines.schema import IMAGE, TEXT, Scored
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from benchmarks.sugarcrepe import SugarCrepe

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
OPTIONS = {
    "seed": 42,
    "statistics": {"tie_tolerance": 0.0},
    "crossfit": {"folds": 5, "seed": 42, "seeds": 2, "shuffle": True},
}


def planted(count, *, seed, subset="", options=2):
    """Questions in which a foil has the word `not` four times out of five."""
    rng = random.Random(seed)
    things = [f"thing{k}" for k in range(30)]
    found = []
    for k in range(count):
        words = [f"{subset}x{k}", rng.choice(things), rng.choice(things)]
        foil = [*words[:2], "not" if rng.random() < 0.8 else "yes", words[2]]
        foils = [" ".join([*foil, str(number)]) for number in range(options - 1)]
        captions = [" ".join([*words[:2], "indeed", words[2], "9"]), *foils]
        gold = np.arange(options)[None] == 0
        if rng.random() < 0.5:
            captions, gold = captions[::-1], gold[:, ::-1]
        image = (ImageRef(f"{subset}{k // 2}"),)
        found.append(Instance(f"{subset}:{k}", image, tuple(captions), gold, subset=subset))
    return found


def run(rows, tmp_path, scorer=None, **changed):
    dataset = Dataset(rows)
    values = {**OPTIONS, "crossfit": {**OPTIONS["crossfit"], **changed}}
    with Engine(tmp_path / "cache") as engine:
        return crossfit.measure(
            Contestant("trained", scorer or Ngram()), dataset, dataset.roster("demo"), engine, values
        )


def findings(found, kind):
    return [one for one in found.findings if one.kind == kind]


def test_what_the_words_give_away_is_found_and_shuffled_gold_is_chance(tmp_path):
    found = run([*planted(120, seed=1, subset="p"), *planted(120, seed=2, subset="q")], tmp_path)
    assert found.outcomes["ngram"]["accuracy"].credit.mean() > 0.95
    [spread] = findings(found, "crossfit_spread")
    assert spread.values["macro min"] <= spread.values["macro mean"] <= spread.values["macro max"]
    mean = np.mean([spread.values[f"{name} mean"] for name in ("p", "q")])
    assert spread.values["macro mean"] == pytest.approx(mean)
    [mixed] = findings(found, "crossfit_shuffled")
    assert mixed.severity == "info"
    assert mixed.values["fits"] == 10
    assert mixed.values["low"] < 0.5 < mixed.values["high"]


def test_every_instance_is_scored_once_in_the_order_of_the_benchmark(tmp_path):
    rows = [*planted(30, seed=1, subset="p"), *planted(30, seed=2, subset="q", options=3)]
    rows = [rows[place] for place in np.random.default_rng(0).permutation(60)]
    cells = run(rows, tmp_path).cells
    assert cells.instance.tolist() == [k for k, one in enumerate(rows) for _ in one.captions]
    assert cells.caption.tolist() == [t for one in rows for t in range(len(one.captions))]
    assert np.isfinite(cells.columns[""]).all()


def test_neither_order_of_instances_nor_of_options_matters(tmp_path):
    rows = [*planted(40, seed=1, subset="p", options=3), *planted(40, seed=2, subset="q")]
    turned = [dataclasses.replace(one, captions=one.captions[::-1], gold=one.gold[:, ::-1]) for one in reversed(rows)]
    one, other = run(rows, tmp_path), run(turned, tmp_path)
    shapes = Dataset(rows).roster("demo").shapes
    first, second = one.cells.grids("", shapes), other.cells.grids("", shapes[::-1])
    assert all(first[k].tobytes() == second[len(rows) - 1 - k][:, ::-1].tobytes() for k in range(len(rows)))
    assert (
        findings(one, "crossfit_shuffled")[0].values["fits"] == findings(other, "crossfit_shuffled")[0].values["fits"]
    )


def test_a_second_run_gives_the_same_bits_and_another_fold_seed_other_ones(tmp_path):
    rows = planted(60, seed=3)
    first, again, other = run(rows, tmp_path), run(rows, tmp_path), run(rows, tmp_path, seed=7)
    assert first.cells.columns[""].tobytes() == again.cells.columns[""].tobytes()
    assert first.cells.columns[""].tobytes() != other.cells.columns[""].tobytes()
    assert first.findings == again.findings


def test_folds_seeds_and_grouping_stand_in_the_signature_and_groups_among_the_facts(tmp_path):
    found = run(planted(60, seed=3), tmp_path, folds=4, seed=9)
    signature = found.contestant.scorer.signature
    assert (signature["folds"], signature["fold_seed"]) == ("4", "9")
    assert "caption" in signature["grouping"]
    # two questions share each image
    assert found.facts["connected groups"] == 30
    assert found.facts["groups of instances"] == "all 30 of 60"
    assert found.contestant.kind == "trained"


def test_one_group_is_unscored_with_the_reason_and_others_are_not(tmp_path):
    linked = [dataclasses.replace(one, images=(ImageRef("same"),)) for one in planted(20, seed=1, subset="linked")]
    found = run([*linked, *planted(40, seed=2, subset="free")], tmp_path)
    assert found.outcomes["ngram"]["accuracy"].unscored.tolist() == [True] * 20 + [False] * 40
    assert {found.cells.notes[cell] for cell in range(40)} == {CONNECTED}
    [said] = findings(found, "crossfit_folds")
    assert said.severity == "notice"
    assert "unscored" in said.sentence
    assert "linked min" not in findings(found, "crossfit_spread")[0].values


def test_a_benchmark_of_one_group_has_no_checks(tmp_path):
    linked = [dataclasses.replace(one, images=(ImageRef("same"),)) for one in planted(20, seed=1)]
    found = run(linked, tmp_path)
    assert [one.kind for one in found.findings] == ["crossfit_folds"]
    assert found.outcomes["ngram"]["accuracy"].unscored.all()


def test_fewer_groups_than_folds_make_fewer_folds_and_it_is_said(tmp_path):
    found = run(planted(6, seed=1), tmp_path)  # two to an image: three groups
    [said] = findings(found, "crossfit_folds")
    assert said.values["folds"] == said.values["groups"] == 3
    assert "3 folds, not 5" in said.sentence


def test_a_group_that_holds_most_is_said(tmp_path):
    rows = planted(40, seed=1)
    linked = [dataclasses.replace(one, images=(ImageRef("same"),)) for one in rows[:30]] + rows[30:]
    [said] = findings(run(linked, tmp_path), "crossfit_folds")
    assert "30 of 40" in said.sentence


def test_what_cannot_be_fitted_is_unscored_with_the_reason(tmp_path):
    rows = [
        Instance(str(k), (ImageRef(f"{k}"), ImageRef(f"{k}b")), (f"only {k}",), np.array([[True], [False]]))
        for k in range(10)
    ]
    found = run(rows, tmp_path)
    assert found.outcomes["ngram"]["accuracy"].unscored.all()
    assert "two captions" in found.cells.notes[0]


def test_2x2_learns_which_caption_is_the_base(tmp_path):
    rows = [
        Instance(
            one.id, (ImageRef(f"{one.id}0"), ImageRef(f"{one.id}1")), one.captions, np.vstack([one.gold, ~one.gold])
        )
        for one in planted(80, seed=5)
    ]
    found = run(rows, tmp_path)
    assert found.outcomes["ngram"]["caption_preference"].credit.mean() > 0.95
    # blind to the images it cannot pass the strict metrics
    assert found.outcomes["ngram"]["i2t"].credit.max() == 0.0
    assert findings(found, "crossfit_spread")[0].values["all mean"] > 0.95


def test_shuffling_permutes_captions_within_instances_only():
    rows = planted(200, seed=1, options=4)
    mixed = list(shuffle(rows, TEXT, 5))
    assert [one.captions for one in mixed] == [one.captions for one in rows]
    assert all(one.gold.sum() == 1 for one in mixed)
    kept = sum(np.array_equal(one.gold, two.gold) for one, two in zip(rows, mixed, strict=True))
    assert 30 <= kept <= 70  # 1 of 4: 50 expected, sd 6.1
    assert [one.gold.tobytes() for one in shuffle(rows, TEXT, 5)] == [one.gold.tobytes() for one in mixed]
    assert all(np.array_equal(one.gold, two.gold) for one, two in zip(shuffle(rows, IMAGE, 5), rows, strict=True))


def test_the_interval_of_the_shuffle_check_by_hand():
    # Fits of 2, 2 and 1 instances reach 1, .5 and 0: mean .5, sd .5; t(2 df, .9995) = 31.6 covers everything.
    found = centre(np.array([1, 1, 1, 0, 0.0, np.nan]), np.array([0, 0, 1, 1, 2, -1]))
    assert (found.value, found.low, found.high, found.fits) == (0.5, 0.0, 1.0, 3)
    # Nine fits of 100 that all reach .9: error at least .5 / 30, t(8 df, .9995) = 5.041, so .9 - .084.
    sure = centre(np.full(900, 0.9), np.repeat(np.arange(9), 100))
    assert sure.low == pytest.approx(0.9 - 5.0413 / 60, abs=1e-4)
    assert shuffled("demo", sure).severity == "warning"
    assert shuffled("demo", found).severity == "info"


class Cheat:
    """Knows which caption is right without learning it: shuffling must find that out."""

    name, sees, columns, signature = "cheat", TEXT, ("",), {"scorer": "cheat"}

    def prepare(self, batch, work):
        pass

    def fit(self, training, *, seed):
        return self

    def score(self, batch):
        return [Scored({"": np.array([["indeed" in text for text in one.captions]], float)}) for one in batch]


def test_an_answer_that_does_not_come_from_the_training_gold_is_found_by_shuffling(tmp_path):
    [mixed] = findings(run(planted(100, seed=1), tmp_path, Cheat()), "crossfit_shuffled")
    assert (mixed.severity, mixed.values["value"]) == ("warning", 1.0)
    assert "excludes chance" in mixed.sentence


def test_lost_results_are_a_fault_that_names_the_scorer():
    class Loses(Cheat):
        def score(self, batch):
            return super().score(batch)[1:]

    with pytest.raises(TypeError, match="cheat"):
        Runner(Loses(), subsets(planted(10, seed=1), seed=1), k=2, seed=1).fits(fold_seed=1)


def test_a_leaf_of_the_configuration_becomes_a_trained_contestant(tmp_path):
    with initialize_config_module("conf", version_base=None):
        conf = compose("run", ["benchmark=table", "baseline=ngram", f"paths.cache={tmp_path}"])
    values = OmegaConf.to_container(conf, resolve=False)
    values["paths"] = {"cache": str(tmp_path)}
    found = panel(values).contestants
    assert [one.kind for one in found] == ["trained", "trained"]
    dataset = Dataset(planted(40, seed=1))
    [found, _] = measure(found, dataset, dataset.roster("demo"), values)
    assert found.outcomes["ngram:raw"]["accuracy"].credit.mean() > 0.9
    assert found.contestant.scorer.signature["folds"] == "5"


@pytest.mark.real_data
@pytest.mark.slow
def test_sugarcrepe_macro(tmp_path):
    root = DATA / "sugar-crepe"
    if not root.exists():
        pytest.skip("sugar-crepe is not beside the repository")
    with initialize_config_module("conf", version_base=None):
        card = OmegaConf.to_container(compose("run", ["benchmark=sugarcrepe"]).benchmark.card, resolve=True)
    rows = list(SugarCrepe(card, root, folder="data"))
    plain = [dataclasses.replace(one, captions=tuple(" ".join(_words(text)) for text in one.captions)) for one in rows]
    for given, expected in ((rows, 0.831), (plain, 0.776)):
        found = run(given, tmp_path, seeds=1, shuffle=False)
        credit = found.outcomes["ngram"]["accuracy"].credit
        names = np.array([one.subset for one in given])
        macro = np.mean([credit[names == name].mean() for name in np.unique(names)])
        assert macro == pytest.approx(expected, abs=0.01)


def _words(text):
    return "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in text.lower()).split()
