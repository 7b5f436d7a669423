"""Slow, obvious definitions that fast forms are held against."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray


def expected_credit(scores: list[float], gold: list[bool], rule: str) -> float:
    """Average the plain credit over every order of the options in which equal scores may come out."""
    orders = [
        order
        for order in permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in zip(order, order[1:], strict=False))
    ]
    return float(np.mean([_credit(order, gold, rule) for order in orders]))


def _credit(order: tuple[int, ...], gold: list[bool], rule: str) -> float:
    """Return the credit when `order` lists the options from best to worst, without ties."""
    place = {option: rank for rank, option in enumerate(order)}
    positives = [place[option] for option in range(len(gold)) if gold[option]]
    best_foil = min(place[option] for option in range(len(gold)) if not gold[option])
    wins = [rank < best_foil for rank in positives]
    return float({"all": all(wins), "any": any(wins), "mean": np.mean(wins)}[rule])


def bootstrap_by_loop(
    values: NDArray[np.float64], clusters: NDArray[np.int64], *, draws: int, seed: int
) -> NDArray[np.float64]:
    """Draw clusters one draw at a time, collect the rows of each drawn cluster, and take their mean."""
    rng = np.random.default_rng(seed)
    count = int(clusters.max()) + 1
    means = []
    for _ in range(draws):
        rows: list[float] = []
        for cluster in rng.integers(0, count, size=count):
            rows += values[clusters == cluster].tolist()
        kept = [value for value in rows if not np.isnan(value)]
        means.append(float(np.mean(kept)) if kept else float("nan"))
    return np.array(means)


def sign_flip_p(sums: NDArray[np.float64], counts: NDArray[np.float64], null: float) -> float:
    """Try every choice of signs and count those whose total is as far from 0 as the one observed."""
    residuals = [float(total - count * null) for total, count in zip(sums, counts, strict=True)]
    observed = abs(sum(residuals))
    reached = [
        abs(sum(sign * residual for sign, residual in zip(signs, residuals, strict=True))) >= observed - 1e-9
        for signs in product((1, -1), repeat=len(residuals))
    ]
    return sum(reached) / len(reached)


def group_match_by_assignments(scores: NDArray[np.float64], gold: NDArray[np.bool_]) -> float:
    """Score both assignments of captions to images; the true one must have the larger sum, a tie is 1/2."""
    sums = {order: scores[0, order[0]] + scores[1, order[1]] for order in ((0, 1), (1, 0))}
    true = (int(gold[0].argmax()), int(gold[1].argmax()))
    other = (true[1], true[0])
    return 1.0 if sums[true] > sums[other] else 0.5 if sums[true] == sums[other] else 0.0
