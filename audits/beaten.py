"""Set a model and the zero-shot baseline that beats it side by side, subset by subset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from audits.evidence import Rows
from audits.statistics.layout import POOLED
from audits.verdict import differs, percent
from reports.schema import Estimate, Finding

SHOWN = 5
"""Subsets that the sentence sets out in words; the number of the others follows."""


class Defeat(NamedTuple):
    """Hold what a baseline and the model that it beats reached on one subset, and their paired difference."""

    apart: Estimate
    baseline: Estimate
    model: Estimate


def beaten(of: Rows, model: str, alpha: float) -> Iterator[Finding]:
    """Yield one finding that sets a model and zero-shot baselines side by side where one beats it, worst subset first.

    A baseline beats the model on a subset if their paired difference says so after correction over the family and the
    baseline is above chance there: below one that is not, a model merely fails. Of several the one with the largest
    difference is named, as a description.

    Args:
        of: The rows.
        model: Name of the model's column.
        alpha: Level of the family.
    """
    found = [defeat for subset in of.subsets if (defeat := _worst(of, model, subset, alpha)) is not None]
    inside = [one for one in found if one.apart.subset != POOLED] or found
    if not inside:
        return
    inside.sort(key=lambda one: (one.apart.value, one.apart.subset))
    more = f" So it is on {len(inside) - SHOWN} further subsets." if len(inside) > SHOWN else ""
    number = len([subset for subset in of.subsets if subset != POOLED])
    where = f"On {len(inside)} of {number} subsets" if inside[0].apart.subset != POOLED else "On all instances"
    values: dict[str, float | int | str] = {"model": model, "subsets": len(inside)}
    values |= {f"{one.apart.subset}: {one.apart.against}": one.apart.value for one in inside}
    yield Finding(
        "outdone_by_zero_shot_baseline",
        "warning",
        f"{where} a zero-shot blind baseline beats {model} at a family-wise level of {alpha:g}"
        f"{', the largest difference first' if len(inside) > 1 else ''}: "
        + "; ".join(_words(one) for one in inside[:SHOWN])
        + f".{more}",
        values=values,
    )


def _worst(of: Rows, model: str, subset: str, alpha: float) -> Defeat | None:
    """Return the baseline with the largest difference among those that beat the model on a subset."""
    alone = {row.scorer: row for row in of.chance("blind", subset) if differs(row, alpha) and row.value > row.chance}
    under = [
        row
        for row in of.paired("excess", "blind", model, subset)
        if row.value < 0 and differs(row, alpha) and row.against in alone
    ]
    own = [row for row in of.chance("model", subset) if row.scorer == model]
    if not under or not own:
        return None
    lowest = min(under, key=lambda row: (row.value, row.against))
    baseline = alone[lowest.against]
    # On 2x2 a model has a row by direction; the one that faces this baseline lies at their difference from it.
    facing = min(own, key=lambda row: abs(row.value - baseline.value - lowest.value))
    return Defeat(lowest, baseline, facing)


def _words(one: Defeat) -> str:
    where = "all instances" if one.apart.subset == POOLED else one.apart.subset
    return (
        f"{one.baseline.scorer} alone picks the right side in {_share(one.baseline)} of {where}, {one.model.scorer} in "
        f"{_share(one.model)} (n = {one.apart.n:,}, {one.apart.n_clusters:,} clusters)"
    )


def _share(row: Estimate) -> str:
    return f"{percent(row.value)} [{100 * row.low:.1f}, {100 * row.high:.1f}]"
