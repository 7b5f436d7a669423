"""Render a view for a terminal. Nothing that comes from the data can style, move the cursor or be taken for markup."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import groupby
from typing import IO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports.layout import fit, header, label_width
from reports.notes import Fact
from reports.noticed import finding_lines
from reports.streams import lost, silence
from reports.tabular import Grid, Head, opened
from reports.text import Line, Span, count, folded, joined, line, name
from reports.verdict import Verdict
from reports.view import View

_STYLES = {"ours": "", "name": "cyan", "foreign": "", "strong": "bold"}
_PLAIN_WIDTH = 100
_MOST_FINDINGS = 3
FULL = "terminal=full"
"""What a command is given to print everything."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Go on in silence: whoever closed the pipe (`| head`) has read enough, and that is no failure."""
        self.quiet = True
        silence(self.file)

    def _check_buffer(self) -> None:
        try:
            super()._check_buffer()
        except OSError as error:
            self.quiet = True
            lost(self.file, error)


def console_for(stream: IO[str], environment: Mapping[str, str] | None = None) -> Console:
    """Return a console for a stream: no markup, and no colour unless it is a terminal and NO_COLOR is unset.

    Printing on it raises an `InputError` if the stream is not standard error and cannot be written.
    """
    environment = os.environ if environment is None else environment
    terminal = stream.isatty()
    columns = environment.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() and int(columns) else None if terminal else _PLAIN_WIDTH
    return _Console(
        file=stream,
        force_terminal=terminal,
        no_color=bool(environment.get("NO_COLOR")),
        color_system="auto" if terminal else None,
        width=width,
        markup=False,
        emoji=False,
        highlight=False,
    )


def render_terminal(view: View, console: Console, *, where: str = "", full: bool = True) -> None:
    """Print a view: the answer first, then tables, then where it came from.

    Args:
        view: What to show.
        console: Where; its width decides how tables are laid out.
        where: The folder that holds the pages.
        full: Whether all of it is printed, or the answer, the tables of all instances and what was noticed.
    """
    _banner(view, console)
    _print(console, _text(view.title, console, style="bold"))
    if view.verdict:
        _verdict(view.verdict, console)
    if view.answer.lead:
        _print(console, _text(view.answer.lead, console, style="bold"))
    for point in view.answer.points:
        _item(point, console)
    _print(console, Text())
    for limit in (*(view.verdict.rule if view.verdict else ()), *view.answer.limits):
        _print(console, _text(limit, console, style="dim"))
    _section("Notices", view.notices, console)
    for grid in view.grids if full else _brief(view, console):
        for block in fit(opened(grid), console.width):
            _grid(block, console)
    _facts("Not run", view.not_run, console)
    if full:
        _section("Findings", finding_lines(view.findings, _MOST_FINDINGS), console)
        _facts("Source", view.source, console)
        _facts("Contestants", view.contestants, console)
        _facts("This run", view.setup, console)
    else:
        _section("Findings", finding_lines([one for one in view.findings if one.severity != "info"], 1), console)
        _rest(view, where, console)
    console.print(Text())
    _banner(view, console)


def _brief(view: View, console: Console) -> list[Grid]:
    """Return the tables of the summary: those of all instances, and the first one by subset if it fits as it stands."""
    chosen = [grid for grid in view.grids if grid.brief]
    others = [grid for grid in view.grids if not grid.brief]
    if others and len(fit(opened(others[0]), console.width)) == 1:
        chosen.insert(0, others[0])
    return chosen


def _rest(view: View, where: str, console: Console) -> None:
    """Say what else there is to read, and where."""
    tables = len(view.grids) - len(_brief(view, console))
    more = f"{count(tables)} more tables, all findings, " if tables else "all findings, "
    told = line(f"{more}contestants with their signatures, and how to repeat the run: report.html and report.md in ")
    told += (*line(name(where or ".")), *line(f"; here with `audits report {name(where or '.').text} {FULL}`."))
    _section("The rest", (told,), console)


