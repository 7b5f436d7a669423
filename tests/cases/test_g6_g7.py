"""Cases G6 and G7: a cache that knows who was asked, and a resume that knows what is missing."""

import json
import shutil

import numpy as np
import pytest

from baselines.engine import Engine
from baselines.likelihood import Likelihood
from baselines.schema import Task
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates

NOWHERE = (ImageRef.absent(),)


def answering(value, *, signature, key=str):
    return Task("answers", signature, key, len, 100, 1, lambda items: np.full((len(items), 1), value))


def test_g6_cache_that_forgets_who_was_asked(tmp_path):
    rows = ["q one", "q two"]
    with Engine(tmp_path / "cache") as engine:
        assert engine.measure(rows, answering(1.0, signature="model=A")).tolist() == [[1], [1]]
        assert engine.measure(rows, answering(2.0, signature="model=B")).tolist() == [[2], [2]]
        assert engine.counts["answers"].hits == 0
        # One word of the prompt edited, then other bytes of an image under the same path: both miss.
        assert engine.measure(["q uno"], answering(3.0, signature="model=A")).tolist() == [[3]]
        by_content = {"cat.png": b"first"}
        task = answering(4.0, signature="model=A", key=lambda path: f"{path}:{by_content[path].hex()}")
        assert engine.measure(["cat.png"], task).tolist() == [[4]]
        by_content["cat.png"] = b"other"
        task = answering(5.0, signature="model=A", key=lambda path: f"{path}:{by_content[path].hex()}")
        assert engine.measure(["cat.png"], task).tolist() == [[5]]
        assert engine.counts["answers"].hits == 0
        # The same question to the same model is a hit, whatever it would answer now.
        assert engine.measure(rows, answering(9.0, signature="model=A")).tolist() == [[1], [1]]
        assert engine.counts["answers"].hits == 2


def test_g6_signature_and_key_cannot_run_into_each_other(tmp_path):
    with Engine(tmp_path / "cache") as engine:
        assert engine.measure(["bc"], answering(1.0, signature="a")).tolist() == [[1]]
        assert engine.measure(["c"], answering(2.0, signature="ab")).tolist() == [[2]]


def test_g6_two_language_models_share_one_cache(tiny_llama, tiny_gpt2, tmp_path):
    batch = [Candidates("a", NOWHERE, ("a cat", "a dog"))]

    def score(folder, cache, **options):
        with Engine(cache) as engine:
            scorer = Likelihood(str(folder), device="cpu", **options)
            [scored] = scorer.score(batch, engine)
            return scored.columns["unnorm"].tolist(), engine.counts[scorer.name]

    shared = tmp_path / "shared"
    for folder in (tiny_llama, tiny_gpt2):
        alone, _ = score(folder, tmp_path / folder.name)
        together, counts = score(folder, shared)
        assert together == alone
        assert counts.hits == 0
        assert score(folder, shared)[1].computed == 0


@pytest.mark.parametrize("options", [{"dtype": "bfloat16"}, {"end_token": True}, {"start": "a"}])
def test_g6_every_option_that_changes_a_number_misses_the_cache(tiny_llama, tmp_path, options):
    batch = [Candidates("a", NOWHERE, ("a cat",))]
    with Engine(tmp_path / "cache") as engine:
        Likelihood(str(tiny_llama), device="cpu").score(batch, engine)
        other = Likelihood(str(tiny_llama), device="cpu", name="other", **options)
        other.score(batch, engine)
        assert engine.counts["other"].hits == 0


def test_g6_options_that_only_change_speed_hit_the_cache(tiny_llama, tmp_path):
    batch = [Candidates("a", NOWHERE, ("a cat",))]
    with Engine(tmp_path / "cache") as engine:
        Likelihood(str(tiny_llama), device="cpu").score(batch, engine)
        Likelihood(str(tiny_llama), device="cpu", name="other", tokens_per_batch=5).score(batch, engine)
        assert engine.counts["other"].hits == 1


def test_g6_other_weights_or_another_configuration_under_the_same_path_miss_the_cache(tiny_llama, tiny_gpt2, tmp_path):
    folder = tmp_path / "model"
    seen = set()
    for source in (tiny_llama, tiny_gpt2):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder)
        seen.add(Likelihood(str(folder), device="cpu").signature["weights_sha256"])
    config = json.loads((folder / "config.json").read_text(encoding="utf-8")) | {"layer_norm_epsilon": 0.1}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    seen.add(Likelihood(str(folder), device="cpu").signature["weights_sha256"])
    assert len(seen) == 3


def test_g6_the_same_query_and_caption_cut_elsewhere_is_another_question(tiny_llama, tmp_path):
    # "ab" + "c" and "a" + "bc" read the same, but other tokens are scored.
    batch = [Candidates("x", NOWHERE, ("t", "at"), query="ca"), Candidates("y", NOWHERE, ("at", "t"), query="c")]
    with Engine(tmp_path / "cache") as engine:
        scorer = Likelihood(str(tiny_llama), device="cpu")
        scorer.score(batch, engine)
        assert engine.counts[scorer.name].computed == 4


def test_g7_resume_by_counting_lines(tmp_path):
    # Five rows, of which 0, 1 and 3 are known: a resume computes 2 and 4 only, and each row is there once.
    rows = [f"row {n}" for n in range(5)]
    computed = []

    def compute(items):
        computed.extend(items)
        return np.array([[float(item[-1])] for item in items])

    task = Task("rows", "s", str, len, 1000, 1, compute)
    with Engine(tmp_path / "cache") as engine:
        engine.measure([rows[0], rows[1], rows[3]], task)
    computed.clear()
    with Engine(tmp_path / "cache") as engine:
        assert engine.measure(rows, task)[:, 0].tolist() == [0, 1, 2, 3, 4]
        assert (engine.counts["rows"].hits, engine.counts["rows"].computed) == (3, 2)
    assert sorted(computed) == [rows[2], rows[4]]


def test_g7_a_failed_row_is_tried_again_and_none_is_doubled(tmp_path):
    fail = [True]
    computed = []

    def compute(items):
        if fail[0] and "row 2" in items:
            raise RuntimeError("broken")
        computed.extend(items)
        return np.zeros((len(items), 1))

    task = Task("rows", "s", str, len, 5, 1, compute)  # one row a batch
    rows = [f"row {n}" for n in range(5)]
    with Engine(tmp_path / "cache") as engine, pytest.raises(RuntimeError):
        engine.measure(rows, task)
    fail[0] = False
    with Engine(tmp_path / "cache") as engine:
        engine.measure(rows, task)
    assert computed == rows


def test_g7_a_torn_last_write_is_forgotten_not_fatal(tmp_path):
    # The write-ahead log of a process that died in the middle of a write: what was committed is still there.
    path = tmp_path / "cache"
    task = Task("rows", "s", str, len, 100, 1, lambda items: np.ones((len(items), 1)))
    engine = Engine(path)
    engine.measure(["a"], task)
    engine.measure(["b"], task)
    log = path.with_name("cache-wal").read_bytes()
    shutil.copy(path, tmp_path / "torn")
    (tmp_path / "torn-wal").write_bytes(log[: len(log) - 100])
    engine.close()
    with Engine(tmp_path / "torn") as torn:
        torn.measure(["a", "b"], task)
        assert (torn.counts["rows"].hits, torn.counts["rows"].computed) == (1, 1)
