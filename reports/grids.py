"""Tables as every page shows them: rows are contestants, columns are subsets, and the foot says n and chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from reports.captions import FIXED_MARK, foot_notes, interval_notes, left_out, marks, measure_title, telling
from reports.index import MACRO, POOLED, Contestant, Index
from reports.measures import interval_text, measure, value_text
from reports.schema import Estimate, Record
from reports.text import MISSING, count, percent, short_percent, visible

COUNTS = ("ties", "n", "clusters", "unscored")
SECTIONS = {
    "blind": "zero-shot blind baselines",
    "trained": "baselines trained on the benchmark",
    "model": "models under audit",
}
_SHOWN_TAG_VALUES = 40


@dataclass(frozen=True, slots=True)
class Head:
    """Name a row or a column.

    Attributes:
        label: What tells it apart within its group.
        group: The contestant, where it has several columns.
        section: `blind baselines`, `models under audit`, or empty.
        foot: Whether it tells about the columns (n, chance) and not about a contestant.
        is_name: Whether the label comes from the data.
    """

    label: str
    group: str = ""
    section: str = ""
    foot: bool = False
    is_name: bool = True

    @property
    def full(self) -> str:
        """Return group and label as one name, as in `metrics.csv`."""
        return f"{self.group}:{self.label}" if self.group else self.label


@dataclass(frozen=True, slots=True)
class Grid:
    """Hold one table.

    Attributes:
        title: What it shows.
        notes: How to read it: method of the intervals, marks.
        rows: Heads of the rows.
        columns: Heads of the columns.
        cells: Text by row and column.
    """

    title: str
    notes: tuple[str, ...]
    rows: tuple[Head, ...]
    columns: tuple[Head, ...]
    cells: tuple[tuple[str, ...], ...]


def build_grids(record: Record, index: Index) -> tuple[Grid, ...]:
    """Return all tables: pooled, by subset, ties, by tag; a table without content is absent."""
    if not index.contestants:
        return ()
    grids = [_pooled(record, index)]
    if index.subsets:
        for metric in index.metrics:
            grids += _by_subset(record, index, metric)
        grids += _ties(index)
    for tag, values in index.tags.items():
        if len(values) <= _SHOWN_TAG_VALUES and set(values) != set(index.subsets):  # not the subsets once more
            grids += _by_tag(record, index, tag, values)
    return tuple(grid for grid in grids if grid.rows)


def _head(contestant: Contestant) -> Head:
    section = SECTIONS[contestant.kind]
    if contestant.column:
        return Head(visible(contestant.column), visible(contestant.owner), section)
    return Head(visible(contestant.scorer), "", section)


def _cell(index: Index, contestant: Contestant, estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    if index.is_fixed(contestant, estimate.metric, estimate):
        return f"{value_text(estimate)} {FIXED_MARK}"
    if math.isnan(estimate.value):
        return MISSING
    return f"{value_text(estimate)} {interval_text(estimate)}"


def _pooled(record: Record, index: Index) -> Grid:
    """Return the table of all instances: every metric pooled, the macro mean of the headline, ties, unscored."""
    headlines = {index.headline(contestant) for contestant in index.contestants}
    places = [(metric, place) for metric in index.metrics for place in (POOLED, MACRO)]
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
        (*(_cell(index, item, estimate) for estimate in row), *(own[place] for place in kept))
        for item, row, own in zip(index.contestants, found, numbers, strict=True)
    ]
    feet = _pooled_feet(found, [metric for metric, _ in wanted])
    cells += [(*foot, *("" for _ in kept)) for _, foot in feet]
    rows = [_head(item) for item in index.contestants]
    rows += [Head(label, foot=True, is_name=False) for label, _ in feet]
    columns = [Head(measure_title(metric, place), is_name=False) for metric, place in wanted]
    columns += [Head(COUNTS[place], is_name=False) for place in kept]
    used = [estimate for row in found for estimate in row if estimate is not None]
    same = [f"{COUNTS[place]} {numbers[0][place]}" for place in range(len(COUNTS)) if place not in kept]
    shared = (f"The same in every row: {', '.join(same)}.",) if same else ()
    notes = (*shared, *interval_notes(record, index, used), *foot_notes(feet), *marks(cells))
    return Grid("All instances", notes, tuple(rows), tuple(columns), tuple(cells))


def _numbers(index: Index, contestant: Contestant, row: Sequence[Estimate | None]) -> tuple[str, ...]:
    """Return ties, n, clusters and unscored of the headline, else of the first metric there is."""
    headline = index.find(contestant.scorer, index.headline(contestant))
    estimate = headline or next((item for item in row if item is not None), None)
    if estimate is None:
        return ("",) * len(COUNTS)
    return tuple(count(item) for item in (estimate.ties, estimate.n, estimate.n_clusters, estimate.unscored))


def _pooled_feet(
    found: Sequence[Sequence[Estimate | None]], metrics: Sequence[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """Return chance per column and, where a metric is strict, the value of a scorer that does not see the edit."""
    chance = tuple(_chance(item for item in column if item is not None) for column in zip(*found, strict=True))
    strict = [measure(metric).fixed == 0.0 for metric in metrics]
    insensitive = [("insensitive null", tuple("0" if is_strict else "" for is_strict in strict))]
    return [("chance", chance), *(insensitive if any(strict) else [])]


def _chance(estimates: Iterable[Estimate]) -> str:
    values = sorted({short_percent(item.chance) for item in estimates if not math.isnan(item.chance)})
    return " or ".join(values)


def _by_subset(record: Record, index: Index, metric: str) -> list[Grid]:
    """Return the table of one metric by subset, for the contestants that it says something about."""
    shown = [item for item in telling(index) if _tells(index, item, metric)]
    places = [*index.subsets, *(place for place in (MACRO, POOLED) if len(index.subsets) > 1)]
    if not shown or not any(index.by_subset(item.scorer, metric) for item in shown):
        return []
    heads = [Head(place if place in (MACRO, POOLED) else visible(place)) for place in places]
    title = f"By subset: {measure_title(metric, POOLED)}"
    return [_grid(record, index, title, shown, heads, lambda item, at: index.find(item.scorer, metric, places[at]))]


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
            grids.append(_grid(record, index, title, shown, heads, at))
    return grids


def _grid(
    record: Record,
    index: Index,
    title: str,
    shown: Sequence[Contestant],
    columns: Sequence[Head],
    at: Callable[[Contestant, int], Estimate | None],
) -> Grid:
    """Return a table of value and interval with chance, n and clusters at its foot."""
    found = [[at(item, column) for column in range(len(columns))] for item in shown]
    cells = [tuple(_cell(index, item, estimate) for estimate in row) for item, row in zip(shown, found, strict=True)]
    rows = [_head(item) for item in shown]
    for label, foot in _feet(found):
        rows.append(Head(label, foot=True, is_name=False))
        cells.append(foot)
    used = [estimate for row in found for estimate in row if estimate is not None]
    notes = (*interval_notes(record, index, used), *left_out(index), *marks(cells))
    return Grid(title, notes, tuple(rows), tuple(columns), tuple(cells))


def _feet(found: Sequence[Sequence[Estimate | None]]) -> list[tuple[str, tuple[str, ...]]]:
    columns = [[estimate for estimate in column if estimate is not None] for column in zip(*found, strict=True)]
    return [
        ("chance", tuple(_chance(column) for column in columns)),
        ("n", tuple(_span(estimate.n for estimate in column) for column in columns)),
        ("clusters", tuple(_span(estimate.n_clusters for estimate in column) for column in columns)),
    ]


def _span(numbers: Iterable[int]) -> str:
    """Return a count, or the smallest and largest where contestants differ (some left instances unscored)."""
    distinct = sorted(set(numbers))
    if not distinct:
        return ""
    return count(distinct[0]) if len(distinct) == 1 else f"{count(distinct[0])} to {count(distinct[-1])}"


def _ties(index: Index) -> list[Grid]:
    """Return the tie counts by subset of the contestants that tied at all."""
    shown, cells = [], []
    for item in telling(index):
        metric = index.headline(item)
        found = [index.find(item.scorer, metric, place) for place in (*index.subsets, POOLED)]
        if any(estimate is not None and estimate.ties for estimate in found):
            shown.append(_head(item))
            cells.append(tuple(_share_of_ties(estimate) for estimate in found))
    heads = [Head(visible(place)) for place in (*index.subsets, POOLED)]
    notes = ("Share of instances that a tie decided; the contestants above that are not listed had none.",)
    return [Grid("Ties by subset, %", notes, tuple(shown), tuple(heads), tuple(cells))] if shown else []


def _share_of_ties(estimate: Estimate | None) -> str:
    if estimate is None or estimate.n == 0:
        return ""
    return percent(estimate.ties / estimate.n)
