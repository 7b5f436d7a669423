"""log P(t|i) - alpha log P(t): hand arithmetic, and that it stays out of the family of tests."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from audits import load
from audits.dataset import Roster
from audits.measured import from_cells
from audits.prior import ALPHAS, less_prior
from audits.scoring import score
from audits.statistics.layout import Layout
from baselines.engine import Engine
from baselines.schema import BOTH, TEXT, Scored
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from reports.index import Index
from reports.weighted import weighted_charts, weighted_grids

VALUES = {"statistics": {"bootstrap": 200, "seed": 1, "level": 0.95, "tie_tolerance": 0.0}}


class Given:
    """A scorer whose score of (image, caption) stands in a table."""

    columns = ("unnorm",)

    def __init__(self, name, table, *, sees, prior_of=""):
        self.name, self.table, self.sees, self.prior_of = name, table, sees, prior_of
        self.signature = {"scorer": name}
        self.blind = bool(prior_of)

    def score(self, batch, work):
        found = []
        for item in batch:
            rows = [image.key for image in item.images] if self.sees == BOTH else [""]
            values = np.array([[self.table[row, text] for text in item.captions] for row in rows], np.float64)
            found.append(Scored({"unnorm": values}))
        return found


def ran(scorers, instances, tmp_path):
    labels = Layout("demo", [""] * len(instances), [one.id for one in instances])
    names = [one.id for one in instances]
    golds, shapes = [one.gold for one in instances], [one.shape for one in instances]
    roster = Roster(names, [""] * len(names), golds, shapes, labels)
    with Engine(tmp_path / "cache") as engine:
        found = [
            from_cells(
                load.Contestant(load._kind("model", one), one),
                score(one, instances, engine, seed=1, chunk=9),
                roster,
                tolerance=0.0,
            )
            for one in scorers
        ]
    return less_prior(found, roster, VALUES, {"m:unnorm": "sig"})


def choose_text(name, right, wrong):
    return Instance(name, (ImageRef(f"{name}.png", data=b"x"),), (right, wrong), np.array([[True, False]]))


@pytest.fixture
def chosen(tmp_path):
    # a: -4 against -3 with the image, -3 against -1 by text alone: right from alpha = 1/2 on, where both are -2.5.
    # b: -2 against -5 with the image, -1 against -9 by text alone: right up to alpha = 3/8, then wrong.
    table = {("a.png", "ar"): -4, ("a.png", "aw"): -3, ("b.png", "br"): -2, ("b.png", "bw"): -5}
    prior = {("", "ar"): -3, ("", "aw"): -1, ("", "br"): -1, ("", "bw"): -9}
    model = Given("m", table, sees=BOTH)
    twins = [Given(f"m:{name}", prior, sees=TEXT, prior_of="m") for name in ("no_image", "null_images")]
    other = Given("m:shuffled_images", prior, sees=TEXT)
    return ran([model, *twins, other], [choose_text("a", "ar", "aw"), choose_text("b", "br", "bw")], tmp_path)


def test_the_share_that_is_right_at_every_alpha(chosen):
    mine = [one for one in chosen if one.against == "m:no_image:unnorm" and one.primary]
    by_alpha = {one.tag: one.value for one in mine}
    # alpha 0 to .3: only b is right; .4: neither; .5: a ties (half a credit); from .6 on: only a.
    wanted = [0.5, 0.5, 0.5, 0.5, 0.0, 0.25, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert by_alpha == {f"alpha={alpha:g}": value for alpha, value in zip(ALPHAS, wanted, strict=True)}
    assert {(one.metric, one.scorer, one.subset) for one in mine} == {("accuracy_less_prior", "m:unnorm", "all")}
    assert {one.signature for one in mine} == {"sig"}
    assert all(np.isnan(one.p) for one in chosen)  # in no family of tests


def test_only_what_stands_for_the_probability_of_the_text_is_taken_off(chosen):
    assert {one.against for one in chosen} == {"m:no_image:unnorm", "m:null_images:unnorm"}


def test_on_two_by_two_it_moves_what_chooses_a_text(tmp_path):
    # Image x: -3 for its own caption, -2 for the other's; image y: -4 and -3. By text alone tx is worth -4, ty -1.
    # At alpha 0 x is wrong (-3 < -2) and y is wrong (-4 < -3). At alpha 1 x is right (-3+4 = 1 against -2+1 = -1) and
    # y is wrong (-4+1 = -3 against -3+4 = 1): strict I2T is 0 at both ends, the decision at x turns from 0 to 1.
    table = {("x", "tx"): -3, ("x", "ty"): -2, ("y", "tx"): -3, ("y", "ty"): -4}
    prior = {("", "tx"): -4, ("", "ty"): -1}
    images = (ImageRef("x", data=b"x"), ImageRef("y", data=b"y"))
    pair = Instance("p", images, ("tx", "ty"), np.eye(2, dtype=bool))
    scorers = [Given("m", table, sees=BOTH), Given("m:no_image", prior, sees=TEXT, prior_of="m")]
    found = {(one.metric, one.tag): one.value for one in ran(scorers, [pair], tmp_path) if one.primary}
    assert {metric for metric, _ in found} == {"i2t_less_prior", "i2t_base_less_prior", "group_less_prior"}
    assert [found["i2t_base_less_prior", f"alpha={alpha}"] for alpha in ("0", "1")] == [0, 1]
    assert [found["i2t_less_prior", f"alpha={alpha}"] for alpha in ("0", "1")] == [0, 0]


def test_a_model_without_such_a_twin_has_no_curve(tmp_path):
    table = {("a.png", "ar"): -4, ("a.png", "aw"): -3}
    assert ran([Given("m", table, sees=BOTH)], [choose_text("a", "ar", "aw")], tmp_path) == []


def test_the_report_shows_a_curve_and_a_table(chosen):
    facts = {"kind": "model", "sees": ["text", "image"], "columns": ["unnorm"]}
    own = [SimpleNamespace(**{**_plain(one), "against": "", "metric": "accuracy", "tag": ""}) for one in chosen[:1]]
    record = {"contestants": {"m": facts}, "statistics": {"level": 0.95, "bootstrap": 200, "seed": 1}}
    index = Index(record, [*own, *chosen])
    [chart] = weighted_charts(record, index)
    assert [row.label for row in chart.rows] == [f"alpha {alpha:g}" for alpha in ALPHAS]
    assert [series.label for series in chart.series] == [
        "unnorm, P(text) from no_image",
        "unnorm, P(text) from null_images",
    ]
    assert [row.points[0].value for row in chart.rows][:6] == [0.5, 0.5, 0.5, 0.5, 0.0, 0.25]
    [grid] = weighted_grids(record, index)
    assert len(grid.rows) == 2
    assert [cell.split()[0] for cell in grid.cells[0]][:6] == ["50.0", "50.0", "50.0", "50.0", "0.0", "25.0"]
    assert weighted_charts(record, Index(record, own)) == ()


def _plain(one):
    return {name: getattr(one, name) for name in type(one).__slots__}


def test_a_run_sets_a_tiny_captioner_beside_its_blind_twins(fresh, small_captioner, tmp_path):
    folder = small_captioner("git")
    words = [
        "run", "benchmark=compset", "benchmark.limit=8", "benchmark.source=sample", "baseline=length",
        "model=generative", f"model.generative.model={folder}", "model.generative.name=tiny", "out=done",
    ]  # fmt: skip
    done = fresh(*words)
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "done" / "report.md").read_text(encoding="utf-8")
    twins = ["tiny:no_image", "tiny:null_images", "tiny:shuffled_images"]
    record = json.loads((tmp_path / "done" / "record.json").read_text(encoding="utf-8"))
    kinds = {name: facts["kind"] for name, facts in record["contestants"].items()}
    assert kinds == {"tiny": "model", "length": "blind", **dict.fromkeys(twins, "blind")}
    assert all(f"`{name}:norm`" in report for name in ("tiny", *twins))
    assert "tiny with alpha log P" in report
    assert (tmp_path / "done" / "figures" / "prior-1.svg").is_file()
    assert all("as one by one" in record["contestants"][name]["facts"]["batches"] for name in ("tiny", *twins))
    scores = pd.read_parquet(tmp_path / "done" / "scores.parquet")
    rows = {name: set(scores[scores.scorer.str.startswith(f"{name}:norm")].instance) for name in ("tiny", *twins)}
    assert rows["tiny"]
    assert all(found == rows["tiny"] for found in rows.values())  # the same instances under every condition
    metrics = pd.read_csv(tmp_path / "done" / "metrics.csv")
    assert metrics[metrics.metric.str.endswith("_less_prior")].p.isna().all()
    excess = metrics[(metrics.metric == "excess") & (metrics.scorer == "tiny:norm")]
    assert {f"{name}:norm" for name in twins} <= set(excess.against)
    again = fresh(*words)
    assert again.returncode == 0, again.stderr
