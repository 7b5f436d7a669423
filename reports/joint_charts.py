"""Charts over the benchmarks of an experiment: blind baselines and models against chance, and Lik-Diff."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from reports.audited import LIK_DIFF, Audited, fixed_columns, lik_diffs, models
from reports.charts import Chart, Row, Series, label_of, span
from reports.index import POOLED
from reports.schema import Estimate
from reports.text import count, name, short_percent
from reports.versus import BEST, TONES, best

_MOST_SERIES = 4
_MOST_MODELS = 2
_TICKS = 6


def joint_charts(runs: Sequence[Audited]) -> tuple[Chart, ...]:
    """Return the charts; one without anything to show is absent."""
    charts = (_blind(runs), *_against(runs), _lik_diff(runs))
    return tuple(chart for chart in charts if chart is not None)


def _blind(runs: Sequence[Audited]) -> Chart | None:
    columns = fixed_columns(runs)
    shown = columns[:_MOST_SERIES]
    rows = _rows(runs, lambda run: tuple(run.estimate(scorer) for scorer in shown))
    if not rows:
        return None
    notes = [_reading(runs), "The columns are the same for every benchmark, not picked by what they show."]
    notes += [f"{len(columns) - len(shown)} more stand in the table."] if len(columns) > len(shown) else []
    notes += _left_out(runs, rows)
    who = "Blind baselines" if len(shown) > 1 else label_of(shown[0])
    series = tuple(Series(scorer, label_of(scorer)) for scorer in shown)
    title = f"{who} against chance, by benchmark"
    return _chart(runs, Chart("blind", title, _axis(rows), series, tuple(rows), tuple(notes), 0, 1))


def _against(runs: Sequence[Audited]) -> list[Chart]:
    """Return models beside the best baseline of each kind, two models a chart."""
    names = models(runs)
    groups = [names[start : start + _MOST_MODELS] for start in range(0, len(names), _MOST_MODELS)]
    charts = [_models(runs, group, f"models-{number}") for number, group in enumerate(groups, start=1)]
    return [chart for chart in charts if chart.rows]


def _models(runs: Sequence[Audited], group: Sequence[str], key: str) -> Chart:
    kinds = [kind for kind in BEST if any(best(run.index, kind, POOLED) for run in runs)]

    def points(run: Audited) -> tuple[Estimate | None, ...]:
        return (*map(run.estimate, group), *(best(run.index, kind, POOLED) for kind in kinds))

    rows = _rows([run for run in runs if any(map(run.estimate, group))], points)
    series = [Series(scorer, label_of(scorer)) for scorer in group]
    series += [Series("", BEST[kind], tone=TONES[kind]) for kind in kinds]
    notes = (
        _reading(runs),
        "Best is the highest value of a row, picked on these data: a description, whose interval does not allow "
        "for having been picked. What is claimed is the excess over each baseline, in each run's own report.",
    )
    title = "Models under audit and the best blind baselines, by benchmark"
    return _chart(runs, Chart(key, title, _axis(rows), tuple(series), tuple(rows), notes, 0, 1))


def _lik_diff(runs: Sequence[Audited]) -> Chart | None:
    shown = lik_diffs(runs)[:_MOST_SERIES]
    rows = [
        Row(run.label, False, tuple(run.index.find(scorer, LIK_DIFF) for scorer in shown), (_counted(run),))
        for run in runs
    ]
    rows = [row for row in rows if any(row.points)]
    if not rows:
        return None
    notes = (
        f"Bars are {_level(runs)} % intervals, each on its own, not corrected; a mark is filled where its interval "
        "excludes 0. Unnormalised log-likelihood of the true caption minus that of the foil, mean over instances "
        "(2x2: the base caption minus the foil caption): it mixes plausibility with length.",
    )
    title = "Lik-Diff by benchmark: how much more likely a blind language model finds the true captions"
    series = tuple(Series(scorer, label_of(scorer)) for scorer in shown)
    axis = "difference of log-likelihood, nats"
    low, high = scale(rows)
    return Chart("lik-diff", title, axis, series, tuple(rows), notes, low, high, unit="nats")


def scale(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the ends of an axis in nats that holds 0, every value and every interval."""
    points = [point for row in rows for point in row.points if point is not None]
    seen = [value for item in points for value in (item.value, item.low, item.high) if math.isfinite(value)]
    low, high = min([*seen, 0.0]), max([*seen, 0.0])
    width = (high - low) or 1.0
    step = 10 ** math.floor(math.log10(width / _TICKS))
    return math.floor((low - 0.03 * width) / step) * step, math.ceil((high + 0.03 * width) / step) * step


def _rows(runs: Sequence[Audited], points: Callable[[Audited], tuple[Estimate | None, ...]]) -> list[Row]:
    rows = [Row(run.label, False, points(run), (run.metric_title, _counted(run))) for run in runs]
    return [row for row in rows if any(row.points)]


def _counted(run: Audited) -> str:
    return f"n {count(run.record['benchmark']['n'])}"


def _chart(runs: Sequence[Audited], chart: Chart) -> Chart:
    """Return a chart of proportions with its scale, and with what fills its marks."""
    low, high = span(chart.rows)
    return replace(chart, low=low, high=high, alpha=_alpha(runs))


def _alpha(runs: Sequence[Audited]) -> float | None:
    """Return the alpha of the runs' families of tests, or None where one has no family, or another alpha."""
    found = {run.index.alpha for run in runs}
    return found.pop() if len(found) == 1 else None


def _axis(rows: Sequence[Row]) -> str:
    titles = list(dict.fromkeys(row.details[0] for row in rows))
    return titles[0] if len(titles) == 1 else "%, by the metric of each row"


def _left_out(runs: Sequence[Audited], rows: Sequence[Row]) -> list[str]:
    drawn = {row.label for row in rows}
    absent = [name(run.name).text for run in runs if run.label not in drawn]
    return [f"Without any of these columns: {', '.join(absent)}."] if absent else []


def _reading(runs: Sequence[Audited]) -> str:
    filled = "its interval excludes the chance of its row"
    if _alpha(runs) is not None:
        filled = "it differs from the chance of its row after correction over the tests of that benchmark's own report"
    return (
        f"Bars are {_level(runs)} % intervals, each on its own; a mark is filled where {filled}. Benchmarks differ in "
        "metric and chance: read each value against its own line."
    )


def _level(runs: Sequence[Audited]) -> str:
    return " or ".join(sorted({short_percent(run.record["statistics"]["level"]) for run in runs}))
