"""Recorded runs from the command line: relative paths, several at once, a file that stands alone."""

import json

import pandas as pd
import pytest

from audits.config import _absolute
from audits.models.recorded import recorded
from audits.overrides import is_path_key, translate
from benchmarks.errors import InputError
from tests.audits.conftest import cli  # noqa: F401

SCORES = [
    {"id": key, "c0_i0": 0.9, "c0_i1": 0.1, "c1_i0": 0.2, "c1_i1": 0.8, "tag": "Noun" if key % 2 else "Verb"}
    for key in range(12)
]
FAST = ("statistics.bootstrap=200",)


def test_the_path_of_a_run_is_a_path_and_its_other_options_are_not(tmp_path):
    assert is_path_key("+model.recorded.runs.clip")
    assert is_path_key("model.mine.runs.clip.path")
    assert is_path_key("model.mine.runs.clip.path.ab")
    assert not is_path_key("model.recorded.runs.clip.layout")
    assert not is_path_key("model.recorded.runs.clip.columns.positive")
    runs = {"a": "x.csv", "b": {"path": ["y.csv", "z"], "layout": "flags"}}
    found = _absolute({"model": {"recorded": {"runs": runs}}}, tmp_path)["model"]["recorded"]["runs"]
    assert found == {
        "a": str(tmp_path / "x.csv"),
        "b": {"path": [str(tmp_path / "y.csv"), str(tmp_path / "z")], "layout": "flags"},
    }


def test_blanks_in_a_path_are_quoted_and_a_mapping_is_not():
    words = ["+model.recorded.runs.a=my file.csv", "+model.recorded.runs.b={path: x.csv, layout: flags}"]
    assert translate(words) == ["+model.recorded.runs.a='my file.csv'", words[1]]


