"""The inference audits itself: coverage of every interval on simulated benchmarks whose truth is known.

Clusters (scenes) of 1 to 60 rows; a scene's own rate is drawn from a beta distribution with mean p and intra-class
correlation rho, so rows of one scene are alike. Coverage is the share of simulated benchmarks whose interval holds p;
one minus it is the false-alarm rate of "differs from p". `-s` prints the tables; `CALIBRATION_RUNS=2000` sharpens them.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import betaincinv

from audits.statistics import signflip
from audits.statistics.bootstrap import percentile, replicates
from audits.statistics.intervals import Interval, wald, wilson
from audits.statistics.primary import Sample, intervals, macro, pooled

RUNS = int(os.environ.get("CALIBRATION_RUNS", "400"))
DRAWS = 1_000
SCENES = (8, 20, 80)


class Coverage(NamedTuple):
    """Share of runs whose interval holds the truth, by kind of interval."""

    wilson: float
    wald: float
    bootstrap: float
    sign_flip: float
    primary: float


def slack() -> float:
    """Three standard errors of a coverage near .95 at this number of runs."""
    return 3 * float(np.sqrt(0.95 * 0.05 / RUNS))


def rows(rng: np.random.Generator, scenes: int, p: float, rho: float, most: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Draw one benchmark: credits of 0 or 1, and the scene of each row."""
    sizes = rng.integers(1, most + 1, size=scenes)
    scene = np.repeat(np.arange(scenes), sizes)
    rate = rng.beta(p * (1 - rho) / rho, (1 - p) * (1 - rho) / rho, size=scenes)
    return (rng.random(len(scene)) < rate[scene]).astype(float), scene


def held(found: list[Interval], truth: float) -> float:
    return float(np.mean([one.low <= truth <= one.high for one in found]))


def bootstrapped(samples: list[Sample], scenes: int) -> list[Interval]:
    low, high = percentile(replicates([sample.whole for sample in samples], scenes, draws=DRAWS))
    return [Interval(*bounds, "") for bounds in zip(low.tolist(), high.tolist(), strict=True)]


def measure(scenes: int, p: float, rho: float) -> Coverage:
    rng = np.random.default_rng([scenes, round(p * 100), round(rho * 100)])
    samples = [pooled(*rows(rng, scenes, p, rho)) for _ in range(RUNS)]
    plain = [(float(sample.whole.sums.sum()), sample.n) for sample in samples]
    return Coverage(
        held([wilson(*one) for one in plain], p),
        held([wald(*one) for one in plain], p),
        held(bootstrapped(samples, scenes), p),
        held([signflip.interval(sample.whole, draws=DRAWS) for sample in samples], p),
        held([found[0] for found in intervals(samples, scenes, draws=DRAWS)], p),
    )


@pytest.fixture(scope="module")
def table() -> dict[tuple[int, float, float], Coverage]:
    grid = [(scenes, p, rho) for scenes in SCENES for p in (0.5, 1 / 4, 1 / 6, 0.9) for rho in (0.1, 0.3)]
    found = {key: measure(*key) for key in grid}
    print(f"\npooled, {RUNS} runs\nscenes     p  rho   " + "  ".join(f"{name:>9}" for name in Coverage._fields))  # noqa: T201
    for (scenes, p, rho), one in found.items():
        print(f"{scenes:6d} {p:5.3f} {rho:4.1f}   " + "  ".join(f"{value:9.3f}" for value in one))  # noqa: T201
    return found


def test_primary_interval_keeps_its_word_at_the_usual_chances(
    table: dict[tuple[int, float, float], Coverage],
) -> None:
    # p = 1/2, 1/4 and 1/6 are the chances of pairs, strict I2T and Group. Below 30 scenes the false alarms stay under
    # .07, from 30 on under .08, give or take the simulation's own error.
    for (scenes, p, rho), found in table.items():
        if p <= 0.5:
            allowed = 0.07 if scenes < 30 else 0.08
            assert 1 - found.primary <= allowed + slack(), (scenes, p, rho, found)


def test_primary_interval_near_the_edge_is_short_by_no_more_than_is_documented(
    table: dict[tuple[int, float, float], Coverage],
) -> None:
    # A rare outcome that comes in whole scenes can be missing from the sample altogether.
    for (scenes, p, rho), found in table.items():
        if p == 0.9:
            allowed = 0.15 if scenes < 20 else 0.10
            assert 1 - found.primary <= allowed + slack(), (scenes, rho, found)


def test_primary_interval_is_never_worse_than_what_it_is_made_of(
    table: dict[tuple[int, float, float], Coverage],
) -> None:
    for (scenes, _, _), found in table.items():
        assert found.primary >= (found.sign_flip if scenes < 30 else found.bootstrap)


