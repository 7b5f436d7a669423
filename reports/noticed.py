"""Findings as pages show them: by severity, those of one kind together, each with where to look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from reports.notes import few_names
from reports.schema import Finding, Severity
from reports.text import Line, Span, count, foreign, line, name, visible

SEVERITIES: tuple[Severity, ...] = ("warning", "notice", "info")
_INSTANCES = 20


class Noticed(NamedTuple):
    """Hold one finding.

    Attributes:
        sentence: Where and what was measured.
        look_at: The instances to look at, the worst first, or nothing.
        instances: Their ids, at most twenty.
        more: How many ids are not shown.
        values: Numbers by name.
    """

    sentence: Line
    look_at: Line
    instances: tuple[str, ...]
    more: int
    values: tuple[tuple[str, str], ...]


class Batch(NamedTuple):
    """Hold the findings of one kind and one severity."""

    severity: Severity
    kind: str
    title: str
    items: tuple[Noticed, ...]


def build_findings(findings: Sequence[Finding]) -> tuple[Batch, ...]:
    """Return the findings, warnings first, those of one kind together in their order."""
    kinds = list(dict.fromkeys(item.kind for item in findings))
    ranked = sorted(findings, key=lambda item: (SEVERITIES.index(item.severity), kinds.index(item.kind)))
    return tuple(
        Batch(severity, visible(kind), visible(kind).replace("_", " "), tuple(_noticed(item) for item in items))
        for (severity, kind), items in groupby(ranked, key=lambda item: (item.severity, item.kind))
    )


def _noticed(item: Finding) -> Noticed:
    where = line(name(item.subset), ": ") if item.subset else ()
    ids = line("Look at ", *few_names(item.instances), ".") if item.instances else ()
    shown = tuple(name(one).text for one in item.instances[:_INSTANCES])
    values = tuple((visible(key).replace("_", " "), _value(value)) for key, value in item.values.items())
    return Noticed((*where, *line(foreign(item.sentence))), ids, shown, len(item.instances) - len(shown), values)


def _value(value: float | int | str) -> str:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, int):
        return count(value)
    return "undefined" if math.isnan(value) else f"{value:.4g}"


def finding_lines(batches: Sequence[Batch], most: int) -> tuple[Line, ...]:
    """Return findings as sentences, of every kind at most so many.

    Args:
        batches: The findings.
        most: Sentences for each severity and kind.
    """
    lines: list[Line] = []
    for batch in batches:
        head = (Span(batch.severity, "strong"), Span(" "))
        for item in batch.items[:most]:
            lines.append((*head, *item.sentence, *((Span(" "), *item.look_at) if item.look_at else ())))
        more = len(batch.items) - most
        if more > 0:
            told = f"{count(more)} more of this kind: see report.html and findings.json."
            lines.append((*head, Span(batch.title), Span(f": {told}")))
    return tuple(lines)
