"""Case E9: a text-only classifier must not be tested on what it saw."""

import dataclasses
import itertools

import numpy as np
import pytest

from audits.crossfit.fits import Runner, subsets
from audits.crossfit.groups import connected, folds, refuse_overlap, shared
from baselines.schema import TEXT, Scored
from benchmarks.images import ImageRef
from benchmarks.schema import Instance


def row(number, image, caption, foil, **fields):
    return Instance(str(number), (ImageRef(image),), (caption, foil), np.array([[True, False]]), **fields)


ROWS = [
    row(1, "img1", "a dog", "a cat"),
    row(2, "img1", "a pup", "a cat"),
    row(3, "img2", "a dog", "a fox"),
    row(4, "img3", "a bus", "a van"),
]


def split(rows, *, k=5, seed=42):
    keys = [shared(one) for one in rows]
    groups = connected(keys)
    return groups, folds([one.id for one in rows], groups, k=k, seed=seed)


def test_e9_text_only_classifier_tested_on_what_it_saw():
    groups, made = split(ROWS)
    # 1 and 2 share img1, 1 and 3 share "a dog"; nothing leads to 4. Two groups make two folds, though five were wanted.
    assert groups == [[0, 1, 2], [3]]
    assert sorted(made) == [[0, 1, 2], [3]]
    for one, other in itertools.combinations(made, 2):
        images = [{ROWS[place].images[0].key for place in fold} for fold in (one, other)]
        captions = [{text for place in fold for text in ROWS[place].captions} for fold in (one, other)]
        assert not images[0] & images[1]
        assert not captions[0] & captions[1]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_e9_sibling_the_order_of_rows_does_not_matter(order):
    rows = [ROWS[place] for place in order]
    _, made = split(rows)
    assert {frozenset(rows[place].id for place in fold) for fold in made} == {frozenset("123"), frozenset("4")}


def test_e9_sibling_captions_are_the_same_whatever_their_case_and_stops():
    groups, _ = split([row(1, "a", "A  dog.", "x"), row(2, "b", "a dog", "y"), row(3, "c", " a-DOG!", "z")])
    assert groups == [[0, 1, 2]]


def test_e9_sibling_a_foil_that_is_another_rows_caption_connects():
    groups, _ = split([row(1, "a", "a dog", "a cat"), row(2, "b", "A cat", "a fox")])
    assert groups == [[0, 1]]


def test_e9_sibling_text_beyond_ascii_is_not_all_one_caption():
    groups, _ = split([row(1, "a", "一只狗", "一只猫"), row(2, "b", "两辆车", "三辆车"), row(3, "c", "一只狗。", "x")])
    assert groups == [[0, 2], [1]]


def test_e9_sibling_rows_without_an_image_are_not_connected_by_that():
    rows = [dataclasses.replace(one, images=(ImageRef.absent(),)) for one in ROWS]
    # only "a cat" (1, 2) and "a dog" (1, 3) connect now; two rows without either stay apart
    assert split(rows)[0] == [[0, 1, 2], [3]]
    assert len(split([row(1, "", "p", "q"), row(2, "", "r", "s")])[0]) == 2


def test_e9_sibling_overlapping_folds_are_refused():
    keys = [shared(one) for one in ROWS]
    refuse_overlap(keys, [[0, 1, 2], [3]])
    with pytest.raises(RuntimeError, match="two folds share"):
        refuse_overlap(keys, [[0, 3], [1, 2]])


class Memory:
    """Prefer the captions that were seen as fitting: right wherever it is tested on what it saw, else a tie."""

    name, sees, columns, signature, tolerance = "memory", TEXT, ("",), {"scorer": "memory"}, 0.0

    def prepare(self, batch, work):
        pass

    def fit(self, training, *, seed):
        self.seen = getattr(self, "seen", [])
        self.seen.append({one.id for one in training})
        return Remembered({one.captions[int(one.gold[0].argmax())] for one in training})


class Remembered:
    def __init__(self, known):
        self.known = known

    def score(self, batch):
        return [Scored({"": np.array([[float(text in self.known) for text in one.captions]])}) for one in batch]


def test_e9_sibling_a_memorising_fitter_gets_chance_in_groups_and_everything_without():
    # every question is there twice, with another picture: rows k and k + 20
    rows = [row(k, f"img{k}", f"caption {k % 20}", f"foil {k % 20}") for k in range(40)]
    parts = subsets(rows, seed=1)
    assert len(parts[0].groups) == 20

    def right(part):
        cells = Runner(Memory(), [part], k=2, seed=1).fits(fold_seed=3).cells
        margins = [grid[0, 0] - grid[0, 1] for grid in cells.grids("", [one.shape for one in rows])]
        return np.mean([(margin > 0) + 0.5 * (margin == 0) for margin in margins])

    assert right(parts[0]) == 0.5
    # Without grouping (every row its own group) about half of the twins are parted.
    alone = dataclasses.replace(
        parts[0], groups=[[k] for k in range(40)], keys=[frozenset({("id", str(k))}) for k in range(40)]
    )
    assert right(alone) > 0.6
    # The twins k and k + 20 in different folds, as an ungrouped split may put them: every answer is remembered.
    apart = dataclasses.replace(alone, groups=[list(range(20)), list(range(20, 40))])
    assert right(apart) == 1.0


def test_e9_sibling_gold_of_the_held_out_fold_is_never_shown():
    scorer = Memory()
    runner = Runner(scorer, subsets(ROWS, seed=1), k=5, seed=1)
    runner.fits(fold_seed=42)
    assert sorted(map(sorted, scorer.seen)) == [["1", "2", "3"], ["4"]]
