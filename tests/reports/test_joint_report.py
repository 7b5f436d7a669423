"""The report over an experiment: rows by benchmark and metric, what was not run, hostile names, charts in nats."""

import json
import math
import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from benchmarks.errors import InputError
from reports.audited import Audited, fixed_columns
from reports.figures import NARROW, WIDE, lay_out
from reports.html import render_html
from reports.index import Index
from reports.joint import build_joint
from reports.joint_charts import scale
from reports.joint_tables import TIES, joint_grids
from reports.markdown import render_markdown
from reports.members import Experiment, ExperimentFolder, Member, read_experiment
from reports.text import plain

HOSTILE = "</script><b>x</b> [red]cup[/red] | ![i](https://evil.example) \x1b[31m \u202e"


@pytest.fixture
def runs(make):
    """Return a SugarCrepe run with a model, verdicts and Lik-Diff, and a 2x2 run by another metric."""
    facts, rows = make.contrasts()
    nats = make.estimate(
        scorer=f"{make.MODEL}:unnorm", metric="lik_diff", value=12.5, low=11.0, high=14.0, chance=0.0, n=7511
    )
    pairs, others = make.pairs(n_types=2, model=False)
    return [
        Audited("sugarcrepe", facts, Index(facts, [*rows, nats])),
        Audited("compset", pairs, Index(pairs, others)),
    ]


def experiment(*missing):
    return Experiment("mine", "My set", "audits run experiment=mine", (Member("sugarcrepe", "done"), *missing))


def cells(grid):
    return {
        head.label: dict(zip([column.full for column in grid.columns], row, strict=True))
        for head, row in zip(grid.rows, grid.cells, strict=True)
    }


def test_rows_say_by_which_metric_and_chance_they_are_measured(runs):
    found = cells(joint_grids(runs)[0])
    assert found["sugarcrepe"]["measured by"] == "accuracy %"
    assert found["compset"]["measured by"] == "caption preference %"
    # 0.6736 and 0.62 as fabricated; the first differs from chance after correction, the second run has no family.
    assert found["sugarcrepe"]["length:words:fewer"].startswith("67.4 [")
    assert found["sugarcrepe"]["length:words:fewer"].endswith("*")
    assert found["compset"]["length:words:fewer"].startswith("62.0 [")
    assert found["sugarcrepe"]["ngram:raw"].startswith("85.0 [")
    assert found["sugarcrepe"]["recorded:clip"].startswith("77.0 [")
    assert found["sugarcrepe"]["Lik-Diff, nats"] == "12.50 [11.00, 14.00]"
    assert found["compset"]["Lik-Diff, nats"] == ""
    assert found["sugarcrepe"]["verdict"] == "compromised"
    assert found["sugarcrepe"]["chance %"] == "50"


def test_fixed_columns_are_picked_by_name_and_the_strongest_by_value(runs, make):
    likelihood = make.MODEL
    assert fixed_columns(runs) == ["length:words:fewer", f"{likelihood}:norm", f"{likelihood}:unnorm", "ngram:raw"]
    strongest = cells(joint_grids(runs)[1])["sugarcrepe"]
    # Pooled .7123 of characters:fewer lies farther from .5 than .6736 of words:fewer; .7066 than .4549.
    assert strongest["length"].startswith("71.2 [")
    assert strongest["length"].endswith("characters:fewer")
    assert strongest[likelihood].endswith("unnorm")


def test_a_baseline_that_can_only_tie_is_marked(make):
    facts = make.record(contestants={"length": make.contestant(columns=["words:fewer"])})
    facts["benchmark"]["shapes"] = {"2x1": 100}
    rows = [make.estimate(scorer="length:words:fewer", ties=100)]
    [main, *_] = joint_grids([Audited("svo", facts, Index(facts, rows))])
    assert cells(main)["svo"]["length:words:fewer"].endswith(TIES)
    assert any(note.startswith(TIES) for note in main.notes)


def test_every_page_lists_what_was_not_run_with_the_next_step(runs, show):
    absent = Member("bla", "absent", "BLA is not here", step="Get it, then give experiment.benchmarks.bla.root=FOLDER")
    broken = Member("valse", "failed", "the file is not readable as JSON", "plurals.json", "a brace")
    view = build_joint(experiment(absent, broken), runs)
    for page in (show(view, 400), re.sub("<[^>]*>", "", render_html(view)), render_markdown(view).replace("\\", "")):
        assert "Not run" in page
        assert "absent: BLA is not here." in page
        assert "experiment.benchmarks.bla.root=FOLDER" in page
        assert "failed: the file is not readable as JSON." in page
        assert "plurals.json" in page


