"""Recorded flags and answers: outcomes without scores, both orders of options, and what is not an answer."""

import json
from pathlib import Path

import numpy as np
import pytest

from audits.statistics.estimates import estimates
from audits.statistics.layout import Layout
from benchmarks.errors import InputError
from tests.models.recorded_cases import csv, means, pair, recall, results, square, tall

PAIRS = [pair(key) for key in range(4)]


def test_flags_enter_as_outcomes_only(write):
    found = recall(PAIRS, write("a.csv", csv("id,correct", ("s:0", 1), ("s:1", 0), ("s:2", "True"), ("s:3", ""))))
    assert found.cells is None
    accuracy = found.outcomes["accuracy"]
    assert accuracy.credit[:3].tolist() == [1.0, 0.0, 1.0]
    assert accuracy.unscored.tolist() == [False, False, False, True]
    assert accuracy.chance.tolist() == [0.5] * 4
    assert found.reasons == {3: "no value is recorded"}
    table = found.comparisons
    assert table["outcome"].tolist() == ["win", "loss", "win", "unscored"]
    assert set(table["comparison"]) == {"image0"}


def test_flags_by_direction_become_the_metrics_of_that_name(write):
    both = [square("a"), square("b")]
    path = write("a.csv", csv("id,i2t_score,t2i_score,group_score", ("q:a", 1, 1, 1), ("q:b", 1, 0, 0)))
    assert means(both, recall(both, path)) == {"i2t": 1.0, "t2i": 0.5, "group": 0.5}
    chances = {name: one.chance[0] for name, one in recall(both, path).outcomes.items()}
    assert chances == {"i2t": 1 / 4, "t2i": 1 / 4, "group": 1 / 6}


@pytest.mark.parametrize(
    "header",
    [
        "id,Ipos_2T,Ineg_2T,Tpos_2I,Tneg_2I,I2T,T2I",
        "id,text_score_i0,text_score_i1,image_score_c0,image_score_c1,text_score,image_score",
    ],
)
def test_text_score_is_i2t_and_image_score_is_t2i(header, write):
    only = [square("a")]
    found = means(only, recall(only, write("a.csv", csv(header, ("q:a", 1, 1, 1, 0, 1, 0)))))
    assert found == {"i2t": 1.0, "t2i": 0.0, "i2t_base": 1.0, "i2t_foil": 1.0, "t2i_base": 1.0, "t2i_foil": 0.0}


def test_unibench_flags(write):
    # The group is right where text and image are; `image_name` is the id that it writes.
    only = [square("a")]
    header = "image_name,benchmark_name,correctness,text_correctness,image_correctness"
    assert means(only, recall(only, write("a.csv", csv(header, ("aa.jpg", "q", 0, 1, 0))))) == {
        "i2t": 1.0,
        "t2i": 0.0,
        "group": 0.0,
    }


def test_one_flag_cannot_be_read_for_a_2x2(write):
    only = [square("a")]
    path = write("a.csv", csv("id,correct", ("q:a", 1)))
    with pytest.raises(InputError, match="2x2"):
        recall(only, path)
    assert means(only, recall(only, path, columns={"group": "correct"}, layout="flags")) == {"group": 1.0}


def test_a_flag_for_two_images_is_an_accuracy(write):
    only = [tall("a")]
    found = recall(only, write("a.csv", csv("id,t2i_score", ("t:a", 1))))
    assert means(only, found) == {"accuracy": 1.0}
    assert found.comparisons["direction"].tolist() == ["t2i"]


def asked(write, ab, ba):
    """Write the answers to PAIRS in both orders, as released: one folder for each, a caption repeated as the answer."""
    for folder, answers in (("positive-first", ab), ("negative-first", ba)):
        rows = {
            str(key): {
                "answer": {"free_form_answer": "(1)", "multiple_choice_answer": answer},
                "caption": one.captions[0],
                "negative_caption": one.captions[1],
                "filename": f"{key}.jpg",
                "correct": answer == one.captions[0],
            }
            for key, (one, answer) in enumerate(zip(PAIRS, answers, strict=True))
        }
        path = write(f"answers/{folder}/gpt-s.json", {**rows, "accuracy": 0.5})
    return str(Path(path).parents[1])


def test_both_orders(write):
    true, foil = [one.captions[0] for one in PAIRS], [one.captions[1] for one in PAIRS]
    # 0: right twice; 1: the first option twice; 2: the second option twice; 3: wrong twice.
    folder = asked(write, [true[0], true[1], foil[2], foil[3]], [true[0], foil[1], true[2], foil[3]])
    found = recall(PAIRS, folder)
    assert {name: one.credit.tolist() for name, one in found.outcomes.items()} == {
        "accuracy": [1.0, 0.5, 0.5, 0.0],
        "accuracy_consistent": [1.0, 0.0, 0.0, 0.0],
        "flip_rate": [0.0, 1.0, 1.0, 0.0],
        "first_option_share": [0.5, 1.0, 0.0, 0.5],
    }
    assert found.outcomes["accuracy_consistent"].chance.tolist() == [0.25] * 4
    assert np.isnan(found.outcomes["flip_rate"].chance).all()
    assert found.comparisons["order"].tolist() == ["ab", "ba"] * 4
    assert found.facts["right by the file's own flags"] == "ab: 2 of 4, ba: 2 of 4"
    assert "accuracy" in found.facts["not rows"]


