"""Estimate by the parts that a card asks for: subsets by tag, gaps between kinds of subsets, words of direction."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audits.breakdown.words import Named2x2
from audits.statistics.estimates import estimates
from audits.statistics.intervals import Interval
from audits.statistics.layout import POOLED, Layout, codes
from audits.statistics.outcomes import Outcome
from audits.statistics.paired import gap_sample, unshifted
from audits.statistics.primary import Sample, intervals, macro
from reports.schema import Estimate

MATCHED = "matched"
"""Name of the mean of the gaps between subsets that differ only in their beginning."""


@dataclasses.dataclass(frozen=True, slots=True)
class Scored:
    """Hold what one scorer column decided, and how to resample it.

    Attributes:
        scorer: Full column name.
        outcomes: Outcomes by metric, arrays [n].
        labels: Where the n instances belong.
        signature: Short signature.
        draws: Draws of the resampling.
        seed: Their seed.
        confidence: Nominal coverage.
    """

    scorer: str
    outcomes: Mapping[str, Outcome]
    labels: Layout
    signature: str
    draws: int
    seed: int
    confidence: float

    def rows(self, outcomes: Mapping[str, Outcome], where: Layout) -> list[Estimate]:
        """Return the rows of outcomes of any instances."""
        made = estimates(
            {self.scorer: outcomes},
            where,
            signatures={self.scorer: self.signature},
            draws=self.draws,
            seed=self.seed,
            confidence=self.confidence,
        )
        return made.rows


def crossed(scored: Scored, tag: str) -> Iterator[Estimate]:
    """Yield every outcome by subset, and the mean over subsets, at every value of a tag."""
    labels = scored.labels.tags.get(tag)
    if labels is None:
        return
    names, code_of = codes(labels)
    for code, name in enumerate(names):
        if not name:
            continue
        at = np.flatnonzero(code_of == code)
        taken = {metric: _taken(outcome, at) for metric, outcome in scored.outcomes.items()}
        for row in scored.rows(taken, _at(scored.labels, at)):
            # All instances with this value of the tag have rows already.
            if row.subset != POOLED:
                yield dataclasses.replace(row, tag=f"{tag}={name}")


def _taken(outcome: Outcome, at: NDArray[np.int64], metric: str = "") -> Outcome:
    parts = (getattr(outcome, name)[at] for name in ("credit", "tie", "unscored", "chance"))
    return Outcome(metric or outcome.metric, *parts)


def _at(where: Layout, at: NDArray[np.int64]) -> Layout:
    """Return the labels of some instances, without their tags."""
    rows = at.tolist()
    return Layout(where.benchmark, [where.subsets[row] for row in rows], [where.clusters[row] for row in rows])


class Gap(NamedTuple):
    """Hold one gap before its interval is known: its name, what enters, on the scale 0 to 1, and from which rows."""

    name: str
    sample: Sample
    rows: NDArray[np.int64]


def gaps(scored: Scored, over: str, under: str) -> Iterator[Estimate]:
    """Yield mean credit of the subsets that begin with `over` minus that of those that begin with `under`.

    Once over all their instances, once for every two subsets that differ only in the beginning, and once as the mean
    of the latter (`matched`). Clusters are shared, so a gap is resampled as one column.

    Source: composet, sec. 5 (modify over swap); ours (the pooled one and the mean).
    """
    _, clusters = codes(scored.labels.clusters)
    for outcome in scored.outcomes.values():
        made = list(_gaps(outcome.credit, clusters, scored.labels.subsets, (over, under)))
        drawn = intervals(
            [gap.sample for gap in made],
            int(clusters.max(initial=-1)) + 1,
            draws=scored.draws,
            seed=scored.seed,
            confidence=scored.confidence,
        )
        for gap, found in zip(made, drawn, strict=True):
            yield _gap_row(scored, outcome, gap, found[0])


def _gaps(
    credit: NDArray[np.float64], clusters: NDArray[np.int64], subsets: Sequence[str], kinds: tuple[str, str]
) -> Iterator[Gap]:
    names, code_of = codes(subsets)
    rows = {name: np.flatnonzero(code_of == code) for code, name in enumerate(names)}
    rows = {name: own for name, own in rows.items() if not np.isnan(credit[own]).all()}
    over, under = ({name[len(kind) :]: name for name in rows if name.startswith(kind)} for kind in kinds)
    if not over or not under:
        return
    sides = [np.concatenate([rows[name] for name in side.values()]) for side in (over, under)]
    yield Gap(" - ".join(f"{kind}*" for kind in kinds), gap_sample(credit, clusters, *sides), np.concatenate(sides))
    both = [(rows[over[end]], rows[under[end]]) for end in over if end in under]
    for end in (end for end in over if end in under):
        pair = (rows[over[end]], rows[under[end]])
        yield Gap(f"{over[end]} - {under[end]}", gap_sample(credit, clusters, *pair), np.concatenate(pair))
    if len(both) > 1:
        turned = credit.copy()
        for _, hard in both:
            turned[hard] = 1 - credit[hard]
        parts = [part for pair in both for part in pair]
        yield Gap(MATCHED, macro(turned, clusters, parts), np.concatenate(parts))


def _gap_row(scored: Scored, outcome: Outcome, gap: Gap, interval: Interval) -> Estimate:
    low, high, method, seed = unshifted(interval, gap.sample, confidence=scored.confidence)
    return Estimate(
        benchmark=scored.labels.benchmark,
        subset=POOLED,
        tag=f"gap={gap.name}",
        scorer=scored.scorer,
        against="",
        metric=f"{outcome.metric}_gap",
        value=2 * gap.sample.whole.value - 1,
        low=low,
        high=high,
        n=gap.sample.n,
        n_clusters=gap.sample.whole.n_clusters,
        ties=int(outcome.tie[gap.rows].sum()),
        unscored=int(outcome.unscored[gap.rows].sum()),
        chance=0.0,
        method=method,
        seed=seed,
        primary=True,
        signature=scored.signature,
    )


def faced(scored: Scored, sides: Named2x2, order: Sequence[str]) -> Iterator[Estimate]:
    """Yield single decisions by direction, and strict ones by pair of directions, by subset and over all instances.

    The I2T decision at the image of one direction is right if that image's own caption wins there, the T2I decision if
    its caption's own image wins. `i2t_direction` and `t2i_direction` carry the tag `direction=PAIR: DIRECTION`, where
    both captions tell the same direction each of the two decisions; `i2t_directions`, `t2i_directions` and
    `group_directions` are the strict ones with the tag `directions=PAIR`.

    Args:
        scored: The scorer column.
        sides: Direction of each side of each instance.
        order: All directions; those of a pair are named in this order.

    Source: composet, table 6.
    """
    rank = {name: place for place, name in enumerate(order)}
    both_sides = zip(sides.base.tolist(), sides.foil.tolist(), strict=True)
    pairs = [" / ".join(sorted({one, other}, key=rank.__getitem__)) if one else "" for one, other in both_sides]
    for metric in ("i2t", "t2i"):
        base, foil = (scored.outcomes.get(f"{metric}_{side}") for side in ("base", "foil"))
        if base is not None and foil is not None:
            both = Outcome(
                f"{metric}_direction",
                *(
                    np.concatenate([getattr(base, name), getattr(foil, name)])
                    for name in ("credit", "tie", "unscored", "chance")
                ),
            )
            told = [f"{pair}: {word}" for pair, word in zip(pairs * 2, [*sides.base, *sides.foil], strict=True)]
            yield from _labelled(scored, both, told, "direction", times=2)
    for metric in ("i2t", "t2i", "group"):
        if metric in scored.outcomes:
            outcome = dataclasses.replace(scored.outcomes[metric], metric=f"{metric}_directions")
            yield from _labelled(scored, outcome, pairs, "directions", times=1)


def _labelled(scored: Scored, outcome: Outcome, told: list[str], tag: str, *, times: int) -> Iterator[Estimate]:
    """Yield an outcome of `times` decisions per instance by label, pooled and by subset; none where it is empty."""
    names, code_of = codes(told)
    subsets, clusters = (list(labels) * times for labels in (scored.labels.subsets, scored.labels.clusters))
    where = Layout(scored.labels.benchmark, subsets, clusters)
    for code, name in enumerate(names):
        if name in ("", ": "):
            continue
        at = np.flatnonzero(code_of == code)
        for row in scored.rows({outcome.metric: _taken(outcome, at)}, _at(where, at)):
            if row.subset != "macro":
                yield dataclasses.replace(row, tag=f"{tag}={name}")
