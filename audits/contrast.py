"""Set models against blind baselines on the same instances: paired rows, and the one family that they are tested in."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from audits.beside import could_show, exact_rows, share_rows
from audits.compared import (
    Entrant,
    Field,
    Pair,
    Settings,
    compared,
    field_of,
    format_bias,
    paired_difference,
    with_intervals,
)
from audits.statistics.facing import Facing, alone, judging
from audits.statistics.families import METHOD, Joint, stepdown
from audits.statistics.layout import POOLED, Layout, Slice
from audits.statistics.power import deviations
from audits.statistics.sums import ClusterSums, cluster_sums
from reports.schema import Estimate, FamilyFacts

Key = tuple[str, str, str, str]
"""Scorer, against, metric and subset of a test."""


class Contrast(NamedTuple):
    """Hold what was found.

    Attributes:
        rows: Comparisons and what the sample could have shown; the headline rows of contestants are not among them.
        adjusted: Family-adjusted two-sided p-value by test; `against` is empty for tests against chance.
        family: What the family is, or None if there was nothing to test.
    """

    rows: list[Estimate]
    adjusted: Mapping[Key, float]
    family: FamilyFacts | None


def contrast(entrants: Sequence[Entrant], where: Layout, settings: Settings) -> Contrast:
    """Compare models with blind baselines, and test everything in one family.

    The family holds, on every subset and pooled: each baseline that can differ from chance, and each model, against
    chance; each model against each such baseline. Macro averages and differences between baselines are in no family.

    Args:
        entrants: All contestant columns.
        where: Labels of the n instances.
        settings: Resampling and levels.

    Returns:
        Rows, p-values by test, and the family.

    Source: ours; the parts name theirs.
    """
    field = field_of(where)
    judges = _judges(entrants, settings.primary)
    pairs = [
        Pair(model, judge, facing)
        for model in entrants
        for judge, facing in judges
        if model.kind == "model" and facing.model in model.outcomes
    ]
    joint, keys = _family(field, _sole(entrants, judges, settings.primary), pairs, settings)
    adjusted = _by_test(field, joint, keys)
    pending = [one for pair in pairs for one in compared(field, pair)] + format_bias(field, entrants, judges)
    rows = with_p(with_intervals(pending, field, settings), adjusted)
    rows += exact_rows(field, pairs, rows, settings)
    rows += share_rows(field, pairs, settings)
    rows += could_show(field, judges, joint.critical, settings)
    return Contrast(rows, adjusted, _facts(joint, settings))


def with_p(rows: Sequence[Estimate], adjusted: Mapping[Key, float]) -> list[Estimate]:
    """Return the rows with the p-values of the tests that they are the estimates of; a tag's row is of none.

    >>> with_p([], {})
    []
    """
    found = []
    for row in rows:
        key = (row.scorer, row.against, row.metric, row.subset)
        tested = row.primary and not row.tag and key in adjusted
        found.append(dataclasses.replace(row, p=adjusted[key]) if tested else row)
    return found


def _judges(entrants: Sequence[Entrant], primary: str) -> list[tuple[Entrant, Facing]]:
    """Return the baselines that can differ from chance, with the metrics that they face a model with."""
    found = [(one, judging(one.sees, one.outcomes, primary)) for one in entrants if one.kind != "model"]
    return [(one, facing) for one, facing in found if facing is not None]


def _sole(
    entrants: Sequence[Entrant], judges: Sequence[tuple[Entrant, Facing]], primary: str
) -> list[tuple[Entrant, str]]:
    """Return what is tested against chance: baselines, and models on the metrics that a baseline faces."""
    faced = dict.fromkeys(facing.model for _, facing in judges)
    own = {one.name: facing.judge for one, facing in judges}
    found: list[tuple[Entrant, str]] = []
    for one in entrants:
        if one.kind != "model":
            metrics = [own[one.name]] if one.name in own else []
        else:
            usual = alone(one.outcomes, primary)
            metrics = [metric for metric in faced if metric in one.outcomes] or ([usual] if usual else [])
        found += [(one, metric) for metric in metrics]
    return found


def _family(
    field: Field, sole: Sequence[tuple[Entrant, str]], pairs: Sequence[Pair], settings: Settings
) -> tuple[Joint, list[Key]]:
    """Test all of the family."""
    keys: list[Key] = []
    columns: list[ClusterSums] = []
    skewed: list[bool] = []
    lopsided = {
        (one.name, metric): bool(np.any(np.abs(one.outcomes[metric].chance - 0.5) > 1e-9)) for one, metric in sole
    }
    tests = [
        (one.name, "", metric, deviations(one.outcomes[metric].credit, one.outcomes[metric].chance))
        for one, metric in sole
    ]
    tests += [(pair.model.name, pair.judge.name, "excess", paired_difference(pair)) for pair in pairs]
    for scorer, against, metric, values in tests:
        for part in _distinct(field):
            column = cluster_sums(values[part.rows], field.clusters[part.rows])
            if column.n_clusters:
                keys.append((scorer, against, metric, part.subset))
                columns.append(column)
                skewed.append(lopsided.get((scorer, metric), False))
    joint = stepdown(
        columns, field.n_clusters, skewed=skewed, alpha=settings.alpha, draws=settings.draws, seed=settings.seed
    )
    return joint, keys


def _distinct(field: Field) -> list[Slice]:
    """Return the parts to test: without the only subset where it holds every instance, which `all` tests already."""
    same = len(field.subsets) == 1 and len(field.subsets[0].rows) == len(field.clusters)
    return [part for part in field.parts if part.subset == POOLED] if same else field.parts


def _by_test(field: Field, joint: Joint, keys: Sequence[Key]) -> dict[Key, float]:
    """Return the adjusted p-value of each test, under the name of the only subset as well where it is the same test."""
    found = dict(zip(keys, joint.adjusted.tolist(), strict=True))
    left_out = {part.subset for part in field.parts} - {part.subset for part in _distinct(field)}
    return found | {(*key[:3], subset): p for key, p in found.items() for subset in left_out}


def _facts(joint: Joint, settings: Settings) -> FamilyFacts | None:
    if not len(joint.adjusted):
        return None
    return {
        "size": len(joint.adjusted),
        "method": f"{METHOD} ({joint.choices} choices of signs)",
        "alpha": settings.alpha,
        "what": (
            "every baseline that can differ from chance and every model against chance, and every model against every "
            "such baseline, on each subset and on all instances, two-sided"
        ),
    }
