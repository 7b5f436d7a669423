"""Scores come back to the place they belong to, whatever order the scorer saw; faults in a scorer are refused."""

from collections.abc import Sequence

import numpy as np
import pytest

from audits.dataset import Dataset
from audits.load import Contestant
from audits.measured import from_cells
from audits.recording import contestant_facts
from audits.scoring import NO_REASON, NOT_FINITE, Cells, option_order, score
from baselines.schema import BOTH, IMAGE, TEXT, Scored
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates, Instance


class Spelled:
    """Scores what stands in the names: caption 'c3' is worth 3, image 'i20' is worth 20; both add up."""

    columns: tuple[str, ...] = ("",)
    signature: dict[str, str] = {}  # noqa: RUF012 - a test double

    def __init__(self, sees: frozenset) -> None:
        self.name, self.sees, self.seen = "spelled", sees, []

    def one(self, candidate: Candidates) -> Scored:
        images = [float(image.key[1:]) for image in candidate.images] if "image" in self.sees else [0.0]
        captions = [float(caption[1:]) for caption in candidate.captions] if "text" in self.sees else [0.0]
        grid = np.add.outer(images, captions)
        tokens = np.broadcast_to(np.array(captions, dtype=np.int64), grid.shape)
        return Scored({"": grid}, tokens=tokens, notes={(0, 0): "first seen"})

    def score(self, batch: Sequence[Candidates], work: object) -> list[Scored]:
        self.seen.extend(batch)
        return [self.one(candidate) for candidate in batch]


def make(name: str, images: int, captions: int) -> Instance:
    gold = np.zeros((images, captions), bool)
    gold[0, 0] = True
    refs = tuple(ImageRef(f"i{10 * (1 + k)}") for k in range(images))
    return Instance(name, refs, tuple(f"c{1 + k}" for k in range(captions)), gold)


INSTANCES = [make("a", 1, 2), make("b", 2, 2), make("c", 1, 5), make("d", 3, 1), make("e", 2, 2)]


def scores(sees: frozenset, chunk: int = 2) -> tuple[Spelled, Cells]:
    scorer = Spelled(sees)
    return scorer, score(scorer, INSTANCES, None, seed=42, chunk=chunk)


def test_scores_are_put_back_in_the_release_order() -> None:
    _, cells = scores(BOTH)
    grids = cells.grids("", [one.shape for one in INSTANCES])
    # b: images worth 10 and 20, captions worth 1 and 2
    assert grids[1].tolist() == [[11, 12], [21, 22]]
    assert grids[2].tolist() == [[11, 12, 13, 14, 15]]
    assert grids[3].tolist() == [[11], [21], [31]]


def test_blind_scores_are_repeated_over_the_side_not_seen() -> None:
    shapes = [one.shape for one in INSTANCES]
    assert scores(TEXT)[1].grids("", shapes)[1].tolist() == [[1, 2], [1, 2]]
    assert scores(IMAGE)[1].grids("", shapes)[1].tolist() == [[10, 10], [20, 20]]
    assert set(scores(TEXT)[1].image) == {-1}
    assert set(scores(IMAGE)[1].caption) == {-1}


def test_tokens_and_notes_follow_their_caption() -> None:
    scorer, cells = scores(TEXT)
    for position, candidate in enumerate(scorer.seen):
        first = int(np.searchsorted(cells.instance, position))
        noted = [cell for cell in cells.notes if cells.instance[cell] == position]
        # the first caption that the scorer saw carries the note, wherever it stands in the release
        assert noted == [first + INSTANCES[position].captions.index(candidate.captions[0])]
    assert cells.tokens[:2].tolist() == [1, 2]


def test_chunk_size_changes_nothing() -> None:
    a, b = scores(BOTH, 1)[1], scores(BOTH, 100)[1]
    assert a.columns[""].tolist() == b.columns[""].tolist()


def test_options_are_shuffled_and_the_order_depends_on_seed_and_id_only() -> None:
    orders = {tuple(option_order(42, f"id{k}", "caption", 2)) for k in range(40)}
    assert orders == {(0, 1), (1, 0)}
    assert option_order(42, "x", "caption", 5) == option_order(42, "x", "caption", 5)
    assert any(option_order(s, "x", "caption", 5) != option_order(42, "x", "caption", 5) for s in range(5))


def test_scorer_never_sees_gold_or_tags() -> None:
    scorer, _ = scores(BOTH)
    assert set(Candidates.__slots__) == {"id", "images", "captions", "query"}
    assert all(type(candidate) is Candidates for candidate in scorer.seen)


class Broken(Spelled):
    def __init__(self, values: object, columns: tuple[str, ...] = ("",)) -> None:
        super().__init__(TEXT)
        self.values, self.columns = values, columns

    def one(self, candidate: Candidates) -> Scored:
        return Scored({"": np.asarray(self.values)})


def test_missing_and_infinite_scores_get_a_reason() -> None:
    cells = score(Broken([[np.nan, -np.inf]]), INSTANCES[:1], None, seed=1, chunk=9)
    assert np.isnan(cells.columns[""]).all()
    assert sorted(cells.notes.values()) == sorted([NO_REASON, NOT_FINITE])


@pytest.mark.parametrize("scorer", [Broken([[1.0]]), Broken([1.0, 2.0]), Broken([[1.0, 2.0]], ("other",))])
def test_breach_of_the_contract_is_a_fault_that_names_the_scorer(scorer: Broken) -> None:
    with pytest.raises(TypeError, match="spelled"):
        score(scorer, INSTANCES[:1], None, seed=1, chunk=9)


def test_lost_results_are_a_fault() -> None:
    class Loses(Spelled):
        def score(self, batch: Sequence[Candidates], work: object) -> list[Scored]:
            return super().score(batch, work)[1:]

    with pytest.raises(TypeError, match="1 results for 2"):
        score(Loses(TEXT), INSTANCES[:2], None, seed=1, chunk=9)


def test_reasons_are_counted_by_instance_and_the_commonest_are_kept() -> None:
    class Mute(Spelled):
        def one(self, candidate: Candidates) -> Scored:
            number = int(candidate.id)
            grid = np.full((1, 2), np.nan if number < 8 else 1.0)
            # both captions of an instance give one reason, and a remark on a score that is there is no reason
            reason = "no words" if number < 3 else f"odd token {number} (api_key=s3cr3t)"
            return Scored({"": grid}, notes={(0, 0): reason, (0, 1): reason})

    scorer = Mute(TEXT)
    instances = [make(str(k), 1, 2) for k in range(10)]
    cells = score(scorer, instances, None, seed=42, chunk=3)
    roster = Dataset(instances).roster("demo")
    facts = contestant_facts(from_cells(Contestant("blind", scorer), cells, roster, tolerance=0.0), "short")
    assert facts["unscored"] == 8
    # 0 to 2 have no words; 3 to 7 have an odd token each, of which the first four find room among the five
    odd = {f"odd token {k} (api_key=[removed])": 1 for k in (3, 4, 5, 6)}
    assert facts["reasons"] == {"no words": 3, **odd}