def test_verdicts_are_counted_by_level_and_none_is_added(runs):
    view = build_joint(experiment(Member("bla", "absent")), runs)
    assert view.verdict.title == "1 of 1 benchmark compromised"  # the 2x2 run has no verdicts
    assert [plain(line) for line in view.verdict.groups[0].subsets] == ["sugarcrepe"]
    assert view.is_joint


def test_charts_show_blind_against_model_against_chance_and_lik_diff_in_nats(runs):
    view = build_joint(experiment(), runs)
    assert [chart.key for chart in view.charts] == ["blind", "models-1", "lik-diff"]
    blind, against, nats = view.charts
    assert [row.label for row in blind.rows] == ["sugarcrepe", "compset"]
    assert [row.details[0] for row in blind.rows] == ["accuracy %", "caption preference %"]
    assert [row.label for row in against.rows] == ["sugarcrepe"]
    assert [point.value for point in against.rows[0].points] == [0.77, 0.7123, 0.85]
    # 12.5 with 0 at the left: the axis holds 0 and 14, ticks at steps of 5.
    assert nats.low <= 0
    assert nats.high >= 14
    for form in (WIDE, NARROW):
        layout = lay_out(nats, form)
        assert {"0", "5", "10"} <= {label.text for label in layout.labels}
        [mark] = [mark for mark in layout.marks if mark.estimate is not None]
        assert "%" not in mark.tooltip
        assert mark.filled


@pytest.mark.parametrize("value", [0.0, 0.004, -250.0, 1e-12])
def test_the_scale_in_nats_holds_zero_and_every_value(runs, value):
    chart = build_joint(experiment(), runs).charts[-1]
    point = replace(chart.rows[0].points[0], value=value, low=math.nan, high=math.nan)
    low, high = scale([replace(chart.rows[0], points=(point,))])
    assert low <= min(value, 0.0) <= max(value, 0.0) <= high
    assert low < high


def test_hostile_text_is_shown_and_does_nothing(make, show):
    facts, rows = make.contrasts()
    facts["benchmark"]["card"]["title"] = HOSTILE
    facts["benchmark"]["provenance"]["location"] = HOSTILE
    missing = Member(HOSTILE, "absent", HOSTILE, step=HOSTILE)
    view = build_joint(Experiment(HOSTILE, HOSTILE, HOSTILE, (missing,)), [Audited(HOSTILE, facts, Index(facts, rows))])
    page = render_html(view)
    assert "<b>x</b>" not in page
    assert "\x1b" not in page
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(render_markdown(view))
    kinds = {child.type for token in tokens for child in (token, *(token.children or ()))}
    assert not kinds & {"image", "link_open", "html_inline", "html_block"}
    assert "\x1b" not in show(view)
    assert "\u202e" not in show(view)


def test_a_sample_is_told_in_the_row_and_at_the_top(make):
    facts = make.record(sample=True)
    view = build_joint(experiment(), [Audited("compset", facts, Index(facts, make.estimates()))])
    assert view.banner.startswith("SAMPLE, not the released data: the row of compset")
    assert view.grids[0].rows[0].label == "compset (sample)"


def test_the_folder_keeps_what_became_of_each_without_secrets(tmp_path):
    members = (Member("valse", "done"), Member("bla", "absent", "not here", step="get it"))
    with ExperimentFolder(tmp_path / "out", "mine", ["valse", "bla"]) as folder:
        folder.write(Experiment("mine", "My set", "audits run experiment=mine +model.x.api_key=sk-123456", members))
    found = read_experiment(tmp_path / "out")
    assert found.members == members
    assert "sk-123456" not in (tmp_path / "out" / "experiment.json").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="another experiment"):
        ExperimentFolder(tmp_path / "out", "other", ["valse"])


def test_a_folder_without_a_result_is_given_up_and_one_in_use_is_refused(tmp_path):
    with ExperimentFolder(tmp_path / "out", "mine", ["valse"]), pytest.raises(InputError, match="another process"):
        ExperimentFolder(tmp_path / "out", "mine", ["valse"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "content",
    [
        {"format": 2},
        [],
        {"format": 1, "name": "a", "title": "a", "command": "", "members": [{"name": "../x", "status": "done"}]},
        {"format": 1, "name": "a", "title": "a", "command": "", "members": [{"status": "done"}]},
    ],
)
def test_an_experiment_that_cannot_be_read_is_refused(tmp_path, content):
    (tmp_path / "experiment.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError):
        read_experiment(tmp_path)