def test_a_file_stands_alone_with_others_beside_it(cli, tmp_path):  # noqa: F811
    (tmp_path / "my scores.json").write_text(json.dumps(SCORES), encoding="utf-8")
    done = cli("run", "benchmark=recorded", "benchmark.path=my scores.json", "out=one", *FAST)
    assert done.returncode == 0, done.stderr
    metrics = pd.read_csv(tmp_path / "one" / "metrics.csv")
    assert set(metrics["scorer"]) == {"recorded:my scores"}
    assert metrics.query("metric == 'group' and subset == 'all' and primary == 1 and tag.isna()")["value"].item() == 1.0
    assert set(metrics["tag"].dropna()) == {"tag=Noun", "tag=Verb"}
    scores = pd.read_parquet(tmp_path / "one" / "scores.parquet")
    assert len(scores) == 48
    done = cli(
        "run", "benchmark=recorded", "benchmark.path=my scores.json", "+model.recorded.runs.a=my scores.json",
        "+model.recorded.runs.b={path: my scores.json, layout: pairs}", "out=two", "terminal=full", *FAST,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert set(pd.read_csv(tmp_path / "two" / "metrics.csv")["scorer"]) == {"recorded:a", "recorded:b"}
    assert "hardly" not in done.stdout
    assert "same caption has the" in " ".join(done.stdout.split())


def test_beside_blind_baselines_on_a_benchmark_of_ones_own(cli, tmp_path):  # noqa: F811
    rows = ["caption,foil,image", *(f"a red cup {k},a blue cup {k} and more,{k}.jpg" for k in range(40))]
    (tmp_path / "mine.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    # The recorded model copies the number of words: fewer is better, as `length:words:fewer` says.
    copied = ["caption,foil,pos_score,neg_score", *(f"a red cup {k},a blue cup {k} and more,-4,-6" for k in range(39))]
    (tmp_path / "copy.csv").write_text("\n".join(copied) + "\n", encoding="utf-8")
    done = cli(
        "run", "benchmark=table", "benchmark.path=mine.csv", "baseline=length", "model=recorded",
        "+model.recorded.runs.copy=copy.csv", "out=run", *FAST,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr  # no image file is needed for what somebody else recorded
    record = json.loads((tmp_path / "run" / "record.json").read_text(encoding="utf-8"))
    facts = record["contestants"]["recorded:copy"]
    assert facts["kind"] == "model"
    assert facts["unscored"] == 1
    assert facts["facts"]["joined"] == "by content (captions)"
    kinds = [one["kind"] for one in json.loads((tmp_path / "run" / "findings.json").read_text(encoding="utf-8"))]
    assert "recorded_unmatched" in kinds
    outcomes = pd.read_parquet(tmp_path / "run" / "outcomes.parquet").set_index("instance")
    one = outcomes[outcomes["scorer"] == "recorded:copy"]["credit"].dropna()
    other = outcomes[outcomes["scorer"] == "length:words:fewer"]["credit"].loc[one.index]
    assert (one == other).all()


def test_answers_in_both_orders_reach_the_tables(cli, tmp_path):  # noqa: F811
    rows = [{"id": key, "response": "A", "order": order} for key in range(6) for order in ("ab", "ba")]
    (tmp_path / "a.json").write_text(json.dumps([*rows, {**rows[0], "id": 6, "response": "Either"}]), encoding="utf-8")
    done = cli("run", "benchmark=recorded", "benchmark.path=a.json", "out=run", *FAST)
    assert done.returncode == 0, done.stderr
    metrics = pd.read_csv(tmp_path / "run" / "metrics.csv").query("primary == 1").set_index("metric")
    assert metrics.loc["accuracy", ["value", "n", "unscored", "chance"]].tolist() == [0.5, 6, 1, 0.5]
    assert metrics.loc["accuracy_consistent", ["value", "chance"]].tolist() == [0.0, 0.25]
    assert metrics.loc["flip_rate", "value"] == 1.0
    assert pd.isna(metrics.loc["flip_rate", "chance"])
    assert metrics.loc["first_option_share", "value"] == 1.0
    outcomes = pd.read_parquet(tmp_path / "run" / "outcomes.parquet")
    assert set(outcomes["order"]) == {"ab", "ba"}
    assert "unparsed" in set(outcomes["outcome"])


@pytest.mark.parametrize("words", [("show", "recorded"), ("list",)])
def test_it_is_listed_and_shown(words, cli):  # noqa: F811
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    assert "recorded" in done.stdout


def test_no_file_is_one_clear_error(cli):  # noqa: F811
    done = cli("run", "benchmark=recorded", "out=run")
    assert done.returncode == 3
    assert "benchmark.path" in done.stderr


def test_a_finished_run_is_not_shown_for_other_scores(cli, tmp_path):  # noqa: F811
    (tmp_path / "base.json").write_text(json.dumps(SCORES), encoding="utf-8")
    (tmp_path / "other.json").write_text(json.dumps(SCORES), encoding="utf-8")
    words = (
        "run",
        "benchmark=recorded",
        "benchmark.path=base.json",
        "+model.recorded.runs.a=other.json",
        "out=run",
        *FAST,
    )
    assert cli(*words).returncode == 0
    assert cli(*words).returncode == 0
    (tmp_path / "other.json").write_text(json.dumps(SCORES[:6]), encoding="utf-8")
    done = cli(*words)
    assert done.returncode == 3
    assert "a recorded file has changed" in done.stderr


def test_the_page_asks_of_the_file_by_its_name(cli, tmp_path):  # noqa: F811
    (tmp_path / "my_scores.json").write_text(json.dumps(SCORES), encoding="utf-8")
    done = cli("run", "benchmark=recorded", "benchmark.path=my_scores.json", "out=run", *FAST)
    assert "Does my_scores.json need the image?" in done.stdout, done.stderr
    done = cli(
        "run", "benchmark=recorded", "benchmark.path=my_scores.json", "benchmark.card.title=OURS", "out=own", *FAST
    )
    assert "Does OURS need the image?" in done.stdout, done.stderr


def test_no_run_beside_a_table_is_said_and_the_table_is_not_read_as_one(cli, tmp_path):  # noqa: F811
    # The table has columns of scores: it could be read as a run, and was not given as one.
    rows = ["caption,foil,pos_score,neg_score", *(f"a {k},b {k},1,0" for k in range(12))]
    (tmp_path / "mine.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    done = cli(
        "run", "benchmark=table", "benchmark.path=mine.csv", "baseline=length", "model=recorded", "out=run", *FAST
    )
    assert done.returncode == 3, done.stdout
    said = " ".join(done.stderr.split())
    assert "no recorded run was given" in said
    assert "+model.recorded.runs.clip=FILE" in said


@pytest.mark.parametrize(
    ("words", "step"),
    [
        (("model=recorded",), "write +model.recorded.runs.m=a.json"),
        ((), "write +model.recorded.runs.m=a.json, beside model=recorded"),
    ],
)
def test_a_run_without_a_plus_is_told_the_plus(cli, tmp_path, words, step):  # noqa: F811
    (tmp_path / "a.json").write_text(json.dumps(SCORES), encoding="utf-8")
    done = cli("run", "benchmark=recorded", "benchmark.path=a.json", *words, "model.recorded.runs.m=a.json", "out=run")
    if not words:  # benchmark=recorded selects the model itself
        step = step.partition(",")[0]
    assert done.returncode == 3, done.stdout
    assert step in " ".join(done.stderr.split())


def test_both_orders_without_path_are_read(cli, tmp_path):  # noqa: F811
    for order in ("ab", "ba"):
        rows = [{"id": key, "response": "A"} for key in range(12)]
        (tmp_path / order).mkdir()
        (tmp_path / order / "x.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "mine.csv").write_text(
        "\n".join(["id,caption,foil", *(f"{k},a {k},b {k}" for k in range(12))]) + "\n", encoding="utf-8"
    )
    done = cli(
        "run", "benchmark=table", "benchmark.path=mine.csv", "model=recorded",
        "+model.recorded.runs.m={ab: ab, ba: ba}", "baseline=none", "out=run", *FAST,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    metrics = pd.read_csv(tmp_path / "run" / "metrics.csv").query("primary == 1").set_index("metric")
    assert metrics.loc["flip_rate", "value"] == 1.0  # always the first option, in both orders


def test_orders_beside_other_options_are_told_where_they_go():
    with pytest.raises(InputError, match=r"write \{path: \{ab: FILE, ba: FILE\}, ...\}"):
        recorded({"m": {"ab": "x", "ba": "y", "layout": "answers"}})
