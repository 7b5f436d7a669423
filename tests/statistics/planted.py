"""Verdicts on samples whose shortcut is known: captions of tableaux, with any list of blind baselines that read text.

`python -m tests.statistics.planted 200` (from the repository's root) prints the table that `docs/calibration.md` keeps.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from audits.compared import Entrant, Settings
from audits.contrast import contrast, with_p
from audits.statistics.estimates import estimates
from audits.statistics.facing import judging
from audits.statistics.layout import Layout
from audits.statistics.outcomes import outcomes
from audits.verdict import Thresholds, verdicts
from baselines.constant import Constant
from baselines.length import Length
from baselines.schema import Scorer
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates
from benchmarks.tableaux import specification

HARMED = ("weakened", "compromised")
PAIR = np.eye(2, dtype=bool)
ABSENT = (ImageRef.absent(), ImageRef.absent())


class NoEngine:
    """Lend nothing: baselines of this study compute what they need themselves."""

    def measure(self, items: Sequence[object], task: object) -> np.ndarray:
        raise AssertionError("this study takes baselines that need no model")


class Judged(NamedTuple):
    """What was concluded of one sample: on all instances, on the worst part, and whether a baseline is off chance."""

    pooled: str
    anywhere: bool
    above: bool


def panel() -> list[Scorer]:
    """Return the zero-shot baselines that need no model; add to it as they come."""
    return [Constant(), Length(units=["words", "characters"])]


def judge(baselines: Sequence[Scorer], shortcut: str, strength: float, seed: int, *, scenes: int = 40) -> Judged:
    """Draw one sample, score its captions and conclude, as a run does (1,000 draws instead of 10,000)."""
    found = [
        (variation.scene_id, variation.edit.type, pair)
        for variation in specification(scenes, seed, shortcut, strength).variations()
        for pair in variation.captions.values()
    ]
    # Options in an order that says nothing, as the runner hands them over: half of the bases come second.
    turned = np.random.default_rng(seed).random(len(found)) < 0.5
    batch = [Candidates(str(k), ABSENT, pair[::-1] if turned[k] else pair, "") for k, (*_, pair) in enumerate(found)]
    where = Layout("tableaux", [kind for _, kind, _ in found], [scene for scene, *_ in found])
    entrants = [entrant for one in baselines for entrant in _entrants(one, batch, turned)]
    compared = contrast(entrants, where, Settings("group", draws=1_000))
    own = {}
    for one in entrants:
        facing = judging(one.sees, one.outcomes, "group")
        if facing is not None:
            own[one.name] = {facing.judge: one.outcomes[facing.judge]}
    rows = with_p(estimates(own, where, signatures={}, draws=1_000).rows, compared.adjusted)
    every = verdicts([*rows, *compared.rows], {one.name: one.kind for one in entrants}, where, Thresholds())
    off = any(p <= 0.05 for p in compared.adjusted.values())
    return Judged(every[-1]["level"], any(one["level"] in HARMED for one in every), off)


def _entrants(scorer: Scorer, batch: Sequence[Candidates], turned: np.ndarray) -> list[Entrant]:
    scored = scorer.score(batch, NoEngine())
    found = []
    for column in scorer.columns:
        flat = np.stack([one.columns[column][0] for one in scored])
        flat[turned] = flat[turned][:, ::-1]
        grids = np.broadcast_to(flat[:, None, :], (len(flat), 2, 2))
        name = f"{scorer.name}:{column}" if column else scorer.name
        found.append(Entrant(name, "blind", scorer.sees, outcomes(list(grids), [PAIR] * len(flat), sees=scorer.sees)))
    return found


def study(baselines: Sequence[Scorer], shortcut: str, strength: float, seeds: Sequence[int]) -> dict[str, float]:
    """Return the shares of samples found weakened or worse (pooled, anywhere), and with a baseline off chance."""
    found = [judge(baselines, shortcut, strength, seed) for seed in seeds]
    return {
        "pooled": float(np.mean([one.pooled in HARMED for one in found])),
        "anywhere": float(np.mean([one.anywhere for one in found])),
        "off chance": float(np.mean([one.above for one in found])),
        "undecided": float(np.mean([one.pooled == "undecided" for one in found])),
    }


if __name__ == "__main__":
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for planted, strength in (("none", 0.0), ("length", 0.2), ("wording", 0.2), ("format", 0.2)):
        count = samples if strength == 0 else max(samples // 5, 1)
        print(planted, strength, count, study(panel(), planted, strength, range(1_000, 1_000 + count)), flush=True)  # noqa: T201
