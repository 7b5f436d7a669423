"""What the charts plot: blind baselines against chance by subset, chosen and named here, drawn in `figures`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reports.answer import Candidate, candidates
from reports.captions import measure_title
from reports.index import POOLED, SANITY, Index
from reports.measures import distance, excludes_chance, interval_text, measure, value_text
from reports.phrases import words
from reports.schema import Estimate, Record
from reports.text import count, plain, short_percent, visible

_MOST_SERIES = 4
_MOST_TOGETHER = 3
_MOST_SINGLE = 12
_MOST_ROWS = 40
_LEAST_SPAN = 4  # tenths
_MARGIN = 0.02  # a mark on the frame would be cut in two
ALL = "all instances"
SINGLE = "column-"

Pair = tuple[str, str]  # a scorer and the metric that it is judged by


@dataclass(frozen=True, slots=True)
class Series:
    """Name one contestant's column as the legend shows it.

    Attributes:
        scorer: As in `metrics.csv`, or empty where it differs by row.
        label: In words where they are known.
        tone: Which colour and shape it has; without one, those of its place.
    """

    scorer: str
    label: str
    tone: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """Hold one subset.

    Attributes:
        label: Its name, made harmless.
        pooled: Whether it is all instances together.
        points: The primary estimate of every series, None where there is none.
        details: Lines below its name.
    """

    label: str
    pooled: bool
    points: tuple[Estimate | None, ...]
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Hold one dot-and-interval chart.

    Attributes:
        key: Identifier, unique within a page.
        title: What it shows.
        axis: What is measured, with its unit.
        series: At most four.
        rows: All instances, then the subsets in the order of the tables.
        notes: How to read it and what it leaves out.
        low: Where its axis begins, as a proportion in tenths.
        high: Where it ends.
        alpha: Of the family of tests whose corrected p-values fill marks, or None where intervals do.
        unit: What the axis counts; values in nats are no proportions, and their chance is a difference of 0.
    """

    key: str
    title: str
    axis: str
    series: tuple[Series, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    low: float
    high: float
    alpha: float | None = None
    unit: Literal["%", "nats"] = "%"

    def tone(self, number: int) -> int:
        """Return which colour and shape a series has."""
        tone = self.series[number].tone
        return number if tone is None else tone

    def departs(self, point: Estimate) -> bool:
        """Return whether a point may be said to differ from chance."""
        return excludes_chance(point) and (self.alpha is None or point.p <= self.alpha)

    @property
    def estimates(self) -> list[Estimate]:
        """Return every estimate that the chart plots."""
        return [point for row in self.rows for point in row.points if point is not None]

    @property
    def summary(self) -> str:
        """Return in words what the chart shows, for those who do not see it."""
        first = self.rows[0]
        pairs = zip(self.series, first.points, strict=True)
        said = [f"{one.label} {point_text(point)}" for one, point in pairs if point is not None]
        return f"{self.title}; {self.axis}. {first.label.capitalize()}: {'; '.join(said)}."


def build_charts(record: Record, index: Index) -> tuple[Chart, ...]:
    """Return the chart of the first screen and then one for every column, or nothing if no blind baseline ran.

    In the first, all blind columns stand together where they are few; else every contestant stands with the column
    that departs most clearly from chance. The others follow where they show more than the first does.
    """
    blind = candidates(index)
    shown = [(item.contestant.scorer, item.metric) for item in blind] or _sanity(index)
    if not shown:
        return ()
    picked = shown if len(shown) <= _MOST_TOGETHER else _clearest_columns(blind)
    title = "Blind baselines against chance" + (", by subset" if index.subsets else "")
    notes = [reading(record), *_choice(blind, picked)]
    first = _chart(index, "blind", title, picked[:_MOST_SERIES], notes)
    models = [(item.scorer, index.headline(item)) for item in index.contestants if item.kind == "model"]
    rest = [*(shown if len(shown) <= _MOST_SINGLE else picked), *(pair for pair in models if pair[1])]
    if rest == picked[:_MOST_SERIES]:
        return (first,)
    return (first, *_on_one_scale([_single(index, number, pair) for number, pair in enumerate(rest, start=1)]))


def _sanity(index: Index) -> list[Pair]:
    return [(item.scorer, index.headline(item)) for item in index.contestants if item.owner == SANITY]


def _clearest_columns(blind: list[Candidate]) -> list[Pair]:
    """Return every contestant's column that departs most clearly from chance, as the answer ranks them."""
    found: dict[str, Pair] = {}
    for item in sorted(blind, key=_clarity, reverse=True):
        found.setdefault(item.contestant.owner, (item.contestant.scorer, item.metric))
    return list(found.values())


def _clarity(item: Candidate) -> tuple[float, int, float]:
    """Return what ranks a column: its distance where the pooled interval excludes chance, else its strong subsets."""
    far = distance(item.pooled)
    return (far if excludes_chance(item.pooled) else 0.0, len(item.strong_subsets), far)


def _choice(blind: list[Candidate], picked: list[Pair]) -> list[str]:
    said = []
    if len(blind) > len(picked):
        said.append(
            "Of every baseline's columns, the one that departs most clearly from chance on these data is drawn."
        )
    drawn = {scorer for scorer, _ in picked[:_MOST_SERIES]}
    if any(item.chosen and item.contestant.scorer in drawn for item in blind):
        said.append("Of the two directions of a cue, the one that does better on these data is drawn.")
    if len(picked) > _MOST_SERIES:
        said.append(f"{len(picked) - _MOST_SERIES} more baselines ran; they stand in the charts and tables below.")
    return said


def _single(index: Index, number: int, pair: Pair) -> Chart:
    return _chart(index, f"{SINGLE}{number}", label_of(pair[0]), [pair], [])


def _on_one_scale(charts: list[Chart]) -> list[Chart]:
    """Return charts that can be compared by eye: all with the longest axis that one of them needs."""
    low, high = min(chart.low for chart in charts), max(chart.high for chart in charts)
    return [replace(chart, low=low, high=high) for chart in charts]


def _chart(index: Index, key: str, title: str, pairs: list[Pair], notes: list[str]) -> Chart:
    series = tuple(Series(scorer, label_of(scorer)) for scorer, _ in pairs)
    rows = [_row(index, pairs, subset) for subset in index.subsets]
    kept = _farthest(rows)
    if len(kept) < len(rows):
        notes = [*notes, f"Drawn are the {len(kept)} of {count(len(rows))} subsets farthest from chance."]
    axis = " or ".join(dict.fromkeys(measure_title(metric, POOLED) for _, metric in pairs))
    drawn = (_row(index, pairs, POOLED), *kept)
    return Chart(key, title, axis, series, drawn, tuple(notes), *span(drawn), alpha=index.alpha)


def span(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the ends of an axis that holds every interval and chance, and is never so short that noise looks big."""
    points = [point for row in rows for point in row.points if point is not None]
    seen = [value for item in points for value in (item.value, item.low, item.high, item.chance)]
    seen = [value for value in seen if math.isfinite(value)] or [0.0, 1.0]
    low, high = math.floor(10 * (min(seen) - _MARGIN)), math.ceil(10 * (max(seen) + _MARGIN))
    if min(seen) >= 0 and max(seen) <= 1:
        low, high = max(low, 0), min(high, 10)
    while high - low < _LEAST_SPAN:
        low, high = max(low - 1, min(low, 0)), min(high + 1, max(high, 10))
    return low / 10, high / 10


def label_of(scorer: str) -> str:
    """Return what a legend calls a column: in words where they are known."""
    text = plain(words(scorer))
    return text[:1].upper() + text[1:] if text != visible(scorer) else text


def reading(record: Record) -> str:
    """Return how to read bars and marks, where filled ones are those that differ from chance."""
    level = short_percent(record["statistics"]["level"])
    family = record.get("family")
    if family is None:
        return f"Bars are {level} % intervals; a mark is filled where its interval excludes chance."
    return (
        f"Bars are {level} % intervals, each on its own; a mark is filled where it differs from chance after "
        f"correction over {count(family['size'])} tests."
    )


def _row(index: Index, pairs: list[Pair], subset: str) -> Row:
    points = tuple(index.find(scorer, metric, subset) for scorer, metric in pairs)
    pooled = subset == POOLED
    return Row(ALL if pooled else visible(subset) or "(empty)", pooled, points)


def _farthest(rows: list[Row]) -> list[Row]:
    """Return the rows, or the farthest from chance where there are more than a page can show, in their order."""
    if len(rows) <= _MOST_ROWS:
        return rows

    def far(row: Row) -> float:
        return max((distance(point) for point in row.points if point is not None), default=0.0)

    kept = set(sorted(range(len(rows)), key=lambda place: -far(rows[place]))[:_MOST_ROWS])
    return [row for place, row in enumerate(rows) if place in kept]


def point_text(point: Estimate) -> str:
    """Return value and interval as tables show them."""
    return f"{value_text(point)} {interval_text(point)}" if not math.isnan(point.value) else value_text(point)


def tooltip(series: Series, row: Row, point: Estimate) -> str:
    """Return what a mark says when it is pointed at or read aloud."""
    proportion = measure(point.metric).unit != ""
    chance = f", chance {short_percent(point.chance)} %" if proportion and not math.isnan(point.chance) else ""
    label = series.label if series.scorer else f"{series.label} ({visible(point.scorer)})"
    unit = " %" if proportion else ""
    return f"{row.label}: {label}, {value_text(point)}{unit} {interval_text(point)}{chance}, n {count(point.n)}"
