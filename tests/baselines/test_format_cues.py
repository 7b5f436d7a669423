"""Cues of form, by hand and on the released SugarCrepe."""

from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf

from audits.dataset import Dataset
from audits.scoring import score
from audits.statistics.outcomes import outcomes
from baselines.engine import Engine
from baselines.format_cues import CUES, FormatCues, final_stop, outer_blanks
from baselines.text_form import in_form
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates
from benchmarks.sugarcrepe import SugarCrepe

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "sugar-crepe" / "data"
NOWHERE = (ImageRef.absent(),)


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "cache") as engine:
        yield engine


# Per caption: outer blanks, final stop, first capital, doubled blanks, curly quotes, rule = outer + doubled - stop.
BY_HAND = {
    "A cup.": (0, 1, 1, 0, 0, -1),
    "a cup. ": (1, 1, 0, 0, 0, 0),
    "\tA  “cup”": (1, 0, 1, 1, 1, 2),
    "2 Cups..  ": (1, 1, 1, 0, 0, 0),
    "a man's": (0, 0, 0, 0, -1, 0),
    "the ‘cat' ": (1, 0, 0, 0, 0, 1),
    "A\u00a0\u00a0cup": (0, 0, 1, 1, 0, 1),
    "Élan": (0, 0, 1, 0, 0, 0),
    "...": (0, 1, 0, 0, 0, -1),
    "": (0, 0, 0, 0, 0, 0),
    "  ": (1, 0, 0, 0, 0, 1),
}


@pytest.mark.parametrize("text", BY_HAND)
def test_cues_by_hand(text):
    assert tuple(cue(text) for cue in CUES.values()) == BY_HAND[text]


def test_each_cue_stands_in_both_directions(work):
    cues = FormatCues()
    [scored] = cues.score([Candidates("a", NOWHERE, ("A cup. ", "a cup", None))], work)
    assert tuple(scored.columns) == cues.columns
    assert len(cues.columns) == 2 * len(CUES)
    for cue in CUES:
        up, down = scored.columns[f"{cue}:more"], scored.columns[f"{cue}:fewer"]
        assert np.array_equal(up, -down, equal_nan=True)
    assert scored.columns["final_stop:more"][0, :2].tolist() == [1, 0]
    assert scored.notes == {(0, 2): "no text"}


def test_normalised_text_has_no_cue_left(work):
    formed = in_form(FormatCues(), "normalised", "baseline.format_cues")
    [scored] = formed.score([Candidates("a", NOWHERE, tuple(text for text in BY_HAND if text))], work)
    assert all((values == 0).all() for values in scored.columns.values())


@pytest.mark.parametrize(
    ("cues", "said"), [(["final_stops"], "did you mean final_stop"), ([], "at least one"), (["rule", "rule"], "once")]
)
def test_wrong_cues_are_named(cues, said):
    with pytest.raises(InputError, match=said):
        FormatCues(cues)


@pytest.fixture(scope="module")
def sugarcrepe():
    if not DATA.is_dir():
        pytest.skip("sugar-crepe/data is not beside the repository")
    with initialize_config_module("conf", version_base=None):
        card = compose("run", ["benchmark=sugarcrepe"]).benchmark.card
    return Dataset(SugarCrepe(OmegaConf.to_container(card, resolve=True), DATA))


@pytest.mark.real_data
def test_sugarcrepe_as_counted(sugarcrepe):
    positives, foils = zip(*(one.captions for one in sugarcrepe), strict=True)
    assert (sum(map(outer_blanks, positives)), sum(map(outer_blanks, foils))) == (1074, 0)
    assert (sum(map(final_stop, positives)), sum(map(final_stop, foils))) == (6105, 7489)


@pytest.mark.real_data
def test_the_rule_reaches_its_reference_value(sugarcrepe, work):
    roster = sugarcrepe.roster("sugarcrepe")
    cells = score(FormatCues(["rule"]), sugarcrepe, work, seed=42, chunk=20000)
    found = outcomes(cells.grids("rule:more", roster.shapes), roster.golds, sees={"text"})["accuracy"]
    assert round(float(found.credit.mean()), 4) == 0.6482
