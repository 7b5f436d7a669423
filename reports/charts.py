"""What the charts plot: blind baselines against chance by subset, chosen and named here, drawn in `figures`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reports.answer import candidates, words
from reports.captions import measure_title
from reports.index import POOLED, SANITY, Index, distance, interval_text, value_text
from reports.schema import Estimate, Record
from reports.text import count, plain, short_percent, visible

_MOST_SERIES = 4
_MOST_ROWS = 40
_ALL = "all instances"


@dataclass(frozen=True, slots=True)
class Series:
    """Name one contestant's column as the legend shows it.

    Attributes:
        scorer: As in `metrics.csv`.
        label: In words where they are known.
    """

    scorer: str
    label: str


@dataclass(frozen=True, slots=True)
class Row:
    """Hold one subset.

    Attributes:
        label: Its name, made harmless.
        pooled: Whether it is all instances together.
        points: The primary estimate of every series, None where there is none.
    """

    label: str
    pooled: bool
    points: tuple[Estimate | None, ...]


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
    """

    key: str
    title: str
    axis: str
    series: tuple[Series, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]

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

    In the first, every blind contestant stands with the column that is farthest from chance over all instances. The
    others follow where they show more than the first does.
    """
    blind = candidates(index)
    ranked = sorted(blind, key=lambda item: distance(item.pooled), reverse=True)
    first: dict[str, tuple[str, str]] = {}
    for item in ranked:
        first.setdefault(item.contestant.owner, (item.contestant.scorer, item.metric))
    shown = [(item.contestant.scorer, item.metric) for item in blind] or _sanity(index)
    if not shown:
        return ()
    picked = list(first.values()) or shown
    by_subset = ", by subset" if index.subsets else ""
    title = f"Blind baselines against chance{by_subset}"
    charts = [_chart(record, index, "blind", title, picked[:_MOST_SERIES])]
    models = [(item.scorer, index.headline(item)) for item in index.contestants if item.kind == "model"]
    rest = [*shown, *(pair for pair in models if pair[1])]
    if rest != picked:
        charts += [_single(record, index, number, pair) for number, pair in enumerate(rest, start=1)]
    more = [f"{count(len(picked) - _MOST_SERIES)} more baselines ran; they stand in the charts and tables below."]
    charts[0] = _with_notes(charts[0], _choice(blind, picked) + (more if len(picked) > _MOST_SERIES else []))
    return tuple(charts)


def _sanity(index: Index) -> list[tuple[str, str]]:
    return [(item.scorer, index.headline(item)) for item in index.contestants if item.owner == SANITY]


def _choice(blind: Sequence[object], picked: Sequence[object]) -> list[str]:
    if len(blind) <= len(picked):
        return []
    return ["Of every baseline's columns, the one farthest from chance over all instances is drawn."]


def _with_notes(chart: Chart, notes: list[str]) -> Chart:
    return Chart(chart.key, chart.title, chart.axis, chart.series, chart.rows, (*chart.notes, *notes))


def _single(record: Record, index: Index, number: int, pair: tuple[str, str]) -> Chart:
    return _chart(record, index, f"column-{number}", plain(words(pair[0])), [pair])


def _chart(record: Record, index: Index, key: str, title: str, pairs: list[tuple[str, str]]) -> Chart:
    series = tuple(Series(scorer, _label(scorer)) for scorer, _ in pairs)
    rows = [_row(index, pairs, subset) for subset in index.subsets]
    kept = _farthest(rows)
    notes = [_reading(record)]
    if len(kept) < len(rows):
        notes.append(f"Drawn are the {len(kept)} of {count(len(rows))} subsets farthest from chance.")
    titles = list(dict.fromkeys(measure_title(metric, POOLED) for _, metric in pairs))
    axis = " or ".join(titles)
    return Chart(key, title, axis, series, (_row(index, pairs, POOLED), *kept), tuple(notes))


def _label(scorer: str) -> str:
    text = plain(words(scorer))
    return text[:1].upper() + text[1:] if text != visible(scorer) else text


def _reading(record: Record) -> str:
    level = short_percent(record["statistics"]["level"])
    return f"Bars are {level} % intervals; a mark is filled where its interval excludes chance."


def _row(index: Index, pairs: list[tuple[str, str]], subset: str) -> Row:
    points = tuple(index.find(scorer, metric, subset) for scorer, metric in pairs)
    pooled = subset == POOLED
    return Row(_ALL if pooled else visible(subset) or "(empty)", pooled, points)


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
    chance = "" if math.isnan(point.chance) else f", chance {short_percent(point.chance)} %"
    return f"{row.label}: {series.label}, {value_text(point)} % {interval_text(point)}{chance}, n {count(point.n)}"
