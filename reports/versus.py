"""Charts of models under audit: beside the best baseline of every subset, and split by what baselines get right."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reports.captions import measure_title
from reports.charts import ALL, Chart, Row, Series, label_of, reading, span
from reports.contrasts import ASSOCIATED, PARTS, opponents
from reports.index import POOLED, SANITY, Contestant, Index
from reports.measures import interval_text, measure, value_text
from reports.schema import Estimate, Kind, Record
from reports.text import count, name, short_percent, visible

T2I = "t2i_base"
_MODELS = 2  # of four series; the others are the best baseline of each kind
_MOST_ROWS = 40
BEST: dict[Kind, str] = {
    "blind": "Best zero-shot blind baseline of each row",
    "trained": "Best baseline trained on the benchmark, of each row",
}
TONES: dict[Kind, int] = {"blind": 2, "trained": 3}  # the same in every chart, however many models stand in it
_SPLIT = ("Where the baseline is right", "Where it ties", "Where it is wrong")


def versus_charts(record: Record, index: Index) -> tuple[Chart, ...]:
    """Return the charts of models under audit against baselines; none where there is no model or no baseline."""
    models = [item for item in index.contestants if item.kind == "model" and _single(index, item)]
    if not any(item.kind in BEST and item.owner != SANITY and _single(index, item) for item in index.contestants):
        return ()
    groups = [models[at : at + _MODELS] for at in range(0, len(models), _MODELS)]
    against = [_against(record, index, group, number) for number, group in enumerate(groups, start=1)]
    split = [_split(record, index, item, number) for number, item in enumerate(models, start=1)]
    return (*against, *(chart for chart in split if chart is not None))


def _single(index: Index, item: Contestant) -> bool:
    """Return whether a contestant is judged by single decisions, which can stand beside a blind baseline's."""
    metric = index.compared(item)
    return bool(metric) and measure(metric).fixed is None


def _against(record: Record, index: Index, models: Sequence[Contestant], number: int) -> Chart:
    kinds = [kind for kind in BEST if best(index, kind, POOLED) is not None]
    series = [Series(item.scorer, label_of(item.scorer)) for item in models]
    series += [Series("", BEST[kind], tone=TONES[kind]) for kind in kinds]
    places = [POOLED, *index.subsets]
    rows = [_row(index, models, kinds, place) for place in places[: _MOST_ROWS + 1]]
    metrics = dict.fromkeys(index.compared(item) for item in index.contestants if _single(index, item))
    axis = " or ".join(measure_title(metric, POOLED) for metric in metrics)
    notes = [
        reading(record),
        "Best is the highest value of a row, picked on these data: a description, whose interval does not allow for "
        "having been picked. What is claimed is the excess over each baseline, in the tables.",
    ]
    if len(places) > len(rows):
        notes.append(f"Drawn are the first {count(len(rows) - 1)} of {count(len(index.subsets))} subsets.")
    low, high = span(rows)
    who = "Models under audit" if len(models) > 1 else visible(models[0].scorer)
    title = f"{who} and the best blind baselines{', by subset' if index.subsets else ''}"
    key = f"models-{number}"
    return Chart(key, title, axis, tuple(series), tuple(rows), tuple(notes), low, high, alpha=index.alpha)


def _row(index: Index, models: Sequence[Contestant], kinds: Sequence[Kind], place: str) -> Row:
    points = [index.find(item.scorer, index.compared(item), place) for item in models]
    leading = [best(index, kind, place) for kind in kinds]
    details = tuple(name(point.scorer).text for point in leading if point is not None)
    pooled = place == POOLED
    return Row(ALL if pooled else visible(place) or "(empty)", pooled, (*points, *leading), details)


def best(index: Index, kind: Kind, place: str) -> Estimate | None:
    """Return the highest estimate of the baselines of a kind."""
    shown = [item for item in index.contestants if item.kind == kind and item.owner != SANITY and _single(index, item)]
    found = [index.find(item.scorer, index.compared(item), place) for item in shown]
    known = [estimate for estimate in found if estimate is not None and not math.isnan(estimate.value)]
    return max(known, key=lambda estimate: estimate.value, default=None)


def _split(record: Record, index: Index, model: Contestant, number: int) -> Chart | None:
    """Return a model's accuracy where each baseline is right, ties, is wrong: a row per baseline."""
    shown = _leading(index, opponents(index, model.scorer, PARTS))[:_MOST_ROWS]
    drawn = [(item, row) for item in shown if any((row := _split_row(index, model, item)).points)]
    if not drawn:
        return None
    rows = [row for _, row in drawn]
    decided = list(dict.fromkeys(_decision(index, model, item) for item, _ in drawn))
    series = tuple(Series(model.scorer, label) for label in _SPLIT)
    level = short_percent(record["statistics"]["level"])
    notes = (
        ASSOCIATED,
        f"Bars are {level} % intervals, each on its own, not corrected; a mark is filled where its interval excludes "
        "chance. One row per baseline, over all instances.",
        *([f"Beside baselines that see images alone stands {measure_title(T2I, POOLED)}."] if T2I in decided else []),
    )
    axis = " or ".join(measure_title(metric, POOLED) for metric in decided)
    title = f"{visible(model.scorer)} where each baseline is right, ties or is wrong"
    return Chart(f"split-{number}", title, axis, series, tuple(rows), notes, *span(rows))


def _decision(index: Index, model: Contestant, item: Contestant) -> str:
    """Return the decision of a model that is split by a baseline: one that sees images alone picks between images."""
    own = index.compared(model)
    return T2I if own == "i2t_base" and index.compared(item) == "image_preference" else own


def _leading(index: Index, shown: Sequence[Contestant]) -> list[Contestant]:
    """Return of every baseline the column farthest from chance over all instances."""
    order = [column for kind in ("blind", "trained") for columns in _columns(index, kind) for column in columns]
    found: dict[str, Contestant] = {}
    for item in order:
        if item in shown:
            found.setdefault(item.owner, item)
    return list(found.values())


def _columns(index: Index, kind: str) -> list[list[Contestant]]:
    return list(index.by_owner("blind" if kind == "blind" else "trained").values())


def _split_row(index: Index, model: Contestant, item: Contestant) -> Row:
    points = tuple(index.pairs.get((model.scorer, item.scorer, metric, POOLED)) for metric in PARTS)
    gap = index.pairs.get((model.scorer, item.scorer, "easy_hard_gap", POOLED))
    details = () if gap is None or math.isnan(gap.value) else (f"gap {value_text(gap)} {interval_text(gap)}",)
    return Row(name(item.scorer).text, False, points, details)
