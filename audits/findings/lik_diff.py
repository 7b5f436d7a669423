"""How much more likely a blind language model finds the positives: Lik-Diff, and its distribution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audits.dataset import Roster
from audits.findings.schema import Thresholds
from audits.measured import Measured
from audits.statistics import signflip
from audits.statistics.bootstrap import bootstrap
from audits.statistics.intervals import Interval
from audits.statistics.layout import Slice, codes, slices
from audits.statistics.primary import FEW
from audits.statistics.sums import cluster_sums
from baselines.schema import TEXT
from reports.schema import Estimate, Finding

COLUMN = "unnorm"
METRIC = "lik_diff"
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class LikDiff(NamedTuple):
    """Hold the findings and the rows of `metrics.csv`."""

    findings: list[Finding]
    rows: list[Estimate]


@dataclass(frozen=True, slots=True)
class Resampling:
    """Say how intervals are made: draws, seed, level as a proportion."""

    draws: int
    seed: int
    level: float


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Hold one scorer on one slice: rows with a difference, its intervals, and what could not be scored."""

    scorer: str
    where: Slice
    rows: NDArray[np.int64]
    differences: NDArray[np.float64]
    n_clusters: int
    unscored: int
    mean: Interval
    share: Interval


def lik_diff(
    measured: Sequence[Measured],
    roster: Roster,
    thresholds: Thresholds,
    resampling: Resampling,
    signatures: Mapping[str, str],
) -> LikDiff:
    """Return, per blind likelihood and subset and pooled, the mean of log P(positive) - log P(foil) in nats.

    The mean is over instances, in each over its pairs. The interval is a bootstrap by cluster, below 30 clusters the
    sign-flip test by cluster inverted. Severity is that of the share of instances with a difference above 0.

    Args:
        measured: What the contestants measured; those that see text alone and have a column `unnorm` enter.
        roster: The instances.
        thresholds: Of severities.
        resampling: Of the intervals.
        signatures: Short signature by full column name.

    Source: goodcrepe, "Simple heuristics as baselines" (Lik-Diff); composet, app. C (interval).
    """
    found = LikDiff([], [])
    two_images = all(shape.images > 1 for shape in roster.shapes)
    for one in measured:
        cells = one.cells
        if cells is None or cells.sees != TEXT or COLUMN not in cells.columns:
            continue
        name = one.contestant.full_name(COLUMN)
        values = differences(cells.grids(COLUMN, roster.shapes), roster.golds)
        for part in _parts(name, values, roster, resampling):
            found.rows.append(_row(part, roster.labels.benchmark, signatures.get(name, "")))
            if len(part.rows) and not _says_the_same(part.where, roster):
                found.findings.append(_finding(part, roster, thresholds, two_images))
    return found


def differences(grids: Sequence[NDArray[np.float64]], golds: Sequence[NDArray[np.bool_]]) -> NDArray[np.float64]:
    """Return mean score of the captions that fit the first image minus that of the others, float64 [n].

    Args:
        grids: Scores of a scorer that sees text alone, [I, T] each.
        golds: Boolean [I, T] each.

    Returns:
        -inf where a score is missing; NaN where an instance has no pair of captions.

    >>> differences([np.array([[-10.0, -12.5]])], [np.array([[True, False]])])
    array([2.5])
    """
    found = np.full(len(golds), nan)
    for place, gold in enumerate(golds):
        right = gold[0]
        if right.all() or not right.any():
            continue
        scores = grids[place][0]
        found[place] = -inf if np.isnan(scores).any() else scores[right].mean() - scores[~right].mean()
    return found


def _parts(scorer: str, values: NDArray[np.float64], roster: Roster, how: Resampling) -> list[_Part]:
    """Return the slices in which the difference is defined, with intervals from the same draws."""
    cut = slices(roster.labels)
    defined = [part for part in [*cut.subsets, cut.pooled] if not np.isnan(values[part.rows]).all()]
    _, clusters = codes(roster.labels.clusters)
    scored = np.where(np.isfinite(values), values, nan)
    columns = np.full((len(values), 2 * len(defined)), nan)
    for place, part in enumerate(defined):
        columns[part.rows, 2 * place] = scored[part.rows]
        columns[part.rows, 2 * place + 1] = _credit(scored[part.rows])
    drawn = _intervals(columns, clusters, how)
    found = []
    for place, part in enumerate(defined):
        rows = part.rows[~np.isnan(scored[part.rows])]
        unscored = int(np.isneginf(values[part.rows]).sum())
        n_clusters = len(np.unique(clusters[rows]))
        pair = drawn[2 * place : 2 * place + 2]
        found.append(_Part(scorer, part, rows, scored[rows], n_clusters, unscored, *pair))
    return found


