"""The engine: what it plans, what it computes once, what it says, what it refuses."""

import math
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.engine import Engine
from baselines.engine.plan import by_size, check_partition
from baselines.schema import Task
from benchmarks.errors import InputError


class Recorder:
    """Compute the length of strings and remember every batch."""

    def __init__(self, width=1):
        self.width, self.batches = width, []

    def __call__(self, items):
        self.batches.append(list(items))
        return np.array([[len(item) + column / 8 for column in range(self.width)] for item in items])


def task(compute, *, signature="s", budget=10, width=1, label="lengths", plan=None):
    return Task(
        label=label, signature=signature, key=str, cost=len, budget=budget, width=width, compute=compute, plan=plan
    )


@pytest.fixture
def engine(tmp_path):
    with Engine(tmp_path / "cache.sqlite") as made:
        yield made


def test_rows_come_back_in_the_order_asked_and_repeats_are_computed_once(engine):
    recorder = Recorder(width=2)
    values = engine.measure(["aaa", "b", "aaa", "cc"], task(recorder, width=2))
    assert values.tolist() == [[3, 3.125], [1, 1.125], [3, 3.125], [2, 2.125]]
    assert sorted(item for batch in recorder.batches for item in batch) == ["aaa", "b", "cc"]
    counts = engine.counts["lengths"]
    assert (counts.items, counts.distinct, counts.hits, counts.computed) == (4, 3, 0, 3)


def test_batches_are_sorted_longest_first_with_ties_by_key_and_stay_within_the_budget(engine):
    recorder = Recorder()
    engine.measure(["b", "dddd", "aa", "cc", "a"], task(recorder, budget=4))
    # 4 x 1 = 4; then two of 2; then two of 1.
    assert recorder.batches == [["dddd"], ["aa", "cc"], ["a", "b"]]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60), st.integers(1, 80))
def test_a_plan_is_a_partition_within_the_budget(costs, budget):
    ordered = sorted(costs, reverse=True)
    batches = by_size(ordered, budget)
    check_partition(batches, len(ordered))
    for batch in batches:
        padded = ordered[batch[0]] * len(batch)
        assert padded <= budget or len(batch) == 1


@settings(max_examples=25, deadline=None)
@given(st.permutations(["a", "bb", "ccc", "dddd", "ee", "f"]))
def test_the_order_of_items_changes_no_batch(tmp_path_factory, items):
    recorder, again = Recorder(), Recorder()
    folder = tmp_path_factory.mktemp("order")
    with Engine(folder / "one") as engine:
        first = dict(zip(items, engine.measure(items, task(recorder, budget=4))[:, 0], strict=True))
    with Engine(folder / "two") as engine:
        ordered = sorted(items)
        second = dict(zip(ordered, engine.measure(ordered, task(again, budget=4))[:, 0], strict=True))
    assert recorder.batches == again.batches
    assert first == second


def test_a_second_call_computes_nothing_and_a_batch_that_is_half_known_only_the_rest(engine):
    recorder = Recorder()
    engine.measure(["aaa", "bbb"], task(recorder, budget=9))
    engine.measure(["ccc", "bbb", "aaa"], task(recorder, budget=9))
    assert recorder.batches == [["aaa", "bbb"], ["ccc"]]
    assert engine.counts["lengths"].hits == 2


def test_another_engine_on_the_same_file_finds_the_values(tmp_path):
    recorder = Recorder()
    for _ in range(2):
        with Engine(tmp_path / "deep" / "er" / "cache") as engine:
            values = engine.measure(["aa", "b"], task(recorder))
    assert values[:, 0].tolist() == [2, 1]
    assert len(recorder.batches) == 1


def test_values_are_kept_to_the_last_bit_also_nan_and_infinity(tmp_path):
    odd = [math.nan, -math.inf, math.pi, 5e-324, -0.0]
    compute = lambda items: np.array([odd for _ in items])  # noqa: E731
    seen = []
    for _ in range(2):
        with Engine(tmp_path / "cache") as engine:
            seen.append(engine.measure(["a"], task(compute, width=5)).tobytes())
    assert seen[0] == seen[1] == np.array(odd).tobytes()


def test_no_items_is_no_work(engine):
    values = engine.measure([], task(Recorder(), width=3))
    assert values.shape == (0, 3)
    assert engine.counts["lengths"].distinct == 0


def test_items_without_size_can_be_measured(engine):
    assert engine.measure(["", "a"], task(Recorder()))[:, 0].tolist() == [0, 1]


@pytest.mark.parametrize("shape", [(2, 1), (3, 2), (3,), (4, 1)])
def test_values_of_another_shape_are_a_fault(engine, shape):
    with pytest.raises(ValueError, match="expected values of shape"):
        engine.measure(["a", "b", "c"], task(lambda items: np.zeros(shape)))


