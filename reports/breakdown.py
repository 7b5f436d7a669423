"""Tables that a benchmark's card asks for: subsets one below the other, by tag, gaps between them, directions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

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
        grids.append(_stacked(record, index, metric, shown))
        grids += [_by_tag(record, index, metric, (shown, tag)) for tag in asked.get("tags", ()) if tag in index.tags]
        grids.append(_gaps(record, index, metric, shown))
    for item in models:
        grids.append(_directions(record, index, item))
    return [grid for grid in grids if grid.rows]


def _models(index: Index) -> list[Contestant]:
    return [item for item in index.contestants if item.kind == "model" and not item.one_sided]


def _stacked(record: Record, index: Index, metric: str, shown: Sequence[Contestant]) -> Grid:
    places = _places(index)
    title = f"By subset: {measure_title(metric, POOLED)}"

    def at(place: str, item: Contestant) -> Estimate | None:
        return index.find(item.scorer, metric, place)

    return _table(record, index, title, [(place, _head(place)) for place in places], [(one, at) for one in shown])


def _by_tag(record: Record, index: Index, metric: str, of: tuple[Sequence[Contestant], str]) -> Grid:
    """Return the table of subsets by the values of a tag."""
    shown, tag = of
    columns, heads = [], []
    for item in shown:
        for value in index.tags[tag]:

            def at(place: str, item: Contestant, value: str = value) -> Estimate | None:
                return index.find(item.scorer, metric, place, f"{tag}={value}")

            columns.append((item, at))
            heads.append(Head(visible(value), visible(item.scorer)))
    title = f"By subset and {visible(tag)}: {measure_title(metric, POOLED)}"
    rows = [(place, _head(place)) for place in _places(index)]
    return _table(record, index, title, rows, columns, heads=heads)


def _gaps(record: Record, index: Index, metric: str, shown: Sequence[Contestant]) -> Grid:
    names = index.tags.get("gap", [])

    def at(name: str, item: Contestant) -> Estimate | None:
        return index.find(item.scorer, f"{metric}_gap", POOLED, f"gap={name}")

    rows = [(name, Head(visible(name), is_name=name != MATCHED)) for name in names]
    title = f"Gaps between kinds of subsets: {measure(metric).title}, points"
    return _table(record, index, title, rows, [(item, at) for item in shown], notes=(_GAP_NOTE,))


def _directions(record: Record, index: Index, item: Contestant) -> Grid:
    """Return one model's table of directions: single decisions by direction, strict ones by pair."""
    wanted = asked_for(record).get("directions") or {}
    subsets = wanted.get("subsets") or [POOLED]
    rows: list[tuple[tuple[str, str], Head]] = []
    for subset in subsets:
        group = "" if subset == POOLED else f"{visible(subset)}, "
        for pair in index.tags.get("directions", []):
            if index.find(item.scorer, _BOTH[-1], subset, f"directions={pair}") is None:
                continue
            own = [name for name in index.tags.get("direction", []) if name.startswith(f"{pair}: ")]
            told = [(name.partition(": ")[2], name) for name in own]
            rows += [((subset, f"direction={name}"), Head(visible(word), f"{group}{visible(pair)}")) for word, name in told]
            rows.append(((subset, f"directions={pair}"), Head("both sides", f"{group}{visible(pair)}", is_name=False)))

    columns = [
        (item, lambda key, one, single=single, both=both: _either(index, one, key, (single, both)))
        for single, both in zip((*_SIDES, ""), _BOTH, strict=True)
    ]
    heads = [Head(f"{name} %", is_name=False) for name in ("I2T", "T2I", "Group")]
    title = f"By direction: {visible(item.scorer)}"
    return _table(record, index, title, rows, columns, heads=heads, notes=(_DIRECTION_NOTE,))


def _either(index: Index, item: Contestant, key: tuple[str, str], metrics: tuple[str, str]) -> Estimate | None:
    subset, tag = key
    return index.find(item.scorer, metrics[tag.startswith("directions=")], subset, tag)


def _places(index: Index) -> list[str]:
    return [*index.subsets, *(place for place in (MACRO, POOLED) if len(index.subsets) > 1)]


def _head(place: str) -> Head:
    return Head(place if place in (MACRO, POOLED) else visible(place))


def _table(
    record: Record,
    index: Index,
    title: str,
    rows: Sequence[tuple[Any, Head]],
    columns: Sequence[tuple[Contestant, Callable[[Any, Contestant], Estimate | None]]],
    *,
    heads: Sequence[Head] = (),
    notes: tuple[str, ...] = (),
) -> Grid:
    """Return a table with chance and n behind the values; rows without any value are left out."""
    found = [[at(key, item) for item, at in columns] for key, _ in rows]
    kept = [at for at, row in enumerate(found) if any(one is not None for one in row)]
    cells, used = [], []
    for row in (found[at] for at in kept):
        there = [one for one in row if one is not None]
        used += there
        own = [cell_of(index, item, one) for (item, _), one in zip(columns, row, strict=True)]
        cells.append((*own, chance_text(there), span_text(one.n for one in there), span_text(one.n_clusters for one in there)))
    named = list(heads) or [head_of(item) for item, _ in columns]
    ends = [Head(name, is_name=False) for name in ("chance", "n", "clusters")]
    said = (*notes, *interval_notes(record, index, used), *family_note(record, cells))
    return Grid(title, said, tuple(rows[at][1] for at in kept), (*named, *ends), tuple(cells))
