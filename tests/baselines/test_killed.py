"""A run that is killed in the middle and started again: no committed batch twice, the same values bit for bit."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from baselines.engine import Engine
from baselines.likelihood import Likelihood
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates

ROOT = Path(__file__).resolve().parents[2]
# Values depend on the company that an item was computed in, so a resumed run that formed other batches would differ.
CHILD = """
import sys, time
from pathlib import Path
import numpy as np
from baselines.engine import Engine
from baselines.schema import Task
cache, log, out, stop = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
def compute(items):
    with log.open("a", encoding="utf-8") as file:
        file.write(",".join(items) + "\\n")
    if stop and len(log.read_text(encoding="utf-8").splitlines()) == stop:
        log.with_suffix(".stuck").touch()
        time.sleep(600)
    company = hash(tuple(map(len, items))) % 1000 / 7
    return np.array([[len(item) + company + rank / 3] for rank, item in enumerate(items)])
items = ["x" * (1 + n % 9) + str(n) for n in range(40)]
with Engine(cache) as engine:
    np.save(out, engine.measure(items, Task("kill", "s", str, len, 30, 1, compute)))
"""


def child(folder, name, *, cache, stop):
    log = folder / f"{name}.log"
    arguments = [str(folder / cache), str(log), str(folder / f"{name}.npy"), str(stop)]
    return log, subprocess.Popen([sys.executable, "-c", CHILD, *arguments], cwd=ROOT)


def wait_for(path, seconds=60):
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} did not appear"
        time.sleep(0.01)


def batches(log):
    return log.read_text(encoding="utf-8").splitlines()


def test_a_killed_run_computes_no_committed_batch_again_and_ends_with_the_same_bits(tmp_path):
    whole_log, whole = child(tmp_path, "whole", cache="whole.sqlite", stop=0)
    assert whole.wait(timeout=60) == 0
    first_log, first = child(tmp_path, "first", cache="killed.sqlite", stop=4)
    wait_for(first_log.with_suffix(".stuck"))
    first.send_signal(signal.SIGKILL)
    assert first.wait(timeout=60) == -signal.SIGKILL
    second_log, second = child(tmp_path, "second", cache="killed.sqlite", stop=0)
    assert second.wait(timeout=60) == 0
    committed, resumed = batches(first_log)[:3], batches(second_log)
    # The fourth batch was under way when the process died, so it was not committed and comes first now.
    assert resumed[0] == batches(first_log)[3]
    assert committed + resumed == batches(whole_log)
    assert np.array_equal(np.load(tmp_path / "second.npy"), np.load(tmp_path / "whole.npy"))


MODEL_CHILD = """
import sys, time
from pathlib import Path
import baselines.likelihood as module
from baselines.engine import Engine
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates
folder, cache, stuck, captions = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:]
real, calls = module.Reader.read, []
def slow(*arguments, **options):
    calls.append(1)
    if len(calls) == 4:
        stuck.touch()
        time.sleep(600)
    return real(*arguments, **options)
module.Reader.read = slow
scorer = module.Likelihood(folder, tokens_per_batch=60, device="cpu")
batch = [Candidates(text, (ImageRef.absent(),), (text, text + "!")) for text in captions]
with Engine(cache) as engine:
    scorer.score(batch, engine)
"""


@pytest.mark.slow
def test_a_killed_likelihood_run_ends_with_the_bits_of_an_uninterrupted_one(tmp_path, tiny_llama, captions):
    stuck = tmp_path / "stuck"
    arguments = [str(tiny_llama), str(tmp_path / "killed.sqlite"), str(stuck), *captions]
    running = subprocess.Popen([sys.executable, "-c", MODEL_CHILD, *arguments], cwd=ROOT)
    wait_for(stuck)
    running.send_signal(signal.SIGKILL)
    running.wait(timeout=60)
    batch = [Candidates(text, (ImageRef.absent(),), (text, text + "!")) for text in captions]
    bits, counts = [], []
    for name in ("killed", "whole"):
        scorer = Likelihood(str(tiny_llama), tokens_per_batch=60, device="cpu")
        with Engine(tmp_path / f"{name}.sqlite") as engine:
            scored = scorer.score(batch, engine)
            counts.append(engine.counts[scorer.name])
        bits.append(b"".join(one.columns[column].tobytes() for one in scored for column in scorer.columns))
    assert bits[0] == bits[1]
    resumed, whole = counts
    assert resumed.hits > 0
    assert resumed.batches == whole.batches - 3
    assert resumed.hits + resumed.computed == whole.computed
