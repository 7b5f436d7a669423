"""Lik-Diff: by hand, its interval against the slow bootstrap, and what is left out."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.dataset import Dataset
from audits.findings.lik_diff import Resampling, differences, lik_diff
from audits.load import Contestant
from audits.measured import from_cells
from audits.scoring import score
from baselines.schema import BOTH, TEXT, Scored
from benchmarks.images import ImageRef
from benchmarks.schema import Instance

HOW = Resampling(draws=400, seed=3, level=0.95)


class Spoken:
    """Takes the log-likelihood that stands in the caption ("-12.5"), or fails on one that is no number."""

    name, columns, signature = "likelihood:spoken", ("norm", "unnorm"), {}

    def __init__(self, sees=TEXT, columns=columns):
        self.sees, self.columns = sees, columns

    def score(self, batch, work):
        return [self._one(item) for item in batch]

    def _one(self, item):
        row = np.array(
            [[float(text) if text.lstrip("-").replace(".", "").isdigit() else np.nan for text in item.captions]]
        )
        rows = np.repeat(row, len(item.images) if self.sees == BOTH else 1, axis=0)
        notes = {(0, place): "no number" for place in np.flatnonzero(np.isnan(row[0])).tolist()}
        return Scored(dict.fromkeys(self.columns, rows), notes=notes)


def run(instances, thresholds, scorer=None, how=HOW):
    scorer = scorer or Spoken()
    dataset = Dataset(list(instances))
    roster = dataset.roster("demo")
    cells = score(scorer, dataset, None, seed=1, chunk=100)
    measured = from_cells(Contestant("blind", scorer), cells, roster, tolerance=0.0)
    return lik_diff([measured], roster, thresholds, how, {"likelihood:spoken:unnorm": "demo@1|spoken"})


def test_differences_by_hand(make, thresholds):
    rows = [
        make("a", "-10", "-12.5", subset="x"),
        make("b", "-20", "-19", subset="x"),
        make("c", "-5", "-5", subset="y"),
    ]
    found = run(rows, thresholds)
    by_subset = {row.subset: row for row in found.rows}
    # x: (2.5 - 1) / 2 = .75; y: 0; all: 1.5 / 3 = .5
    assert {name: row.value for name, row in by_subset.items()} == {"x": 0.75, "y": 0.0, "all": 0.5}
    pooled = by_subset["all"]
    assert (pooled.scorer, pooled.metric, pooled.n, pooled.ties) == ("likelihood:spoken:unnorm", "lik_diff", 3, 1)
    assert (pooled.chance, pooled.signature, pooled.primary) == (0.0, "demo@1|spoken", True)
    assert [one.subset for one in found.findings] == ["x", "y", ""]
    whole = found.findings[-1]
    # above 0: one of three, and half of the tie
    assert whole.values["share_above_0"] == pytest.approx(0.5)
    assert whole.values["q50"] == 0.0
    assert whole.instances == ("a", "c", "b")
    assert "minus that of the foil is +0.50 nats" in whole.sentence


def test_missing_scores_are_counted_and_left_out(make, thresholds):
    rows = [make("a", "-1", "-2"), make("b", "none", "-2"), make("c", "-3", "-7")]
    [row] = [row for row in run(rows, thresholds).rows if row.subset == "all"]
    assert (row.value, row.n, row.unscored) == (2.5, 2, 1)
    [alone] = [row for row in run([rows[1]], thresholds).rows if row.subset == "all"]
    assert isnan(alone.value)
    assert (alone.n, alone.unscored) == (0, 1)
    assert run([rows[1]], thresholds).findings == []


def test_one_instance_has_a_value_and_no_interval(make, thresholds):
    found = run([make("a", "-1", "-3")], thresholds)
    assert {(row.subset, row.value, isnan(row.low), row.method) for row in found.rows} == {
        ("s", 2.0, True, "undefined (n < 2)"),
        ("all", 2.0, True, "undefined (n < 2)"),
    }
    [one] = found.findings  # the pooled one would say the same again
    assert "[undefined]" in one.sentence
    assert one.severity == "info"
    assert "low" not in one.values


def test_few_clusters_take_the_sign_flip_test_and_too_few_give_no_interval(make, thresholds):
    rows = [make(place, f"{-place}", "-30", cluster=f"c{place % 3}") for place in range(12)]
    low = run(rows, thresholds).rows[0]
    assert isnan(low.low)
    assert low.method == "sign-flip by cluster (too few clusters to reject anything)"
    rows = [make(place, f"{-place}", "-30", cluster=f"c{place % 8}") for place in range(16)]
    found = run(rows, thresholds).rows[0]
    assert found.method == "sign-flip by cluster (exact)"
    assert found.low < found.value < found.high


def test_the_interval_is_the_slow_bootstrap_by_cluster(make, thresholds):
    values = np.random.default_rng(0).normal(1.0, 5.0, size=80).round(2)
    clusters = np.arange(80) // 2
    rows = [
        make(place, f"{value - 50:.2f}", "-50", cluster=f"c{clusters[place]:02}") for place, value in enumerate(values)
    ]
    found = run(rows, thresholds).rows[0]
    assert found.method == "cluster bootstrap (B=400)"
    rng = np.random.default_rng(HOW.seed)
    drawn = rng.integers(0, 40, size=(400, 40))
    means = [np.concatenate([values[clusters == chosen] for chosen in draw]).mean() for draw in drawn]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(-50, 0), st.booleans()), min_size=2, max_size=6))
def test_several_captions_are_the_mean_over_all_pairs(options):
    scores, gold = [score for score, _ in options], np.array([[fits for _, fits in options]])
    [found] = differences([np.array([scores])], [gold])
    pairs = [one - other for one, fits in options if fits for other, wrong in options if not wrong]
    assert isnan(found) if not pairs else found == pytest.approx(np.mean(pairs))


def test_severity_is_that_of_the_share_whatever_the_size_of_the_difference(make, thresholds):
    def severity(above, step):
        rows = [make(place, f"{-9 + step if place < above else -9 - step}", "-9") for place in range(100)]
        return run(rows, thresholds).findings[0].severity

    assert [severity(50, 5), severity(95, 5), severity(95, 0.001), severity(5, 5)] == ["info", *["warning"] * 3]


def test_two_images_are_named_base_and_foil(make_2x2, thresholds):
    found = run([make_2x2("a", "-1", "-2"), make_2x2("b", "-1", "-4")], thresholds)
    assert found.rows[0].value == 2.0
    assert "of the base caption minus that of the foil caption" in found.findings[0].sentence


def test_models_that_see_images_and_scorers_without_sums_are_no_blind_likelihood(make, thresholds):
    rows = [make("a", "-1", "-2"), make("b", "-1", "-4")]
    assert run(rows, thresholds, Spoken(sees=BOTH)) == ([], [])
    assert run(rows, thresholds, Spoken(columns=("norm",))) == ([], [])


def test_choosing_an_image_has_no_difference_of_captions(thresholds):
    only = Instance("i", (ImageRef("1"), ImageRef("2")), ("-1",), np.array([[True], [False]]))
    assert run([only, Instance("j", only.images, only.captions, only.gold)], thresholds) == ([], [])
