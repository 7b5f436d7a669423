"""Lay a chart out in pixels once, and draw that one layout as SVG (page, slide) and as PNG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from rich.cells import cell_len

from reports.charts import Chart, Row, point_text, tooltip
from reports.measures import value_text
from reports.schema import Estimate
from reports.text import folded, short_percent

Shape = Literal["circle", "square", "diamond", "triangle"]
Anchor = Literal["start", "middle", "end"]
SHAPES: tuple[Shape, ...] = ("circle", "square", "diamond", "triangle")
TITLE, LEGEND, SMALL, SPACE = 15.0, 12.0, 11.0, 6.0
_DETAIL = 13.0  # height of a line below a row's name
_CHARACTER = 0.57  # of the font size: what a character of a system font takes on average, rather too much


class Form(NamedTuple):
    """Say how wide a layout is and where its parts stand, in pixels.

    Attributes:
        name: `wide` has labels left and numbers right of the plot, `narrow` has labels above and values right.
        width: Of the whole.
        left: Where the plot begins.
        right: Where it ends.
        lane: Height of one mark's lane.
    """

    name: Literal["wide", "narrow"]
    width: float
    left: float
    right: float
    lane: float


WIDE = Form("wide", 720.0, 186.0, 578.0, 15.0)
NARROW = Form("narrow", 356.0, 8.0, 312.0, 12.0)


class Rule(NamedTuple):
    """Hold a straight line and what it is: `grid`, `chance`, or `axis`."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: Literal["grid", "chance", "axis"]


class Band(NamedTuple):
    """Hold the ground of a row."""

    x: float
    y: float
    width: float
    height: float


class Label(NamedTuple):
    """Hold a text whose baseline begins, is centred or ends at a point."""

    x: float
    y: float
    text: str
    size: float
    anchor: Anchor = "start"
    strong: bool = False
    quiet: bool = False


class Mark(NamedTuple):
    """Hold one estimate's mark: its place, its interval's ends (None where undefined), its series and what it says."""

    x: float
    y: float
    low: float | None
    high: float | None
    shape: Shape
    series: int
    filled: bool
    tooltip: str
    estimate: Estimate | None


@dataclass(slots=True)
class Layout:
    """Hold everything a drawing of one chart consists of, in pixels."""

    chart: Chart
    form: Form
    width: float
    height: float = 0.0
    bands: list[Band] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)


class Axis(NamedTuple):
    """Map a proportion, or a number of nats, to pixels."""

    low: float
    high: float
    left: float
    right: float
    unit: Literal["%", "nats"] = "%"

    def at(self, value: float) -> float:
        """Return where a proportion stands; one beyond the axis stands at its end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.left + share * (self.right - self.left)

    @property
    def ticks(self) -> list[float]:
        """Return the values that are written at the axis."""
        if self.unit == "nats":
            return self._round
        step = 10 if self.high - self.low <= 0.6 else 20
        first = math.ceil(round(100 * self.low) / step) * step
        return [value / 100 for value in range(first, round(100 * self.high) + 1, step)]

    @property
    def _round(self) -> list[float]:
        """Return about six round numbers, 0 among them where it is on the axis."""
        least = (self.high - self.low) / 6
        power = 10 ** math.floor(math.log10(least))
        step = next(power * times for times in (1, 2, 5, 10) if power * times >= least * 0.999)
        return [place * step for place in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]

    def text(self, tick: float) -> str:
        """Return what is written at a tick."""
        return short_percent(tick) if self.unit == "%" else f"{tick:.6g}"


def lay_out(chart: Chart, form: Form, *, headings: Sequence[str] = ()) -> Layout:
    """Return a chart's layout.

    Args:
        chart: What to draw.
        form: How wide.
        headings: Lines above a drawing that stands alone, the first as its title; it gets the chart's notes below.
    """
    layout = Layout(chart, form, form.width)
    axis = Axis(chart.low, chart.high, form.left, form.right, chart.unit)
    y = 4.0
    for number, text in enumerate(headings):
        size = LEGEND if number else TITLE
        y += size + SPACE
        layout.labels.append(Label(4.0, y, fitted(text, form.width - 8, size), size, strong=True))
    y = _legend(layout, y, named=bool(headings) or len(chart.series) > 1)
    top = y + SMALL + SPACE
    y = top
    for number, row in enumerate(chart.rows):
        y = _row(layout, axis, row, y, shaded=number % 2 == 0)
    _frame(layout, axis, top, y)
    y += 2 * SMALL + 2 * SPACE
    for text in folded(" ".join(chart.notes), _room(form.width - 8, SMALL)) if headings and chart.notes else ():
        y += SMALL + SPACE / 2
        layout.labels.append(Label(4.0, y, text, SMALL, quiet=True))
    layout.height = y + SPACE
    return layout


def _legend(layout: Layout, y: float, *, named: bool) -> float:
    for number, series in enumerate(layout.chart.series if named else ()):
        y += LEGEND + 5
        tone = layout.chart.tone(number)
        layout.marks.append(Mark(12.0, y - 4, 4.0, 20.0, SHAPES[tone], tone, True, "", None))
        text = fitted(series.label, layout.form.width - 34, LEGEND)
        layout.labels.append(Label(28.0, y, text, LEGEND))
    y += LEGEND + 5
    layout.rules.append(Rule(4.0, y - 4, 20.0, y - 4, "chance"))
    layout.labels.append(Label(28.0, y, _chance_text(layout.chart), LEGEND))
    return y + SPACE


def _chance_text(chart: Chart) -> str:
    if chart.unit == "nats":
        return "No difference"
    values = sorted({short_percent(item.chance) for item in chart.estimates if not math.isnan(item.chance)})
    return (
        f"Chance ({values[0]} %)" if len(values) == 1 else "Chance (differs by row)" if values else "Chance (unknown)"
    )


def _row(layout: Layout, axis: Axis, row: Row, y: float, *, shaded: bool) -> float:
    """Add one row and return where the next begins."""
    form = layout.form
    narrow = form.name == "narrow"
    below = _DETAIL * len(row.details) + (3 if row.details else 0)
    lanes = y + (SMALL + SPACE + below if narrow else SPACE / 2)
    end = lanes + form.lane * len(row.points) + SPACE / 2
    if not narrow:
        end = max(end, y + LEGEND + SPACE + _DETAIL * len(row.details))
    if shaded:
        layout.bands.append(Band(0.0, y, form.width, end - y))
    _names(layout, row, y, end)
    for number, point in enumerate(row.points):
        if point is not None:
            _point(layout, axis, row, number, lanes + form.lane * (number + 0.5))
    upper = lanes - SPACE / 2 if narrow else y  # lines stop short of a label that stands above the lanes
    layout.rules += [Rule(axis.at(tick), upper, axis.at(tick), end, "grid") for tick in axis.ticks]
    _chance(layout, axis, row, upper, end)
    return end


def _names(layout: Layout, row: Row, y: float, end: float) -> None:
    """Write a row's name with its details below: above the lanes on narrow screens, else beside them."""
    form = layout.form
    narrow = form.name == "narrow"
    x, room = (4.0, form.width - 8) if narrow else (form.left - 12, form.left - 16)
    at = y + LEGEND + 1 if narrow else (y + end - _DETAIL * len(row.details)) / 2 + 0.36 * LEGEND
    side: Anchor = "start" if narrow else "end"
    layout.labels.append(Label(x, at, fitted(row.label, room, LEGEND), LEGEND, side, strong=row.pooled))
    for text in row.details:
        at += _DETAIL
        layout.labels.append(Label(x, at, fitted(text, room, SMALL), SMALL, side, quiet=True))


