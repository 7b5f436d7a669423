"""From scores [I, T] and gold [I, T] to outcomes by metric, over all instances of a benchmark.

Instances of equal shape and gold pattern are handled together. Which metrics exist depends on the shape:

- 1xT and Ix1: `accuracy` with one positive; `accuracy_all`, `accuracy_any`, `accuracy_mean` with several.
- 2x2 with one caption for each image: strict `i2t`, `t2i`, `group`, and `group_match`; the single decisions `i2t_base`,
  `i2t_foil`, `t2i_base`, `t2i_foil` for a scorer that sees both sides, `caption_preference` for one that sees only
  text, `image_preference` for one that sees only images. The base side is image 0 and the caption that fits it.
- Everything else: `i2t_mean` (mean over images of `accuracy_mean` of that image's row) and `t2i_mean` (over captions).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from audits.statistics.chance import CHANCE_2X2, Rule, pick
from audits.statistics.decisions import (
    Bools,
    Decision,
    Duel,
    Floats,
    average,
    choose,
    duel,
    single,
    standing,
    strict,
)
from benchmarks.errors import InputError

RULES: tuple[Rule, ...] = ("all", "any", "mean")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold one scorer column under one metric, over all n instances of a benchmark.

    Attributes:
        metric: Name, with the rule in it where there is a choice.
        credit: Proportion 0 to 1, float64 [n]; NaN where the metric is undefined for the shape, or unscored.
        tie: Whether a tie decided, boolean [n]. In strict metrics: nothing lost, something tied.
        unscored: Whether the metric is defined but a score was missing, boolean [n].
        chance: Value of an exchangeable scorer, float64 [n]; NaN where undefined for the shape.
    """

    metric: str
    credit: Floats
    tie: Bools
    unscored: Bools
    chance: Floats


class Pattern(NamedTuple):
    """Hold the instances that share a shape and a gold relation."""

    gold: Bools
    rows: NDArray[np.int64]


@runtime_checkable
class Stacks(Protocol):
    """Scores that can be had for many instances of one shape at once; they know the shapes."""

    def stacked(self, rows: NDArray[np.int64], shape: tuple[int, ...]) -> Floats:
        """Return float64 [m, I, T] for the instances at `rows`."""


def patterns(golds: Sequence[Bools]) -> list[Pattern]:
    """Group instances by gold relation, in order of first appearance.

    Args:
        golds: Boolean [I, T] per instance.

    Returns:
        Patterns whose rows cover every instance once.

    >>> [found.rows.tolist() for found in patterns([np.array([[True, False]]), np.eye(2, dtype=bool)] * 2)]
    [[0, 2], [1, 3]]
    """
    found: dict[tuple[tuple[int, ...], bytes], list[int]] = {}
    known: dict[int, list[int]] = {}  # equal relations are often one object, which saves looking into it
    for row, gold in enumerate(golds):
        rows = known.get(id(gold))
        if rows is None:
            rows = known[id(gold)] = found.setdefault((gold.shape, gold.tobytes()), [])
        rows.append(row)
    return [Pattern(np.asarray(golds[rows[0]], dtype=bool), np.array(rows)) for rows in found.values()]


def stack(scores: Sequence[NDArray[np.floating]], pattern: Pattern) -> Floats:
    """Return the scores of a pattern's instances as float64 [m, I, T].

    Raises:
        InputError: If an instance's scores have another shape than its gold.
    """
    if isinstance(scores, Stacks):
        return scores.stacked(pattern.rows, pattern.gold.shape)
    taken = [scores[row] for row in pattern.rows.tolist()]
    wrong = next((place for place, found in enumerate(taken) if found.shape != pattern.gold.shape), None)
    if wrong is not None:
        raise InputError(
            "scores do not have the shape of the gold relation",
            where=f"instance number {pattern.rows[wrong]}, counted from 0",
            got=str(list(taken[wrong].shape)),
            expected=str(list(pattern.gold.shape)),
        )
    return np.stack(taken).astype(np.float64, copy=False)


