"""Cases of area F: degenerate intervals, and rows that share a scene."""

from __future__ import annotations

import numpy as np
import pytest

from audits.statistics.bootstrap import replicates
from audits.statistics.estimates import estimates
from audits.statistics.intervals import wald, wilson
from audits.statistics.layout import Layout
from audits.statistics.outcomes import Outcome
from audits.statistics.sums import cluster_sums
from reports.schema import Estimate


def rows_of(credit: np.ndarray, clusters: list[str]) -> list[Estimate]:
    found = Outcome("accuracy", credit, credit == 0.5, np.isnan(credit), np.full(len(credit), 0.5))
    where = Layout("demo", [""] * len(credit), clusters)
    return estimates({"s": {"accuracy": found}}, where, signatures={}).rows


def singles(count: int) -> list[str]:
    return [str(number) for number in range(count)]


@pytest.mark.parametrize(
    ("right", "n", "low", "high"), [(8, 8, 0.6756, 1.0), (0, 12, 0.0, 0.2425), (29, 30, 0.8333, 0.9941)]
)
def test_f1_zero_width_and_bounds_outside(right: int, n: int, low: float, high: float) -> None:
    [row] = rows_of(np.array([1.0] * right + [0.0] * (n - right)), singles(n))
    assert (round(row.low, 4), round(row.high, 4), row.method) == (low, high, "wilson")


def test_f1_wald_only_on_request_clipped_and_marked() -> None:
    assert [round(bound, 4) for bound in wald(29, 30, clip=False)[:2]] == [0.9024, 1.0309]
    assert wald(29, 30).high == 1.0
    assert "clipped" in wald(29, 30).method


def test_f1_sibling_a_degenerate_bootstrap_says_so() -> None:
    row = rows_of(np.ones(200), singles(40) * 5)[0]
    assert row.method == "wilson at n = clusters (degenerate bootstrap)"
    assert (row.low, row.high) == wilson(40, 40)[:2]


def test_f1_sibling_half_credits_do_not_pass_as_binomial() -> None:
    rows = rows_of(np.tile([0.5, 1.0], 40), singles(80))
    assert [row.method for row in rows] == ["cluster bootstrap (B=10000)"]


def test_f1_sibling_every_interval_holds_its_estimate_and_stays_within_bounds() -> None:
    for right in (0, 1, 39, 40):
        for size in (1, 3):
            credit = np.repeat([1.0] * right + [0.0] * (40 - right), size)
            for row in rows_of(credit, np.repeat(singles(40), size).tolist()):
                assert 0 <= row.low <= row.value <= row.high <= 1
                assert row.low < row.high


def test_f2_rows_that_share_a_scene() -> None:
    # 4 scenes of 5 rows: right, right, right, wrong.
    # Rows: sqrt(.75 * .25 / 20) = .0968; scenes: sqrt(.1875 / 4) = .2165.
    credit, scenes = np.repeat([1.0, 1, 1, 0], 5), np.repeat(np.arange(4), 5)
    assert credit.mean() == 0.75
    assert round(float(np.sqrt(0.75 * 0.25 / 20)), 4) == 0.0968
    by_scene = replicates([cluster_sums(credit, scenes)], 4, draws=40_000)[:, 0].std()
    assert by_scene == pytest.approx(0.2165, abs=0.003)
    primary, beside = rows_of(credit, [str(scene) for scene in scenes])
    assert primary.n_clusters == 4
    assert (primary.low, primary.high) == (0.0, 1.0)
    assert primary.method == "sign-flip by cluster (too few clusters to reject anything)"
    assert (beside.primary, beside.method) == (False, "wilson")


def test_f2_sibling_the_primary_interval_widens_with_copies_of_a_row_and_wilson_does_not() -> None:
    rng = np.random.default_rng(0)
    once = (rng.random(60) < 0.5).astype(float)
    [alone] = rows_of(once, singles(60))
    copies, beside = rows_of(np.repeat(once, 10), np.repeat(singles(60), 10).tolist())
    # Ten copies of each row hold no more information: the width stays, while row-wise Wilson shrinks threefold.
    assert copies.high - copies.low == pytest.approx(alone.high - alone.low, rel=0.1)
    assert beside.high - beside.low < 0.4 * (alone.high - alone.low)


def test_f2_sibling_clusters_are_told_by_name_and_not_by_neighbourhood() -> None:
    rng = np.random.default_rng(1)
    credit, order = (rng.random(160) < 0.5).astype(float), rng.permutation(160)
    clusters = np.repeat(singles(40), 4)
    plain = rows_of(credit, clusters.tolist())[0]
    moved = rows_of(credit[order], clusters[order].tolist())[0]
    assert plain.n_clusters == moved.n_clusters == 40
    assert plain.value == moved.value
    assert moved.high - moved.low == pytest.approx(plain.high - plain.low, rel=0.1)


def test_f2_sibling_scenes_shared_by_subsets_widen_macro_and_fixed_differences_do_not() -> None:
    rng = np.random.default_rng(3)
    scenes = np.tile(np.arange(200), 3)
    credit = (rng.random(600) < np.repeat([0.99, 0.5, 0.5], 200)).astype(float)
    credit[400:] = credit[200:400]

    def width(clusters: np.ndarray) -> float:
        found = Outcome("accuracy", credit, credit == 0.5, np.isnan(credit), np.full(600, 0.5))
        where = Layout("demo", list("a" * 200 + "b" * 200 + "c" * 200), [str(name) for name in clusters])
        rows = estimates({"s": {"accuracy": found}}, where, signatures={}).rows
        [macro] = [row for row in rows if row.subset == "macro"]
        return macro.high - macro.low

    # Subset c repeats b. In scenes of their own: 2 x 1.96 x sqrt(2 x .25 / 200) / 3 = .0653; in the same ones the two
    # move together: 2 x 1.96 x sqrt(4 x .25 / 200) / 3 = .0924. The difference between .99 and .5 adds nothing.
    assert width(np.arange(600)) == pytest.approx(0.0653, rel=0.12)
    assert width(scenes) == pytest.approx(0.0924, rel=0.12)
