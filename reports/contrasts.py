"""Tables that set one contestant against another, and those of measures that stand beside the main ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from reports.captions import interval_notes, measure_title
from reports.counted import MOST_TOLD, few, whose_n
from reports.index import MACRO, POOLED, Contestant, Index
from reports.measures import measure, value_text
from reports.schema import Estimate, Record
from reports.tabular import (
    DEPARTS,
    Grid,
    Head,
    cell_of,
    family_note,
    folded_rows,
    folding_note,
    head_of,
    sectioned,
    span_text,
)
from reports.text import count, visible

PARTS = ("accuracy_easy", "accuracy_tie", "accuracy_hard")
_PART_NAMES = {"accuracy_easy": "right", "accuracy_tie": "tied", "accuracy_hard": "wrong"}
GAPS = ("easy_hard_gap", "easy_hard_gap_base", "easy_hard_gap_foil")
SPLIT = (*PARTS, *GAPS, "share_of_above_chance")
ASSOCIATED = (
    "A gap says that the model's success is associated with what the baseline goes by, not that the model goes by it: "
    "instances that are hard for both make gaps too."
)
_SHARED = "A baseline trained on the benchmark is a diagnostic of what its text gives away: a zero-shot model below it "


class Matrix(NamedTuple):
    """Hold a table of comparisons.

    Attributes:
        heads: Heads of its columns.
        found: Its estimates by row and column.
        said: What a reader of a split must know; its values are set against chance.
        beside: What else is said of it.
    """

    heads: Sequence[Head]
    found: Sequence[Sequence[Estimate | None]]
    said: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


def excess_grids(record: Record, index: Index) -> list[Grid]:
    """Return one table per model under audit: its value minus that of each baseline on the same instances."""
    grids = []
    for model in _models(index, ("excess",)):
        shown = opponents(index, model.scorer, ("excess",))
        places = [place for place in (*index.subsets, MACRO, POOLED) if _any(index, model, shown, "excess", place)]
        heads = [Head(place if place in (MACRO, POOLED) else visible(place)) for place in places]
        found = [[_pair(index, model, item, "excess", place) for place in places] for item in shown]
        title = f"Excess of {visible(model.scorer)} over each baseline, points"
        said = (*_common(index, model, shown, places), *whose_n([head.label for head in heads], shown, found))
        grids.append(_with_n(_paired(record, index, title, shown, Matrix(heads, found, beside=said)), found))
    return grids


def split_grids(record: Record, index: Index) -> list[Grid]:
    """Return one table per model under audit: its accuracy where each baseline is right, tied, wrong, and the gap."""
    grids = []
    for model in _models(index, SPLIT):
        shown = opponents(index, model.scorer, SPLIT)
        metrics = [metric for metric in SPLIT if _any(index, model, shown, metric, POOLED)]
        heads = [Head(measure_title(metric, POOLED), is_name=False) for metric in metrics]
        found = [[_pair(index, model, item, metric, POOLED) for metric in metrics] for item in shown]
        title = f"{visible(model.scorer)} where each baseline is right, ties or is wrong"
        grid = _paired(record, index, title, shown, Matrix(heads, found, (ASSOCIATED,)))
        parts = [metric for metric in PARTS if metric in metrics]
        counts = [_sizes([_pair(index, model, item, metric, POOLED) for metric in parts]) for item in shown]
        columns = (*grid.columns, Head(f"n ({', '.join(_PART_NAMES[part] for part in parts)})", is_name=False))
        cells = tuple((*row, own) for row, own in zip(grid.cells, counts, strict=True))
        grids.append(replace(grid, columns=columns, cells=cells) if parts else grid)
    return grids


def _sizes(estimates: Sequence[Estimate | None]) -> str:
    """Return how many instances of each part the model has a value for, 0 where the part is empty."""
    return " / ".join(count(estimate.n if estimate else 0) for estimate in estimates)


def _with_n(grid: Grid, found: Sequence[Sequence[Estimate | None]]) -> Grid:
    """Return a table of differences with the number of instances that both sides have a value for at its foot."""
    columns = [[estimate for estimate in column if estimate is not None] for column in zip(*found, strict=True)]
    sizes = tuple(span_text(estimate.n for estimate in column) for column in columns)
    return replace(grid, rows=(*grid.rows, Head("n", foot=True, is_name=False)), cells=(*grid.cells, sizes))


def _common(index: Index, model: Contestant, shown: Sequence[Contestant], places: Sequence[str]) -> tuple[str, ...]:
    """Say where a comparison rests on fewer instances than one side has a value for."""
    told: dict[str, list[str]] = {}
    for place in places:
        for item in shown:
            pair, sides = _pair(index, model, item, "excess", place), (model, item)
            own = [index.find(one.scorer, index.compared(one), place) for one in sides]
            most = max((estimate.n for estimate in own if estimate is not None), default=0)
            if pair is not None and place != MACRO and pair.n < most:
                name = "all instances" if place == POOLED else visible(place)
                told.setdefault(f"{count(pair.n)} of {count(most)}", []).append(name)
    if not told:
        return ()
    listed = [f"{text} in {few(list(dict.fromkeys(names)))}" for text, names in list(told.items())[:MOST_TOLD]]
    more = f"; {count(len(told) - MOST_TOLD)} more in metrics.csv" if len(told) > MOST_TOLD else ""
    return (f"Compared only on the instances that both sides have a value for: {'; '.join(listed)}{more}.",)


def opponents(index: Index, scorer: str, metrics: Sequence[str]) -> list[Contestant]:
    """Return the baselines that a model is compared with by one of the metrics, pooled or on a subset."""
    against = {key[1] for key in index.pairs if key[0] == scorer and key[2] in metrics}
    return [item for item in index.contestants if item.scorer in against and not index.is_repetition(item)]


def _models(index: Index, metrics: Sequence[str]) -> list[Contestant]:
    scorers = {key[0] for key in index.pairs if key[2] in metrics}
    return [item for item in index.contestants if item.scorer in scorers]


def _pair(index: Index, model: Contestant, other: Contestant, metric: str, place: str) -> Estimate | None:
    return index.pairs.get((model.scorer, other.scorer, metric, place))


def _any(index: Index, model: Contestant, shown: Iterable[Contestant], metric: str, place: str) -> bool:
    return any(_pair(index, model, item, metric, place) for item in shown)


def _paired(record: Record, index: Index, title: str, shown: Sequence[Contestant], matrix: Matrix) -> Grid:
    """Return a table of comparisons with baselines, zero-shot and trained ones apart."""
    heads, found, said, beside = matrix
    cells = [tuple(cell_of(index, item, estimate) for estimate in row) for item, row in zip(shown, found, strict=True)]
    rows = [head_of(item) for item in shown]
    used = [estimate for row in found for estimate in row if estimate is not None]
    folded = folded_rows(index, shown)
    notes = (
        *said,
        *beside,
        *interval_notes(record, index, used),
        *family_note(record, cells, "0" if not said else "chance"),
    )
    if any(item.kind == "trained" for item in shown):
        notes += (f"{_SHARED}is not thereby blind.",)
    return Grid(title, (*notes, *folding_note(folded)), sectioned(rows), tuple(heads), tuple(cells), folded)


def order_grids(record: Record, index: Index) -> list[Grid]:
    """Return one table per contestant that answered in both option orders."""
    metrics = [metric for metric in index.metrics if measure(metric).role == "orders"]
    grids = []
    for item in index.contestants:
        own = [metric for metric in metrics if index.find(item.scorer, metric)]
        if not own:
            continue
        wanted = [metric for metric in (index.headline(item), *own) if metric]
        places = [*index.subsets, *((MACRO,) if len(index.subsets) > 1 else ()), POOLED]
        found = [[index.find(item.scorer, metric, place) for metric in wanted] for place in places]
        cells = [tuple(cell_of(index, item, estimate) for estimate in row) for row in found]
        rows = [Head(place if place in (MACRO, POOLED) else visible(place)) for place in places]
        first = measure_title(wanted[0], POOLED)
        titles = [f"{first}, both orders", *(measure_title(metric, POOLED) for metric in wanted[1:])]
        heads = [Head(title, is_name=False) for title in titles]
        used = [estimate for row in found for estimate in row if estimate is not None]
        notes = (
            "Every question was asked in both orders of its options (in all rotations of more than two). Without a "
            "preference for a place the first option of two is chosen in 50 %.",
            *interval_notes(record, index, used),
            *family_note(record, cells),
        )
        grids.append(
            Grid(
                f"Both option orders: {visible(item.scorer)}",
                notes,
                tuple(rows),
                tuple(heads),
                tuple(cells),
                brief=True,
            )
        )
    return grids


def beside_grids(record: Record, index: Index) -> list[Grid]:
    """Return the measures that have no table of their own, and what the written form of the text makes."""
    return [*_other(record, index), *_format_bias(record, index)]


def _other(record: Record, index: Index) -> list[Grid]:
    metrics = [metric for metric in index.metrics if measure(metric).role == "other"]
    shown = [item for item in index.contestants if any(index.find(item.scorer, metric) for metric in metrics)]
    metrics = [metric for metric in metrics if any(index.find(item.scorer, metric) for item in shown)]
    if not shown or not metrics:
        return []
    found = [[index.find(item.scorer, metric) for metric in metrics] for item in shown]
    cells = [tuple(_plain(index, item, estimate) for estimate in row) for item, row in zip(shown, found, strict=True)]
    heads = [Head(measure_title(metric, POOLED), is_name=False) for metric in metrics]
    used = [estimate for row in found for estimate in row if estimate is not None]
    folded = folded_rows(index, shown)
    notes = (*interval_notes(record, index, used), *folding_note(folded))
    rows = sectioned([head_of(item) for item in shown])
    return [Grid("Further measures, all instances", notes, rows, tuple(heads), tuple(cells), folded)]


def _plain(index: Index, item: Contestant, estimate: Estimate | None) -> str:
    """Return a cell; a bound has no interval of its own."""
    if estimate is not None and estimate.low != estimate.low:
        return value_text(estimate)
    return cell_of(index, item, estimate).removesuffix(f" {DEPARTS}")


def _format_bias(record: Record, index: Index) -> list[Grid]:
    """Return raw minus normalised text by subset, for baselines that ran on both."""
    keys = [key for key in index.pairs if key[2] == "format_bias"]
    if not keys:
        return []
    named = {item.scorer: item for item in index.contestants}
    couples = [pair for pair in dict.fromkeys((key[0], key[1]) for key in keys) if pair[0] in named]
    places = [place for place in (*index.subsets, MACRO, POOLED) if any(key[3] == place for key in keys)]
    found = [[index.pairs.get((*pair, "format_bias", place)) for place in places] for pair in couples]
    shown = [named[scorer] for scorer, _ in couples]
    cells = [tuple(cell_of(index, item, one) for one in row) for item, row in zip(shown, found, strict=True)]
    used = [estimate for row in found for estimate in row if estimate is not None]
    notes = ("Text as released minus text in lower case without marks: what the written form alone gives away.",)
    heads = tuple(Head(place if place in (MACRO, POOLED) else visible(place)) for place in places)
    rows = sectioned([head_of(item) for item in shown])
    title = "Format bias by subset: raw minus normalised, points"
    return [Grid(title, (*notes, *interval_notes(record, index, used)), rows, heads, tuple(cells))]