def test_an_error_of_the_model_is_not_taken_for_a_lack_of_memory(engine):
    def broken(items):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="mat1"):
        engine.measure(["a", "b"], task(broken))
    assert engine.counts["lengths"].reductions == 0


def test_another_plan_can_be_given_and_must_be_a_partition(engine):
    recorder = Recorder()
    pairs = lambda items: [[0, 2], [1]]  # noqa: E731
    engine.measure(["a", "ccc", "bb"], task(recorder, plan=pairs))
    assert recorder.batches == [["ccc", "a"], ["bb"]]
    for wrong in ([[0]], [[0, 1], [1]], [[0, 1, 2]], [[0, 1], []]):
        with pytest.raises(ValueError, match="exactly once"):
            engine.measure(["x", "y"], task(recorder, signature="other", plan=lambda items, plan=wrong: plan))


class Line:
    def __init__(self):
        self.events = []

    def begin(self, label, total, unit):
        self.events.append(("begin", label, total, unit))

    def advance(self, units):
        self.events.append(("advance", units))

    def end(self):
        self.events.append(("end",))


def test_progress_counts_cost_and_is_closed_even_after_an_error(tmp_path):
    line = Line()

    def fails_on_b(items):
        if "b" in items:
            raise RuntimeError("broken")
        return np.zeros((len(items), 1))

    with Engine(tmp_path / "cache", line) as engine:
        engine.measure(["aaa", "aa"], task(fails_on_b, budget=3))
        assert line.events == [("begin", "lengths", 5, "items"), ("advance", 3), ("advance", 2), ("end",)]
        line.events.clear()
        with pytest.raises(RuntimeError):
            engine.measure(["aaa", "b"], task(fails_on_b, budget=3))
    assert line.events == [("begin", "lengths", 4, "items"), ("advance", 3), ("end",)]


def test_the_engine_does_not_import_torch(tmp_path):
    import subprocess
    import sys

    code = "import sys; import baselines.engine, baselines.length, baselines.constant; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_single_item_that_does_not_fit_is_named_with_a_next_step(engine):
    def never(items):
        raise MemoryError

    with pytest.raises(InputError) as caught:
        engine.measure(["aa", "b"], task(never))
    assert "single item" in caught.value.what
    assert "2 items" in caught.value.got
    assert "bfloat16" in caught.value.step


def float32_task(compute, **options):
    return Task(
        label="rows", signature="s", key=str, cost=len, budget=4, width=2, compute=compute, stored="float32", **options
    )


def test_rows_asked_for_in_float32_are_kept_and_returned_so(engine):
    def third(items):
        return np.array([[len(item) / 3, 1.0] for item in items])

    fresh = engine.measure(["aa", "b"], float32_task(third))
    again = engine.measure(["b", "aa"], float32_task(third))
    assert fresh.dtype == again.dtype == np.float32
    # float32(2/3) and float32(1/3), from the cache as at first.
    assert fresh[:, 0].tolist() == [np.float32(2 / 3), np.float32(1 / 3)] == again[::-1, 0].tolist()
    assert engine.counts["rows"].hits == 2
    with closing(sqlite3.connect(engine.cache.path)) as stored:
        assert stored.execute("SELECT DISTINCT length(value) FROM scores").fetchall() == [(2 * 4,)]


def test_the_same_signature_in_another_dtype_is_another_task(engine):
    recorder = Recorder(width=2)
    engine.measure(["aa"], task(recorder, width=2))
    narrow = engine.measure(["aa"], float32_task(recorder))
    assert recorder.batches == [["aa"], ["aa"]]
    assert narrow.dtype == np.float32
    assert engine.measure([], float32_task(recorder)).dtype == np.float32


def test_each_batch_with_something_to_compute_is_announced_once_before_the_one_in_front_is_computed(engine):
    seen = []
    recorder = Recorder(width=2)

    def compute(items):
        seen.append(("compute", list(items)))
        return recorder(items)

    engine.measure(["bb"], float32_task(compute))  # known from now on
    seen.clear()
    items = ["aaaa", "bb", "cc", "d", "e", "f", "g"]
    engine.measure(items, float32_task(compute, ahead=lambda more: seen.append(("ahead", list(more)))))
    # Budget 4: [aaaa], [bb, cc] of which bb is known, [d, e, f, g].
    assert seen == [
        ("ahead", ["aaaa"]),
        ("ahead", ["cc"]),
        ("compute", ["aaaa"]),
        ("ahead", ["d", "e", "f", "g"]),
        ("compute", ["cc"]),
        ("compute", ["d", "e", "f", "g"]),
    ]
    seen.clear()
    engine.measure(items, float32_task(compute, ahead=lambda more: seen.append(("ahead", list(more)))))
    assert seen == [], "what is known is neither announced nor computed"
