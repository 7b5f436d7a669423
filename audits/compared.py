"""Rows of comparisons: paired differences, and a model split by a baseline."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audits.statistics.facing import Facing
from audits.statistics.intervals import Interval
from audits.statistics.layout import MACRO, Layout, Slice, codes, slices
from audits.statistics.outcomes import Outcome
from audits.statistics.paired import PARTS, difference, difference_sample, gap_sample, split, unshifted
from audits.statistics.primary import Sample, intervals, pooled
from audits.statistics.sums import Floats
from reports.schema import Estimate, Kind


@dataclass(frozen=True, slots=True, eq=False)
class Entrant:
    """Hold one contestant column.

    Attributes:
        name: Full name of the column.
        kind: `blind`, `trained` or `model`.
        sees: What it was shown.
        outcomes: By metric, arrays [n].
        signature: Short form.
    """

    name: str
    kind: Kind
    sees: frozenset[str]
    outcomes: Mapping[str, Outcome]
    signature: str = ""


class Settings(NamedTuple):
    """Say how to resample and at which levels.

    Attributes:
        primary: The benchmark's primary metric.
        draws: Draws of every resampling.
        seed: Seed of the draws.
        confidence: Of the intervals.
        alpha: Of the family, and of each one-sided test of equivalence.
        power: Chance to find the smallest visible distance.
    """

    primary: str = "accuracy"
    draws: int = 10_000
    seed: int = 42
    confidence: float = 0.95
    alpha: float = 0.05
    power: float = 0.8


class Field(NamedTuple):
    """Hold where n instances belong.

    Attributes:
        benchmark: Registry name.
        clusters: Code of each instance's cluster, int64 [n].
        n_clusters: Number of clusters.
        parts: The subsets, then all instances.
        subsets: The subsets.
    """

    benchmark: str
    clusters: NDArray[np.int64]
    n_clusters: int
    parts: list[Slice]
    subsets: list[Slice]


class Pair(NamedTuple):
    """Hold one model against one baseline."""

    model: Entrant
    judge: Entrant
    facing: Facing


class Pending(NamedTuple):
    """Hold a row before its interval is known; `shifted` rows are differences on the scale 0 to 1."""

    row: Estimate
    sample: Sample
    shifted: bool


def field_of(where: Layout) -> Field:
    """Return where the instances belong.

    >>> field_of(Layout("demo", ["x", "y"], ["a", "a"])).n_clusters
    1
    """
    names, clusters = codes(where.clusters)
    cut = slices(where)
    return Field(where.benchmark, clusters, len(names), [*cut.subsets, cut.pooled], cut.subsets)


def paired_difference(pair: Pair) -> Floats:
    """Return the model's credit minus the baseline's on the metrics that face each other, float64 [n]."""
    return difference(pair.model.outcomes[pair.facing.model], pair.judge.outcomes[pair.facing.judge])


def compared(field: Field, pair: Pair) -> Iterator[Pending]:
    """Yield the paired rows of one model against one baseline."""
    model, judge = pair.model.outcomes[pair.facing.model], pair.judge.outcomes[pair.facing.judge]
    names = (pair.model, pair.judge.name)
    yield from _differences(field, names, "excess", (model, judge))
    for part in field.parts:
        rows = split(judge, part.rows)
        for name in PARTS:
            yield from _part(field, names, f"accuracy_{name}", model, Slice(part.subset, "", rows[name]))
        gaps = {"easy_hard_gap": model}
        if pair.facing.foil in pair.model.outcomes:
            gaps |= {"easy_hard_gap_base": model, "easy_hard_gap_foil": pair.model.outcomes[pair.facing.foil]}
        for metric, outcome in gaps.items():
            yield from _gap(field, names, metric, outcome, (part.subset, rows["easy"], rows["hard"]))


def _differences(
    field: Field, names: tuple[Entrant, str], metric: str, sides: tuple[Outcome, Outcome]
) -> Iterator[Pending]:
    """Yield a paired difference by subset, pooled and macro."""
    values = difference(*sides)
    ties, unscored = sides[0].tie | sides[1].tie, sides[0].unscored | sides[1].unscored
    scored = [part for part in field.subsets if not np.isnan(values[part.rows]).all()]
    for part in field.parts:
        if not np.isnan(values[part.rows]).all():
            sample = difference_sample(values[part.rows], field.clusters[part.rows])
            yield Pending(blank_row(field, names, metric, part, sample, (ties, unscored)), sample, True)
    if len(scored) > 1:
        every = Slice(MACRO, "", np.concatenate([part.rows for part in scored]))
        sample = difference_sample(values, field.clusters, [part.rows for part in scored])
        yield Pending(blank_row(field, names, metric, every, sample, (ties, unscored)), sample, True)


def _part(field: Field, names: tuple[Entrant, str], metric: str, outcome: Outcome, part: Slice) -> Iterator[Pending]:
    """Yield the model's mean credit on some of the instances."""
    if len(part.rows) and not np.isnan(outcome.credit[part.rows]).all():
        sample = pooled(outcome.credit[part.rows], field.clusters[part.rows])
        row = blank_row(field, names, metric, part, sample, (outcome.tie, outcome.unscored))
        chance = float(np.mean(outcome.chance[part.rows][~np.isnan(outcome.credit[part.rows])]))
        yield Pending(dataclasses.replace(row, value=sample.whole.value, chance=chance), sample, False)


