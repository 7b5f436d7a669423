"""What tables are made of: heads, cells with value and interval, marks after correction, and rows that fold away."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from reports.captions import FIXED_MARK, interval_notes, left_out, marks
from reports.counted import all_tied, whose_n
from reports.index import Contestant, Index
from reports.measures import interval_text, measure, value_text
from reports.schema import Estimate, Kind, Record
from reports.text import MISSING, count, short_percent, visible

SECTIONS: dict[Kind, str] = {
    "model": "models under audit",
    "blind": "zero-shot blind baselines",
    "trained": "baselines trained on the benchmark",
}
SHORT_SECTIONS = {SECTIONS["model"]: "model", SECTIONS["blind"]: "zero-shot", SECTIONS["trained"]: "trained"}
DEPARTS = "*"
_MOST_ROWS = 12


@dataclass(frozen=True, slots=True)
class Head:
    """Name a row or a column.

    Attributes:
        label: What tells it apart within its group.
        group: The contestant, where it has several columns.
        section: Which kind of contestant it is, as a heading, where a table holds several; else empty.
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
        folded: Rows that a page shows only when asked, by position.
        brief: Whether it belongs to the summary that a terminal shows unless asked for all.
    """

    title: str
    notes: tuple[str, ...]
    rows: tuple[Head, ...]
    columns: tuple[Head, ...]
    cells: tuple[tuple[str, ...], ...]
    folded: frozenset[int] = frozenset()
    brief: bool = False


def opened(grid: Grid) -> Grid:
    """Return the table without the rows that are folded away; a row alone in its group carries the group's name."""
    if not grid.folded:
        return grid
    shown = _with_rows(grid, [at for at in range(len(grid.rows)) if at not in grid.folded])
    sizes = Counter((head.section, head.group) for head in shown.rows)
    rows = [
        replace(head, label=head.full, group="") if sizes[head.section, head.group] == 1 else head
        for head in shown.rows
    ]
    return replace(shown, rows=tuple(rows))


def behind(grid: Grid) -> Grid:
    """Return the table of the rows that are folded away, with the feet."""
    kept = [at for at in range(len(grid.rows)) if at in grid.folded or grid.rows[at].foot]
    return replace(_with_rows(grid, kept), notes=(), title=f"{grid.title}: the other columns")


def _with_rows(grid: Grid, kept: Sequence[int]) -> Grid:
    rows, cells = tuple(grid.rows[at] for at in kept), tuple(grid.cells[at] for at in kept)
    return replace(grid, rows=rows, cells=cells, folded=frozenset())


def head_of(contestant: Contestant) -> Head:
    """Return the head of a contestant's row."""
    section = SECTIONS[contestant.kind]
    if contestant.column:
        return Head(visible(contestant.column), visible(contestant.owner), section)
    return Head(visible(contestant.scorer), "", section)


def cell_of(index: Index, contestant: Contestant, estimate: Estimate | None) -> str:
    """Return value, interval and mark of an estimate."""
    if estimate is None:
        return ""
    if index.is_fixed(contestant, estimate.metric, estimate):
        return f"{value_text(estimate)} {FIXED_MARK}"
    if math.isnan(estimate.value):
        return MISSING
    mark = f" {DEPARTS}" if index.alpha is not None and index.departs(estimate) else ""
    return f"{value_text(estimate)} {interval_text(estimate)}{mark}"


def sectioned(heads: Sequence[Head]) -> tuple[Head, ...]:
    """Return heads whose section is kept only where there are several."""
    several = len({head.section for head in heads if not head.foot}) > 1
    return tuple(head if several else replace(head, section="") for head in heads)


