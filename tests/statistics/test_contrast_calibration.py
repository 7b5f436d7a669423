"""The comparisons audit themselves before a verdict is printed: coverage, false alarms and power where truth is known.

Scenes of 1 to 12 rows; contestants are right by a shared ease of the scene and one of their own, so their columns are
correlated and rows of a scene alike. `CALIBRATION_RUNS=2000` with `-s` prints the figures that `docs/calibration.md`
keeps; without it few runs check that nothing is broken.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy.special import ndtr

from audits.compared import Entrant, Settings
from audits.contrast import contrast, with_p
from audits.statistics.estimates import estimates
from audits.statistics.families import stepdown
from audits.statistics.layout import Layout
from audits.statistics.outcomes import Outcome
from audits.statistics.paired import difference_sample, unshifted
from audits.statistics.power import equivalence_bound, noise, smallest_visible
from audits.statistics.primary import intervals, pooled
from audits.statistics.sums import cluster_sums
from audits.verdict import Thresholds, verdicts

RUNS = int(os.environ.get("CALIBRATION_RUNS", "200"))
VERDICT_RUNS = max(RUNS // 4, 50) if RUNS > 200 else 20
"""A benchmark's verdicts take about a tenth of a second."""
DRAWS = 400
HARMED = ("compromised", "weakened")


def slack(rate: float, runs: int) -> float:
    """Three standard errors of a share of runs."""
    return 3 * float(np.sqrt(rate * (1 - rate) / runs))


def benchmark(
    rng: np.random.Generator, scenes: int, rates: np.ndarray, *, most: int = 12
) -> tuple[np.ndarray, np.ndarray]:
    """Draw one benchmark: credits of 0 or 1, [n, M], with these expected values; and the scene of each row."""
    scene = np.repeat(np.arange(scenes), rng.integers(1, most + 1, size=scenes))
    shared, own = rng.normal(size=(scenes, 1)), rng.normal(size=(scenes, len(rates)))
    # Variances .2 shared in the scene, .2 of each contestant in the scene, .6 by row: the sum is 1, so the
    # probability to pass the quantile of the rate is the rate.
    latent = 0.2**0.5 * (shared + own)[scene] + 0.6**0.5 * rng.normal(size=(len(scene), len(rates)))
    return (ndtr(latent) < rates).astype(float), scene


@pytest.mark.parametrize("scenes", [8, 20, 80])
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.75, 0.6), (0.95, 0.9)], ids=str)
def test_paired_excess_covers(scenes: int, rates: tuple[float, float]) -> None:
    rng = np.random.default_rng([scenes, round(100 * rates[0])])
    samples = []
    for _ in range(RUNS):
        credit, scene = benchmark(rng, scenes, np.array(rates))
        samples.append(difference_sample(credit[:, 0] - credit[:, 1], scene))
    found = [
        unshifted(one, sample)
        for [one, *_], sample in zip(intervals(samples, scenes, draws=DRAWS), samples, strict=True)
    ]
    truth = rates[0] - rates[1]
    missed = 1 - float(np.mean([one.low <= truth <= one.high for one in found]))
    print(f"\nexcess {rates} {scenes} scenes: false alarms {missed:.3f}")  # noqa: T201
    # Rates near 1 leave few scenes where anything differs: with 8 of them that is the documented shortfall.
    allowed = 0.09 if scenes == 8 and rates[0] > 0.9 else 0.075
    assert missed <= allowed + slack(0.05, RUNS)


def family_alarm(scenes: int, columns: int, chance: float, seed: int) -> float:
    rng = np.random.default_rng([scenes, columns, round(100 * chance), seed])
    hits = 0
    for _ in range(RUNS):
        credit, scene = benchmark(rng, scenes, np.full(columns, chance))
        third = scene % 3
        tests = [
            cluster_sums(np.where(third == part, credit[:, j] - chance, np.nan), scene)
            for j in range(columns)
            for part in range(3)
        ]
        tests += [cluster_sums(credit[:, j] - chance, scene) for j in range(columns)]
        hits += bool(
            np.nanmin(stepdown(tests, scenes, skewed=[chance != 0.5] * len(tests), draws=DRAWS).adjusted) <= 0.05
        )
    return hits / RUNS


@pytest.mark.parametrize("scenes", [8, 20, 80])
@pytest.mark.parametrize("chance", [0.5, 0.25])
def test_max_t_keeps_the_family_wise_level_on_null_data(scenes: int, chance: float) -> None:
    alarms = family_alarm(scenes, 6, chance, 1)
    print(f"\nmax-t chance {chance} {scenes} scenes, 24 tests: false alarms {alarms:.3f}")  # noqa: T201
    assert alarms <= (0.06 if chance == 0.5 else 0.09) + slack(0.05, RUNS)


