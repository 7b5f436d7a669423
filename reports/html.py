"""Render a view as one HTML file that loads nothing, runs only its own browser and shows foreign text as text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from reports.charts import SINGLE, Chart
from reports.drawing import PALETTE
from reports.examples import Example, png_size
from reports.figures import NARROW, WIDE, Layout, lay_out
from reports.layout import turned
from reports.markup import environment, read_template
from reports.tabular import Grid, Head, behind, opened
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
    section: str


class Body(NamedTuple):
    """Hold neighbouring rows of one contestant, or rows without one."""

    label: str
    foot: bool
    section: str
    rows: tuple[tuple[Head, tuple[Cell, ...]], ...]


class Sheet(NamedTuple):
    """Hold a table as its markup needs it."""

    title: str
    notes: tuple[str, ...]
    column_groups: tuple[Columns, ...]
    bodies: tuple[Body, ...]
    more: Sheet | None

    @property
    def sections(self) -> list[tuple[str, int]]:
        """Return the kinds of contestants above the columns, each with its width, or nothing if there is one kind."""
        if not any(group.section for group in self.column_groups):
            return []
        spans = groupby(self.column_groups, key=lambda group: group.section)
        return [(section, sum(len(group.heads) for group in groups)) for section, groups in spans]

    @property
    def depth(self) -> int:
        """Return how many rows the head takes."""
        return 1 + bool(self.sections) + self.grouped

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
    script = read_template("browser.js")
    runs = view.cases is not None and bool(view.cases.data)
    pictures = [_picture(example) for example in view.examples]
    sheets = [_sheet(grid) for grid in view.grids]
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            view=view,
            title=plain(view.title),
            style=Markup(style),  # ours, and free of foreign text
            style_digest=_digest(style),
            script=Markup(script) if runs else "",  # ours too
            script_digest=_digest(script),
            data=Markup(view.cases.data if view.cases else ""),  # JSON without <, > and &
            first=pairs[:1],
            models=[pair for pair in pairs[1:] if not pair.chart.key.startswith(SINGLE)],
            singles=[pair for pair in pairs[1:] if pair.chart.key.startswith(SINGLE)],
            palette=PALETTE,
            pictures=pictures,
            sheets=sheets,
            contents=_contents(view),
        )
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _contents(view: View) -> list[tuple[str, str]]:
    single = [chart for chart in view.charts[1:] if chart.key.startswith(SINGLE)]
    joint = [chart for chart in view.charts[1:] if not chart.key.startswith(SINGLE)]
    sections = (
        ("notices", "Notices", view.notices),
        ("models", "More charts", joint),
        ("tables", "Tables", view.grids),
        ("not-run", "Not run", view.not_run),
        ("findings", "Findings", view.findings),
        ("instances", "Instances", view.cases),
        ("examples", "Examples", view.examples),
        ("charts", "Every column", single),
        ("source", "Source", view.source),
        ("contestants", "Contestants", view.contestants),
        ("run", "This run", view.setup),
    )
    return [(anchor, label) for anchor, label, content in sections if content]


def _sheet(grid: Grid) -> Sheet:
    more = _sheet(behind(grid)) if grid.folded else None
    grid = opened(grid)
    if len(grid.columns) > _MOST_COLUMNS and len(grid.columns) > len(grid.rows):
        grid = turned(grid)
    columns = tuple(
        Columns(label, tuple(heads), section)
        for (section, label), heads in groupby(grid.columns, key=lambda head: (head.section, head.group))
    )
    pairs = list(zip(grid.rows, grid.cells, strict=True))
    return Sheet(grid.title, grid.notes, columns, tuple(_bodies(pairs)), more)


def _bodies(pairs: Sequence[tuple[Head, tuple[str, ...]]]) -> Iterator[Body]:
    """Yield neighbouring rows of one contestant; the first body of a kind of contestants carries its heading."""
    section = ""
    for key, rows in groupby(pairs, key=lambda pair: (pair[0].section, pair[0].group, pair[0].foot)):
        heading = key[0] if key[0] != section else ""
        section = key[0]
        lines = tuple((head, tuple(_cell(cell) for cell in cells)) for head, cells in rows)
        yield Body(key[1], key[2], heading, lines)


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
