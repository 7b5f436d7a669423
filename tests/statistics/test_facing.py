"""Which baselines can differ from chance, what few decided instances allow to be seen, and captions that repeat."""

from __future__ import annotations

import numpy as np
import pytest

from audits.compared import Entrant, Settings
from audits.contrast import contrast
from audits.statistics.facing import can_differ, judging
from audits.statistics.families import stepdown
from audits.statistics.layout import Layout
from audits.statistics.outcomes import Outcome, outcomes
from audits.statistics.power import fewest_decided
from audits.statistics.sums import cluster_sums

THREE = [np.array([[True, False, False]])] * 4


def test_a_partial_tie_of_three_options_is_not_chance() -> None:
    # The positive shares the top with one of two foils: 1/2, where chance is 1/3. Every instance is a tie.
    found = outcomes([np.array([[2.0, 2.0, 1.0]])] * 4, THREE, sees={"text"})
    assert found["accuracy"].tie.all()
    assert can_differ(found["accuracy"])
    assert judging({"text"}, found, "accuracy") is not None
    flat = outcomes([np.array([[2.0, 2.0, 2.0]])] * 4, THREE, sees={"text"})
    assert not can_differ(flat["accuracy"])


@pytest.mark.parametrize("metric", ["accuracy_all", "accuracy_any", "accuracy_mean"])
def test_a_partial_tie_of_two_positives_is_not_chance(metric: str) -> None:
    # One positive is level with the foil, the other above it: all 1 / C(2, 1) = 1/2 where chance is 1 / C(3, 2) = 1/3,
    # any 1 where it is 2/3, mean (1 + 1/2) / 2 = 3/4 where it is 1/2.
    gold = [np.array([[True, True, False]])] * 4
    found = outcomes([np.array([[3.0, 2.0, 2.0]])] * 4, gold, sees={"text"})
    assert can_differ(found[metric])
    assert not can_differ(outcomes([np.ones((1, 3))] * 4, gold, sees={"text"})[metric])


def panel(credit: np.ndarray, other: np.ndarray) -> list[Entrant]:
    none, half = np.zeros(len(credit), dtype=bool), np.full(len(credit), 0.5)
    return [
        Entrant(
            name, "blind", frozenset({"text"}), {"accuracy": Outcome("accuracy", values, values == 0.5, none, half)}
        )
        for name, values in (("one", credit), ("two", other))
    ]


def visible(credit: np.ndarray, clusters: list[str], texts: list[int] | None = None) -> dict[str, float]:
    other = np.random.default_rng(0).integers(0, 2, size=len(credit)).astype(float)
    where = Layout("demo", [""] * len(credit), clusters)
    found = contrast(panel(credit, other), where, Settings(draws=400), texts=texts or ())
    return {row.scorer: row.value for row in found.rows if row.metric == "smallest_visible"}


def test_where_three_of_a_thousand_are_decided_a_shift_must_decide_enough() -> None:
    credit = np.full(1_000, 0.5)
    credit[:3] = 1.0, 0.0, 1.0
    # The standard error alone, .0009, would promise .2 points: one single decided row more than nothing.
    found = visible(credit, [str(k) for k in range(1_000)])["one"]
    # Six one-sided rows give 2^(1 - 6) = .031; P(Binomial(1,000, .0079) >= 6) = .8, and .0079 / 2 is .39 points.
    assert 0.0039 < found < 0.0060


def test_the_share_that_must_be_decided_is_seen_with_the_power_it_names() -> None:
    rng, runs, n = np.random.default_rng(8), 300, 400
    columns = [cluster_sums(rng.choice([-0.5, 0.5], size=n), np.arange(n)) for _ in range(5)]
    critical = stepdown(columns, n, draws=400).critical
    share = fewest_decided(np.arange(n), 1.0, critical, alpha=0.05)
    hits = 0
    for _ in range(runs):
        tied = np.where(rng.random(n) < share, 0.5, 0.0)
        hits += stepdown([*columns, cluster_sums(tied, np.arange(n))], n, draws=400).adjusted[-1] <= 0.05
    # Nominal .8; the sign test's bar may ask for one more than the family does.
    assert hits / runs > 0.8 - 3 * (0.8 * 0.2 / runs) ** 0.5


def test_many_rows_in_few_clusters_are_decided_in_each_of_them() -> None:
    # 8 clusters of 1,000 rows: 7 clusters have a decided row already where 2 in 1,000 rows are decided.
    clusters = np.repeat(np.arange(8), 1_000)
    assert fewest_decided(clusters, 1.0, 2.25, alpha=0.05) < 0.004
    assert fewest_decided(clusters, 1_000.0, 2.25, alpha=0.05) > 0.8
    assert fewest_decided(np.arange(5), 1.0, 2.25, alpha=0.05) == float("inf")


def test_what_lies_farther_from_chance_than_anything_can_is_not_a_size() -> None:
    # Four rows of two clusters: nothing can be rejected, and no number of points is named.
    found = visible(np.array([1.0, 0.0, 1.0, 1.0]), ["a", "a", "b", "b"])
    assert np.isnan(found["one"])


def test_one_pair_of_captions_over_fifty_images_is_one_piece_of_evidence() -> None:
    # All 50 rows right: as 50 clusters that is as sure as can be, as one pair of captions it is one coin: p = 1.
    credit, names = np.ones(50), [str(k) for k in range(50)]
    where, settings = Layout("demo", [""] * 50, names), Settings(draws=400)
    other = np.random.default_rng(0).integers(0, 2, size=50).astype(float)
    key = ("one", "", "accuracy", "all")
    assert contrast(panel(credit, other), where, settings).adjusted[key] < 0.01
    assert contrast(panel(credit, other), where, settings, texts=[0] * 50).adjusted[key] == 1.0
    assert np.isnan(visible(credit, names, [0] * 50)["one"])
