"""How numbers stand in the sentences of verdicts and claims: always with interval and counts."""

from __future__ import annotations

from math import isfinite

from reports.schema import Estimate


def percent(value: float) -> str:
    """Return a proportion in per cent.

    >>> percent(0.962)
    '96.2 %'
    """
    return f"{100 * value:.1f} %"


def points(value: float) -> str:
    """Return a difference of proportions in points, or that there is none to give.

    >>> points(0.02), points(float("nan"))
    ('2.0 points', 'no distance')
    """
    return f"{100 * value:.1f} points" if isfinite(value) else "no distance"


def reached(row: Estimate) -> str:
    """Return what a contestant reached, with interval and numbers.

    >>> row = Estimate("d", "all", "", "s", "", "accuracy", 0.9, 0.85, 0.94, 200, 80, 0, 0, 0.5, "x", 1, True, "")
    >>> reached(row)
    's reaches 90.0 % [85.0, 94.0] where chance is 50.0 % (n = 200, 80 clusters)'
    """
    return (
        f"{row.scorer} reaches {percent(row.value)} [{100 * row.low:.1f}, {100 * row.high:.1f}] where chance is "
        f"{percent(row.chance)} (n = {row.n:,}, {row.n_clusters:,} clusters)"
    )


def apart(row: Estimate) -> str:
    """Return a paired difference, with interval and numbers.

    >>> row = Estimate("d", "all", "", "s", "b", "excess", -0.1, -0.15, -0.05, 200, 80, 0, 0, 0.5, "x", 1, True, "")
    >>> apart(row)
    's minus b is -10.0 points [-15.0, -5.0] on the same instances (n = 200, 80 clusters)'
    """
    return (
        f"{row.scorer} minus {row.against} is {100 * row.value:+.1f} points [{100 * row.low:.1f}, "
        f"{100 * row.high:.1f}] on the same instances (n = {row.n:,}, {row.n_clusters:,} clusters)"
    )
