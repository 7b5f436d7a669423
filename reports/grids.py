"""Tables as every page shows them: rows are contestants, columns are subsets, and the foot says n and chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from reports.index import MACRO, POOLED, Contestant, Index, interval_text, measure, value_text
from reports.schema import Estimate, Record
from reports.text import MISSING, count, percent, short_percent, visible

FIXED_MARK = "†"
SECTIONS = {"blind": "blind baselines", "model": "models under audit"}
_FEW_CLUSTERS = 30
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
        if len(values) <= _SHOWN_TAG_VALUES:
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
    """Return the table of all instances: every metric pooled, the macro mean of the headline, ties, n, unscored."""
    headlines = _distinct_headlines(index)
    wanted = [
        (metric, subset)
        for metric in index.metrics
        for subset in (POOLED, MACRO)
        if any(index.find(item.scorer, metric, subset) for item in index.contestants)
        and (subset == POOLED or metric in headlines)
    ]
    columns = [Head(_pooled_title(metric, subset), is_name=False) for metric, subset in wanted]
    columns += [Head(label, is_name=False) for label in ("ties", "n", "clusters", "unscored")]
    rows, cells, used = [], [], []
    for item in index.contestants:
        found = [index.find(item.scorer, metric, subset) for metric, subset in wanted]
        used += [estimate for estimate in found if estimate is not None]
        counts = index.find(item.scorer, index.headline(item)) or next(filter(None, found), None)
        rows.append(_head(item))
        cells.append((*(_cell(index, item, estimate) for estimate in found), *_counts(counts)))
    for label, foot in _pooled_feet(used, wanted):
        rows.append(Head(label, foot=True, is_name=False))
        cells.append((*foot, "", "", "", ""))
    notes = (*_notes(record, index, used), *_marks(cells))
    return Grid("All instances", notes, tuple(rows), tuple(columns), tuple(cells))


def _distinct_headlines(index: Index) -> set[str]:
    return {index.headline(contestant) for contestant in index.contestants}


def _pooled_title(metric: str, subset: str) -> str:
    known = measure(metric)
    unit = f" {known.unit}" if known.unit else ""
    return f"{visible(known.title)}{', mean of subsets' if subset == MACRO else ''}{unit}"


def _counts(estimate: Estimate | None) -> tuple[str, str, str, str]:
    if estimate is None:
        return ("", "", "", "")
    numbers = (estimate.ties, estimate.n, estimate.n_clusters, estimate.unscored)
    ties, n, clusters, unscored = (count(number) for number in numbers)
    return ties, n, clusters, unscored


def _pooled_feet(used: Sequence[Estimate], wanted: Sequence[tuple[str, str]]) -> list[tuple[str, tuple[str, ...]]]:
    """Return chance per column and, where a metric is strict, the value of a scorer that does not see the edit."""
    chance = tuple(
        _chance([item for item in used if (item.metric, item.subset) == (metric, subset)]) for metric, subset in wanted
    )
    strict = [measure(metric).fixed == 0.0 for metric, _ in wanted]
    if not any(strict):
        return [("chance", chance)]
    blind = tuple("0" if is_strict else "" for is_strict in strict)
    return [("chance (exchangeable scores)", chance), ("scores that miss the edit", blind)]


def _chance(estimates: Iterable[Estimate]) -> str:
    values = sorted({short_percent(item.chance) for item in estimates if not math.isnan(item.chance)})
    return " or ".join(values)


def _marks(cells: Sequence[Sequence[str]]) -> tuple[str, ...]:
    if not any(FIXED_MARK in cell for row in cells for cell in row):
        return ()
    return (
        f"{FIXED_MARK} by construction: a scorer that sees one side alone cannot pass I2T, T2I or Group and always "
        "ties GroupMatch.",
    )


def _by_subset(record: Record, index: Index, metric: str) -> list[Grid]:
    """Return the table of one metric by subset, for the contestants that it says something about."""
    shown = [item for item in index.contestants if _tells(index, item, metric)]
    places = [*index.subsets, *(place for place in (MACRO, POOLED) if len(index.subsets) > 1)]
    if not shown or not any(index.by_subset(item.scorer, metric) for item in shown):
        return []
    heads = [Head(place if place in (MACRO, POOLED) else visible(place)) for place in places]
    title = f"By subset: {_pooled_title(metric, POOLED)}"
    return [_grid(record, index, title, shown, heads, lambda item, at: index.find(item.scorer, metric, places[at]))]


def _tells(index: Index, contestant: Contestant, metric: str) -> bool:
    found = [index.find(contestant.scorer, metric), *index.by_subset(contestant.scorer, metric)]
    there = [estimate for estimate in found if estimate is not None]
    return any(not index.is_fixed(contestant, metric, estimate) for estimate in there)


def _by_tag(record: Record, index: Index, tag: str, values: Sequence[str]) -> list[Grid]:
    grids = []
    for metric in index.metrics:
        shown = [item for item in index.contestants if index.headline(item) == metric]
        heads = [Head(visible(value) or "(empty)") for value in values]
        title = f"By {visible(tag)}: {_pooled_title(metric, POOLED)}"

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
    notes = (*_notes(record, index, used), *_marks(cells))
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
    for item in index.contestants:
        metric = index.headline(item)
        found = [index.find(item.scorer, metric, place) for place in (*index.subsets, POOLED)]
        if any(estimate is not None and estimate.ties for estimate in found):
            shown.append(_head(item))
            cells.append(tuple(_share_of_ties(estimate) for estimate in found))
    heads = [Head(visible(place)) for place in (*index.subsets, POOLED)]
    notes = ("Share of instances decided by a tie; a contestant that is not listed had none.",)
    return [Grid("Ties, %", notes, tuple(shown), tuple(heads), tuple(cells))] if shown else []


def _share_of_ties(estimate: Estimate | None) -> str:
    if estimate is None or estimate.n == 0:
        return ""
    return percent(estimate.ties / estimate.n)


def _notes(record: Record, index: Index, used: Sequence[Estimate]) -> tuple[str, ...]:
    """Return how the intervals of a table were made, and which others stand beside them in `metrics.csv`."""
    level = short_percent(record["statistics"]["level"])
    where: dict[str, list[str]] = {}
    for estimate in used:
        if not math.isnan(estimate.low):
            where.setdefault(visible(estimate.method), []).append(estimate.subset)
    if not where:
        return ()
    first, *rest = sorted(where, key=lambda method: -len(where[method]))
    text = f"{level} % intervals in brackets: {first}"
    for method in rest:
        places = list(dict.fromkeys(visible(place) for place in where[method]))
        text += f"; {method} ({', '.join(places[:6])}{', ...' if len(places) > 6 else ''})"
    beside = ", ".join(visible(method) for method in index.secondary)
    beside = f" Beside these, in metrics.csv: {beside}." if beside else ""
    return (f"{text}.{beside}", *_few(used))


def _few(used: Sequence[Estimate]) -> tuple[str, ...]:
    few = {visible(item.subset): item.n_clusters for item in used if 0 < item.n_clusters < _FEW_CLUSTERS}
    if not few:
        return ()
    listed = ", ".join(f"{place} {number}" for place, number in list(few.items())[:6])
    return (f"Fewer than {_FEW_CLUSTERS} clusters, so read these intervals with care: {listed}.",)
