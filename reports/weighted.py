"""What becomes of a likelihood when a share of the text's own probability is taken off: a curve and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reports.captions import interval_notes, measure_title
from reports.charts import Chart, Row, Series, span
from reports.index import POOLED, Index
from reports.measures import excludes_chance, interval_text, value_text
from reports.schema import Estimate, Record
from reports.tabular import DEPARTS, Grid, Head
from reports.text import short_percent, visible

_MOST_SERIES = 4
_LABEL = "alpha"
DESCRIBES = (
    "log P(text | image) - alpha log P(text), over all instances; alpha 0 is the model as it is. No alpha is picked, "
    "and nothing here is in the family of tests: the curve describes."
)


class Curve(NamedTuple):
    """Hold one column of a model, the twin that P(text) comes from, and its estimates by alpha."""

    scorer: str
    prior: str
    metric: str
    points: dict[float, Estimate]


def weighted_charts(record: Record, index: Index) -> tuple[Chart, ...]:
    """Return one chart per model: a row per alpha, a series per column and source of P(text)."""
    charts = []
    for number, (owner, curves) in enumerate(_by_owner(index).items(), start=1):
        first = [curve for curve in curves if curve.metric == curves[0].metric][:_MOST_SERIES]
        alphas = sorted({alpha for curve in first for alpha in curve.points})
        series = tuple(Series(curve.scorer, _named(owner, curve)) for curve in first)
        rows = [Row(f"{_LABEL} {alpha:g}", False, tuple(one.points.get(alpha) for one in first)) for alpha in alphas]
        level = short_percent(record["statistics"]["level"])
        notes = (
            DESCRIBES,
            f"Bars are {level} % intervals, each on its own; a mark is filled where it excludes chance.",
        )
        title = f"{visible(owner)} with a share of the text's own probability taken off"
        axis = measure_title(first[0].metric, POOLED)
        charts.append(Chart(f"prior-{number}", title, axis, series, tuple(rows), notes, *span(rows)))
    return tuple(charts)


def weighted_grids(record: Record, index: Index) -> list[Grid]:
    """Return one table per model: a row per metric, column and source of P(text), a column per alpha."""
    grids = []
    for owner, curves in _by_owner(index).items():
        alphas = sorted({alpha for curve in curves for alpha in curve.points})
        rows = tuple(
            Head(f"{measure_title(one.metric, POOLED)}, {_named(owner, one)}", is_name=False) for one in curves
        )
        heads = tuple(Head(f"{_LABEL} {alpha:g}", is_name=False) for alpha in alphas)
        cells = tuple(tuple(_cell(one.points.get(alpha)) for alpha in alphas) for one in curves)
        used = [point for one in curves for point in one.points.values()]
        marked = any(DEPARTS in cell for row in cells for cell in row)
        mark = (f"{DEPARTS} the interval excludes chance.",) if marked else ()
        title = f"{visible(owner)} with alpha log P(text) taken off"
        grids.append(Grid(title, (DESCRIBES, *mark, *interval_notes(record, index, used)), rows, heads, cells))
    return grids


def _cell(point: Estimate | None) -> str:
    if point is None:
        return ""
    mark = f" {DEPARTS}" if excludes_chance(point) else ""
    return f"{value_text(point)} {interval_text(point)}{mark}"


def _named(owner: str, curve: Curve) -> str:
    """Return which column a curve is of, and where its P(text) comes from."""
    column = curve.scorer.removeprefix(owner).removeprefix(":")
    source = curve.prior.removeprefix(owner).removeprefix(":").removesuffix(f":{column}")
    said = f"P(text) from {visible(source)}"
    return f"{visible(column)}, {said}" if column else said


def _by_owner(index: Index) -> dict[str, list[Curve]]:
    """Return the curves of every contestant, by metric in the order of the tables."""
    owners = {item.scorer: item.owner for item in index.contestants}
    found: dict[tuple[str, str, str], Curve] = {}
    for (scorer, prior, metric, tag), point in index.weighted.items():
        curve = found.setdefault((metric, scorer, prior), Curve(scorer, prior, metric, {}))
        curve.points[float(tag.partition("=")[2])] = point
    grouped: dict[str, list[Curve]] = {}
    for curve in _ordered(list(found.values())):
        grouped.setdefault(owners.get(curve.scorer, curve.scorer), []).append(curve)
    return grouped


def _ordered(curves: Sequence[Curve]) -> list[Curve]:
    metrics = list(dict.fromkeys(curve.metric for curve in curves))
    return sorted(curves, key=lambda curve: metrics.index(curve.metric))
