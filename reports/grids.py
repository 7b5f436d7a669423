"""Tables of single contestants as every page shows them: all instances, by subset, by tag, ties."""

from __future__ import annotations

from collections.abc import Sequence

from reports.breakdown import breakdown_grids, stacked_metrics
from reports.captions import foot_notes, interval_notes, marks, measure_title, telling
from reports.contrasts import beside_grids, excess_grids, order_grids, split_grids
from reports.counted import all_tied
from reports.index import MACRO, POOLED, Contestant, Index
from reports.measures import measure
from reports.schema import Estimate, Record
from reports.tabular import (
    Grid,
    Head,
    cell_of,
    family_note,
    folded_rows,
    folding_note,
    head_of,
    pooled_feet,
    sectioned,
    tabulated,
)
from reports.text import count, percent, visible

COUNTS = ("ties", "n", "clusters", "unscored")
_SHOWN_TAG_VALUES = 40


def build_grids(record: Record, index: Index) -> tuple[Grid, ...]:
    """Return all tables, those that answer the question first; a table without content is absent."""
    if not index.contestants:
        return ()
    grids = [*_contrast(record, index), *excess_grids(record, index), *split_grids(record, index)]
    grids += [_pooled(record, index), *order_grids(record, index)]
    if index.subsets:
        together = {(item.scorer, index.compared(item)) for item in _together(index)}
        stacked = stacked_metrics(record, index)
        for metric in _main(index):
            if metric not in stacked and any((item.scorer, metric) not in together for item in _shown(index, metric)):
                grids += _by_subset(record, index, metric)
        grids += [*breakdown_grids(record, index), *_ties(index)]
    for tag, values in index.tags.items():
        if len(values) <= _SHOWN_TAG_VALUES and set(values) != set(index.subsets):  # not the subsets once more
            grids += _by_tag(record, index, tag, values)
    return tuple(grid for grid in (*grids, *beside_grids(record, index)) if grid.rows)


def _main(index: Index) -> list[str]:
    return [metric for metric in index.metrics if measure(metric).role == "main"]


def _shown(index: Index, metric: str) -> list[Contestant]:
    return [item for item in telling(index) if _tells(index, item, metric)]


def _together(index: Index) -> list[Contestant]:
    """Return the contestants that one table can hold: each judged by single decisions, not by strict combinations."""
    found = [item for item in telling(index) if index.compared(item)]
    return [item for item in found if measure(index.compared(item)).fixed is None]


def _contrast(record: Record, index: Index) -> list[Grid]:
    """Return the table that sets all contestants side by side, each by the metric that it is compared by."""
    shown = _together(index)
    if not index.subsets or not any(index.by_subset(item.scorer, index.compared(item)) for item in shown):
        return []
    places = _places(index)
    titles = dict.fromkeys(measure_title(index.compared(item), POOLED) for item in shown)
    return [
        tabulated(
            record,
            index,
            f"By subset: {' or '.join(titles)}",
            shown,
            [Head(place if place in (MACRO, POOLED) else visible(place)) for place in places],
            lambda item, at: index.find(item.scorer, index.compared(item), places[at]),
        )
    ]


def _places(index: Index) -> list[str]:
    return [*index.subsets, *(place for place in (MACRO, POOLED) if len(index.subsets) > 1)]


