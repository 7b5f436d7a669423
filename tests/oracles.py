"""Slow, obvious definitions that fast forms are held against."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, permutations, product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import t as student

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Credits, and the cluster of each."""


def expected_credit(scores: list[float], gold: list[bool], rule: str) -> float:
    """Average the plain credit over every order of the options in which equal scores may come out."""
    orders = [
        order for order in permutations(range(len(scores))) if all(scores[a] >= scores[b] for a, b in pairwise(order))
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


def macro_bootstrap_by_loop(parts: Sequence[Rows], *, draws: int, seed: int) -> NDArray[np.float64]:
    """Draw clusters one draw at a time; each subset's mean is over its rows in the drawn clusters, then their mean."""
    rng = np.random.default_rng(seed)
    names = np.unique(np.concatenate([clusters for _, clusters in parts]))
    held = [{name: credit[clusters == name] for name in set(clusters.tolist())} for credit, clusters in parts]
    means = []
    for _ in range(draws):
        drawn = rng.choice(names, size=len(names)).tolist()
        by_subset = [np.concatenate([rows[name] for name in drawn if name in rows]).mean() for rows in held]
        means.append(float(np.mean(by_subset)))
    return np.array(means)


def jackknife_se(parts: Sequence[Rows]) -> float:
    """Leave each cluster out of every subset in turn and see how much the mean of the subset means moves."""
    names = np.unique(np.concatenate([clusters for _, clusters in parts])).tolist()
    left = [np.mean([credit[clusters != name].mean() for credit, clusters in parts]) for name in names]
    return float(np.sqrt((len(names) - 1) * np.var(left)))


def combined_by_loop(parts: Sequence[Rows], *, confidence: float) -> tuple[float, float]:
    """Put the sides' Wilson intervals together one pair of sides at a time, from residuals row by row."""
    terms = [(sign / len(parts), side) for part in parts for sign, side in _split(part, confidence)]
    value = float(np.mean([credit.mean() for credit, _ in parts]))
    below = above = 0.0
    for one, (p, low, high, moved) in terms:
        for other, (q, lowest, highest, shifted) in terms:
            shared = 1.0 if moved is shifted else _correlated(moved, shifted)
            down = (p - low if one > 0 else high - p) * (q - lowest if other > 0 else highest - q)
            up = (high - p if one > 0 else p - low) * (highest - q if other > 0 else q - lowest)
            below += abs(one * other) * (shared if one * other > 0 else -shared) * down
            above += abs(one * other) * (shared if one * other > 0 else -shared) * up
    return max(0.0, value - max(below, 0.0) ** 0.5), min(1.0, value + max(above, 0.0) ** 0.5)


def _split(part: Rows, confidence: float) -> list[tuple[float, tuple[float, float, float, dict[int, float]]]]:
    """Return weight, value, bounds and residual by cluster of what lies above and below the commonest credit."""
    credit, clusters = part[0].tolist(), part[1].tolist()
    common = max(sorted(set(credit)), key=credit.count)
    found = []
    for weight in (1 - common, -common):
        if weight != 0:
            rows = [max(0.0, (one - common) / weight) for one in credit]
            p, n, names = float(np.mean(rows)), len(rows), sorted(set(clusters))
            moved = {k: sum(row - p for row, name in zip(rows, clusters, strict=True) if name == k) for k in names}
            by_cluster = len(names) / (len(names) - 1) * sum(one**2 for one in moved.values()) / n**2
            by_row = sum((row - p) ** 2 for row in rows) / n**2
            size = p * (1 - p) / max(by_cluster, by_row) if by_cluster > 1e-12 else len(names)
            found.append((weight, (p, *_wilson_by_root(p, max(size, 1.0), len(names) - 1, confidence), moved)))
    return found


def _wilson_by_root(p: float, size: float, freedom: int, confidence: float) -> tuple[float, float]:
    """Find the two proportions that lie t of their own standard errors from p."""
    t = float(student.ppf(0.5 + confidence / 2, freedom))

    def apart(x: float) -> float:
        return (p - x) ** 2 - t**2 * x * (1 - x) / size

    low = brentq(apart, 0.0, p - 1e-13, xtol=1e-15) if p > 0 else 0.0
    high = brentq(apart, p + 1e-13, 1.0, xtol=1e-15) if p < 1 else 1.0
    return low, high


def _correlated(one: dict[int, float], other: dict[int, float]) -> float:
    """Return how the residuals of clusters that both have go together."""
    length = (sum(x**2 for x in one.values()) * sum(x**2 for x in other.values())) ** 0.5
    return sum(one[k] * other[k] for k in one if k in other) / length if length > 1e-12 else 0.0