def is_pairing(gold: Bools) -> bool:
    """Say whether gold is 2x2 with exactly one caption for each image, in either order.

    >>> is_pairing(np.eye(2, dtype=bool)), is_pairing(np.eye(2, dtype=bool)[::-1]), is_pairing(np.eye(3, dtype=bool))
    (True, True, False)
    """
    return gold.shape == (2, 2) and bool((gold.sum(axis=0) == 1).all() and (gold.sum(axis=1) == 1).all())


def outcomes(
    scores: Sequence[NDArray[np.floating]], golds: Sequence[Bools], *, sees: Set[str], tolerance: float = 0.0
) -> dict[str, Outcome]:
    """Return the outcome of every metric that at least one instance's shape defines.

    A constant scorer gets exactly 1/T on T options, 1/2 GroupMatch, and 0 with a tie rate of 1 on the strict 2x2
    metrics; a perfect one gets 1 everywhere.

    Args:
        scores: Float [I, T] per instance, higher is a better match; NaN and infinite values count as missing.
        golds: Boolean [I, T] per instance; any order of options.
        sees: What the scorer is shown: `text`, `image` or both.
        tolerance: Largest difference that counts as a tie, in units of the score.

    Returns:
        Outcomes by metric; arrays [n].

    Raises:
        InputError: If the lengths or shapes of scores and golds differ.

    Source: composet eq. 1-3 (2x2); arXiv 2510.07632 (GroupMatch); ours (ties, several positives).

    >>> gold = [np.array([[True, False]])] * 2
    >>> found = outcomes([np.array([[0.5, 0.5]]), np.array([[0.7, 0.2]])], gold, sees={"text"})
    >>> found["accuracy"].credit, found["accuracy"].tie
    (array([0.5, 1. ]), array([ True, False]))
    """
    if len(scores) != len(golds):
        raise InputError("scores and gold differ in number", got=f"{len(scores)} scores, {len(golds)} gold relations")
    found: dict[str, Outcome] = {}
    for pattern in patterns(golds):
        decided = _metrics(stack(scores, pattern), pattern.gold, sees, tolerance)
        for metric, (decision, chance) in decided.items():
            if metric not in found:
                found[metric] = _blank(metric, len(golds))
            _fill(found[metric], pattern.rows, decision, chance)
    return {metric: _settled(outcome) for metric, outcome in found.items()}


def _blank(metric: str, size: int) -> Outcome:
    gaps, flags = np.full(size, np.nan), np.zeros(size, dtype=bool)
    return Outcome(metric, gaps, flags, flags.copy(), gaps.copy())


def _fill(outcome: Outcome, rows: NDArray[np.int64], decision: Decision, chance: float) -> None:
    outcome.credit[rows], outcome.tie[rows], outcome.unscored[rows] = decision
    outcome.chance[rows] = chance


def _settled(outcome: Outcome) -> Outcome:
    """Return the outcome with a chance that is one value everywhere held once: there are dozens of outcomes."""
    chance = outcome.chance
    if not len(chance) or not (chance == chance[0]).all():
        return outcome
    return replace(outcome, chance=np.broadcast_to(chance[0], chance.shape))


def _metrics(scores: Floats, gold: Bools, sees: Set[str], tolerance: float) -> Mapping[str, tuple[Decision, float]]:
    """Return decision and chance by metric for instances [m, I, T] of one gold relation."""
    if 1 in gold.shape:
        return _line(scores.reshape(len(scores), -1), gold.ravel(), tolerance)
    if is_pairing(gold):
        decided = pairing(scores, gold, tolerance)
        hidden = _not_for(sees)
        return {metric: (decision, CHANCE_2X2[metric]) for metric, decision in decided.items() if metric not in hidden}
    return {
        metric: value
        for metric, value in (
            ("i2t_mean", _questions(scores, gold, tolerance)),
            ("t2i_mean", _questions(scores.transpose(0, 2, 1), gold.T, tolerance)),
        )
        if value is not None
    }