def test_row_wise_intervals_fail_where_scenes_repeat(table: dict[tuple[int, float, float], Coverage]) -> None:
    # The reason for all this: at a nominal .95 they cover less than .80 as soon as rows of a scene are alike.
    assert max(found.wilson for found in table.values()) < 0.80
    assert max(found.wald for found in table.values()) < 0.80


def test_bootstrap_alone_is_not_enough_for_few_scenes(table: dict[tuple[int, float, float], Coverage]) -> None:
    # The finding behind the sign-flip rule; if this ever fails, the rule has lost its reason.
    assert max(found.bootstrap for (scenes, _, _), found in table.items() if scenes == 8) < 0.92


def test_primary_interval_is_not_needlessly_wide(table: dict[tuple[int, float, float], Coverage]) -> None:
    assert max(found.primary for (scenes, _, _), found in table.items() if scenes == 80) <= 0.97 + slack()


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_independent_rows_get_wilson_and_it_covers(p: float) -> None:
    rng = np.random.default_rng(7)
    samples = [pooled((rng.random(60) < p).astype(float), np.arange(60)) for _ in range(4 * RUNS)]
    found = [one[0] for one in intervals(samples, 60, draws=DRAWS)]
    assert {one.method for one in found} == {"wilson"}
    assert abs(held(found, p) - 0.95) < 0.02 + slack() / 2


def test_half_credits_from_ties_are_covered() -> None:
    # Single instances, a third of them ties: credits 0, 1/2, 1 with mean 1/2.
    rng = np.random.default_rng(8)
    samples = [pooled(rng.choice([0.0, 0.5, 1.0], size=60), np.arange(60)) for _ in range(RUNS)]
    found = [one[0] for one in intervals(samples, 60, draws=DRAWS)]
    assert all(one.method.startswith("cluster bootstrap") for one in found)
    assert held(found, 0.5) >= 0.92 - slack()


def tied(
    rng: np.random.Generator, scenes: int, chances: tuple[float, float, float], rho: float
) -> tuple[np.ndarray, np.ndarray]:
    """Draw credits of 0, 1/2 and 1 with these chances; each scene has its own, from a Dirichlet distribution."""
    scene = np.repeat(np.arange(scenes), rng.integers(1, 61, size=scenes))
    rates = rng.dirichlet(np.array(chances) * (1 - rho) / rho, size=scenes).cumsum(axis=1)[scene]
    return (rng.random(len(scene))[:, None] > rates[:, :2]).sum(axis=1) / 2, scene


TIED = {
    "few decided, evenly": (0.05, 0.9, 0.05),
    "few decided, mostly wins": (0.02, 0.9, 0.08),
    "hardly any decided": (0.01, 0.98, 0.01),
    "half decided": (0.25, 0.5, 0.25),
    "near 1, some ties": (0.02, 0.08, 0.9),
}


