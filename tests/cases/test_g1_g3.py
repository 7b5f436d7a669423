"""Area G, cases 1 to 3: position bias, misread letters, failures replaced by guesses; with E1, E2 and A5 on records."""

import json

import numpy as np
import pytest

from audits.models.answers import letter, repeated
from audits.models.recorded import recorded
from benchmarks.images import ImageRef
from benchmarks.schema import Instance


def pairs(count):
    gold = np.array([[True, False]])
    return [
        Instance(f"s:{key}", (ImageRef(f"{key}.jpg"),), (f"yes {key}", f"no {key}"), gold, subset="s")
        for key in range(count)
    ]


def recall(instances, folder, rows, **options):
    path = folder / "answers.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    [run] = recorded({"stub": {"path": str(path), **options}})
    return run.recall(instances)


def test_g1_the_first_option_wins(tmp_path):
    rows = [{"id": f"s:{key}", "order": order, "response": "CHOICE: A"} for key in range(4) for order in ("ab", "ba")]
    found = recall(pairs(4), tmp_path, rows).outcomes
    assert {name: one.credit.mean() for name, one in found.items()} == {
        "accuracy": 0.5,
        "accuracy_consistent": 0.0,
        "flip_rate": 1.0,
        "first_option_share": 1.0,
    }


def test_g1_a_coin_that_follows_the_content_has_no_position(tmp_path):
    # Always the true caption: right in both orders, never flips, first option in one order of two.
    rows = [
        {"id": f"s:{key}", "order": order, "response": "A" if order == "ab" else "B"}
        for key in range(4)
        for order in ("ab", "ba")
    ]
    found = recall(pairs(4), tmp_path, rows).outcomes
    assert [found[name].credit.mean() for name in ("accuracy_consistent", "flip_rate", "first_option_share")] == [
        1,
        0,
        0.5,
    ]


@pytest.mark.parametrize(
    ("text", "choice", "state"),
    [
        ("CHOICE: B", 1, "answered"),
        ("*CHOICE: b*", 1, "answered"),
        ("b", 1, "answered"),
        ("Option A looked right at first. CHOICE: B", 1, "answered"),
        ("CHOICE: A, since I can see a bus", 0, "answered"),
        ("A bus stands by the tree, hence the second", None, "unparsed"),
        ("A would need two cups", None, "unparsed"),
        ("Either fits", None, "unparsed"),
        ("CHOICE: A\nCHOICE: B", None, "unparsed"),
        ("CHOICE: D", None, "unparsed"),
        ("", None, "empty"),
        # Siblings: the same choice twice, marks around a letter, a pronoun, the form without a letter, other scripts.
        ("CHOICE: A. So my final CHOICE: A", 0, "answered"),
        ("**CHOICE:** B", 1, "answered"),
        ("(A)", 0, "answered"),
        ("B.", 1, "answered"),
        ("2", 1, "answered"),
        ("I", None, "unparsed"),
        ("Answer: A", None, "unparsed"),
        ("CHOICE: Apple", None, "unparsed"),
        ("CHOICE: neither", None, "unparsed"),
        ("The form is CHOICE: X. CHOICE: A", None, "unparsed"),
        ("CHOICE:", None, "unparsed"),
        ("CHOICE: A or CHOICE:", None, "unparsed"),
        ("not a CHOICE: not A", None, "unparsed"),
        ("CHOICE: А", None, "unparsed"),
        ("MY CHOICE: B", 1, "answered"),
        ("CHOICE: A or B", None, "unparsed"),
        ("CHOICE: A/B", None, "unparsed"),
        ("CHOICE: A and B", None, "unparsed"),
        ("CHOICE: A, B", None, "unparsed"),
        ("CHOICE: A bus stands by the tree", None, "unparsed"),
        ("CHOICE: A, I can see it", 0, "answered"),
        ("CHOICE: B\nThe bus is red.", 1, "answered"),
        ("A or B", None, "unparsed"),
        (" \n ", None, "empty"),
        (None, None, "failed"),
    ],
)
def test_g2_answer_letters_misread(text, choice, state):
    assert letter(text) == (choice, state)


def test_g2_more_than_two_options():
    assert letter("CHOICE: D", 4).choice == 3
    assert letter("CHOICE: E", 4).state == "unparsed"


def test_g2_a_caption_that_stands_for_both_options_is_no_answer():
    assert repeated("a cup", ["a cup", "a cup "]).state == "unparsed"
    assert repeated(" a cup\n", ["a mug", "a cup"]).choice == 1
    assert repeated("A cup", ["a mug", "a cup"]).state == "unparsed"


def test_g3_failures_replaced_by_guesses(tmp_path):
    # 5 right, 1 wrong, 4 failed: 5/6 of the answered; 5/10 if the others were wrong, 9/10 if they were right.
    replies = ["CHOICE: A"] * 5 + ["CHOICE: B"] + [None] * 4
    rows = [{"id": f"s:{key}", "order": "ab", "response": reply} for key, reply in enumerate(replies)]
    found = recall(pairs(10), tmp_path, rows)
    accuracy = found.outcomes["accuracy"]
    assert round(float(np.nanmean(accuracy.credit)), 4) == 0.8333
    assert int((~accuracy.unscored).sum()) == 6
    assert found.outcomes["accuracy_if_wrong"].credit.mean() == 0.5
    assert found.outcomes["accuracy_if_right"].credit.mean() == pytest.approx(0.9)
    [note] = found.findings
    assert note.values["coverage"] == 0.6
    assert note.values["failed"] == 4
    assert found.comparisons["outcome"].tolist() == ["win"] * 5 + ["loss"] + ["failed"] * 4


def test_g3_no_bounds_where_everything_is_answered(tmp_path):
    rows = [{"id": f"s:{key}", "order": "ab", "response": "A"} for key in range(4)]
    assert set(recall(pairs(4), tmp_path, rows).outcomes) == {"accuracy"}


def test_e1_recorded_ties_are_not_counted_as_correct(tmp_path):
    rows = [
        {"id": f"s:{key}", "positive_score": high, "negative_score": low}
        for key, (high, low) in enumerate(((0.5, 0.5), (0.7, 0.2), (0.1, 0.3)))
    ]
    found = recall(pairs(3), tmp_path, rows)
    assert found.cells is not None
    assert found.cells.columns[""].tolist() == [0.5, 0.5, 0.7, 0.2, 0.1, 0.3]


def test_a5_a_model_recorded_on_some_rows_says_which(tmp_path):
    # X was run on 7 of 10: the other three are unscored and listed, never wrong.
    rows = [{"id": f"s:{key}", "correct": 1} for key in range(7)]
    found = recall(pairs(10), tmp_path, rows)
    assert np.nanmean(found.outcomes["accuracy"].credit) == 1.0
    assert found.outcomes["accuracy"].unscored.sum() == 3
    assert found.findings[0].instances == ("s:7", "s:8", "s:9")
