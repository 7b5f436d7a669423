"""From answers to outcomes: held against a slow definition that asks one question at a time."""

import itertools
import json

import numpy as np
import pytest

from audits.choosing import chosen, plans
from audits.models.schema import Chosen
from audits.questions import posed
from audits.statistics.chance import PROMPTED_2X2
from baselines.schema import BOTH, TEXT
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from tests.models.choice_cases import Silent, square, tall, wide


class Fixed:
    """A chooser that answers by a function of what is shown; no endpoint is behind it."""

    name, columns, signature = "fixed", ("",), {"kind": "test"}

    def __init__(self, pick, sees=BOTH):
        self.pick, self.sees, self.asked = pick, sees, []

    def choose(self, questions, progress):
        self.asked += questions
        return [self.answer(self.pick(question), question) for question in questions]

    @staticmethod
    def answer(found, question):
        if isinstance(found, str):
            return Chosen(found)
        return Chosen("answered", found, request=str(id(question)))


def drawn(seed):
    """Answer at random, but the same question in the same order alike; one in six is not readable."""

    def pick(question):
        words = [one.key if isinstance(one, ImageRef) else one for one in (question.given, *question.options)]
        rng = np.random.default_rng([seed, *"|".join(words).encode()])
        return "unparsed" if rng.random() < 1 / 6 else int(rng.integers(len(question.options)))

    return pick


def slow(one, pick):
    """The definition of the 2x2 metrics, spelled out: both orders of all four questions."""
    base = int(np.flatnonzero(one.gold[0])[0])
    captions = [base, 1 - base]  # of the base image, of the foil image
    rights = {}
    for order in ("ab", "ba"):
        shown_captions = captions if order == "ab" else captions[::-1]
        shown_images = [0, 1] if order == "ab" else [1, 0]
        for side, name in ((0, "base"), (1, "foil")):
            asked = type("Q", (), {})
            asked.given, asked.options = one.images[side], [one.captions[place] for place in shown_captions]
            found = pick(asked)
            rights["i2t", name, order] = None if found == "unparsed" else shown_captions[found] == captions[side]
            asked.given, asked.options = one.captions[captions[side]], [one.images[place] for place in shown_images]
            found = pick(asked)
            rights["t2i", name, order] = None if found == "unparsed" else shown_images[found] == side
    made = {}
    for metric, directions in (("i2t", ["i2t"]), ("t2i", ["t2i"]), ("group", ["i2t", "t2i"])):
        keys = list(itertools.product(directions, ("base", "foil")))
        by_order = [[rights[(*key, order)] for key in keys] for order in ("ab", "ba")]
        unread = any(right is None for row in by_order for right in row)
        made[metric] = np.nan if unread else np.mean([all(row) for row in by_order])
        made[f"{metric}_consistent"] = np.nan if unread else float(all(all(row) for row in by_order))
        for end, assumed in (("wrong", False), ("right", True)):
            filled = [[assumed if right is None else right for right in row] for row in by_order]
            made[f"{metric}_if_{end}"] = np.mean([all(row) for row in filled])
    for direction, name in itertools.product(("i2t", "t2i"), ("base", "foil")):
        pair = [rights[direction, name, order] for order in ("ab", "ba")]
        made[f"{direction}_{name}"] = np.nan if None in pair else np.mean(pair)
    return made


@pytest.mark.parametrize("seed", range(4))
def test_2x2_equals_the_slow_definition(seed):
    rows = [square(key, turned=key % 3 == 0) for key in range(40)]
    pick = drawn(seed)
    found = chosen(Fixed(pick), rows, Silent(), seed=7)
    wanted = [slow(one, pick) for one in rows]
    for metric in ("i2t", "t2i", "group", "i2t_consistent", "t2i_consistent", "group_consistent", "i2t_base",
                   "i2t_foil", "t2i_base", "t2i_foil", "group_if_wrong", "group_if_right"):  # fmt: skip
        own = [one[metric] for one in wanted]
        np.testing.assert_array_equal(found.outcomes[metric].credit, own, err_msg=metric)
        assert found.outcomes[metric].unscored.tolist() == np.isnan(own).tolist()


