"""From outcomes to the rows of `metrics.csv`: by subset, pooled, macro and by tag, each with its intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audits.statistics.bootstrap import DRAWS, SEED
from audits.statistics.intervals import Interval
from audits.statistics.layout import MACRO, Layout, Slice, Slices, codes, slices
from audits.statistics.outcomes import Outcome
from audits.statistics.primary import Sample, intervals, macro, pooled
from reports.schema import Estimate


class Estimates(NamedTuple):
    """Hold the rows, and the names of the tags left out because they have too many values."""

    rows: list[Estimate]
    skipped_tags: tuple[str, ...]


class _Cell(NamedTuple):
    """Hold one estimate before its intervals are known."""

    scorer: str
    outcome: Outcome
    subset: str
    tag: str
    ties: int
    unscored: int
    chance: float
    sample: Sample


def estimates(
    outcomes: Mapping[str, Mapping[str, Outcome]],
    where: Layout,
    *,
    signatures: Mapping[str, str],
    draws: int = DRAWS,
    seed: int = SEED,
    confidence: float = 0.95,
) -> Estimates:
    """Return the estimates of every scorer and metric: by subset, `all`, `macro` (if two subsets or more), by tag.

    A metric that no instance of a slice defines is absent; one that is defined but never scored has NaN and n = 0.
    `value` is the mean credit of the instances that entered (macro: the mean of the subset values), `chance` the mean
    chance of the same instances.

    Args:
        outcomes: Outcomes by scorer and metric, arrays [n].
        where: Labels of the n instances.
        signatures: Short signature by scorer.
        draws: Draws of the resampling.
        seed: Seed of the draws.
        confidence: Nominal coverage.

    Returns:
        Estimates, in the order scorer, metric, subset, `all`, `macro`, tag; the primary interval of each first.

    Raises:
        InputError: If labels differ in number or a subset is called `all` or `macro`.

    Source: composet, app. C (pooled); goodcrepe (macro).

    >>> ones, none = np.ones(8), np.zeros(8, dtype=bool)
    >>> right = Outcome("accuracy", ones, none, none, ones / 2)
    >>> [row] = estimates({"s": {"accuracy": right}}, Layout("demo", [""] * 8, list("abcdefgh")), signatures={}).rows
    >>> row.subset, row.value, round(row.low, 4), row.high, row.chance, row.n_clusters
    ('all', 1.0, 0.6756, 1.0, 0.5, 8)
    """
    cut = slices(where)
    names, clusters = codes(where.clusters)
    cells = [
        cell
        for scorer, by_metric in outcomes.items()
        for outcome in by_metric.values()
        for cell in _cells(scorer, outcome, clusters, cut)
    ]
    found = intervals([cell.sample for cell in cells], len(names), draws=draws, seed=seed, confidence=confidence)
    rows = [
        _row(cell, interval, place == 0, where.benchmark, signatures.get(cell.scorer, ""))
        for cell, several in zip(cells, found, strict=True)
        for place, interval in enumerate(several)
    ]
    return Estimates(rows, cut.skipped)


def _cells(scorer: str, outcome: Outcome, clusters: NDArray[np.int64], cut: Slices) -> Iterator[_Cell]:
    """Yield the estimates of one scorer and metric that are defined."""
    # A metric without a chance (a flip rate) is defined where it has a credit or should have one.
    known = ~np.isnan(outcome.chance) | ~np.isnan(outcome.credit) | outcome.unscored
    parts = [(part, part.rows[known[part.rows]]) for part in cut.subsets]
    samples = [pooled(outcome.credit[rows], clusters[rows]) for _, rows in parts]
    for (part, rows), sample in zip(parts, samples, strict=True):
        yield from _cell(scorer, outcome, part, rows, sample)
    for part in [*cut.rest, cut.pooled]:
        rows = part.rows[known[part.rows]]
        yield from _cell(scorer, outcome, part, rows, pooled(outcome.credit[rows], clusters[rows]))
    scored = {place: sample for place, sample in enumerate(samples) if sample.n}
    if len(scored) > 1:
        having = [parts[place][1] for place in scored]
        chance = float(np.mean([_chance(outcome, one) for one in having]))
        left = _left(outcome, np.concatenate([one for _, one in parts]))
        mean = macro(outcome.credit, clusters, having, list(scored.values()))
        yield _Cell(scorer, outcome, MACRO, "", *left, chance, mean)
    for part in cut.tagged:
        rows = part.rows[known[part.rows]]
        yield from _cell(scorer, outcome, part, rows, pooled(outcome.credit[rows], clusters[rows]))


def _cell(scorer: str, outcome: Outcome, part: Slice, rows: NDArray[np.int64], sample: Sample) -> Iterator[_Cell]:
    """Yield the estimate over some rows, if there are any."""
    if len(rows):
        yield _Cell(scorer, outcome, part.subset, part.tag, *_left(outcome, rows), _chance(outcome, rows), sample)


def _left(outcome: Outcome, rows: NDArray[np.int64]) -> tuple[int, int]:
    """Return how many instances were tied, and how many have no score."""
    return int(outcome.tie[rows].sum()), int(outcome.unscored[rows].sum())


def _chance(outcome: Outcome, rows: NDArray[np.int64]) -> float:
    """Return the mean chance of those instances that entered."""
    entered = outcome.chance[rows][~np.isnan(outcome.credit[rows])]
    return float(entered.mean()) if len(entered) else float("nan")


def _row(cell: _Cell, interval: Interval, is_primary: bool, benchmark: str, signature: str) -> Estimate:
    return Estimate(
        benchmark=benchmark,
        subset=cell.subset,
        tag=cell.tag,
        scorer=cell.scorer,
        against="",
        metric=cell.outcome.metric,
        value=cell.sample.whole.value,
        low=interval.low,
        high=interval.high,
        n=cell.sample.n,
        n_clusters=cell.sample.whole.n_clusters,
        ties=cell.ties,
        unscored=cell.unscored,
        chance=cell.chance,
        method=interval.method,
        seed=interval.seed,
        primary=is_primary,
        signature=signature,
    )
