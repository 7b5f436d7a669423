"""Metrics of the scores themselves: ranks of the right option, and decisions at a threshold."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from audits.statistics import ranks
from audits.statistics.layout import Layout, codes
from audits.statistics.outcomes import Outcome
from audits.upstream.joined import stacked
from audits.upstream.view import Number, View, estimated, one_row
from reports.schema import Estimate


def _placed(view: View) -> ranks.Places | None:
    """Return where the positives stand, or None where there are no scores or no questions."""
    if view.scores is None:
        return None
    found = ranks.places(view.scores, view.roster.golds, tolerance=view.tolerance)
    return found if found.defined.any() else None


def recall(name: str, view: View, *, k: int) -> Iterator[Estimate]:
    """Yield the share of instances whose right option is among the first k."""
    found = _placed(view)
    if found is not None and found.width.any():
        yield from estimated(view, ranks.recall(found, k), view.roster.labels)


def mean_rank(name: str, view: View) -> Iterator[Estimate]:
    """Yield the mean rank; it is estimated as a proportion of the widest question, and told as a rank."""
    found = _placed(view)
    if found is None or not found.width.any():
        return
    widest = int(found.width.max())
    for row in estimated(view, ranks.mean_rank(found, widest), view.roster.labels):
        value, low, high, chance = (1 + (widest - 1) * part for part in (row.value, row.low, row.high, row.chance))
        yield dataclasses.replace(row, value=value, low=low, high=high, chance=chance)


def median_rank(name: str, view: View) -> Iterator[Estimate]:
    """Yield the median rank over all instances."""
    found = _placed(view)
    if found is None or not found.width.any():
        return
    _, clusters = codes(view.roster.labels.clusters)
    draws, seed, confidence = view.options
    value, interval = ranks.median_rank(found, clusters, draws=draws, seed=seed, confidence=confidence)
    entered = np.isfinite(found.better)
    number = Number(
        value,
        int(entered.sum()),
        len(np.unique(clusters[entered])),
        int((found.level[entered] > 0).sum()),
        int((found.unscored & (found.width > 0)).sum()),
        float("nan"),
    )
    yield one_row(view, name, number, interval)


def upper_half(name: str, view: View) -> Iterator[Estimate]:
    """Yield the share of true sentences among the first p places, p being their number."""
    found = _placed(view)
    if found is not None:
        tie = np.zeros(len(found.upper), dtype=bool)
        yield from estimated(
            view, Outcome(name, found.upper, tie, found.unscored & found.defined, found.half), view.roster.labels
        )


def threshold(name: str, view: View) -> Iterator[Estimate]:
    """Yield decisions at the scorer's threshold: captions accepted, foils rejected, both, or the smaller of the two."""
    if view.threshold is None or view.scores is None:
        return
    accepted, rejected = (_at_threshold(view, name, is_caption=one) for one in (True, False))
    if name == "min_pc_pf":
        yield from _smaller(name, view, accepted, rejected)
    elif name == "acc":
        where = view.roster.labels
        twice = Layout(where.benchmark, [*where.subsets] * 2, [*where.clusters] * 2)
        yield from estimated(view, stacked(name, [accepted, rejected]), twice)
    else:
        yield from estimated(view, accepted if name == "p_c" else rejected, view.roster.labels)


def _at_threshold(view: View, name: str, *, is_caption: bool) -> Outcome:
    """Return the share of an instance's captions above the threshold, or of its foils not above it."""
    size = len(view.roster.ids)
    credit = np.full(size, np.nan)
    if view.scores is not None and view.threshold is not None:
        for row, (scores, gold) in enumerate(zip(view.scores, view.roster.golds, strict=True)):
            values = scores[gold if is_caption else ~gold]
            if np.isfinite(values).all():
                credit[row] = float(np.mean((values > view.threshold) == is_caption))
    # A scorer that says yes and no at random has one half; there is no other level that an exchangeable one must have.
    return Outcome(name, credit, np.zeros(size, dtype=bool), np.isnan(credit), np.full(size, 0.5))


def _smaller(name: str, view: View, accepted: Outcome, rejected: Outcome) -> Iterator[Estimate]:
    """Yield, by subset and pooled, the row of whichever of the two is smaller."""
    pairs = zip(
        estimated(view, accepted, view.roster.labels), estimated(view, rejected, view.roster.labels), strict=False
    )
    for first, second in pairs:
        if first.primary and second.primary and (first.subset, first.tag) == (second.subset, second.tag):
            yield min(first, second, key=lambda row: row.value)