def _verdict(verdict: Verdict, console: Console) -> None:
    """Print the level and its sentence, then the subsets by level."""
    title = Text() if verdict.is_told else _ours(f"{verdict.title}: ", console, "bold")
    _print(console, title.append(_text(verdict.sentence, console, "bold" if verdict.is_told else "")))
    for group in verdict.groups:
        text = _ours(f"{group.title}: ", console, "bold")
        _print(console, text.append(_text(joined(list(group.subsets)), console)))
    console.print(Text())


def _print(console: Console, text: Text) -> None:
    console.print(text, soft_wrap=False, overflow="fold")


def safe(text: str, console: Console) -> str:
    """Return text that the console's encoding can write; what it cannot is shown as an escape."""
    return text.encode(console.encoding, "backslashreplace").decode(console.encoding)


def _text(sentence: Line, console: Console, style: str = "") -> Text:
    text = Text(style=style)
    for span in sentence:
        text.append(safe(span.text, console), _STYLES[span.kind] or None)
    return text


def _ours(text: str, console: Console, style: str = "") -> Text:
    return _text((Span(text),), console, style)


def _banner(view: View, console: Console) -> None:
    if view.banner:
        _print(console, _ours(view.banner, console, "bold black on yellow"))


def _item(sentence: Line, console: Console) -> None:
    grid = Table.grid(padding=0)
    grid.add_column(width=4)
    grid.add_column(overflow="fold")
    grid.add_row(Text("  - "), _text(sentence, console))
    console.print(grid)


def _section(title: str, lines: tuple[Line, ...], console: Console) -> None:
    if not lines:
        return
    _heading(title, console)
    for sentence in lines:
        _item(sentence, console)


def _heading(title: str, console: Console) -> None:
    console.print(Text())
    _print(console, _ours(title, console, "bold"))


def _grid(grid: Grid, console: Console) -> None:
    _heading(grid.title, console)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="")
    width = min(label_width(grid, console.width), max(console.width // 2, 8))
    table.add_column("", width=width, overflow="fold")
    for head in grid.columns:
        label = "\n".join(header(head))
        table.add_column(_ours(label, console), justify="right", vertical="bottom", overflow="fold")
    section = ""
    for key, rows in groupby(zip(grid.rows, grid.cells, strict=True), key=lambda row: (row[0].section, row[0].group)):
        if key[0] and key[0] != section:
            table.add_row(_ours("\n".join(folded(key[0], width)), console, "bold"))
        section = key[0]
        _group_rows(table, list(rows), console, width=width)
    console.print(table)
    for note in grid.notes:
        _print(console, _ours(note, console, "dim"))


def _group_rows(table: Table, rows: list[tuple[Head, tuple[str, ...]]], console: Console, *, width: int) -> None:
    first = rows[0][0]
    if first.group:
        label = "\n".join(folded(first.group, width))
        table.add_row(_ours(label, console, "cyan"))
    for head, cells in rows:
        style = "dim" if head.foot else "cyan" if head.is_name else ""
        indent = "  " if head.group else ""
        label = "\n".join(indent + part for part in folded(head.label, width - len(indent)))
        table.add_row(
            _ours(label, console, style), *(_ours(cell, console, "dim" if head.foot else "") for cell in cells)
        )


def _facts(title: str, facts: tuple[Fact, ...], console: Console) -> None:
    if not facts:
        return
    _heading(title, console)
    grid = Table.grid(padding=(0, 2, 0, 0))
    width = min(max(len(label) for label, _ in facts), max(console.width // 3, 8))
    grid.add_column(width=width, overflow="fold")
    grid.add_column(overflow="fold")
    for label, sentence in facts:
        grid.add_row(_ours("\n".join(folded(label, width)), console, "dim"), _text(sentence, console))
    console.print(grid)