def _line(scores: Floats, gold: Bools, tolerance: float) -> dict[str, tuple[Decision, float]]:
    """Return the metrics of one question with options [m, T]."""
    where, positives, foils = standing(scores, gold, tolerance), int(gold.sum()), int((~gold).sum())
    if positives == 1:
        return {"accuracy": (choose(where, "any"), pick(1, foils, "any"))}
    return {f"accuracy_{rule}": (choose(where, rule), pick(positives, foils, rule)) for rule in RULES}


def _questions(scores: Floats, gold: Bools, tolerance: float) -> tuple[Decision, float] | None:
    """Return the mean over those questions (rows) that have an option of each kind, or None if there are none."""
    mixed = np.flatnonzero(gold.any(axis=1) & ~gold.all(axis=1)).tolist()
    if not mixed:
        return None
    decisions = [choose(standing(scores[:, row], gold[row], tolerance), "mean") for row in mixed]
    return average(decisions), float(np.mean([pick(1, int((~gold[row]).sum()), "mean") for row in mixed]))


def _not_for(sees: Set[str]) -> frozenset[str]:
    """Return the 2x2 metrics that say nothing about a scorer that sees this much."""
    own = {"caption_preference": {"text"}, "image_preference": {"image"}}
    hidden = {metric for metric, side in own.items() if set(sees) != side}
    if not ("text" in sees and "image" in sees):
        hidden |= {"i2t_base", "i2t_foil", "t2i_base", "t2i_foil"}
    return frozenset(hidden)


def duels(scores: Floats, gold: Bools, tolerance: float = 0.0) -> dict[str, Duel]:
    """Return the four comparisons of a 2x2 pairing, named by direction and side.

    Args:
        scores: Float64 [m, 2, 2].
        gold: Boolean [2, 2], diagonal or anti-diagonal.
        tolerance: Largest difference that counts as a tie.

    Returns:
        `i2t_base`, `i2t_foil`, `t2i_base`, `t2i_foil`.

    >>> sorted(name for name, d in duels(np.array([[[3.0, 1.0], [2.0, 0.0]]]), np.eye(2, dtype=bool)).items() if d.win)
    ['i2t_base', 't2i_base']
    """
    scores = scores[:, :, gold.argmax(axis=1)]
    base, foil = scores[:, 0, 0], scores[:, 1, 1]
    return {
        "i2t_base": duel(base, scores[:, 0, 1], tolerance),
        "i2t_foil": duel(foil, scores[:, 1, 0], tolerance),
        "t2i_base": duel(base, scores[:, 1, 0], tolerance),
        "t2i_foil": duel(foil, scores[:, 0, 1], tolerance),
    }


def pairing(scores: Floats, gold: Bools, tolerance: float = 0.0) -> dict[str, Decision]:
    """Return every 2x2 metric of instances [m, 2, 2], for whatever the scorer sees.

    GroupMatch compares the mean score of the true pairing with that of the other one, under the same tolerance.

    Source: composet eq. 1-3; arXiv 2510.07632 (GroupMatch).

    >>> found = pairing(np.array([[[3.0, 1.0], [2.0, 0.5]]]), np.eye(2, dtype=bool))
    >>> float(found["group"].credit[0]), float(found["group_match"].credit[0])
    (0.0, 1.0)
    """
    four = duels(scores, gold, tolerance)
    halves = 0.5 * np.where(np.isfinite(scores), scores, np.nan)
    matched, crossed = halves[:, gold].sum(axis=1), halves[:, ~gold].sum(axis=1)
    return {
        "i2t": strict([four["i2t_base"], four["i2t_foil"]]),
        "t2i": strict([four["t2i_base"], four["t2i_foil"]]),
        "group": strict(list(four.values())),
        "group_match": single(duel(matched, crossed, tolerance)),
        **{name: single(contest) for name, contest in four.items()},
        "caption_preference": single(four["i2t_base"]),
        "image_preference": single(four["t2i_base"]),
    }