def test_2x2_by_hand():
    # Right about every image in order ab; in ba it says the first option of I2T, and is right about captions.
    one = square(0)

    def pick(question):
        if isinstance(question.given, str):
            return [ref.key for ref in question.options].index("5000.png" if "left" in question.given else "5001.png")
        is_ab = question.options[0].startswith("left")
        wanted = "left" if question.given.key == "5000.png" else "right"
        return [text.split()[0] for text in question.options].index(wanted) if is_ab else 0

    found = chosen(Fixed(pick), [one], Silent(), seed=0)
    credit = {name: float(value.credit[0]) for name, value in found.outcomes.items()}
    # ab: all four right. ba shows (right, left): "right" is wrong for the base image, right for the foil image.
    assert credit == {
        "i2t": 0.5, "t2i": 1.0, "group": 0.5,
        "i2t_consistent": 0.0, "t2i_consistent": 1.0, "group_consistent": 0.0,
        "i2t_base": 0.5, "i2t_foil": 1.0, "t2i_base": 1.0, "t2i_foil": 1.0,
        "i2t_flip_rate": 0.5, "t2i_flip_rate": 0.0, "flip_rate": 0.25,
        # I2T picks the first option for the base image in ab, and for both in ba: 3 of 4. T2I: 2 of 4.
        "i2t_first_option_share": 0.75, "t2i_first_option_share": 0.5, "first_option_share": 0.625,
    }  # fmt: skip
    rows = found.comparisons
    assert rows.query("comparison == 'group'")["outcome"].tolist() == ["win", "loss"]
    assert rows.query("comparison == 'image0'").set_index("order")["outcome"].to_dict() == {"ab": "win", "ba": "loss"}


def test_chance_is_that_of_coins():
    found = chosen(Fixed(lambda question: 0), [square(0)], Silent(), seed=0).outcomes
    assert {name: found[name].chance[0] for name in ("i2t", "t2i", "group")} == PROMPTED_2X2
    # Twice as many coins: the squares of these.
    assert [found[f"{name}_consistent"].chance[0] for name in ("i2t", "t2i", "group")] == [1 / 16, 1 / 16, 1 / 256]
    line = chosen(Fixed(lambda question: 0), [wide(0, ("a", "b", "c"))], Silent(), seed=0).outcomes
    assert line["accuracy"].chance[0] == pytest.approx(1 / 3)
    assert line["accuracy_consistent"].chance[0] == pytest.approx(1 / 27)
    assert line["first_option_share"].chance[0] == pytest.approx(1 / 3)


def test_coins_get_what_chance_says():
    # 4,000 instances: the standard error of Group is sqrt(1/16 * 15/16 / 4000) < .004 per order.
    rng = np.random.default_rng(3)
    rows = [square(key % 100) for key in range(4000)]
    rows = [Instance(f"q{n}", one.images, one.captions, one.gold) for n, one in enumerate(rows)]
    found = chosen(Fixed(lambda question: int(rng.integers(2))), rows, Silent(), seed=0).outcomes
    for name, wanted in PROMPTED_2X2.items():
        assert found[name].credit.mean() == pytest.approx(wanted, abs=0.02)
        assert found[f"{name}_consistent"].credit.mean() == pytest.approx(wanted**2, abs=0.02)


@pytest.mark.parametrize(("count", "right"), [(3, 0), (5, 3)])
def test_more_options_are_asked_in_every_rotation(count, right):
    one = wide(0, tuple("abcde"[:count]), right)
    asked = list(posed([one], is_blind=False, seed=1))
    assert len(asked) == count
    for place in range(count):  # every option stands at every place once
        assert sorted(item.shown[place] for item in asked) == list(range(count))
    assert sorted(item.order for item in asked) == [f"{place + 1}of{count}" for place in range(count)]
    assert all(item.shown.index(right) + 1 == int(item.order.split("of")[0]) for item in asked)
    # Always the first: right in one rotation; always the right one: consistent, never flips.
    first = chosen(Fixed(lambda question: 0), [one], Silent(), seed=1).outcomes
    assert first["accuracy"].credit[0] == pytest.approx(1 / count)
    assert (first["flip_rate"].credit[0], first["first_option_share"].credit[0]) == (1.0, 1.0)
    wanted = one.captions[right]
    true = chosen(Fixed(lambda question: question.options.index(wanted)), [one], Silent(), seed=1).outcomes
    assert [true[name].credit[0] for name in ("accuracy", "accuracy_consistent", "flip_rate")] == [1, 1, 0]
    # Always the same wrong one: it never flips either, though it is never right.
    other = one.captions[right - 1]
    false = chosen(Fixed(lambda question: question.options.index(other)), [one], Silent(), seed=1).outcomes
    assert [false[name].credit[0] for name in ("accuracy", "flip_rate")] == [0, 0]


def test_wrong_in_two_ways_is_a_flip():
    one = wide(0, ("a", "b", "c"), 0)
    picks = iter(["b 0", "c 0", "b 0"])
    found = chosen(Fixed(lambda question: question.options.index(next(picks))), [one], Silent(), seed=1).outcomes
    assert (found["accuracy"].credit[0], found["flip_rate"].credit[0]) == (0.0, 1.0)


def test_images_are_chosen_likewise():
    rows = [tall(0), tall(1, 3, 2)]
    asked = list(posed(rows, is_blind=False, seed=1))
    assert [len(item.question.options) for item in asked] == [2, 2, 3, 3, 3]
    assert {item.question.direction for item in asked} == {"t2i"}
    found = chosen(Fixed(lambda question: 0), rows, Silent(), seed=1)
    assert found.outcomes["accuracy"].credit.tolist() == pytest.approx([1 / 2, 1 / 3])
    assert set(found.comparisons["comparison"]) == {"caption0"}


