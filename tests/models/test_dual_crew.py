"""Two processes share the batches of one run: each computes its own, and the results are those of one process."""

import json
import os
import socket
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pandas as pd
import pytest

from audits import crew
from audits.crew import ALONE
from benchmarks.errors import InputError
from tests.small_encoders import VIT, save_open_clip

TOP = Path(__file__).resolve().parents[2]
MEASURE = """
import json, sys
import numpy as np
from pathlib import Path
from audits.crew import join
from baselines.engine import Engine
from baselines.schema import Task

folder, crew, own = Path(sys.argv[1]), join(), []

def compute(items):
    own.append(list(items))
    return np.array([[len(item) / 3] for item in items])

with Engine(folder / "scores.sqlite", share=crew) as engine:
    task = Task(label="x", signature="s", key=str, cost=len, budget=6, width=1, compute=compute)
    items = ["a" * (1 + n % 5) + str(n) for n in range(40)]
    first = engine.measure(items[:30], task).tolist()
    second = engine.measure(items, task).tolist()
    counts = engine.counts["x"]
told = crew.told(work=crew.leads)
found = {"rank": crew.rank, "size": crew.size, "own": own, "first": first, "second": second, "told": told,
         "hits": counts.hits, "computed": counts.computed, "batches": counts.batches}
(folder / f"{crew.rank}.json").write_text(json.dumps(found))
"""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def together(count, *words, **env):
    """Start so many processes as `torchrun` would, and return their exit statuses and what they said."""
    port = str(free_port())
    added = {"PYTHONPATH": str(TOP), "PYTHONSAFEPATH": "1", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "CI": "1"}
    added |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count)}
    started = [
        subprocess.Popen(
            [sys.executable, *words], env=os.environ | added | {"RANK": str(n), "LOCAL_RANK": str(n)} | env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        )
        for n in range(count)
    ]  # fmt: skip
    said = [process.communicate(timeout=300) for process in started]
    return [process.returncode for process in started], said


def test_each_process_computes_its_share_and_both_see_all(tmp_path):
    (tmp_path / "measure.py").write_text(MEASURE, encoding="utf-8")
    statuses, said = together(2, str(tmp_path / "measure.py"), str(tmp_path))
    assert statuses == [0, 0], said
    one, other = (json.loads((tmp_path / f"{n}.json").read_text(encoding="utf-8")) for n in range(2))
    assert [one["rank"], other["rank"], one["size"]] == [0, 1, 2]
    mine, theirs = ({item for batch in found["own"] for item in batch} for found in (one, other))
    assert not mine & theirs
    assert len(mine | theirs) == 40
    assert min(len(mine), len(theirs)) > 10
    for found in (one, other):
        assert found["second"] == [[(1 + n % 5 + len(str(n))) / 3] for n in range(40)]
        assert found["first"] == found["second"][:30]
        # 30 and then 10 were computed by the two together; of the 40 asked for again, 30 were known.
        assert (found["computed"], found["hits"]) == (40, 30)
    assert one["batches"] == len(one["own"])
    assert (one["told"], other["told"]) == (True, True), "what the leader says counts"


def test_a_process_alone_needs_nobody(monkeypatch):
    for name in crew.SET:
        monkeypatch.delenv(name, raising=False)
    assert crew.join() == ALONE
    assert (ALONE.leads, ALONE.total(3), ALONE.told(work=False)) == (True, 3, False)
    monkeypatch.setenv("WORLD_SIZE", "2")  # alone it says nothing: another tool may have set it
    assert crew.join() == ALONE


def test_processes_that_cannot_reach_each_other_say_so(monkeypatch):
    values = {
        "RANK": "1",
        "WORLD_SIZE": "2",
        "LOCAL_RANK": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(crew, "PATIENCE", crew.timedelta(seconds=1))
    with pytest.raises(InputError, match="cannot reach each other") as caught:
        crew.join()
    assert "process 1 of 2" in caught.value.where


@pytest.mark.slow
def test_a_run_of_two_processes_gives_the_scores_of_one(tmp_path):
    save_open_clip(tmp_path / "vit", deepcopy(VIT))
    words = [
        "-m", "audits", "run", "benchmark=compset", "benchmark.source=sample", "benchmark.sample.size=64",
        "benchmark.sample.scenes=2", "benchmark.limit=60", "baseline=length", "model=open_clip",
        f"model.open_clip.arch='{tmp_path / 'vit'}'", "model.open_clip.name=tiny", "statistics.bootstrap=200",
        "model.open_clip.images_per_batch=4", "model.open_clip.tokens_per_batch=100",
    ]  # fmt: skip
    statuses, said = together(2, *words, f"out={tmp_path / 'two'}", AUDITS_CACHE=str(tmp_path / "cache two"))
    assert statuses == [0, 0], said
    assert "tiny" in said[0][0]
    assert said[1][0] == "", "only the leader shows the run"
    statuses, said = together(1, *words, f"out={tmp_path / 'one'}", AUDITS_CACHE=str(tmp_path / "cache one"))
    assert statuses == [0], said
    two, one = (pd.read_parquet(tmp_path / name / "scores.parquet") for name in ("two", "one"))
    # The plan is the same and each batch is computed whole by one process: equal to the last bit, no decision flips.
    pd.testing.assert_frame_equal(two, one, check_exact=True)
    assert (tmp_path / "two" / "metrics.csv").read_bytes() == (tmp_path / "one" / "metrics.csv").read_bytes()
    records = [json.loads((tmp_path / name / "record.json").read_text(encoding="utf-8")) for name in ("two", "one")]
    caches = [record["contestants"]["tiny"]["cache"] for record in records]
    assert caches[0] == caches[1]
    # Shown again: the leader renders the finished run, the other one has nothing to do.
    statuses, said = together(2, *words, f"out={tmp_path / 'two'}", AUDITS_CACHE=str(tmp_path / "cache two"))
    assert statuses == [0, 0], said
