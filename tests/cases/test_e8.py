"""Case E8: classifier labels in another order. Judges of grammar and plausibility prove what their numbers mean."""

import pytest

from baselines import acceptability, plausibility
from baselines.acceptability import Acceptability
from baselines.engine import Engine
from baselines.language.judges import ALLOWED, refuse_misjudged
from baselines.plausibility import Plausibility
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates
from tests.small_judges import save_classifier, save_vera

PAIR = [Candidates("a", (ImageRef.absent(),), ("The cat sleeps.", "Cat the the sleeps."))]


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "cache") as engine:
        yield engine


@pytest.fixture(scope="module")
def turned(tmp_path_factory):
    """A classifier with generic names whose index 0 means acceptable."""
    return save_classifier(tmp_path_factory.mktemp("turned") / "turned", acceptability.PROBE, acceptable=0)


def test_e8_classifier_labels_in_another_order(turned, work):
    with pytest.raises(InputError, match="the start-up probe failed") as caught:
        Acceptability(str(turned), 1, device="cpu").score(PAIR, work)
    said = str(caught.value)
    assert "8 of 8 pairs wrong" in said
    assert "'Cat the the sleeps.' (2)" in said
    assert "`acceptable` is 1 (LABEL_1) now" in said


def test_e8_right_after_the_fix(turned, work):
    [scored] = Acceptability(str(turned), 0, device="cpu").score(PAIR, work)
    good, broken = scored.columns[""][0]
    assert good > broken


def test_e8_no_caption_is_judged_before_the_probe_has_passed(turned, work):
    scorer = Acceptability(str(turned), 1, device="cpu")
    for _ in range(2):
        with pytest.raises(InputError, match="probe failed"):
            scorer.score(PAIR, work)
    assert scorer.name not in work.counts


def test_e8_the_label_has_no_default(turned):
    with pytest.raises(TypeError, match="acceptable"):
        Acceptability(str(turned))


def test_e8_a_plausibility_judge_turned_round_is_stopped(tmp_path, work):
    folder = save_vera(tmp_path / "turned", plausibility.PROBE, turned=True)
    with pytest.raises(InputError, match="the start-up probe failed"):
        Plausibility(str(folder), dtype="float32", device="cpu").score(PAIR, work)


def test_e8_a_judge_that_cannot_tell_is_stopped_too():
    # All equal: a tie ranks nothing right.
    values = {text: 0.0 for pair in acceptability.PROBE for text in pair}
    with pytest.raises(InputError, match="8 of 8 pairs wrong"):
        refuse_misjudged(acceptability.PROBE, values, where="x", step="y")


def test_e8_a_single_slip_is_allowed_and_two_are_not():
    values = {text: float(place == 0) for pair in acceptability.PROBE for place, text in enumerate(pair)}
    assert ALLOWED == 1
    for good, bad in acceptability.PROBE[:1]:
        values[good], values[bad] = 0.0, 1.0
    refuse_misjudged(acceptability.PROBE, values, where="x", step="y")
    values[acceptability.PROBE[1][0]] = float("nan")
    with pytest.raises(InputError, match="2 of 8 pairs wrong"):
        refuse_misjudged(acceptability.PROBE, values, where="x", step="y")


@pytest.mark.parametrize("probe", [acceptability.PROBE, plausibility.PROBE], ids=["grammar", "plausibility"])
def test_e8_the_probe_cannot_be_passed_by_length(probe):
    # Of two texts, the good one is neither always the shorter nor always the longer one.
    longer = sum(len(good) > len(bad) for good, bad in probe)
    shorter = sum(len(good) < len(bad) for good, bad in probe)
    assert longer < len(probe) - ALLOWED
    assert shorter < len(probe) - ALLOWED
    assert len({text for pair in probe for text in pair}) == 2 * len(probe)