def _pooled(record: Record, index: Index) -> Grid:
    """Return the table of all instances: every metric pooled, the macro mean of the headline, ties, unscored."""
    headlines = {index.headline(contestant) for contestant in index.contestants}
    places = [(metric, place) for metric in _main(index) for place in (POOLED, MACRO)]
    wanted = [
        (metric, place)
        for metric, place in places
        if any(index.find(item.scorer, metric, place) for item in index.contestants)
        and (place == POOLED or (metric in headlines and len(index.subsets) > 1))
    ]
    found = [[index.find(item.scorer, metric, place) for metric, place in wanted] for item in index.contestants]
    numbers = [_numbers(index, item, row) for item, row in zip(index.contestants, found, strict=True)]
    kept = [place for place in range(len(COUNTS)) if place == 0 or len({row[place] for row in numbers}) > 1]
    cells = [
        (*(cell_of(index, item, estimate) for estimate in row), *(own[place] for place in kept))
        for item, row, own in zip(index.contestants, found, numbers, strict=True)
    ]
    feet = pooled_feet(found, [metric for metric, _ in wanted])
    cells += [(*foot, *("" for _ in kept)) for _, foot in feet]
    rows = [head_of(item) for item in index.contestants]
    rows += [Head(label, foot=True, is_name=False) for label, _ in feet]
    columns = [Head(measure_title(metric, place), is_name=False) for metric, place in wanted]
    columns += [Head(COUNTS[place], is_name=False) for place in kept]
    used = [estimate for row in found for estimate in row if estimate is not None]
    same = [f"{COUNTS[place]} {numbers[0][place]}" for place in range(len(COUNTS)) if place not in kept]
    shared = (f"The same in every row: {', '.join(same)}.",) if same else ()
    folded = folded_rows(index, index.contestants)
    notes = (*shared, *all_tied(index, index.contestants), *interval_notes(record, index, used))
    notes += (*foot_notes(feet), *marks(cells))
    notes += (*family_note(record, cells), *folding_note(folded))
    return Grid("All instances", notes, sectioned(rows), tuple(columns), tuple(cells), folded, brief=True)


def _numbers(index: Index, contestant: Contestant, row: Sequence[Estimate | None]) -> tuple[str, ...]:
    """Return ties, n, clusters and unscored of the headline, else of the first metric there is."""
    headline = index.find(contestant.scorer, index.headline(contestant))
    estimate = headline or next((item for item in row if item is not None), None)
    if estimate is None:
        return ("",) * len(COUNTS)
    return tuple(count(item) for item in (estimate.ties, estimate.n, estimate.n_clusters, estimate.unscored))


def _by_subset(record: Record, index: Index, metric: str) -> list[Grid]:
    """Return the table of one metric by subset, for the contestants that it says something about."""
    shown = _shown(index, metric)
    places = _places(index)
    if not shown or not any(index.by_subset(item.scorer, metric) for item in shown):
        return []
    heads = [Head(place if place in (MACRO, POOLED) else visible(place)) for place in places]
    title = f"By subset: {measure_title(metric, POOLED)}"
    return [tabulated(record, index, title, shown, heads, lambda item, at: index.find(item.scorer, metric, places[at]))]


def _tells(index: Index, contestant: Contestant, metric: str) -> bool:
    found = [index.find(contestant.scorer, metric), *index.by_subset(contestant.scorer, metric)]
    there = [estimate for estimate in found if estimate is not None]
    return any(not index.is_fixed(contestant, metric, estimate) for estimate in there)


def _by_tag(record: Record, index: Index, tag: str, values: Sequence[str]) -> list[Grid]:
    grids = []
    for metric in index.metrics:
        shown = [item for item in telling(index) if index.headline(item) == metric]
        heads = [Head(visible(value) or "(empty)") for value in values]
        title = f"By {visible(tag)}: {measure_title(metric, POOLED)}"

        def at(item: Contestant, column: int, metric: str = metric) -> Estimate | None:
            return index.find(item.scorer, metric, POOLED, f"{tag}={values[column]}")

        if shown and any(at(item, column) for item in shown for column in range(len(values))):
            grids.append(tabulated(record, index, title, shown, heads, at))
    return grids


def _ties(index: Index) -> list[Grid]:
    """Return the tie counts by subset of the contestants that tied at all."""
    shown, cells = [], []
    for item in telling(index):
        metric = index.headline(item)
        found = [index.find(item.scorer, metric, place) for place in (*index.subsets, POOLED)]
        if any(estimate is not None and estimate.ties for estimate in found):
            shown.append(head_of(item))
            cells.append(tuple(_share_of_ties(estimate) for estimate in found))
    heads = [Head(visible(place)) for place in (*index.subsets, POOLED)]
    notes = ("Share of instances that a tie decided; the contestants above that are not listed had none.",)
    return [Grid("Ties by subset, %", notes, tuple(shown), tuple(heads), tuple(cells))] if shown else []


def _share_of_ties(estimate: Estimate | None) -> str:
    if estimate is None or estimate.n == 0:
        return ""
    return percent(estimate.ties / estimate.n)
