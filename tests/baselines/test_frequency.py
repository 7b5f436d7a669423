"""Mean log-frequency against wordfreq asked word by word."""

import math

import numpy as np
import pytest
import wordfreq

from baselines.engine import Engine
from baselines.frequency import Frequency
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates

NOWHERE = (ImageRef.absent(),)


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "cache") as engine:
        yield engine


def means(scorer, work, *texts):
    [scored] = scorer.score([Candidates("a", NOWHERE, texts)], work)
    assert np.array_equal(scored.columns["mean:higher"], -scored.columns["mean:lower"], equal_nan=True)
    return scored.columns["mean:higher"][0], scored.notes


def test_the_mean_by_hand(work):
    values, notes = means(Frequency(), work, "The cat, the xqzzk!")
    the, cat = wordfreq.word_frequency("the", "en", "large"), wordfreq.word_frequency("cat", "en", "large")
    # Four words; the unknown one counts 1e-8, ln 1e-8 = -18.4207.
    assert math.isclose(values[0], (2 * math.log(the) + math.log(cat) - 18.420680743952367) / 4, rel_tol=1e-12)
    assert notes == {}


def test_the_same_words_in_another_order_tie_exactly(work):
    words = ["a", "very", "large", "dog", "sits", "between", "two", "tiny", "purple", "umbrellas", "near", "7", "boats"]
    rng = np.random.default_rng(1)
    values, _ = means(Frequency(), work, *(" ".join(rng.permutation(words)) for _ in range(50)))
    assert len(set(values.tolist())) == 1


def test_rarer_words_score_lower_and_case_and_stops_do_not_matter(work):
    values, _ = means(Frequency(), work, "a dog", "a chinchilla", "A DOG.")
    assert values[0] > values[1]
    assert values[0] == values[2]


def test_a_caption_without_words_has_no_score_and_a_reason(work):
    values, notes = means(Frequency(), work, "a", "", "...", None)
    assert np.isnan(values).tolist() == [False, True, True, True]
    assert notes == {(0, 1): "no words", (0, 2): "no words", (0, 3): "no text"}


def test_the_list_and_its_floor_are_in_the_signature(work):
    large, small = Frequency(), Frequency(wordlist="small")
    assert (large.signature["unknown"], small.signature["unknown"]) == ("1e-08", "1e-06")
    assert means(large, work, "xqzzk")[0][0] == pytest.approx(math.log(1e-8))
    assert means(small, work, "xqzzk")[0][0] == pytest.approx(math.log(1e-6))


@pytest.mark.parametrize(
    ("options", "said"), [({"language": "eng"}, "did you mean en"), ({"wordlist": "big"}, "large, small")]
)
def test_wrong_lists_are_named(options, said):
    with pytest.raises(InputError, match=said):
        Frequency(**options)
