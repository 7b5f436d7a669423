"""`dtype: mixed`: what rounding could decide otherwise is read again in float32, and nothing else needs to be."""

from itertools import combinations

import numpy as np
import pytest

from baselines.engine import Engine
from baselines.language.decisions import PAIRS, Entry, bound, close, sample
from baselines.language.reading import Reader
from baselines.likelihood import Likelihood
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates


def entry(key, total, scored=4, lengths=(4, 1, 20, 20)):
    return Entry(key, total, scored, lengths)


def test_margins_within_their_bound_are_doubted():
    # 8 tokens and 8 tokens: scale sqrt(8 + 8) = 4 in nats; per token 4 / 8 = .5, and the margins scale alike.
    pair = lambda margin: [entry("a", -10.0, 8, (8, 1, 8, 8)), entry("b", -10.0 - margin, 8, (8, 1, 8, 8))]  # noqa: E731
    assert close([pair(2.0)], 0.5) == {"a", "b"}  # 2 <= .5 x 4
    assert close([pair(2.1)], 0.5) == set()


def test_any_column_can_bring_a_comparison_in():
    # Sums -8 and -16 are far apart; per token both are -2: 8 / 4 and 16 / 8.
    far = [entry("a", -8.0), entry("b", -16.0, scored=8, lengths=(8, 1, 40, 41))]
    assert close([far], 0.01) == {"a", "b"}


def test_of_many_captions_only_those_that_are_near_another_are_doubted():
    group = [entry("a", -10.0), entry("b", -30.0), entry("c", -30.5), entry("d", -50.0)]
    assert close([group], 0.2) == {"b", "c"}
    assert close([group[:1], group[1:2]], 0.2) == set()  # captions of different sets are never compared


def test_equal_captions_need_no_second_reading():
    assert close([[entry("a", -10.0), entry("a", -10.0)]], 1.0) == set()
    assert sample([[entry("a", -10.0), entry("a", -10.0)], [entry("b", -1.0)]]) == []


def test_the_bound_is_a_quarter_above_the_largest_error_of_a_margin_over_its_scale():
    # Columns 4, 1, 20, 20 with 4 tokens each: scales sqrt(8) / length. Sums -10, -12 against -10.1, -12.3 in float32:
    # the margin 2 should be 2.2, an error of .2 / length, so .2 / sqrt(8) in every column. Shared errors cancel.
    pair = (entry("a", -10.0), entry("b", -12.0))
    assert bound([pair], {"a": -10.1, "b": -12.3}) == pytest.approx(1.25 * 0.2 / np.sqrt(8))
    assert bound([pair], {"a": -15.0, "b": -17.0}) == pytest.approx(0, abs=1e-12)
    assert bound([], {}) == 0
    assert bound([pair], {"a": -10.1}) == 0  # of one caption alone there is no margin


def test_an_error_that_cannot_be_told_doubts_everything():
    limit = bound([(entry("a", -10.0), entry("b", -12.0))], {"a": np.nan, "b": -1.0})
    assert limit == np.inf
    assert close([[entry("a", -10.0), entry("b", -1000.0)]], limit) == {"a", "b"}


def test_the_sample_is_spread_over_lengths_and_the_same_in_any_order():
    groups = [[entry(f"{n}{side}", -1.0, 1 + n % 40, (1 + n % 40, 1, 9, 9)) for side in "abc"] for n in range(400)]
    pairs = sample(groups)
    assert pairs == sample([group[::-1] for group in groups[::-1]])
    assert len(pairs) == len(set(pairs)) == PAIRS
    assert {pair[0].scored for pair in pairs} == set(range(1, 41))
    assert len(sample(groups[:5])) == 5


@pytest.fixture
def pairs(captions):
    return [Candidates(f"{a}|{b}", (ImageRef.absent(),), (a, b)) for a, b in combinations(captions[:30], 2)]


def scored(folder, pairs, path, dtype):
    scorer = Likelihood(str(folder), device="cpu", dtype=dtype, tokens_per_batch=100)
    with Engine(path) as engine:
        return scorer, scorer.score(pairs, engine), {key: value.computed for key, value in engine.counts.items()}


def decisions(results):
    """The sign of the first caption's margin, per column."""
    return [{name: np.sign(values[0, 0] - values[0, 1]) for name, values in one.columns.items()} for one in results]