def _credit(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 above 0, one half at 0, 0 below, NaN where there is no value."""
    credit: NDArray[np.float64] = (np.sign(values) + 1) / 2
    return credit


def _intervals(columns: NDArray[np.float64], clusters: NDArray[np.int64], how: Resampling) -> list[Interval]:
    """Return the interval of each column's mean: by bootstrap, or by sign-flip test where clusters are few."""
    found: list[Interval] = []
    many = []
    for place in range(columns.shape[1]):
        sums = cluster_sums(columns[:, place], clusters)
        interval = Interval(nan, nan, "undefined (n < 2)")
        if np.count_nonzero(~np.isnan(columns[:, place])) < 2:
            pass
        elif sums.n_clusters >= FEW:
            many.append(place)
        else:
            interval = signflip.interval(sums, confidence=how.level, bounds=(-inf, inf), draws=how.draws, seed=how.seed)
        found.append(interval)
    drawn = bootstrap(columns[:, many], clusters, draws=how.draws, seed=how.seed, confidence=how.level) if many else []
    for place, interval in zip(many, drawn, strict=True):
        found[place] = interval
    return [_bounded(interval) for interval in found]


def _bounded(interval: Interval) -> Interval:
    """Return an interval that no number bounds as an undefined one."""
    return interval if np.isfinite(interval.low) else Interval(nan, nan, interval.method, interval.seed)


def _says_the_same(part: Slice, roster: Roster) -> bool:
    """Return whether a pooled slice is a subset over again."""
    return part.subset == "all" and len(set(roster.labels.subsets)) == 1 and roster.labels.subsets[0] not in ("", "all")


def _row(part: _Part, benchmark: str, signature: str) -> Estimate:
    return Estimate(
        benchmark=benchmark,
        subset=part.where.subset,
        tag="",
        scorer=part.scorer,
        against="",
        metric=METRIC,
        value=float(part.differences.mean()) if len(part.rows) else nan,
        low=part.mean.low,
        high=part.mean.high,
        n=len(part.rows),
        n_clusters=part.n_clusters,
        ties=int((part.differences == 0).sum()),
        unscored=part.unscored,
        chance=0.0,
        method=part.mean.method,
        seed=part.mean.seed,
        primary=True,
        signature=signature,
    )


def _finding(part: _Part, roster: Roster, thresholds: Thresholds, two_images: bool) -> Finding:
    values = part.differences
    mean, share = float(values.mean()), float(_credit(values).mean())
    order = np.argsort(-values if mean >= 0 else values, kind="stable")[: thresholds.shown]
    distance = 0.0 if isnan(part.share.low) else max(part.share.low - 0.5, 0.5 - part.share.high, 0.0)
    numbers: dict[str, float | int | str] = {"scorer": part.scorer, "n": len(values), "n_clusters": part.n_clusters}
    numbers |= {"mean": mean, "share_above_0": share, "ties": int((values == 0).sum()), "unscored": part.unscored}
    numbers |= {f"q{100 * level:02.0f}": float(np.quantile(values, level)) for level in _QUANTILES}
    if not isnan(part.mean.low):
        numbers |= {"low": part.mean.low, "high": part.mean.high, "method": part.mean.method}
    return Finding(
        kind=METRIC,
        severity=thresholds.distance(distance),
        sentence=" ".join(_sentences(part, numbers, two_images)),
        subset="" if part.where.subset == "all" else part.where.subset,
        instances=tuple(roster.ids[row] for row in part.rows[order]),
        values=numbers,
    )


def _sentences(part: _Part, numbers: Mapping[str, float | int | str], two_images: bool) -> Iterator[str]:
    one, other = ("base caption", "foil caption") if two_images else ("positive", "foil")
    bounds = "undefined" if isnan(part.mean.low) else f"{part.mean.low:+.2f}, {part.mean.high:+.2f}"
    yield (
        f"{part.scorer}: log-likelihood of the {one} minus that of the {other} is {numbers['mean']:+.2f} nats "
        f"[{bounds}] on average over {len(part.rows):,} instances"
    )
    yield (
        f"(quartiles {numbers['q25']:+.2f}, {numbers['q50']:+.2f}, {numbers['q75']:+.2f}); it is above 0 in "
        f"{100 * float(numbers['share_above_0']):.1f} % of them, ties counted half."
    )
