"""Tables that a benchmark's card asks for: subsets one below the other, by tag, gaps between them, directions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from reports.captions import interval_notes, measure_title
from reports.index import MACRO, POOLED, Contestant, Index
from reports.measures import measure
from reports.schema import Estimate, Record
from reports.tabular import Grid, Head, cell_of, chance_text, family_note, head_of, span_text
from reports.text import visible

MATCHED = "matched"
_GAP_NOTE = (
    "The mean over the instances of the first kind of subset minus that of the second, and the same for every two that "
    "differ only in their beginning; matched: the mean of the latter. Scores that are exchangeable make no gap."
)
_DIRECTION_NOTE = (
    "I2T and T2I at the image and at the caption of one direction: one decision between the two sides of its pair. "
    "Both sides: the strict values over the pair, set against their own chance. Where both captions tell the same "
    "direction, the two sides differ in what it is said of."
)
_SIDES = ("i2t_direction", "t2i_direction")
_BOTH = ("i2t_directions", "t2i_directions", "group_directions")


def asked_for(record: Record) -> Mapping[str, Any]:
    """Return what the card asks to be broken down; records of earlier versions ask for nothing."""
    found = record["benchmark"]["card"].get("breakdown") or {}
    return found if isinstance(found, Mapping) else {}


def stacked_metrics(record: Record, index: Index) -> list[str]:
    """Return the metrics whose subsets stand one below the other here, and need no table beside it."""
    if not asked_for(record) or not index.subsets:
        return []
    return list(dict.fromkeys(index.headline(item) for item in _models(index) if index.headline(item)))


def breakdown_grids(record: Record, index: Index) -> list[Grid]:
    """Return the tables that the card asks for, of the models under audit; those without content are absent."""
    asked, models = asked_for(record), _models(index)
    if not asked or not models:
        return []
    grids = []
    for metric in stacked_metrics(record, index):
        shown = [item for item in models if index.headline(item) == metric]
        grids += [_stacked(record, index, metric, shown), _gaps(record, index, metric, shown)]
        grids += [
            _by_tag(record, index, metric, (_leading(shown), tag)) for tag in asked.get("tags", ()) if tag in index.tags
        ]
    grids += [_directions(record, index, item) for item in _leading(models)]
    left = [item.scorer for item in models if item not in _leading(models)]
    said = f"{', '.join(map(visible, left))}: in metrics.csv."
    return [_noted(grid, said if left else "") for grid in grids if grid.rows]


def _leading(models: Sequence[Contestant]) -> list[Contestant]:
    """Return the first column of every model; tables with several columns for each would run off the page."""
    return list({item.owner: item for item in reversed(models)}.values())[::-1]


def _noted(grid: Grid, said: str) -> Grid:
    """Return a table with a note on the columns of models that it leaves out."""
    partial = grid.title.startswith(("By subset and", "By direction"))
    return replace(grid, notes=(*grid.notes, said)) if said and partial else grid


def _models(index: Index) -> list[Contestant]:
    return [item for item in index.contestants if item.kind == "model" and not item.one_sided]


def _stacked(record: Record, index: Index, metric: str, shown: Sequence[Contestant]) -> Grid:
    columns = [
        Column(head_of(item), item, lambda place, item=item: index.find(item.scorer, metric, place))  # type: ignore[misc]
        for item in shown
    ]
    return _table(record, index, f"By subset: {measure_title(metric, POOLED)}", _subsets(index), columns)


def _by_tag(record: Record, index: Index, metric: str, of: tuple[Sequence[Contestant], str]) -> Grid:
    """Return the table of subsets by the values of a tag."""
    shown, tag = of
    columns = []
    for item, value in product(shown, index.tags[tag]):

        def find(place: str, item: Contestant = item, value: str = value) -> Estimate | None:
            return index.find(item.scorer, metric, place, f"{tag}={value}")

        columns.append(Column(Head(visible(value), visible(item.scorer)), item, find))
    title = f"By subset and {visible(tag)}: {measure_title(metric, POOLED)}"
    return _table(record, index, title, _subsets(index), columns)


def _gaps(record: Record, index: Index, metric: str, shown: Sequence[Contestant]) -> Grid:
    columns = [
        Column(
            head_of(item),
            item,
            lambda name, item=item: index.find(item.scorer, f"{metric}_gap", POOLED, f"gap={name}"),  # type: ignore[misc]
        )
        for item in shown
    ]
    rows = [(name, Head(visible(name), is_name=name != MATCHED)) for name in index.tags.get("gap", [])]
    title = f"Gaps between kinds of subsets: {measure(metric).title}, points"
    return _table(record, index, title, rows, columns, notes=(_GAP_NOTE,))


def _directions(record: Record, index: Index, item: Contestant) -> Grid:
    """Return one model's table of directions: single decisions by direction, strict ones by pair."""
    wanted = asked_for(record).get("directions") or {}
    rows = [row for subset in wanted.get("subsets") or [POOLED] for row in _pairs(index, item, str(subset))]
    columns = []
    for title, single, strict in zip(("I2T", "T2I", "Group"), (*_SIDES, ""), _BOTH, strict=True):

        def find(key: tuple[str, str], single: str = single, strict: str = strict) -> Estimate | None:
            subset, tag = key
            return index.find(item.scorer, strict if tag.startswith("directions=") else single, subset, tag)

        columns.append(Column(Head(f"{title} %", is_name=False), item, find))
    return _table(record, index, f"By direction: {visible(item.scorer)}", rows, columns, notes=(_DIRECTION_NOTE,))


def _pairs(index: Index, item: Contestant, subset: str) -> Iterator[tuple[tuple[str, str], Head]]:
    """Yield, for every pair of directions of a subset, the rows of each direction and the one of both."""
    for pair in sorted(index.tags.get("directions", [])):
        if index.find(item.scorer, _BOTH[-1], subset, f"directions={pair}") is None:
            continue
        group = visible(pair) if subset == POOLED else f"{visible(subset)}, {visible(pair)}"
        for word in pair.split(" / "):
            yield (subset, f"direction={pair}: {word}"), Head(visible(word), group)
        yield (subset, f"directions={pair}"), Head("both sides", group, is_name=False)


def _subsets(index: Index) -> list[tuple[str, Head]]:
    places = [*index.subsets, *(place for place in (MACRO, POOLED) if len(index.subsets) > 1)]
    return [(place, Head(place if place in (MACRO, POOLED) else visible(place))) for place in places]


class Column(NamedTuple):
    """Hold a column: its head, whose values stand in it, and how to find the one of a row."""

    head: Head
    item: Contestant
    find: Callable[[Any], Estimate | None]


def _table(
    record: Record,
    index: Index,
    title: str,
    rows: Sequence[tuple[Any, Head]],
    columns: Sequence[Column],
    *,
    notes: tuple[str, ...] = (),
) -> Grid:
    """Return a table with chance, n and clusters behind the values; rows without any value are left out."""
    heads, cells, used = [], [], []
    for key, head in rows:
        found = [column.find(key) for column in columns]
        there = [one for one in found if one is not None]
        if there:
            own = [cell_of(index, column.item, one) for column, one in zip(columns, found, strict=True)]
            sizes = (span_text(one.n for one in there), span_text(one.n_clusters for one in there))
            heads.append(head)
            cells.append((*own, chance_text(there), *sizes))
            used += there
    ends = [Head(name, is_name=False) for name in ("chance", "n", "clusters")]
    said = (*notes, *interval_notes(record, index, used), *family_note(record, cells))
    return Grid(title, said, tuple(heads), (*(column.head for column in columns), *ends), tuple(cells))
