"""A contestant that cannot be had here: it stops a run that asked for it, and is listed where a bundle did."""

import json

import pytest
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf

from audits import load
from benchmarks.errors import InputError, NotAvailableError

LENGTH = {"_target_": "baselines.length.Length", "units": ["words"]}
GONE = {"_target_": "baselines.acceptability.Acceptability", "model": "nobody/no-such-model", "acceptable": 1}


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def test_it_stops_the_run_unless_it_may_be_left_out():
    with pytest.raises(NotAvailableError):
        load.panel({"baseline": {"length": LENGTH, "gone": GONE}})
    panel = load.panel({"baseline": {"gone": GONE, "length": LENGTH}, "missing_contestants": "skip"})
    assert [one.scorer.name for one in panel.contestants] == ["length"]
    [said] = panel.absent
    assert "baseline gone was selected and not run" in said
    assert "nobody/no-such-model" in said
    assert "unreachable" in said


def test_a_mistake_is_not_taken_for_absence():
    wrong = {**LENGTH, "units": ["word"]}
    with pytest.raises(InputError, match="units of length"):
        load.panel({"baseline": {"length": wrong}, "missing_contestants": "skip"})


def test_with_nobody_left_there_is_nothing_to_run():
    with pytest.raises(InputError, match="nothing to run") as caught:
        load.panel({"baseline": {"gone": GONE}, "missing_contestants": "skip"})
    assert "nobody/no-such-model" in str(caught.value)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["baseline=default"], "error"),
        (["baseline=fast"], "error"),
        (["baseline=full"], "skip"),
        (["baseline=[full,image_cues]"], "skip"),
        (["baseline=full", "missing_contestants=error"], "error"),
        (["baseline=length", "missing_contestants=skip"], "skip"),
    ],
)
def test_bundles_and_the_command_line_decide(words, expected):
    with initialize_config_module("conf", version_base=None):
        composed = compose("run", [*words, "benchmark=table"])
    assert composed.missing_contestants == expected


def test_full_holds_all_text_baselines_but_the_largest_and_fast_needs_no_hub():
    with initialize_config_module("conf", version_base=None):
        fast, full = (compose("run", [f"baseline={name}", "benchmark=table"]).baseline for name in ("fast", "full"))
    assert set(fast) < set(full)
    assert {"constant", "length", "format_cues", "frequency"} <= set(fast)
    assert {"likelihood", "acceptability", "acceptability_mrpc", "acceptability_qqp", "plausibility"} <= set(full)
    assert not {"image_cues", "likelihood_flan_t5"} & set(full)
    assert not any("model" in leaf and str(leaf.model).count("/") for leaf in OmegaConf.to_container(fast).values())


def test_a_run_lists_what_did_not_run(cli, pairs, tmp_path):
    words = ["run", "benchmark=table", f"benchmark.path={pairs}", "baseline=[length,acceptability]", "out=run"]
    stopped = cli(*words)
    assert stopped.returncode == 3
    assert "the model cannot be had from the hub" in stopped.stderr
    done = cli(*words, "missing_contestants=skip", "statistics.bootstrap=100")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "run" / "record.json").read_text(encoding="utf-8"))
    assert any("baseline acceptability was selected and not run" in text for text in record["notices"])
    assert "acceptability was selected and not run" in " ".join(done.stdout.split())
    assert list(record["contestants"]) == ["length"]


def test_a_wrong_value_is_refused(cli, pairs):
    done = cli("run", "benchmark=table", f"benchmark.path={pairs}", "baseline=length", "missing_contestants=ignore")
    assert done.returncode == 3
    assert "error or skip" in done.stderr
