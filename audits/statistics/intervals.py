"""Intervals for proportions of independent instances: Wilson, and Wald on request."""

from __future__ import annotations

from math import isnan, nan, sqrt
from typing import NamedTuple

from scipy.special import ndtri


class Interval(NamedTuple):
    """Hold bounds, the name of the method that gave them, and its seed (-1 where nothing was drawn)."""

    low: float
    high: float
    method: str
    seed: int = -1

    @property
    def is_degenerate(self) -> bool:
        """Return whether the bounds coincide: rows that all agree say nothing about certainty."""
        return not isnan(self.low) and self.high - self.low <= 1e-12


def critical_z(confidence: float) -> float:
    """Return the two-sided normal quantile.

    >>> round(critical_z(0.95), 3)
    1.96
    """
    return float(ndtri(0.5 + confidence / 2))


def wilson(successes: float, n: float, *, confidence: float = 0.95, quantile: float | None = None) -> Interval:
    """Return the Wilson score interval of a proportion.

    centre = (k + z^2/2) / (n + z^2), half width = z / (n + z^2) sqrt(k (n - k) / n + z^2/4).

    Args:
        successes: k, the number of successes; fractions are allowed where n is an effective size.
        n: Number of independent trials.
        confidence: Nominal coverage.
        quantile: z, if it is to be another than the normal one.

    Returns:
        Bounds within 0 to 1, exactly 0 at k = 0 and 1 at k = n; NaN if n < 1.

    Source: wilson1927; composet, app. C.

    >>> [round(bound, 4) for bound in wilson(8, 8)[:2]], [round(bound, 4) for bound in wilson(29, 30)[:2]]
    ([0.6756, 1.0], [0.8333, 0.9941])
    """
    if n < 1:
        return Interval(nan, nan, "undefined (n = 0)")
    z = critical_z(confidence) if quantile is None else quantile
    centre = (successes + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * sqrt(max(successes * (n - successes), 0.0) / n + z * z / 4)
    low = 0.0 if successes <= 0 else max(centre - half, 0.0)
    high = 1.0 if successes >= n else min(centre + half, 1.0)
    return Interval(low, high, "wilson")


def wald(successes: float, n: float, *, confidence: float = 0.95, clip: bool = True) -> Interval:
    """Return the Wald interval p +- z sqrt(p (1 - p) / n), clipped to 0 to 1 and marked as such.

    It has no width at 0 and 1 and covers too little near them; it is here to compare with published figures.

    Args:
        successes: k, the number of successes.
        n: Number of independent trials.
        confidence: Nominal coverage.
        clip: Whether bounds outside 0 to 1 are cut.

    Returns:
        Bounds; NaN if n < 1.

    Source: composet, app. C.

    >>> [round(bound, 4) for bound in wald(29, 30, clip=False)[:2]], wald(29, 30)[1:3]
    ([0.9024, 1.0309], (1.0, 'wald (clipped)'))
    """
    if n < 1:
        return Interval(nan, nan, "undefined (n = 0)")
    p = successes / n
    half = critical_z(confidence) * sqrt(max(p * (1 - p), 0.0) / n)
    low, high = p - half, p + half
    if clip and (low < 0 or high > 1):
        return Interval(max(low, 0.0), min(high, 1.0), "wald (clipped)")
    return Interval(low, high, "wald")