@pytest.mark.parametrize("chances", list(TIED.values()), ids=list(TIED))
@pytest.mark.parametrize("scenes", SCENES)
def test_scorers_that_mostly_tie_keep_their_word(scenes: int, chances: tuple[float, float, float]) -> None:
    truth, runs = chances[1] / 2 + chances[2], max(RUNS // 2, 200)
    for rho in (0.1, 0.3):
        rng = np.random.default_rng([scenes, round(100 * chances[0]), round(10 * rho)])
        samples = [pooled(*tied(rng, scenes, chances, rho)) for _ in range(runs)]
        found = [one[0] for one in intervals(samples, scenes, draws=DRAWS)]
        plain = bootstrapped(samples, scenes)
        missed = 1 - held(found, truth)
        wider = np.mean([one.high - one.low for one in found]) / np.mean([one.high - one.low for one in plain])
        print(f"\ntied {chances} {scenes} rho={rho}: false alarms {missed:.3f}, {wider:.2f} times the bootstrap")  # noqa: T201
        # With 8 scenes a rare outcome can be missing altogether, as it can without ties.
        allowed = 0.08 if scenes >= 20 else 0.15
        assert missed <= allowed + 3 * np.sqrt(0.05 * 0.95 / runs)
        # With 80 scenes the interval is no wider than what it is made of, unless nearly all rows tie.
        assert scenes < 80 or wider < (1.6 if chances[1] > 0.95 else 1.25)


MACRO = {
    "3 x 80, scenes shared": ((80, 80, 80), True, 0.08),
    "80, 40, 20, scenes shared": ((80, 40, 20), True, 0.08),
    "3 x 20": ((20, 20, 20), False, 0.07),
    "8 and 6 x 80": ((8, *[80] * 6), False, 0.07),
    "7 x 8, scenes shared": ((8,) * 7, True, 0.08),
}


@pytest.mark.parametrize(("sizes", "shared", "allowed"), list(MACRO.values()), ids=list(MACRO))
@pytest.mark.parametrize("p", [0.5, 0.75])
def test_macro_intervals_keep_their_word(sizes: tuple[int, ...], shared: bool, allowed: float, p: float) -> None:
    rng, runs = np.random.default_rng(9), max(RUNS // 2, 200)
    count = max(sizes) if shared else sum(sizes)
    samples = []
    for _ in range(runs):
        subsets = [rows(rng, scenes, p, 0.3, most=10) for scenes in sizes]
        first = [0] * len(sizes) if shared else np.cumsum([0, *sizes[:-1]]).tolist()
        edges = np.cumsum([0, *(len(credit) for credit, _ in subsets)])
        credit = np.concatenate([credit for credit, _ in subsets])
        scene = np.concatenate([scene + start for (_, scene), start in zip(subsets, first, strict=True)])
        samples.append(macro(credit, scene, [np.arange(a, b) for a, b in pairwise(edges)]))
    found = [one[0] for one in intervals(samples, count, draws=DRAWS)]
    missed = 1 - held(found, p)
    print(f"\nmacro {sizes} p={p}: false alarms {missed:.3f} ({found[0].method})")  # noqa: T201
    assert missed <= allowed + 3 * np.sqrt(0.05 * 0.95 / runs)


MIXED = {
    "one near 1, 80 scenes": ((0.99, 0.5, 0.6, 0.4, 0.5), (80,) * 5, 0.08),
    "one near 1, 300 scenes": ((0.99, 0.5, 0.6, 0.4, 0.5), (300,) * 5, 0.08),
    "two skewed, one of them small": ((0.95, 0.5, 0.1), (80, 80, 20), 0.08),
    "all near 1": ((0.97, 0.97, 0.97), (80,) * 3, 0.08),
    "far apart, 20 scenes": ((0.5, 0.1, 0.9), (20,) * 3, 0.07),
    "far apart, 8 scenes": ((0.5, 0.1, 0.9), (8,) * 3, 0.08),
    "near 1 in 8 of 80 scenes": ((0.99, 0.2, 0.8), (8, 80, 80), 0.07),
}


def mixed(
    rng: np.random.Generator, rates: tuple[float, ...], sizes: tuple[int, ...], *, shared: bool, ties: float
) -> Sample:
    """Draw one macro average; a scene that subsets share is equally easy in all of them, by its rank."""
    first = [0] * len(sizes) if shared else np.cumsum([0, *sizes[:-1]]).tolist()
    easy = rng.random(max(sizes) if shared else sum(sizes))
    credits, scenes = [], []
    for p, size, start in zip(rates, sizes, first, strict=True):
        rate = betaincinv(p * 0.7 / 0.3, (1 - p) * 0.7 / 0.3, easy[start : start + size])
        scene = np.repeat(np.arange(size), rng.integers(1, 11, size=size))
        credit = (rng.random(len(scene)) < rate[scene]).astype(float)
        credits.append(np.where(rng.random(len(scene)) < ties, 0.5, credit))
        scenes.append(scene + start)
    edges = np.cumsum([0, *map(len, credits)]).tolist()
    return macro(np.concatenate(credits), np.concatenate(scenes), [np.arange(a, b) for a, b in pairwise(edges)])


@pytest.mark.parametrize(("rates", "sizes", "allowed"), list(MIXED.values()), ids=list(MIXED))
@pytest.mark.parametrize("shared", [True, False], ids=["scenes shared", "scenes apart"])
@pytest.mark.parametrize("ties", [0.0, 0.6], ids=["decided", "tied"])
def test_macro_over_unlike_subsets_keeps_its_word_and_its_width(
    rates: tuple[float, ...], sizes: tuple[int, ...], allowed: float, shared: bool, ties: float
) -> None:
    rng, runs = np.random.default_rng(10), max(RUNS // 2, 200)
    count = max(sizes) if shared else sum(sizes)
    samples = [mixed(rng, rates, sizes, shared=shared, ties=ties) for _ in range(runs)]
    found = [one[0] for one in intervals(samples, count, draws=DRAWS)]
    missed = 1 - held(found, ties / 2 + (1 - ties) * float(np.mean(rates)))
    width = np.mean([one.high - one.low for one in found])
    plain = [replicates(sample.parts, count, draws=200).mean(axis=1) for sample in samples[:50]]
    wider = width / np.mean([np.subtract(*np.nanquantile(drawn, [0.975, 0.025])) for drawn in plain])
    print(f"\nmacro {rates} {sizes} {shared=} {ties=}: false alarms {missed:.3f}, {wider:.2f} times the bootstrap")  # noqa: T201
    assert missed <= allowed + 3 * np.sqrt(0.05 * 0.95 / runs)
    # A plain bootstrap is wide enough where every subset has many scenes and at most one is near 1.
    if min(sizes) >= 80 and max(rates[1:]) < 0.9:
        assert wider < 1.1
