"""Rows beside the comparisons: exact tests, shares of a score above chance, and what a sample could have shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from math import isfinite, nan

import numpy as np

from audits.compared import Entrant, Field, Pair, Settings, blank_row, bounded, paired_difference
from audits.statistics.facing import Facing
from audits.statistics.families import holm
from audits.statistics.layout import POOLED
from audits.statistics.paired import Exact, exact
from audits.statistics.power import deviations, equivalence_bound, noise, smallest_visible
from audits.statistics.primary import intervals, pooled
from audits.statistics.ratios import fieller
from reports.schema import Estimate


def exact_rows(field: Field, pairs: Sequence[Pair], rows: Sequence[Estimate], settings: Settings) -> list[Estimate]:
    """Return McNemar's test beside the rows of excess where instances are independent, adjusted by Holm's method."""
    at = {(row.scorer, row.against, row.subset): row for row in rows if row.metric == "excess"}
    found: list[tuple[Estimate, Exact]] = []
    for pair in pairs:
        values = paired_difference(pair)
        for part in field.parts:
            row = at.get((pair.model.name, pair.judge.name, part.subset))
            test = exact(values[part.rows], field.clusters[part.rows], confidence=settings.confidence)
            if row is not None and test is not None:
                found.append((row, test))
    adjusted = holm(np.array([one.test.p for _, one in found]))
    return [
        dataclasses.replace(
            bounded(row, one.interval),
            method=f"{one.interval.method}, p by Holm over {len(found)}",
            primary=False,
            p=p,
        )
        for (row, one), p in zip(found, adjusted.tolist(), strict=True)
    ]


def share_rows(field: Field, pairs: Sequence[Pair], settings: Settings) -> list[Estimate]:
    """Return how much of a model's score above chance each baseline reaches, on all instances.

    Only where the model is above chance and a ratio can be bounded at all (`fieller`): a share of nothing is none.
    """
    rows = []
    for pair in pairs:
        model, judge = pair.model.outcomes[pair.facing.model], pair.judge.outcomes[pair.facing.judge]
        ours, theirs = (deviations(one.credit, one.chance) for one in (model, judge))
        both = ~np.isnan(ours + theirs)
        if not both.any() or not float(ours[both].mean()) > 0:
            continue
        found = fieller(theirs, ours, field.clusters, confidence=settings.confidence)
        if not isfinite(found.low):
            continue
        part = next(one for one in field.parts if one.subset == POOLED)
        sample = pooled(np.where(both, model.credit, np.nan), field.clusters)
        flags = (model.tie | judge.tie, model.unscored | judge.unscored)
        blank = blank_row(field, (pair.model, pair.judge.name), "share_of_above_chance", part, sample, flags)
        value = float(theirs[both].mean() / ours[both].mean())
        rows.append(bounded(dataclasses.replace(blank, value=value), found))
    return rows


def could_show(
    field: Field, judges: Sequence[tuple[Entrant, Facing]], critical: float, settings: Settings
) -> list[Estimate]:
    """Return what could have been seen of each baseline, and how close to chance it is known to be."""
    cells = [
        (judge, judge.outcomes[facing.judge], part)
        for judge, facing in judges
        for part in field.parts
        if not np.isnan(judge.outcomes[facing.judge].credit[part.rows]).all()
    ]
    samples = [pooled(outcome.credit[part.rows], field.clusters[part.rows]) for _, outcome, part in cells]
    level = 1 - 2 * settings.alpha
    bounds = intervals(samples, field.n_clusters, draws=settings.draws, seed=settings.seed, confidence=level)
    rows = []
    for (judge, outcome, part), sample, [primary, *_] in zip(cells, samples, bounds, strict=True):
        credit, chance = outcome.credit[part.rows], outcome.chance[part.rows]
        null = float(np.mean(chance[~np.isnan(credit)]))
        seen = noise(deviations(credit, chance), field.clusters[part.rows])
        visible = smallest_visible(seen, critical, power=settings.power)
        blank = blank_row(field, (judge, ""), "", part, sample, (outcome.tie, outcome.unscored))
        rows += [
            dataclasses.replace(
                blank,
                metric="smallest_visible",
                value=visible if np.isfinite(visible) else nan,
                method=f"power {settings.power:g} at the family's alpha {settings.alpha:g}, design effect "
                f"{seen.design:.2f}",
            ),
            dataclasses.replace(
                blank,
                metric="equivalence_bound",
                value=equivalence_bound(primary.low, primary.high, null),
                method=f"two one-sided tests at {settings.alpha:g}, {primary.method}",
                seed=primary.seed,
            ),
        ]
    return rows
