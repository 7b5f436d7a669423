"""Render a view as one HTML file that loads nothing, runs nothing and shows foreign text as text."""

from __future__ import annotations

import base64
import hashlib
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from reports.charts import Chart
from reports.drawing import PALETTE
from reports.examples import Example, png_size
from reports.figures import NARROW, WIDE, Layout, lay_out
from reports.grids import Grid, Head
from reports.layout import turned
from reports.markup import environment, read_template
from reports.text import plain, visible
from reports.view import View

_MOST_COLUMNS = 8

Cell = tuple[str, str]


class Pair(NamedTuple):
    """Hold a chart laid out for wide and for narrow screens."""

    chart: Chart
    wide: Layout
    narrow: Layout


class Columns(NamedTuple):
    """Hold neighbouring columns of one contestant, or columns without one."""

    label: str
    heads: tuple[Head, ...]


class Body(NamedTuple):
    """Hold neighbouring rows of one contestant, or rows without one."""

    label: str
    foot: bool
    rows: tuple[tuple[Head, tuple[Cell, ...]], ...]


class Sheet(NamedTuple):
    """Hold a table as its markup needs it."""

    title: str
    notes: tuple[str, ...]
    column_groups: tuple[Columns, ...]
    bodies: tuple[Body, ...]

    @property
    def grouped(self) -> bool:
        """Whether the head takes two rows."""
        return any(group.label for group in self.column_groups)

    @property
    def width(self) -> int:
        """Return the number of columns beside the first."""
        return sum(len(group.heads) for group in self.column_groups)


class Side(NamedTuple):
    """Hold one side of an example."""

    name: str
    address: str
    width: int
    height: int
    caption: str


class Picture(NamedTuple):
    """Hold an example's two sides."""

    label: str
    sides: tuple[Side, ...]


def render_html(view: View) -> str:
    """Return a view as one HTML document."""
    style = read_template("report.css")
    pairs = [Pair(chart, lay_out(chart, WIDE), lay_out(chart, NARROW)) for chart in view.charts]
    pictures = [_picture(example) for example in view.examples]
    sheets = [_sheet(grid) for grid in view.grids]
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            view=view,
            title=plain(view.title),
            style=Markup(style),  # ours, and free of foreign text
            style_digest=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
            palette=PALETTE,
            pairs=pairs,
            pictures=pictures,
            sheets=sheets,
            contents=_contents(view),
        )
    )


def _pair(chart: Chart) -> Pair:
    return Pair(chart, lay_out(chart, WIDE), lay_out(chart, NARROW))


def _contents(view: View) -> list[tuple[str, str]]:
    sections = (
        ("notices", "Notices", view.notices),
        ("findings", "Findings", view.findings),
        ("examples", "Examples", view.examples),
        ("charts", "Every column", view.charts[1:]),
        ("tables", "Tables", view.grids),
        ("source", "Source", view.source),
        ("contestants", "Contestants", view.contestants),
        ("run", "This run", view.setup),
    )
    return [(anchor, label) for anchor, label, content in sections if content]


def _sheet(grid: Grid) -> Sheet:
    if len(grid.columns) > _MOST_COLUMNS:
        grid = turned(grid)
    columns = tuple(Columns(label, tuple(heads)) for label, heads in groupby(grid.columns, key=lambda head: head.group))
    bodies = []
    pairs = list(zip(grid.rows, grid.cells, strict=True))
    for (label, foot), rows in groupby(pairs, key=lambda pair: (pair[0].group, pair[0].foot)):
        bodies.append(Body(label, foot, tuple((head, tuple(_cell(cell) for cell in cells)) for head, cells in rows)))
    return Sheet(grid.title, grid.notes, columns, tuple(bodies))


def _cell(text: str) -> Cell:
    """Return a cell's value and what stands behind it: the interval or a mark."""
    value, _, rest = text.partition(" [")
    if rest:
        return value, f"[{rest}"
    return text, ""


def _picture(example: Example) -> Picture:
    sides = []
    for name, image, caption in zip(("base", "foil"), example.images, example.captions, strict=True):
        address = f"data:image/png;base64,{base64.b64encode(image).decode()}"
        sides.append(Side(name, address, *png_size(image), visible(caption)))
    return Picture(visible(example.label), tuple(sides))
