"""Case G3 for flags, scores and any model: what is unscored is neither right nor wrong."""

import numpy as np
import pytest

from audits.dataset import Dataset
from audits.load import Contestant
from audits.measured import from_cells, from_recalled
from audits.models.recorded import recorded
from audits.models.recorded.joining import targets
from audits.models.recorded.sheet import cells
from baselines.schema import BOTH
from benchmarks.images import ImageRef
from benchmarks.schema import Instance


class Ten:
    """Ten instances, of which nothing but the gold relation matters here."""

    def __init__(self, gold):
        self.gold = np.array(gold, dtype=bool)

    def __iter__(self):
        rows, columns = self.gold.shape
        images = tuple(ImageRef(f"{number}.jpg") for number in range(rows))
        captions = tuple(f"text {number}" for number in range(columns))
        return (Instance(f"q{key}", images, captions, self.gold) for key in range(10))


PAIR, SQUARE = [[True, False]], np.eye(2)
RIGHT, WRONG, OPEN = 5, 1, 4  # 5/6 of the answered; (5 + 0)/10 and (5 + 4)/10 over everything asked


def measure(folder, gold, text):
    path = folder / "a.csv"
    path.write_text(text, encoding="utf-8")
    [run] = recorded({"m": {"path": str(path)}})
    dataset = Dataset(Ten(gold), limit=None, excluded=frozenset())
    return from_recalled(
        Contestant("model", run), run.recall(dataset), dataset.roster("t"), tolerance=1e-12, seconds=0.0
    )


def lines(header, right, wrong, left):
    cells = [right] * RIGHT + [wrong] * WRONG + [left] * OPEN
    return "\n".join([f"id,{header}", *(f"q{key},{cell}" for key, cell in enumerate(cells))]) + "\n"


LAYOUTS = {
    "flags": (PAIR, lines("correct", 1, 0, ""), "accuracy"),
    "scores": (PAIR, lines("positive_score,negative_score", "0.9,0.1", "0.1,0.9", ","), "accuracy"),
    "half of the scores": (PAIR, lines("positive_score,negative_score", "0.9,0.1", "0.1,0.9", "0.9,"), "accuracy"),
    "infinite scores": (PAIR, lines("positive_score,negative_score", "0.9,0.1", "0.1,0.9", "inf,0"), "accuracy"),
    "answers": (PAIR, lines("order,response", "ab,A", "ab,B", "ab,"), "accuracy"),
    "flags of 2x2": (SQUARE, lines("group", 1, 0, ""), "group"),
    "scores of 2x2": (SQUARE, lines("c0_i0,c1_i0,c0_i1,c1_i1", "1,0,0,1", "0,1,1,0", ",,,"), "group"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_g3_failures_replaced_by_guesses_in_every_layout(tmp_path, layout):
    gold, text, metric = LAYOUTS[layout]
    found = measure(tmp_path, gold, text)
    own = found.outcomes["recorded:m"]
    assert float(np.nanmean(own[metric].credit)) == pytest.approx(5 / 6)
    assert int((~np.isnan(own[metric].credit)).sum()) == 6
    bounds = [own[f"{metric}_if_{end}"] for end in ("wrong", "right")]
    assert [one.credit.mean() for one in bounds] == pytest.approx([0.5, 0.9])
    assert all(np.isnan(one.chance).all() for one in bounds)  # no test is made of a bound
    [note] = [one for one in found.findings if one.kind in ("unscored_bounds", "recorded_unanswered")]
    assert note.values["coverage"] == pytest.approx(0.6)
    assert set(note.instances) == {"q6", "q7", "q8", "q9"}
    assert "50.0 %" in note.sentence
    assert "90.0 %" in note.sentence


@pytest.mark.parametrize("layout", LAYOUTS)
def test_g3_what_was_never_asked_is_in_no_bound(tmp_path, layout):
    # Without the last two rows: 5 right, 1 wrong, 2 open of 8 asked; bounds 5/8 and 7/8, coverage 6/8.
    gold, text, metric = LAYOUTS[layout]
    found = measure(tmp_path, gold, "\n".join(text.splitlines()[:-2]) + "\n")
    own = found.outcomes["recorded:m"]
    means = [float(np.nanmean(own[f"{metric}_if_{end}"].credit)) for end in ("wrong", "right")]
    assert means == pytest.approx([5 / 8, 7 / 8])
    [note] = [one for one in found.findings if one.kind in ("unscored_bounds", "recorded_unanswered")]
    assert note.values["coverage"] == pytest.approx(0.75)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_g3_no_bounds_where_all_that_was_asked_has_a_value(tmp_path, layout):
    gold, text, metric = LAYOUTS[layout]
    found = measure(tmp_path, gold, "\n".join(text.splitlines()[: 1 + RIGHT + WRONG]) + "\n")
    assert f"{metric}_if_wrong" not in found.outcomes["recorded:m"]
    assert not [one for one in found.findings if one.kind in ("unscored_bounds", "recorded_unanswered")]


class Model:
    """A model that scores: nothing is recorded of it."""

    name, sees, columns, signature = "vlm", BOTH, ("",), {}


@pytest.mark.parametrize(("kind", "has"), [("model", True), ("blind", False)])
def test_g3_any_model_that_leaves_something_open_has_bounds(kind, has):
    dataset = Dataset(Ten(PAIR), limit=None, excluded=frozenset())
    known = [np.array([[0.9, 0.1]])] * RIGHT + [np.array([[0.1, 0.9]])] * WRONG
    sheet = cells(dict(enumerate(known)), targets(dataset), {})
    found = from_cells(Contestant(kind, Model()), sheet, dataset.roster("t"), tolerance=1e-12)
    own = found.outcomes["vlm"]
    assert ("accuracy_if_wrong" in own) is has
    if has:
        assert [own[f"accuracy_if_{end}"].credit.mean() for end in ("wrong", "right")] == pytest.approx([0.5, 0.9])