def test_what_equals_neither_caption_is_no_answer(write):
    true = [one.captions[0] for one in PAIRS]
    found = recall(PAIRS, asked(write, [*true[:2], "Either fits.", ""], [*true[:3], None]))
    assert found.outcomes["accuracy"].unscored.tolist() == [False, False, True, True]
    assert found.reasons == {2: "unparsed (ab)", 3: "empty (ab), failed (ba)"}
    kinds = found.comparisons.groupby("order", observed=True)["outcome"].apply(list).to_dict()
    assert kinds == {"ab": ["win", "win", "unparsed", "empty"], "ba": ["win", "win", "win", "failed"]}
    # Instance 2 is right in one order, unread in the other: .5 or 1; instance 3 is unread in both: 0 or 1.
    assert found.outcomes["accuracy_if_wrong"].credit.tolist() == [1.0, 1.0, 0.5, 0.0]
    assert found.outcomes["accuracy_if_right"].credit.tolist() == [1.0, 1.0, 1.0, 1.0]
    [note] = [one for one in found.findings if one.kind == "recorded_unanswered"]
    assert note.values["coverage"] == 5 / 8


def test_flags_in_both_orders_tell_which_option_was_picked(write):
    true, foil = [one.captions[0] for one in PAIRS], [one.captions[1] for one in PAIRS]
    folder = asked(write, true, foil)
    assert means(PAIRS, recall(PAIRS, folder, layout="flags")) == {
        "accuracy": 0.5,
        "accuracy_consistent": 0.0,
        "flip_rate": 1.0,
        "first_option_share": 1.0,
    }


def test_letters_need_an_order_or_a_label(write):
    rows = [{"id": f"s:{key}", "response": "A"} for key in range(4)]
    with pytest.raises(InputError, match="nothing tells what stood there"):
        recall(PAIRS, write("a.json", rows))
    path = write("a.json", rows)
    assert means(PAIRS, recall(PAIRS, {"ab": path}))["accuracy"] == 1.0
    labelled = [{**row, "label": label} for row, label in zip(rows, "AABA", strict=True)]
    assert means(PAIRS, recall(PAIRS, write("b.json", labelled)))["accuracy"] == 0.75


def test_an_order_column(write):
    rows = [{"id": f"s:{key}", "response": "B", "order": order} for key in range(4) for order in ("ab", "ba")]
    assert means(PAIRS, recall(PAIRS, write("a.json", rows)))["first_option_share"] == 0.0
    with pytest.raises(InputError, match="not an order"):
        recall(PAIRS, write("b.json", [{**rows[0], "order": "up"}]))
    with pytest.raises(InputError, match="some rows tell the order"):
        recall(PAIRS, write("c.json", [rows[0], {"id": "s:1", "response": "CHOICE: A", "order": ""}]))


def test_a_failed_request_is_no_answer_whatever_the_answer_says(write):
    rows = [{"id": f"s:{key}", "response": "A", "error": error} for key, error in enumerate(("", "timeout", None, 1))]
    found = recall(PAIRS, {"ab": write("a.json", rows)})
    assert found.outcomes["accuracy"].unscored.tolist() == [False, True, False, True]
    assert found.reasons == {1: "failed (ab)", 3: "failed (ab)"}


def test_answers_that_differ_between_equal_rows_are_none(write):
    rows = [{"id": "s:0", "response": letter} for letter in "AB"] + [{"id": "s:1", "response": "A"}] * 2
    found = recall(PAIRS, {"ab": write("a.json", rows)})
    assert found.outcomes["accuracy"].unscored.tolist() == [True, False, True, True]
    assert found.reasons[0] == "different values are recorded"


def test_names_like_formulas_stay_text(write):
    rows = [{"id": "=1+1", "correct": 1}, {"id": "s:1", "correct": 1}]
    found = recall(PAIRS, json.loads(json.dumps(write("a.json", rows))))
    assert results(PAIRS, found)["accuracy"].credit[1] == 1.0


def test_a_metric_without_a_chance_is_estimated_all_the_same(write):
    rows = [{"id": f"s:{key}", "response": "A", "order": order} for key in range(3) for order in ("ab", "ba")]
    found = recall(PAIRS, write("a.json", rows))
    where = Layout("demo", ["s"] * 4, list("abcd"), {})
    rows = estimates({"r": dict(found.outcomes)}, where, signatures={}).rows
    [flip] = [row for row in rows if row.metric == "flip_rate" and row.subset == "all" and row.primary]
    assert (flip.value, flip.n, flip.unscored) == (1.0, 3, 1)
    assert np.isnan(flip.chance)