def test_what_is_asked_shows_no_gold_and_keeps_the_order_of_a_2x2_together():
    rows = [square(key) for key in range(30)]
    asked = list(posed(rows, is_blind=False, seed=42))
    firsts = [item.order for item in asked if item.name == "i2t_base"][::2]
    assert {"ab", "ba"} == set(firsts)  # which order is asked first says nothing
    fields = {name for item in asked for name in item.question.__slots__}
    assert fields == {"direction", "given", "options", "query"}
    for place, order in itertools.product(range(30), ("ab", "ba")):
        captions = {item.question.options for item in asked if (item.place, item.order) == (place, order)
                    and item.question.direction == "i2t"}  # fmt: skip
        assert len(captions) == 1


def test_the_twin_is_asked_for_captions_only_and_its_2x2_result_is_a_preference():
    rows = [wide(0), tall(1), square(2), square(3, turned=True)]
    one = Fixed(lambda question: min(range(2), key=lambda place: question.options[place]), TEXT)  # "left" < "right"
    found = chosen(one, rows, Silent(), seed=1)
    assert {question.direction for question in one.asked} == {"i2t"}
    assert found.never_asked == {1}
    nan = pytest.approx(np.nan, nan_ok=True)
    assert found.outcomes["accuracy"].credit.tolist() == [0.0, nan, nan, nan]  # "no" < "yes"
    assert not found.outcomes["accuracy"].unscored.any()
    # Square 2: left is the base caption; square 3, turned: its first image fits the second caption, "left".
    assert found.outcomes["caption_preference"].credit.tolist() == [nan, nan, 1.0, 1.0]
    assert found.outcomes["i2t"].credit.tolist() == [nan, nan, 0.0, 0.0]
    assert set(found.outcomes) == {
        *("accuracy", "accuracy_consistent", "flip_rate", "first_option_share", "i2t", "caption_preference")
    }
    assert found.outcomes["flip_rate"].credit.tolist() == [0.0, nan, 0.0, 0.0]


def test_a_twin_with_nothing_to_choose_between_has_no_outcome():
    found = chosen(Fixed(lambda question: 0, TEXT), [tall(0)], Silent(), seed=1)
    assert found.outcomes == {}
    assert found.never_asked == {0}


def test_the_twin_that_cannot_be_read_has_bounds_of_its_preference():
    # Square 0 unread in one order: 0 or .5 of it... the other order picked base: .5 or 1.
    def pick(question):
        return (
            "unparsed" if question.options == ("left 0", "right 0") else question.options.index(min(question.options))
        )

    found = chosen(Fixed(pick, TEXT), [square(0), square(1)], Silent(), seed=1).outcomes
    assert found["caption_preference"].unscored.tolist() == [True, False]
    assert found["caption_preference_if_wrong"].credit.tolist() == [0.5, 1.0]
    assert found["caption_preference_if_right"].credit.tolist() == [1.0, 1.0]
    assert found["i2t"].credit.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("one", "match"),
    [
        (
            Instance("m", (ImageRef("a"),), ("x", "y", "z"), np.array([[True, True, False]])),
            "no question that one pick",
        ),
        (Instance("m", (ImageRef("a"), ImageRef("b")), ("x", "y", "z"), np.eye(2, 3, dtype=bool)), "2 images, 3 capt"),
        (Instance("m", (ImageRef("a"),), ("x", None), np.array([[True, False]])), "without text"),
    ],
)
def test_what_one_pick_does_not_settle_is_refused_by_name(one, match):
    with pytest.raises(InputError, match=match) as caught:
        list(posed([wide(0), one], is_blind=False, seed=1))
    assert "'m'" in caught.value.where


def test_answers_stand_in_the_table_by_place_in_the_release():
    one = wide(0, ("a", "b", "c"), 1)
    found = chosen(Fixed(lambda question: 2), [one], Silent(), seed=5).answers
    for row in found.to_dict("records"):
        assert json.loads(row["shown"])[2] == row["choice"]
        assert row["right"] == 1


def test_a_chooser_that_breaks_its_contract_is_a_fault():
    with pytest.raises(TypeError, match="option 2 was chosen of 2"):
        chosen(Fixed(lambda question: 2), [wide(0)], Silent(), seed=1)
    short = Fixed(lambda question: 0)
    short.choose = lambda questions, progress: []
    with pytest.raises(TypeError, match="0 answers to 2 questions"):
        chosen(short, [wide(0)], Silent(), seed=1)


def test_choosers_that_cannot_plan_are_passed_over():
    assert plans([Fixed(lambda question: 0), object()], [wide(0)], seed=1) == []
