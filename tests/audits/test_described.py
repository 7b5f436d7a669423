"""Sensitivity and the spread over subsets as rows: who has them, on what, and what is left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.compared import Settings
from audits.dataset import Roster
from audits.described import described
from audits.load import Contestant
from audits.measured import Measured
from audits.scoring import Cells
from audits.statistics.layout import Layout
from audits.statistics.outcomes import outcomes
from baselines.schema import BOTH, TEXT, Scored, Side
from benchmarks.schema import Shape
from reports.schema import Estimate

GOLD = np.array([[True, False]])


class Named:
    """Stand for a contestant that has measured already."""

    columns = ("",)

    def __init__(self, name: str, sees: frozenset[Side]) -> None:
        self.name, self.sees, self.signature = name, sees, {"scorer": name}

    def score(self, batch: object, work: object) -> list[Scored]:
        raise AssertionError("it has measured already")


def roster(subsets: list[str]) -> Roster:
    size = len(subsets)
    where = Layout("demo", subsets, [str(k) for k in range(size)])
    return Roster(where.clusters, [""] * size, [GOLD] * size, [Shape(1, 2)] * size, where)


def measured(scores: np.ndarray, *, kind: str = "model", kept: bool = True) -> Measured:
    sees = BOTH if kind == "model" else TEXT
    flat, size = scores.ravel().astype(float), len(scores)
    image = np.full(2 * size, 0 if kind == "model" else -1)
    blank = np.zeros(2 * size, dtype=bool)
    where = (np.repeat(np.arange(size), 2), image, np.tile([0, 1], size))
    cells = Cells(*where, {"": flat}, np.full(2 * size, -1), blank, {}, sees, 0.0)
    found = outcomes(list(scores[:, None, :]), [GOLD] * size, sees=sees)
    return Measured(Contestant(kind, Named(kind, sees)), {kind: found}, pd.DataFrame(), cells if kept else None, 0.0)


def rows(*found: Measured, subsets: list[str]) -> dict[tuple[str, str, str], Estimate]:
    signatures = {one.contestant.scorer.name: "s" for one in found}
    every = described(found, roster(subsets), Settings(draws=200), signatures=signatures)
    return {(one.scorer, one.metric, one.subset): one for one in every}


SCORES = np.array([[3.0, 1], [5, 2], [4, 3], [2, 4]])


def test_sensitivity_and_spread_by_hand() -> None:
    found = rows(measured(SCORES), subsets=["x", "x", "y", "y"])
    # Matching 3, 5, 4, 2: mean 3.5, squares 5. Mismatching 1, 2, 3, 4: mean 2.5, squares 5. s^2 = 10 / 6.
    all_of_it = found["model", "sensitivity", "all"]
    assert all_of_it.value == pytest.approx(1 / (10 / 6) ** 0.5)
    assert (all_of_it.chance, all_of_it.n, all_of_it.n_clusters) == (0.0, 4, 4)
    # x: means 4 and 1.5, squares 2 and .5, s^2 = 2.5 / 2.
    assert found["model", "sensitivity", "x"].value == pytest.approx(2.5 / 1.25**0.5)
    # Right in 2 of 2 and in 1 of 2: accuracies 1 and .5, standard deviation .25.
    assert found["model", "subset_std", "all"].value == pytest.approx(0.25)


def test_outcomes_without_scores_have_the_spread_alone() -> None:
    found = rows(measured(SCORES, kept=False), subsets=["x", "x", "y", "y"])
    assert list(found) == [("model", "subset_std", "all")]


def test_a_baseline_has_no_sensitivity_and_a_constant_has_nothing() -> None:
    flat = np.zeros((4, 2))
    assert set(rows(measured(SCORES, kind="blind"), subsets=["x", "x", "y", "y"])) == {("blind", "subset_std", "all")}
    assert rows(measured(flat), subsets=["x", "x", "y", "y"]) == {}


def test_an_instance_with_a_missing_score_enters_on_neither_side() -> None:
    scores = np.vstack([SCORES, [[100.0, np.nan]]])
    found = rows(measured(scores), subsets=["x", "x", "y", "y", "y"])["model", "sensitivity", "all"]
    assert (found.n, found.unscored) == (4, 1)
    assert found.value == pytest.approx(1 / (10 / 6) ** 0.5)


def test_one_subset_has_no_spread() -> None:
    assert [key[1] for key in rows(measured(SCORES), subsets=["x"] * 4)] == ["sensitivity"] * 2