def _chance(layout: Layout, axis: Axis, row: Row, upper: float, lower: float) -> None:
    """Draw chance through a row: one line, which changes its place where the series differ in it."""
    height = (lower - upper) / len(row.points)
    for number, point in enumerate(row.points):
        if point is not None and not math.isnan(point.chance):
            x = axis.at(point.chance)
            layout.rules.append(Rule(x, upper + number * height, x, upper + (number + 1) * height, "chance"))


def _point(layout: Layout, axis: Axis, row: Row, number: int, y: float) -> None:
    point, form = row.points[number], layout.form
    if point is None:
        return
    text = value_text(point) if form.name == "narrow" else point_text(point)
    layout.labels.append(Label(form.width - 4, y + 0.36 * SMALL, text, SMALL, "end", strong=row.pooled))
    if math.isnan(point.value):
        return
    known = not (math.isnan(point.low) or math.isnan(point.high))
    low, high = (axis.at(point.low), axis.at(point.high)) if known else (None, None)
    said = tooltip(layout.chart.series[number], row, point)
    filled = layout.chart.departs(point)
    tone = layout.chart.tone(number)
    layout.marks.append(Mark(axis.at(point.value), y, low, high, SHAPES[tone], tone, filled, said, point))


def _frame(layout: Layout, axis: Axis, top: float, bottom: float) -> None:
    for tick in axis.ticks:
        x = axis.at(tick)
        for y in (top - SPACE / 2, bottom + SMALL + 2):
            layout.labels.append(Label(x, y, axis.text(tick), SMALL, "middle", quiet=True))
    layout.rules.append(Rule(axis.left, bottom, axis.right, bottom, "axis"))
    middle = (axis.left + axis.right) / 2
    text = fitted(layout.chart.axis, axis.right - axis.left, SMALL)
    layout.labels.append(Label(middle, bottom + 2 * SMALL + SPACE + 2, text, SMALL, "middle", quiet=True))


def _room(width: float, size: float) -> int:
    """Return how many characters fit, at least three."""
    return max(int(width / (size * _CHARACTER)), 3)


def fitted(text: str, width: float, size: float) -> str:
    """Return text that takes about `width` pixels at most; a longer one loses its middle.

    >>> fitted("a very long name of a subset", 100, 12)
    'a very lo…bset'
    """
    room = _room(width, size)
    if cell_len(text) <= room:
        return text
    head, tail = "", ""
    for character in text:
        if cell_len(head + character) > room - 1 - room // 3:
            break
        head += character
    for character in reversed(text):
        if cell_len(character + tail) > room // 3:
            break
        tail = character + tail
    return f"{head}…{tail}"
