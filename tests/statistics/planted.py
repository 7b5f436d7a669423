"""Verdicts on samples whose shortcut is known: captions of tableaux, with the blind panel that needs no model.

Everything from the instances on is what a run does: scores, folds, outcomes, estimates, contrast, verdicts. Pictures
are not drawn, draws of the resampling are 1,000 instead of 10,000, and the trained baseline has one fold seed.

`python -m tests.statistics.planted 200` (from the repository's root) prints the table that `docs/calibration.md` keeps.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from audits.conclude import conclude
from audits.crossfit.fits import Runner, subsets
from audits.dataset import Dataset, Roster
from audits.load import Contestant
from audits.measured import Measured
from audits.scoring import handed_over, orders
from audits.statistics.estimates import estimates
from audits.statistics.facing import judging
from audits.statistics.outcomes import outcomes
from audits.verdict import differs
from baselines.constant import Constant
from baselines.format_cues import FormatCues
from baselines.frequency import Frequency
from baselines.length import Length
from baselines.ngram import Ngram
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from benchmarks.tableaux import specification

HARMED = ("weakened", "compromised")
OFF = ("some_zero_shot_baseline_off_chance", "some_trained_baseline_off_chance")
PAIR = np.eye(2, dtype=bool)
DRAWS = 1_000
VALUES: Mapping[str, Any] = {
    "seed": 42,
    "statistics": {"bootstrap": DRAWS, "seed": 42, "level": 0.95, "tie_tolerance": 0.0},
    "verdict": {"compromised": 0.10, "weakened": 0.02, "margin": 0.02, "alpha": 0.05, "power": 0.8},
    "crossfit": {"folds": 5, "seed": 42},
}


class NoEngine:
    """Lend nothing: baselines of this study compute what they need themselves."""

    def measure(self, items: Sequence[object], task: object) -> np.ndarray:
        raise AssertionError("this study takes baselines that need no model")


class Captions:
    """Yield one instance per variation of a sample, in the three tiers by turns, without drawing a picture."""

    def __init__(self, shortcut: str, strength: float, seed: int, scenes: int) -> None:
        found = [
            (variation, list(variation.captions.items())[place % 3])
            for place, variation in enumerate(specification(scenes, seed, shortcut, strength).variations())
        ]
        self.instances = [
            Instance(
                f"{one.id}:{tier}",
                (ImageRef(one.scene_id), ImageRef(one.id)),
                pair,
                PAIR,
                subset=one.edit.type,
                cluster=one.scene_id,
            )
            for one, (tier, pair) in found
        ]

    def __iter__(self) -> Iterator[Instance]:
        return iter(self.instances)


class Judged(NamedTuple):
    """What was concluded of one sample.

    Attributes:
        pooled: Level on all instances.
        anywhere: Whether any level, by subset or on all instances, is weakened or worse.
        trained: Whether any level is at least the warning that only a trained baseline gives.
        off: Whether some zero-shot baseline is off chance; whether some trained one is.
        either: Whether anything in the family is.
        by: What the pooled level rests on.
    """

    pooled: str
    anywhere: bool
    trained: bool
    off: tuple[bool, bool]
    either: bool
    by: tuple[str, ...]


def panel() -> list[Contestant]:
    """Return the blind baselines that need no model: all zero-shot ones, and ngram, trained on the sample's folds."""
    zero_shot = [Constant(), Length(), FormatCues(), Frequency()]
    return [*(Contestant("blind", one) for one in zero_shot), Contestant("trained", Ngram())]


def judge(baselines: Sequence[Contestant], shortcut: str, strength: float, seed: int, *, scenes: int = 40) -> Judged:
    """Draw one sample, score its captions and conclude."""
    dataset = Dataset(Captions(shortcut, strength, seed, scenes))
    roster = dataset.roster("tableaux")
    measured = [_measured(one, dataset, roster) for one in baselines]
    own = {}
    for one in measured:
        for name, found in one.outcomes.items():
            facing = judging(one.contestant.scorer.sees, found, "group")
            if facing is not None:
                own[name] = {facing.judge: found[facing.judge]}
    rows = estimates(own, roster.labels, signatures={}, draws=DRAWS).rows
    signatures = {one.contestant.scorer.name: "" for one in measured}
    concluded = conclude(rows, measured, roster, VALUES, primary="group", signatures=signatures)
    levels = [one["level"] for one in concluded.verdicts]
    said = {finding.kind for finding in concluded.findings}
    return Judged(
        levels[-1],
        any(level in HARMED for level in levels),
        any(level in (*HARMED, "trained-text warning") for level in levels),
        (OFF[0] in said, OFF[1] in said),
        any(differs(row, 0.05) for row in concluded.rows),
        tuple(concluded.verdicts[-1]["by"]),
    )


def _measured(one: Contestant, dataset: Dataset, roster: Roster) -> Measured:
    """Score and decide; without the long form of the comparisons, which would take most of the time."""
    instances = list(dataset)
    if one.kind == "trained":
        options, parts = VALUES["crossfit"], subsets(instances, seed=42)
        one.scorer.prepare([given for part in parts for given in part.given], NoEngine())
        cells = Runner(one.scorer, parts, k=options["folds"], seed=42).fits(fold_seed=options["seed"]).cells
        scores = {column: values.reshape(-1, 2) for column, values in cells.columns.items()}
    else:
        # Options in an order that says nothing, as the runner hands them over: half of the bases come second.
        turned = np.array([orders(42, instance)[1][0] == 1 for instance in instances])
        batch = [handed_over(x, [0, 1], [1, 0] if turn else [0, 1]) for x, turn in zip(instances, turned, strict=True)]
        scored = one.scorer.score(batch, NoEngine())
        scores = {column: np.stack([row.columns[column][0] for row in scored]) for column in one.scorer.columns}
        for flat in scores.values():
            flat[turned] = flat[turned][:, ::-1]
    found = {}
    for column, flat in scores.items():
        grids = list(np.broadcast_to(flat[:, None, :], (len(flat), 2, 2)))
        tolerance = float(getattr(one.scorer, "tolerance", 0.0))
        found[one.full_name(column)] = outcomes(grids, roster.golds, sees=one.scorer.sees, tolerance=tolerance)
    return Measured(one, found, pd.DataFrame(), None, 0.0)


def study(baselines: Sequence[Contestant], shortcut: str, strength: float, seeds: Sequence[int]) -> dict[str, float]:
    """Return shares of samples: weakened or worse (pooled, anywhere), trained warnings, and a baseline off chance."""
    found = [judge(baselines, shortcut, strength, seed) for seed in seeds]
    return {
        "pooled": float(np.mean([one.pooled in HARMED for one in found])),
        "anywhere": float(np.mean([one.anywhere for one in found])),
        "warned": float(np.mean([one.trained for one in found])),
        "zero-shot off chance": float(np.mean([one.off[0] for one in found])),
        "trained off chance": float(np.mean([one.off[1] for one in found])),
        "off chance": float(np.mean([one.either for one in found])),
        "undecided": float(np.mean([one.pooled == "undecided" for one in found])),
    }


if __name__ == "__main__":
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    chosen = sys.argv[2:] or ["none", "length", "wording", "format"]
    for planted in chosen:
        strength, count = (0.0, samples) if planted == "none" else (0.2, max(samples // 5, 1))
        print(planted, strength, count, study(panel(), planted, strength, range(1_000, 1_000 + count)), flush=True)  # noqa: T201
