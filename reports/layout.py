"""Fit a table into a width: as it stands if it fits, else turned round or in blocks, whichever takes fewest lines."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from rich.cells import cell_len

from reports.tabular import SHORT_SECTIONS, Grid, Head
from reports.text import folded

GAP = 2
LABEL_MAX = 30
HEADER_MAX = 17
_FRAME_LINES = 4


def fit(grid: Grid, width: int) -> list[Grid]:
    """Return the table as one or more tables that are at most `width` characters wide, if that is possible.

    Args:
        grid: A table with contestants as rows.
        width: Characters per line.
    """
    as_it_stands = _split(grid, width)
    if len(as_it_stands) == 1:
        return as_it_stands
    return min((as_it_stands, _split(turned(grid), width)), key=_lines)


def turned(grid: Grid) -> Grid:
    """Return the table with rows and columns exchanged; what was its foot (n, chance) comes first."""
    order = sorted(range(len(grid.rows)), key=lambda index: not grid.rows[index].foot)
    cells = tuple(tuple(grid.cells[row][column] for row in order) for column in range(len(grid.columns)))
    columns = tuple(grid.rows[row] for row in order)
    return replace(grid, rows=grid.columns, columns=columns, cells=cells, folded=frozenset())


def label_width(grid: Grid, width: int = 0) -> int:
    """Return the width of the first column: its longest label, within bounds; longer ones are folded.

    Args:
        grid: The table.
        width: Characters per line; what the columns leave of them goes to the names of groups.
    """
    widest = max((cell_len(head.label) + (2 if head.group else 0) for head in grid.rows), default=0)
    least = min(widest, LABEL_MAX)
    spare = width - least - sum(_column_width(grid, column) + GAP for column in range(len(grid.columns)))
    longest = max((cell_len(head.group) for head in grid.rows), default=0)
    return max(least, min(longest, least + spare))


def header(head: Head) -> list[str]:
    """Return a column's heading in lines that are no wider than an interval."""
    section = [SHORT_SECTIONS.get(head.section, head.section)] if head.section else []
    group = folded(head.group, HEADER_MAX) if head.group else []
    return [*section, *group, *folded(head.label, HEADER_MAX)]


def _column_width(grid: Grid, column: int) -> int:
    cells = (cell_len(row[column]) for row in grid.cells)
    return max(*cells, *(cell_len(part) for part in header(grid.columns[column])), 0)


def _split(grid: Grid, width: int) -> list[Grid]:
    """Return blocks of columns that fit; a block holds at least one column however narrow the page is."""
    room = width - label_width(grid)
    blocks: list[list[int]] = [[]]
    used = 0
    for column in range(len(grid.columns)):
        needed = _column_width(grid, column) + GAP
        if blocks[-1] and used + needed > room:
            blocks.append([])
            used = 0
        blocks[-1].append(column)
        used += needed
    return [_block(grid, columns, number, len(blocks)) for number, columns in enumerate(blocks, start=1)]


def _block(grid: Grid, columns: list[int], number: int, total: int) -> Grid:
    return replace(
        grid,
        title=f"{grid.title} ({number}/{total})" if total > 1 else grid.title,
        notes=grid.notes if number == total else (),
        columns=tuple(grid.columns[column] for column in columns),
        cells=tuple(tuple(row[column] for column in columns) for row in grid.cells),
    )


def _lines(blocks: list[Grid]) -> int:
    """Return how many lines the blocks take, headings, group rows and frames included."""
    total = 0
    for grid in blocks:
        heading = max((len(header(head)) for head in grid.columns), default=0)
        groups = sum(1 for (group, _), _ in groupby(grid.rows, key=lambda head: (head.group, head.section)) if group)
        sections = sum(1 for section, _ in groupby(head.section for head in grid.rows) if section)
        total += heading + groups + sections + len(grid.rows) + _FRAME_LINES
    return total
