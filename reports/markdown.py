"""Render a view as Markdown in which foreign text stays text: no markup, no HTML, no link, no table of its own."""

from __future__ import annotations

import re

from reports.grids import Grid, Head
from reports.layout import turned
from reports.notes import Fact
from reports.text import Line, Span, plain
from reports.view import View

_WIDE = 8
_ACTIVE = re.compile(r"([\\`*_\[\]()|~!$#{}@])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def render_markdown(view: View) -> str:
    """Return a view as one Markdown document (CommonMark with tables), ending in a newline."""
    parts = [f"# {_line(view.title)}", _banner(view)]
    parts += [f"**{_line(view.answer.lead)}**", _list(view.answer.points)]
    parts += [" ".join(_line(limit) for limit in view.answer.limits)]
    parts += _section("Notices", _list(view.notices))
    for grid in view.grids:
        parts += [f"## {escape(grid.title)}", _table(grid), " ".join(escape(note) for note in grid.notes)]
    parts += _section("Findings", _list(view.findings))
    parts += _section("Source", _facts(view.source))
    parts += _section("Contestants", _facts(view.contestants, names=True))
    parts += _section("This run", _facts(view.setup))
    parts += [_banner(view)]
    return "\n\n".join(part for part in parts if part) + "\n"


def escape(text: str) -> str:
    r"""Return text that Markdown shows letter by letter.

    >>> escape("<i>tea</i> [a](b) | *c*")
    '&lt;i&gt;tea&lt;/i&gt; \\[a\\]\\(b\\) \\| \\*c\\*'
    """
    text = _ACTIVE.sub(r"\\\1", re.sub("[&<>]", lambda match: _ENTITIES[match[0]], text))
    text = re.sub(r"(?i)\b(https?|ftp|mailto|www)([:.])", r"\1\\\2", text)
    return re.sub(r"^(\s*)([-+=]|\d+(?=[.)](?:\s|$)))", _escape_start, text)


def _escape_start(match: re.Match[str]) -> str:
    """Keep the start of a line from being taken for a list, a heading or a rule."""
    blank, start = match.groups()
    return f"{blank}{start}\\" if start.isdigit() else f"{blank}\\{start}"


def code(text: str, *, in_table: bool = False) -> str:
    """Return text as a code span, in which nothing is active; the fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text[:1] in ("`", " ") or text[-1:] in ("`", " ") else ""
    shown = text.replace("|", "\\|") if in_table else text
    return f"{fence}{pad}{shown}{pad}{fence}"


def _line(sentence: Line, *, in_table: bool = False) -> str:
    return "".join(_span(span, in_table=in_table) for span in sentence)


def _span(span: Span, *, in_table: bool) -> str:
    if span.kind == "name":
        return code(span.text, in_table=in_table)
    if span.kind == "foreign":
        return escape(span.text)
    return f"**{span.text}**" if span.kind == "strong" else span.text


def _banner(view: View) -> str:
    return f"> **{view.banner}**" if view.banner else ""


def _list(lines: tuple[Line, ...]) -> str:
    return "\n".join(f"- {_line(sentence)}" for sentence in lines)


def _section(title: str, body: str) -> list[str]:
    return [f"## {title}", body] if body else []


def _table(grid: Grid) -> str:
    if len(grid.columns) > _WIDE:
        grid = turned(grid)
    rows = [["", *(_head(head) for head in grid.columns)]]
    rows.append(["---", *("---:" for _ in grid.columns)])
    for head, cells in zip(grid.rows, grid.cells, strict=True):
        rows.append([_head(head), *(cell or " " for cell in cells)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _head(head: Head) -> str:
    return code(head.full, in_table=True) if head.is_name else escape(head.label)


def _facts(facts: tuple[Fact, ...], *, names: bool = False) -> str:
    rows = [
        f"| {code(label, in_table=True) if names else escape(label)} | {_line(sentence, in_table=True)} |"
        for label, sentence in facts
        if plain(sentence)
    ]
    return "\n".join(["| | |", "| --- | --- |", *rows]) if rows else ""