def entrants(credit: np.ndarray, models: int) -> list[Entrant]:
    none = np.zeros(len(credit), dtype=bool)
    found = []
    for j in range(credit.shape[1]):
        outcome = Outcome("accuracy", credit[:, j].copy(), none, none, np.full(len(credit), 0.5))
        is_model = j < models
        sees = frozenset({"text", "image"}) if is_model else frozenset({"text"})
        found.append(
            Entrant(
                f"{'model' if is_model else 'blind'}{j}", "model" if is_model else "blind", sees, {"accuracy": outcome}
            )
        )
    return found


def levels(credit: np.ndarray, scene: np.ndarray, models: int = 1) -> list[str]:
    panel = entrants(credit, models)
    where = Layout("demo", [f"part {k % 3}" for k in scene], [str(k) for k in scene])
    compared = contrast(panel, where, Settings(draws=DRAWS))
    rows = estimates({one.name: one.outcomes for one in panel}, where, signatures={}, draws=DRAWS).rows
    every = [*with_p(rows, compared.adjusted), *compared.rows]
    return [one["level"] for one in verdicts(every, {one.name: one.kind for one in panel}, where, Thresholds())]


@pytest.mark.parametrize("scenes", [8, 20, 80])
@pytest.mark.parametrize("model", [0.8, 0.3], ids=["able model", "failing model"])
def test_verdicts_are_silent_on_null_data(scenes: int, model: float) -> None:
    # Four null baselines and a model that is good, or so bad that it is below all of them: neither is a shortcut.
    rng, runs = np.random.default_rng([scenes, round(10 * model)]), VERDICT_RUNS
    found = [levels(*benchmark(rng, scenes, np.array([model, *[0.5] * 4]))) for _ in range(runs)]
    alarms = float(np.mean([any(level in HARMED for level in one) for one in found]))
    unsure = float(np.mean([one[-1] == "undecided" for one in found]))
    print(f"\nverdicts, null, model {model}, {scenes} scenes: harmed {alarms:.3f}, pooled undecided {unsure:.3f}")  # noqa: T201
    assert alarms <= 0.05 + slack(0.05, runs)
    assert scenes > 8 or unsure + alarms >= 1


def test_verdicts_find_what_is_planted() -> None:
    # One of four baselines is right in 70 % of 80 scenes of 1 to 12 rows: 20 points from chance, far over 10.
    rng, runs = np.random.default_rng(5), VERDICT_RUNS
    found = [levels(*benchmark(rng, 80, np.array([0.8, 0.7, 0.5, 0.5, 0.5])))[-1] for _ in range(runs)]
    hit = float(np.mean([level in HARMED for level in found]))
    worst = float(np.mean([level == "compromised" for level in found]))
    print(f"\nverdicts, planted .20, 80 scenes: harmed {hit:.3f}, compromised {worst:.3f}")  # noqa: T201
    assert hit > 0.95


@pytest.mark.parametrize("scenes", [20, 80, 300])
def test_smallest_visible_is_seen_with_about_the_power_it_names(scenes: int) -> None:
    # A family of six null columns sets the critical value; its first column is then given the distance that it names.
    rng, runs = np.random.default_rng(scenes), max(RUNS, 200)
    named = []
    for _ in range(20):
        credit, scene = benchmark(rng, scenes, np.full(6, 0.5))
        joint = stepdown([cluster_sums(credit[:, j] - 0.5, scene) for j in range(6)], scenes, draws=DRAWS)
        named.append(smallest_visible(noise(credit[:, 0] - 0.5, scene), joint.critical))
    distance = float(np.median(named))
    hits = 0
    for _ in range(runs):
        credit, scene = benchmark(rng, scenes, np.array([0.5 + distance, *[0.5] * 5]))
        hits += (
            stepdown([cluster_sums(credit[:, j] - 0.5, scene) for j in range(6)], scenes, draws=DRAWS).adjusted[0]
            <= 0.05
        )
    print(f"\nsmallest visible, {scenes} scenes: {distance:.3f}, seen {hits / runs:.3f}")  # noqa: T201
    assert 0.70 - slack(0.8, runs) <= hits / runs <= 0.92 + slack(0.8, runs)


@pytest.mark.parametrize("scenes", [20, 80])
def test_equivalence_is_said_too_often_by_no_more_than_its_level(scenes: int) -> None:
    # The truth lies exactly at the margin, .10 from chance: "within .10" must be said in at most 5 % of runs.
    rng = np.random.default_rng(scenes)
    samples = [
        pooled(credit[:, 0], scene) for credit, scene in (benchmark(rng, scenes, np.array([0.6])) for _ in range(RUNS))
    ]
    found = [one[0] for one in intervals(samples, scenes, draws=DRAWS, confidence=0.9)]
    said = float(np.mean([equivalence_bound(one.low, one.high, 0.5) <= 0.1 for one in found]))
    print(f"\nequivalence at the margin, {scenes} scenes: said {said:.3f}")  # noqa: T201
    assert said <= 0.06 + slack(0.05, RUNS)