def folded_rows(index: Index, shown: Sequence[Contestant]) -> frozenset[int]:
    """Return which rows to fold: where many baselines' columns stand, all but the farthest from chance of each."""
    if len(shown) <= _MOST_ROWS:
        return frozenset()
    leading: dict[str, str] = {}
    for kind in ("blind", "trained"):
        for owner, columns in index.by_owner("blind" if kind == "blind" else "trained").items():
            there = [item.scorer for item in columns if item in shown]
            leading |= {owner: there[0]} if there else {}
    return frozenset(
        at for at, item in enumerate(shown) if item.owner in leading and leading[item.owner] != item.scorer
    )


def folding_note(folded: frozenset[int]) -> tuple[str, ...]:
    """Say which columns a table with folded rows shows first."""
    if not folded:
        return ()
    return (
        "Of every baseline the column farthest from chance over all instances stands here, chosen on these data; the "
        f"other {count(len(folded))} rows are in report.html and metrics.csv.",
    )


def family_note(record: Record, cells: Sequence[Sequence[str]], null: str = "chance") -> tuple[str, ...]:
    """Say what the mark of a corrected test means, where a run declares a family of tests."""
    family = record.get("family")
    if family is None or not any(cell.endswith(f" {DEPARTS}") for row in cells for cell in row):
        return ()
    return (
        f"{DEPARTS} differs from {null} after correction over the {count(family['size'])} tests of this report "
        f"({visible(family['method'])}, alpha {family['alpha']:g}) and by its interval; "
        "no mark is no proof of no difference.",
    )


def tabulated(
    record: Record,
    index: Index,
    title: str,
    shown: Sequence[Contestant],
    columns: Sequence[Head],
    at: Callable[[Contestant, int], Estimate | None],
) -> Grid:
    """Return a table of value and interval with chance, n and clusters at its foot."""
    found = [[at(item, column) for column in range(len(columns))] for item in shown]
    cells = [tuple(cell_of(index, item, estimate) for estimate in row) for item, row in zip(shown, found, strict=True)]
    rows = [head_of(item) for item in shown]
    for label, foot in _feet(found):
        rows.append(Head(label, foot=True, is_name=False))
        cells.append(foot)
    used = [estimate for row in found for estimate in row if estimate is not None]
    folded = folded_rows(index, shown)
    notes = (
        *whose_n([head.label for head in columns], shown, found),
        *all_tied(index, shown),
        *interval_notes(record, index, used),
    )
    notes += (*family_note(record, cells), *folding_note(folded), *left_out(index), *marks(cells))
    return Grid(title, notes, sectioned(rows), tuple(columns), tuple(cells), folded)


def _feet(found: Sequence[Sequence[Estimate | None]]) -> list[tuple[str, tuple[str, ...]]]:
    columns = [[estimate for estimate in column if estimate is not None] for column in zip(*found, strict=True)]
    return [
        ("chance", tuple(chance_text(column) for column in columns)),
        ("n", tuple(span_text(estimate.n for estimate in column) for column in columns)),
        ("clusters", tuple(span_text(estimate.n_clusters for estimate in column) for column in columns)),
    ]


def pooled_feet(
    found: Sequence[Sequence[Estimate | None]], metrics: Sequence[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """Return chance per column and, where a metric is strict, the value of a scorer that does not see the edit."""
    chance = tuple(chance_text(item for item in column if item is not None) for column in zip(*found, strict=True))
    strict = [measure(metric).fixed == 0.0 for metric in metrics]
    insensitive = [("insensitive null", tuple("0" if is_strict else "" for is_strict in strict))]
    return [("chance", chance), *(insensitive if any(strict) else [])]


def chance_text(estimates: Iterable[Estimate]) -> str:
    """Return the chance of a column, all of its values where they differ."""
    values = sorted({short_percent(item.chance) for item in estimates if not math.isnan(item.chance)})
    return " or ".join(values)


def span_text(numbers: Iterable[int]) -> str:
    """Return a count, or the smallest and largest where contestants differ (some left instances unscored)."""
    distinct = sorted(set(numbers))
    if not distinct:
        return ""
    return count(distinct[0]) if len(distinct) == 1 else f"{count(distinct[0])} to {count(distinct[-1])}"