def test_every_decision_is_that_of_float32_on_a_model_that_rounds_badly(tiny_llama, pairs, tmp_path, monkeypatch):
    monkeypatch.setattr("baselines.language.decisions.PAIRS", 5)
    real = Reader.read

    def noisy(reader, rows, *, rounded=False):
        values = real(reader, rows, rounded=rounded)
        # An error of up to .5 per sqrt(token), by content, so that it is the same in any company.
        turned = [np.sin(sum(row.ids)) * 0.5 * np.sqrt(row.scored) if rounded else 0.0 for row in rows]
        return values + turned

    monkeypatch.setattr(Reader, "read", noisy)
    _, exact, _ = scored(tiny_llama, pairs, tmp_path / "exact", "float32")
    scorer, mixed, counts = scored(tiny_llama, pairs, tmp_path / "mixed", "mixed")
    monkeypatch.setattr("baselines.likelihood.close", lambda groups, limit: set())
    _, rough, _ = scored(tiny_llama, pairs, tmp_path / "rough", "mixed")
    assert decisions(mixed) == decisions(exact)
    assert decisions(rough) != decisions(exact)  # the noise does turn decisions where nothing is read again
    assert 0 < scorer.facts["read again in float32"] <= scorer.facts["distinct captions"] == 30
    [(_, first), (_, second)] = sorted(counts.items())
    assert (first, second) == (30, len(set(_exact_keys(scorer, pairs, mixed, exact))))


def _exact_keys(scorer, pairs, mixed, exact):
    """Captions whose value is the one of float32, to the last bits."""
    for item, one, other in zip(pairs, mixed, exact, strict=True):
        for place, text in enumerate(item.captions):
            if np.isclose(one.columns["unnorm"][0, place], other.columns["unnorm"][0, place], rtol=0, atol=1e-5):
                yield text


def test_without_noise_decisions_agree_too_and_the_values_are_near(tiny_llama, pairs, tmp_path):
    _, exact, _ = scored(tiny_llama, pairs, tmp_path / "exact", "float32")
    scorer, mixed, _ = scored(tiny_llama, pairs, tmp_path / "mixed", "mixed")
    assert decisions(mixed) == decisions(exact)
    for one, other in zip(mixed, exact, strict=True):
        assert np.allclose(one.columns["norm"], other.columns["norm"], atol=0.1)
    assert set(scorer.facts) == {"packing", "read again in float32", "distinct captions", "bound of rounding"}


def test_float32_values_are_taken_from_a_run_in_float32(tiny_llama, pairs, tmp_path):
    scored(tiny_llama, pairs, tmp_path / "cache", "float32")
    _, _, counts = scored(tiny_llama, pairs, tmp_path / "cache", "mixed")
    assert sorted(counts.values()) == [0, 30]


def test_the_signature_of_mixed_is_its_own_and_says_how_doubts_are_met(tiny_llama):
    kinds = [Likelihood(str(tiny_llama), dtype=dtype).signature["dtype"] for dtype in ("float32", "bfloat16", "mixed")]
    assert kinds[:2] == ["float32", "bfloat16"]
    assert kinds[2].startswith("bfloat16 products")
    assert "float32" in kinds[2]


def test_facts_reach_the_record_and_the_report(tiny_llama, tmp_path, capsys):
    import json

    from audits.cli import main

    (tmp_path / "mine.csv").write_text("caption,foil\na cat sits,a cat sit\na dog,a table\n", encoding="utf-8")
    out = tmp_path / "out"
    words = [
        "run",
        "benchmark=table",
        f"benchmark.path={tmp_path / 'mine.csv'}",
        "baseline=likelihood",
        f"baseline.likelihood.model={tiny_llama}",
        "baseline.likelihood.dtype=mixed",
        f"paths.cache={tmp_path / 'cache'}",
        f"out={out}",
    ]
    assert main(words) == 0
    record = json.loads((out / "record.json").read_text(encoding="utf-8"))
    [facts] = [one["facts"] for one in record["contestants"].values()]
    assert facts["packing"] == "prefix trees"
    assert facts["distinct captions"] == 4
    shown = (out / "report.md").read_text(encoding="utf-8")
    assert "packing: prefix trees" in shown.replace("\\", "")
    assert "read again in float32: " in shown