def _gap(
    field: Field,
    names: tuple[Entrant, str],
    metric: str,
    outcome: Outcome,
    where: tuple[str, NDArray[np.int64], NDArray[np.int64]],
) -> Iterator[Pending]:
    """Yield the model's mean credit on easy instances minus that on hard ones, if there are both."""
    subset, *groups = where
    if any(np.isnan(outcome.credit[rows]).all() for rows in groups):
        return
    rows = np.concatenate(groups)
    cut = len(groups[0])
    sample = gap_sample(outcome.credit[rows], field.clusters[rows], np.arange(cut), np.arange(cut, len(rows)))
    row = blank_row(field, names, metric, Slice(subset, "", rows), sample, (outcome.tie, outcome.unscored))
    yield Pending(row, sample, True)


def blank_row(
    field: Field,
    names: tuple[Entrant, str],
    metric: str,
    part: Slice,
    sample: Sample,
    flags: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> Estimate:
    """Return a row of differences without its interval."""
    return Estimate(
        benchmark=field.benchmark,
        subset=part.subset,
        tag="",
        scorer=names[0].name,
        against=names[1],
        metric=metric,
        value=2 * sample.whole.value - 1,
        low=nan,
        high=nan,
        n=sample.n,
        n_clusters=sample.whole.n_clusters,
        ties=int(flags[0][part.rows].sum()),
        unscored=int(flags[1][part.rows].sum()),
        chance=nan,
        method="",
        seed=-1,
        primary=True,
        signature=names[0].signature,
    )


def with_intervals(pending: Sequence[Pending], field: Field, settings: Settings) -> list[Estimate]:
    """Fill in the primary interval of every row, in the order given."""
    # Samples of one subset side by side have most of their clusters in common, which the bootstrap puts to use.
    order = sorted(range(len(pending)), key=lambda place: pending[place].row.subset)
    found = intervals(
        [pending[place].sample for place in order],
        field.n_clusters,
        draws=settings.draws,
        seed=settings.seed,
        confidence=settings.confidence,
    )
    rows = [one.row for one in pending]
    for place, [primary, *_] in zip(order, found, strict=True):
        one = pending[place]
        bounds = unshifted(primary, one.sample, confidence=settings.confidence) if one.shifted else primary
        rows[place] = bounded(one.row, bounds)
    return rows


def bounded(row: Estimate, bounds: Interval) -> Estimate:
    """Return a row with an interval."""
    return dataclasses.replace(row, low=bounds.low, high=bounds.high, method=bounds.method, seed=bounds.seed)


def format_bias(field: Field, entrants: Sequence[Entrant], judges: Sequence[tuple[Entrant, Facing]]) -> list[Pending]:
    """Return the difference that the raw form of the text makes to a baseline (`X:raw` against `X:normalised`).

    Args:
        field: Where the instances belong.
        entrants: All contestants; the normalised twin may tie throughout.
        judges: Those that can differ from chance.
    """
    by_name = {one.name: one for one in entrants if one.kind != "model"}
    found: list[Pending] = []
    for judge, facing in judges:
        other = ":".join("normalised" if word == "raw" else word for word in judge.name.split(":"))
        twin = by_name.get(other)
        if twin is not None and twin is not judge and facing.judge in twin.outcomes:
            sides = (judge.outcomes[facing.judge], twin.outcomes[facing.judge])
            found += _differences(field, (judge, other), "format_bias", sides)
    return found
