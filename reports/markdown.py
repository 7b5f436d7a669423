"""Render a view as Markdown in which foreign text stays text: no markup, no HTML, no link, no table of its own."""

from __future__ import annotations

import re

from reports.layout import turned
from reports.notes import Fact
from reports.noticed import finding_lines
from reports.tabular import SHORT_SECTIONS, Grid, Head, behind, opened
from reports.text import Line, Span, joined, plain
from reports.verdict import Verdict
from reports.view import View

_WIDE = 8
_MOST_FINDINGS = 10
_ACTIVE = re.compile(r"([\\`*_\[\]()|~!$#{}@])")
_NUMBERS = re.compile(r"[-+\d., †–a-z]*(\[[-+\d., –a-z]*\])?( [*])?")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def render_markdown(view: View) -> str:
    """Return a view as one Markdown document (CommonMark with tables), ending in a newline."""
    parts = [f"# {_line(view.title)}", _banner(view)]
    parts += _verdict(view.verdict) if view.verdict else []
    parts += [f"**{_line(view.answer.lead)}**" if view.answer.lead else "", _list(view.answer.points)]
    parts += [" ".join(_line(limit) for limit in view.answer.limits)]
    parts += _section("Notices", _list(view.notices))
    for grid in view.grids:
        parts += [f"## {escape(grid.title)}", _table(opened(grid)), " ".join(escape(note) for note in grid.notes)]
        if grid.folded:
            parts += [f"### {escape(behind(grid).title)}", _table(behind(grid))]
    parts += _section("Not run", _facts(view.not_run, names=True))
    parts += _section("Findings", _list(finding_lines(view.findings, _MOST_FINDINGS)))
    parts += _section("Source", _facts(view.source))
    parts += _section("Contestants", _facts(view.contestants, names=True))
    parts += _section("This run", _facts(view.setup))
    parts += [_banner(view)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdict(verdict: Verdict) -> list[str]:
    """Return the level and its sentence, the subsets by level, what was measured on each, and the rule."""
    groups = "\n".join(f"- **{group.title}**: {_line(joined(list(group.subsets)))}" for group in verdict.groups)
    head = _line(verdict.sentence) if verdict.is_told else f"**{verdict.title}**: {_line(verdict.sentence)}"
    return [head, groups, _list(verdict.sentences), " ".join(_line(rule) for rule in verdict.rule)]


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
    if len(grid.columns) > max(_WIDE, len(grid.rows)):
        grid = turned(grid)
    rows = [["", *(_head(head, column=True) for head in grid.columns)]]
    rows.append(["---", *("---:" for _ in grid.columns)])
    section = ""
    for head, cells in zip(grid.rows, grid.cells, strict=True):
        if head.section and head.section != section:
            rows.append([f"**{head.section}**", *(" " for _ in cells)])
        section = head.section
        rows.append([_head(head), *(_cell(cell) for cell in cells)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: str) -> str:
    """Return a cell: our own numbers as they are, anything with a name from the data letter by letter."""
    return cell if cell and _NUMBERS.fullmatch(cell) else escape(cell) or " "


def _head(head: Head, *, column: bool = False) -> str:
    section = f"{SHORT_SECTIONS.get(head.section, head.section)} " if column and head.section else ""
    return section + _name(head)


def _name(head: Head) -> str:
    return code(head.full, in_table=True) if head.is_name else escape(head.label)


def _facts(facts: tuple[Fact, ...], *, names: bool = False) -> str:
    rows = [
        f"| {code(label, in_table=True) if names else escape(label)} | {_line(sentence, in_table=True)} |"
        for label, sentence in facts
        if plain(sentence)
    ]
    return "\n".join(["| | |", "| --- | --- |", *rows]) if rows else ""
