"""`dtype: mixed`: what rounding could decide otherwise is read again in float32, and nothing else needs to be."""

from itertools import combinations

import numpy as np
import pytest

from baselines.engine import Engine
from baselines.language.decisions import PAIRS, Entry, bound, is_close, sample, settle
from baselines.language.reading import Reader
from baselines.language.rounding import Way
from baselines.likelihood import Likelihood
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates


def entry(key, scored=4, lengths=(4, 1, 20, 20)):
    return Entry(key, scored, lengths)


def eight(key):
    return Entry(key, 8, (8, 1, 8, 8))


def test_margins_within_their_bound_are_doubted():
    # 8 tokens and 8 tokens: scale sqrt(8 + 8) = 4 in nats; per token 4 / 8 = .5, and the margins scale alike.
    pair = [eight("a"), eight("b")]
    assert is_close(pair, {"a": -10.0, "b": -12.0}, 0.5)  # 2 <= .5 x 4
    assert not is_close(pair, {"a": -10.0, "b": -12.1}, 0.5)


def test_any_column_can_bring_a_comparison_in():
    # Sums -8 and -16 are far apart; per token both are -2: 8 / 4 and 16 / 8.
    far = [entry("a"), entry("b", scored=8, lengths=(8, 1, 40, 41))]
    assert is_close(far, {"a": -8.0, "b": -16.0}, 0.01)


def test_of_many_captions_two_that_are_near_are_enough():
    group = [entry(name) for name in "abcd"]
    totals = {"a": -10.0, "b": -30.0, "c": -30.5, "d": -50.0}
    assert is_close(group, totals, 0.2)
    assert not is_close([one for one in group if one.key != "c"], totals, 0.2)


def test_equal_captions_need_no_second_reading():
    same = [entry("a"), entry("a")]
    assert not is_close(same, {"a": -10.0}, 1.0)
    assert sample([same, [entry("b")]]) == []


def test_a_sum_that_is_not_finite_is_read_again_whatever_stands_beside_it():
    assert is_close([entry("a")], {"a": np.nan}, 0.0)
    assert is_close([entry("a"), entry("b")], {"a": -np.inf, "b": -900.0}, 0.1)


def test_the_bound_is_half_above_the_largest_error_of_a_margin_over_its_scale():
    # Columns 4, 1, 20, 20 with 4 tokens each: scales sqrt(8) / length. Sums -10, -12 against -10.1, -12.3 in float32:
    # the margin 2 should be 2.2, an error of .2 / length, so .2 / sqrt(8) in every column. Shared errors cancel.
    pair, rough = (entry("a"), entry("b")), {"a": -10.0, "b": -12.0}
    assert bound([pair], rough, {"a": -10.1, "b": -12.3}) == pytest.approx(1.5 * 0.2 / np.sqrt(8))
    assert bound([pair], rough, {"a": -15.0, "b": -17.0}) == pytest.approx(0, abs=1e-12)
    assert bound([], {}, {}) == 0
    assert bound([pair], rough, {"a": -10.1}) == 0  # of one caption alone there is no margin


def test_an_error_that_cannot_be_told_doubts_everything():
    pair, rough = (entry("a"), entry("b")), {"a": -10.0, "b": -1000.0}
    limit = bound([pair], rough, {"a": np.nan, "b": -1.0})
    assert limit == np.inf
    assert is_close(pair, rough, limit)
    assert bound([pair], {"a": np.nan, "b": -1.0}, {"a": -10.0, "b": -1.0}) == 0  # that one is doubted in any case


def test_the_sample_is_spread_over_lengths_and_the_same_in_any_order():
    groups = [[entry(f"{n}{side}", 1 + n % 40, (1 + n % 40, 1, 9, 9)) for side in "abc"] for n in range(400)]
    pairs = sample(groups)
    assert pairs == sample([group[::-1] for group in groups[::-1]])
    assert len(pairs) == len(set(pairs)) == PAIRS
    assert {pair[0].scored for pair in pairs} >= {1, 20, 40}
    assert len(sample(groups[:5])) == 5


def test_reading_goes_on_until_the_evidence_doubts_nothing_new():
    # Each pair: 8 tokens each, scale 4 in nats. The first and the last by key are sampled; n's margin in nats is 4 n.
    groups = [[eight(f"{n}a"), eight(f"{n}b")] for n in range(5)]
    rough = {key: total for n in range(5) for key, total in ((f"{n}a", -10.0), (f"{n}b", -10.0 - 4 * n))}
    # Errors of margins over scale: .1 in the sampled ones (limit .15), .8 in pair 0, so 1.2 then: pair 1 is next, and
    # its error 1.4 gives 2.1, which doubts pair 2; its error .2 changes nothing, and pair 3 stays as it is.
    errors = {0: 0.8, 1: 1.4, 2: 0.2, 3: 0.1, 4: 0.1}
    asked = []

    def read(keys):
        asked.append(sorted({int(key[0]) for key in keys}))
        return {key: rough[key] + (4 * errors[int(key[0])] if key.endswith("b") else 0) for key in keys}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("baselines.language.decisions.PAIRS", 2)
        found = settle(groups, rough, read)
    assert asked == [[0, 4], [1], [2]]
    assert found.limit == pytest.approx(1.5 * 1.4)
    assert {int(key[0]) for key in found.exact} == {0, 1, 2, 4}


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

    def noisy(reader, rows, way=Way.EXACT):
        values = real(reader, rows, way)
        # An error of up to .5 per sqrt(token), by content, so that it is the same in any company.
        turned = [np.sin(sum(row.ids)) * 0.5 * np.sqrt(row.scored) if way is not Way.EXACT else 0.0 for row in rows]
        return values + turned

    monkeypatch.setattr(Reader, "read", noisy)
    _, exact, _ = scored(tiny_llama, pairs, tmp_path / "exact", "float32")
    scorer, mixed, counts = scored(tiny_llama, pairs, tmp_path / "mixed", "mixed")
    monkeypatch.setattr("baselines.language.decisions.is_close", lambda group, totals, limit: False)
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
    assert set(scorer.facts) == {
        "packing",
        "read again in float32",
        "distinct captions",
        "products",
        "bound of rounding",
    }


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
