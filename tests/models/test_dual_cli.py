"""Dual encoders from the command line: a run with its report, the list of models, and what is said without a hub."""

import csv
import json
import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pandas as pd
import pytest

from tests.small_encoders import VIT, save_open_clip, save_transformers

pytestmark = pytest.mark.slow
TOP = Path(__file__).resolve().parents[2]
SMALL = ["benchmark=compset", "benchmark.source=sample", "benchmark.sample.size=64", "statistics.bootstrap=200"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    top = tmp_path_factory.mktemp("encoders")
    save_open_clip(top / "tiny vit", deepcopy(VIT))
    save_transformers(top / "clip", "clip")
    return top


def command(folder, *words, **env):
    """Run `python -m audits` in a process of its own, away from any hub."""
    added = {
        "AUDITS_CACHE": str(folder / "cache"), "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hub"), "CI": "1",
        "COLUMNS": "160", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(TOP), "PYTHONSAFEPATH": "1",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "audits", *words], cwd=folder, env=os.environ | added | env,
        capture_output=True, text=True, encoding="utf-8", timeout=300, check=False,
    )  # fmt: skip


def metrics(out, **wanted):
    with (out / "metrics.csv").open(encoding="utf-8", newline="") as stream:
        return [row for row in csv.DictReader(stream) if all(row[key] == value for key, value in wanted.items())]


def test_a_run_of_a_local_folder_ends_with_scores_metrics_and_a_report(folders, tmp_path):
    words = [*SMALL, "benchmark.limit=30", "baseline=length", "model=open_clip", "out=run", "benchmark.sample.scenes=2"]
    arch = f"model.open_clip.arch='{folders / 'tiny vit'}'"
    done = command(tmp_path, "run", *words, arch, "model.open_clip.name=tiny")
    assert done.returncode == 0, done.stderr
    assert "tiny" in done.stdout
    record = json.loads((tmp_path / "run" / "record.json").read_text(encoding="utf-8"))
    facts = record["contestants"]["tiny"]
    assert (facts["kind"], facts["sees"], facts["unscored"]) == ("model", ["image", "text"], 0)
    assert facts["facts"]["weights"] == "62 matched, 0 missing, 0 unexpected"
    assert facts["signature"]["activation"] == "gelu"
    assert record["sample"] is True
    scores = pd.read_parquet(tmp_path / "run" / "scores.parquet")
    mine = scores[scores.scorer == "tiny"]
    # 30 instances of two images and two captions, every cosine between -1 and 1 and kept as it is.
    assert len(mine) == 30 * 4
    assert mine.score.between(-1, 1).all()
    assert (mine.score < 0).any()
    assert (mine.tokens > 2).all()
    [group] = metrics(tmp_path / "run", scorer="tiny", metric="group", subset="all", tag="", against="", primary="1")
    assert (group["n"], float(group["chance"])) == ("30", pytest.approx(1 / 6))
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "tiny" in page
    # Again into another folder: all from the cache, the same numbers to the last digit.
    again = command(
        tmp_path, "run", *words[:-2], "out=again", "benchmark.sample.scenes=2", arch, "model.open_clip.name=tiny"
    )
    assert again.returncode == 0, again.stderr
    repeated = json.loads((tmp_path / "again" / "record.json").read_text(encoding="utf-8"))["contestants"]["tiny"]
    assert repeated["cache"]["computed"] == 0
    assert "weights" not in repeated["facts"]
    assert metrics(tmp_path / "again", scorer="tiny") == metrics(tmp_path / "run", scorer="tiny")


def test_two_models_at_once_and_one_that_is_not_here_is_left_out_where_it_may(folders, tmp_path):
    words = [
        *SMALL,
        "benchmark.limit=6",
        "baseline=none",
        "model=[transformers_clip,clip_b32]",
        "benchmark.sample.scenes=1",
    ]
    named = f"model.transformers_clip.model='{folders / 'clip'}'"
    refused = command(tmp_path, "run", *words, named, "out=refused")
    assert refused.returncode == 3
    assert "the model cannot be had from the hub" in refused.stderr
    assert "vit_base_patch32_clip_224.openai" in refused.stderr
    assert not (tmp_path / "refused" / "record.json").exists()
    done = command(tmp_path, "run", *words, named, "out=left", "missing_contestants=skip")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "left" / "record.json").read_text(encoding="utf-8"))
    assert list(record["contestants"]) == ["clip"]
    assert any("model clip_b32 was selected and not run" in notice for notice in record["notices"])


def test_the_list_of_models_says_size_source_licence_and_whether_it_is_here(tmp_path):
    done = command(tmp_path, "list", "model", COLUMNS="200")
    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: " ".join(line.split()) for line in done.stdout.splitlines() if line.strip()}
    assert "kind size source licence here" in lines["model"]
    assert lines["dfn_h14"] == "dfn_h14 DFN H/14 dual encoder 986 M OpenCLIP dfn5b apple-amlr no"
    assert lines["negclip_b32"].endswith("Nano1337/negclip (HF mirror) MIT absent")
    assert lines["jina_v4"].endswith("Qwen Research License needs code")
    assert lines["open_clip"].endswith("needs options")


def test_show_prints_the_card_and_the_options_of_a_model(tmp_path):
    done = command(tmp_path, "show", "siglip2_b16")
    assert done.returncode == 0, done.stderr
    for said in ("SigLIP-2 B/16", "Apache-2.0", "375.2 million", "OpenCLIP ViT-B-16-SigLIP2 / webli"):
        assert said in done.stdout
    assert "model.siglip2_b16.cleaning = auto" in done.stdout


def test_a_checkpoint_is_given_on_the_command_line_as_a_path_of_the_folder_one_is_in(folders, tmp_path):
    (tmp_path / "my weights, v=2.safetensors").write_bytes(b"not weights")
    words = [*SMALL, "benchmark.limit=3", "baseline=none", "model=negclip_b32", "out=run", "benchmark.sample.scenes=1"]
    done = command(tmp_path, "run", *words, "model.negclip_b32.checkpoint=my weights, v=2.safetensors")
    assert done.returncode == 3
    assert "cannot be read as tensors" in done.stderr
    assert "my weights, v=2.safetensors" in done.stderr
    absent = command(tmp_path, "run", *words)
    assert absent.returncode == 3
    assert "model.NAME.checkpoint=FILE" in absent.stderr
