"""One decision, vectorised over instances: win, tie and loss are kept apart until a credit is asked for.

All functions take scores with the instance first and return a `Decision` of arrays [m]. A score that is NaN or
infinite is missing: the decision that needs it is unscored, never a loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb

from audits.statistics.chance import Rule

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Decision(NamedTuple):
    """Hold the credit (0 to 1, NaN if unscored), whether a tie decided, and whether it is unscored; arrays [m]."""

    credit: Floats
    tie: Bools
    unscored: Bools


class Duel(NamedTuple):
    """Hold one comparison of two scores; arrays [m], at most one of them true. All false is a loss, or unscored."""

    win: Bools
    tie: Bools
    unscored: Bools


def duel(first: Floats, second: Floats, tolerance: float = 0.0) -> Duel:
    """Compare two scores: a win if first > second + tolerance, a tie if they are within the tolerance.

    Args:
        first: Scores that should be larger, float64 [m].
        second: Scores that should be smaller, float64 [m].
        tolerance: Largest difference that counts as a tie, in units of the score.

    Returns:
        Win, tie and unscored, boolean [m].

    >>> duel(np.array([2.0, 1.0, 0.0, np.inf]), np.array([1.0, 1.0, 1.0, 1.0])).win
    array([ True, False, False, False])
    """
    unscored = ~(np.isfinite(first) & np.isfinite(second))
    left, right = np.where(unscored, 0.0, first), np.where(unscored, 0.0, second)
    win = left > right + tolerance
    tie = (left >= right - tolerance) & ~win & ~unscored
    return Duel(win, tie, unscored)


def single(contest: Duel) -> Decision:
    """Return the decision of one comparison: win 1, tie 1/2, loss 0.

    >>> single(duel(np.array([2.0, 1.0, 0.0]), np.ones(3))).credit
    array([1. , 0.5, 0. ])
    """
    credit = np.where(contest.unscored, np.nan, contest.win + 0.5 * contest.tie)
    return Decision(credit, contest.tie, contest.unscored)


def strict(contests: Sequence[Duel]) -> Decision:
    """Return the decision that needs every comparison won: a tie fails, and is marked where nothing was lost.

    Args:
        contests: Comparisons of the same m instances.

    Returns:
        Credit 1 or 0, NaN where any comparison is unscored.

    Source: composet2026, eq. 1-3 (strict inequalities).

    >>> one, level = duel(np.ones(1), np.zeros(1)), duel(np.ones(1), np.ones(1))
    >>> strict([one, one]).credit, strict([one, level]).credit, strict([one, level]).tie
    (array([1.]), array([0.]), array([ True]))
    """
    unscored = np.logical_or.reduce([contest.unscored for contest in contests])
    win = np.logical_and.reduce([contest.win for contest in contests])
    not_lost = np.logical_and.reduce([contest.win | contest.tie for contest in contests])
    return Decision(np.where(unscored, np.nan, win.astype(float)), not_lost & ~win & ~unscored, unscored)


class Standing(NamedTuple):
    """Hold how positives stand to the best foil, which is the anchor: what is within the tolerance of it is level.

    Attributes:
        above: Positives above the best foil, boolean [m, p].
        level: Positives level with it, boolean [m, p].
        rivals: Foils level with the best foil, itself included, int64 [m].
        unscored: Instances with a missing score, boolean [m].
    """

    above: Bools
    level: Bools
    rivals: NDArray[np.int64]
    unscored: Bools


def standing(scores: Floats, gold: Bools, tolerance: float = 0.0) -> Standing:
    """Compare every positive with the best foil.

    Args:
        scores: Scores of one question's options, float64 [m, T].
        gold: Which options match, boolean [T], with at least one of each kind.
        tolerance: Largest difference that counts as a tie, in units of the score.

    Returns:
        Where the positives stand.

    >>> standing(np.array([[3.0, 2.0, 2.0]]), np.array([True, True, False])).level
    array([[False,  True]])
    """
    unscored: Bools = np.logical_not(np.isfinite(scores).all(axis=1))
    known = np.where(unscored[:, None], 0.0, scores)
    positives, foils = known[:, gold], known[:, ~gold]
    best = foils.max(axis=1, keepdims=True)
    above = positives > best + tolerance
    level = (positives >= best - tolerance) & ~above
    return Standing(above, level, (foils >= best - tolerance).sum(axis=1), unscored)


def choose(where: Standing, rule: Rule) -> Decision:
    """Return the expected credit under random breaking of ties.

    With q positives level with the best foil, m foils level with it (itself included):
    `all` is 1 if every positive is above, 0 if any is below, else q! m! / (q + m)!;
    `any` is 1 if any positive is above, else q / (q + m);
    `mean` is the mean over the positives of 1 (above), 1 / (m + 1) (level) or 0 (below).
    With one positive all three are the usual 1 / (m + 1).

    Args:
        where: Standing of the positives.
        rule: What counts as right.

    Returns:
        Credit 0 to 1, NaN where unscored; `tie` where a tie took part in the credit.

    Source: methods note, section 1.

    >>> at = standing(np.array([[0.30, 0.20, 0.25]]), np.array([True, True, False]))
    >>> [float(choose(at, rule).credit[0]) for rule in ("any", "all", "mean")]
    [1.0, 0.0, 0.5]
    """
    level = where.level.sum(axis=1)
    if rule == "all":
        open_ = (where.above | where.level).all(axis=1)
        credit = np.where(open_, 1 / comb(level + where.rivals, level), 0.0)
    elif rule == "any":
        open_ = ~where.above.any(axis=1)
        credit = np.where(open_, level / (level + where.rivals), 1.0)
    else:
        open_ = np.ones_like(where.unscored)
        credit = (where.above + where.level / (where.rivals[:, None] + 1)).mean(axis=1)
    tie = open_ & (level > 0) & ~where.unscored
    return Decision(np.where(where.unscored, np.nan, credit), tie, where.unscored)


def average(decisions: Sequence[Decision]) -> Decision:
    """Return the mean credit of several decisions of the same instances; a tie or a gap in any of them is marked.

    >>> yes, no = (single(duel(np.array([x]), np.zeros(1))) for x in (1.0, -1.0))
    >>> average([yes, no]).credit
    array([0.5])
    """
    credit = np.mean([decision.credit for decision in decisions], axis=0)
    unscored = np.logical_or.reduce([decision.unscored for decision in decisions])
    tie = np.logical_or.reduce([decision.tie for decision in decisions]) & ~unscored
    return Decision(credit, tie, unscored)
