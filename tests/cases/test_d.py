"""Area D: likelihood scoring. Stub models with a known table of probabilities; one test per case."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from baselines.engine import Engine
from baselines.language.rows import Layout
from baselines.language.scoring import log_likelihoods
from baselines.likelihood import Likelihood
from baselines.schema import Task
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates

CPU = torch.device("cpu")
START, DOGS, UNICORNS, RUN, END, REST = range(6)
VOCABULARY = 6
NOWHERE = (ImageRef.absent(),)


class Table:
    """A model whose log-probability of a token is `rule(previous token, position of the token, token)`.

    What the rule leaves of the probability goes to the token REST, so that each distribution sums to 1.
    """

    def __init__(self, rule):
        self.rule = rule

    def __call__(self, input_ids):
        rows = [[self._logits(int(token), place) for place, token in enumerate(row)] for row in input_ids]
        return SimpleNamespace(logits=torch.tensor(rows, dtype=torch.float32))

    def _logits(self, previous, place):
        known = [self.rule(previous, place, token) for token in range(VOCABULARY - 1)]
        return [*known, math.log(1 - sum(math.exp(value) for value in known))]


def sums(rule, rows):
    return log_likelihoods(Table(rule), rows, CPU).tolist()


def test_d1_first_token_not_scored():
    # P(dogs | start) = e^-1, P(unicorns | start) = e^-6, P(run | any) = e^-2.
    def rule(previous, place, token):
        if token == RUN:
            return -2.0
        return {DOGS: -1.0, UNICORNS: -6.0}.get(token, -9.0) if previous == START else -9.0

    rows = [Layout(START).row([], ids) for ids in ([DOGS, RUN], [UNICORNS, RUN])]
    assert sums(rule, rows) == pytest.approx([-3, -8], abs=1e-5)
    assert [row.scored for row in rows] == [2, 2]


def test_d1_a_model_without_a_start_token_gets_a_declared_stand_in(tiny_gpt2):
    assert Likelihood(str(tiny_gpt2), device="cpu").signature["start"] == "</s> (stand-in)"


def test_d1_a_caption_of_one_token_has_a_score():
    [value] = sums(lambda previous, place, token: -1.5 if token == DOGS else -9.0, [Layout(START).row([], [DOGS])])
    assert value == pytest.approx(-1.5, abs=1e-5)


def test_d2_end_token_scored_or_not(tiny_llama):
    # Sums without the end token: dogs -4.0, unicorns -4.5; end tokens after them: -3.0 and -0.5.
    def rule(previous, place, token):
        if token == END:
            return {DOGS: -3.0, UNICORNS: -0.5}.get(previous, -9.0)
        return {DOGS: -4.0, UNICORNS: -4.5}.get(token, -9.0) if previous == START else -9.0

    captions = [[DOGS], [UNICORNS]]
    off = sums(rule, [Layout(START).row([], ids) for ids in captions])
    on = sums(rule, [Layout(START, end=END).row([], ids) for ids in captions])
    assert off == pytest.approx([-4.0, -4.5], abs=1e-5)
    assert on == pytest.approx([-7.0, -5.0], abs=1e-5)
    signatures = [Likelihood(str(tiny_llama), end_token=switch).signature["end"] for switch in (False, True)]
    assert signatures == ["not scored", "</s>"]


def test_d3_two_start_tokens():
    # A tokeniser that prepends id 1, or a template that begins with the start mark: ids start 1, 7, not 1, 1, 7.
    layout = Layout(start=1)
    assert layout.row([], [1, 7, 8]).ids == (1, 7, 8)
    assert layout.row([1, 7], [8]).ids == (1, 7, 8)
    assert layout.row([7], [8]).ids == (1, 7, 8)
    assert layout.row([], [1, 7, 8]).scored == 2


def test_d3_a_start_mark_inside_a_caption_is_a_fault():
    with pytest.raises(ValueError, match="inside a tokenised caption"):
        Layout(start=1).row([], [7, 1, 8])


def test_d3_a_start_token_that_is_a_word_may_be_said_by_a_caption():
    row = Layout(start=1, start_is_mark=False).row([], [1, 7, 1])
    assert row.ids == (1, 1, 7, 1)
    assert row.scored == 3


def test_d3_a_template_with_the_start_mark_gets_no_second_one(tiny_llama, tmp_path):
    scorer = Likelihood(str(tiny_llama), device="cpu")
    with Engine(tmp_path / "cache") as engine:
        plain, marked = scorer.score(
            [Candidates(name, NOWHERE, ("a cat",), query) for name, query in (("a", "Q: "), ("b", "<s>Q: "))], engine
        )
    assert plain.columns["unnorm"].tolist() == marked.columns["unnorm"].tolist()


def test_d4_padding_counted_as_text():
    # Every token is worth -1; captions of 3 and 7 tokens in one batch: -3 and -7, not -7 and -7.
    rows = [Layout(START).row([], [DOGS] * 3), Layout(START).row([], [DOGS] * 7)]
    rule = lambda previous, place, token: -1.0 if token == DOGS else -3.0  # noqa: E731
    assert sums(rule, rows) == pytest.approx([-3, -7], abs=1e-5)
    assert sums(rule, rows[::-1]) == pytest.approx([-7, -3], abs=1e-5)


def test_d5_left_padding_shifts_positions():
    # The log-probability of a token is minus its position 0, 1, ...: captions of 2 and 4 tokens are worth
    # 0 - 1 = -1 and 0 - 1 - 2 - 3 = -6 wherever they stand in a batch. (Position 0 is made -1e-6: e^0 leaves no rest.)
    rule = lambda previous, place, token: -max(place, 1e-6) if token == DOGS else -20.0  # noqa: E731
    rows = [Layout(START).row([], [DOGS] * 2), Layout(START).row([], [DOGS] * 4)]
    assert sums(rule, rows) == pytest.approx([-1, -6], abs=1e-4)


def test_d5_learned_positions_batched_equal_single(tiny_gpt2, tmp_path, captions):
    scores = []
    for budget in (1, 4096):
        with Engine(tmp_path / str(budget)) as engine:
            scorer = Likelihood(str(tiny_gpt2), device="cpu", tokens_per_batch=budget)
            [scored] = scorer.score([Candidates("a", NOWHERE, tuple(captions))], engine)
            scores.append(scored.columns["unnorm"])
    assert np.allclose(*scores, atol=1e-4)


def test_d8_length_normalisation(tiny_llama, tmp_path, monkeypatch):
    # Sums -12 over 4 tokens and -9 over 2: raw picks the second, per token -3.0 against -4.5 the first.
    # "café" is 4 characters and 5 bytes.
    totals = {4: -12.0, 2: -9.0}
    monkeypatch.setattr(
        "baselines.language.reading.Reader.read",
        lambda reader, rows, way: np.array([totals[row.scored] for row in rows]),
    )
    scorer = Likelihood(str(tiny_llama), device="cpu")
    ids = {"café": [5, 6, 7, 8], "ab": [5, 6]}
    monkeypatch.setattr(scorer._tokenizer, "encode", lambda texts: [ids[text] for text in texts])
    with Engine(tmp_path / "cache") as engine:
        [scored] = scorer.score([Candidates("a", NOWHERE, ("café", "ab"))], engine)
    assert scored.columns["unnorm"].tolist() == [[-12, -9]]
    assert scored.columns["norm"].tolist() == [[-3, -4.5]]
    assert scored.columns["char"].tolist() == [[-12 / 4, -9 / 2]]
    assert scored.columns["byte"].tolist() == [[-12 / 5, -9 / 2]]
    assert scored.tokens.tolist() == [[4, 2]]


def test_the_query_conditions_and_is_never_scored():
    # After RUN a token is worth -1, after START -2: the query RUN changes the condition and adds nothing.
    def rule(previous, place, token):
        return {START: -2.0, RUN: -1.0}.get(previous, -3.0) if token == DOGS else -9.0

    with_query, without = Layout(START).row([RUN], [DOGS]), Layout(START).row([], [DOGS])
    assert sums(rule, [with_query, without]) == pytest.approx([-1, -2], abs=1e-5)
    assert with_query.scored == 1


def test_the_softmax_is_taken_in_float32_whatever_the_dtype():
    # 1000 equal bfloat16 logits of 8: log(1/1000) = -6.9078; a sum in bfloat16 stops growing at 256 terms.
    model = lambda input_ids: SimpleNamespace(logits=torch.full((*input_ids.shape, 1000), 8.0, dtype=torch.bfloat16))  # noqa: E731
    [value] = log_likelihoods(model, [Layout(START).row([], [DOGS, RUN])], CPU)
    assert value == pytest.approx(2 * math.log(1 / 1000), abs=1e-5)


def test_long_rows_are_summed_across_the_parts_in_which_logits_are_taken():
    rule = lambda previous, place, token: -1.0 if token == DOGS else -3.0  # noqa: E731
    rows = [Layout(START).row([], [DOGS] * length) for length in (300, 1, 257)]
    assert sums(rule, rows) == pytest.approx([-300, -1, -257], rel=1e-5)


class Backend:
    """Compute the length of strings; out of memory above two at once."""

    def __init__(self, error):
        self.error, self.calls, self.answered = error, [], []

    def __call__(self, items):
        self.calls.append(len(items))
        if len(items) > 2:
            raise self.error
        self.answered += items
        return np.array([[float(len(item))] for item in items])


class OutOfMemoryError(RuntimeError):
    """As torch names it."""


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OutOfMemoryError("CUDA"),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"),
        np._core._exceptions._ArrayMemoryError((1, 2), np.dtype("f8")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_d13_out_of_memory_in_the_middle(tmp_path, caplog, error):
    backend = Backend(error)
    items = ["aaa", "bbb", "ccc", "ddd", "eee"]
    task = Task("rows", "s", str, len, 1000, 1, backend)
    with Engine(tmp_path / "cache") as engine:
        values = engine.measure(items, task)
        assert engine.counts["rows"].reductions == 1
        assert engine.counts["rows"].batches == 1
    assert values[:, 0].tolist() == [3] * 5
    assert sorted(backend.answered) == items  # none skipped, none doubled
    assert backend.calls == [5, 2, 2, 1]
    assert sum("memory ran out" in record.message for record in caplog.records) == 1


def test_d13_later_batches_start_at_the_size_that_fitted(tmp_path):
    backend = Backend(MemoryError())
    items = [f"{n:03d}" for n in range(10)]
    with Engine(tmp_path / "cache") as engine:
        engine.measure(items, Task("rows", "s", str, len, 15, 1, backend))  # two batches of five
        assert engine.counts["rows"].reductions == 1
    assert backend.calls == [5, 2, 2, 1, 2, 2, 1]
    assert sorted(backend.answered) == items


def test_d13_memory_that_shrinks_is_met_again_and_again(tmp_path):
    calls = []

    def shrinking(items):
        calls.append(len(items))
        if len(items) > 1:
            raise MemoryError
        return np.array([[float(len(item))] for item in items])

    with Engine(tmp_path / "cache") as engine:
        engine.measure(["aa", "bb", "cc", "dd"], Task("rows", "s", str, len, 1000, 1, shrinking))
        assert engine.counts["rows"].reductions == 2
    assert calls == [4, 2, 1, 1, 1, 1]


def test_d13_a_single_row_that_does_not_fit_ends_the_run_with_a_next_step(tmp_path):
    backend = Backend(MemoryError())
    backend.__class__ = type(
        "Never", (Backend,), {"__call__": lambda self, items: (_ for _ in ()).throw(MemoryError())}
    )
    with Engine(tmp_path / "cache") as engine, pytest.raises(InputError, match="single item"):
        engine.measure(["aa", "bb", "cc"], Task("rows", "s", str, len, 1000, 1, backend))
    with Engine(tmp_path / "cache") as engine:  # and nothing of the failed batch was kept
        engine.measure(["aa", "bb"], Task("rows", "s", str, len, 1000, 1, Backend(MemoryError())))
        assert engine.counts["rows"].hits == 0
