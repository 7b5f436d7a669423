"""The one view of a run from which every page is rendered, so that no two pages can tell different stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.answer import Answer, build_answer
from reports.charts import Chart, build_charts
from reports.examples import Example
from reports.grids import Grid, build_grids
from reports.index import Index
from reports.notes import (
    BANNER,
    Fact,
    build_contestants,
    build_findings,
    build_notices,
    build_setup,
    build_source,
)
from reports.schema import Estimate, Finding, Record
from reports.text import Line, foreign, line


@dataclass(frozen=True, slots=True)
class View:
    """Hold everything a page shows, in the order in which it shows it.

    Attributes:
        title: Names the benchmark.
        banner: Warning to repeat at the top and at the end, or empty.
        answer: The answer in words.
        notices: What limits the numbers.
        charts: Pictures of the numbers, the one that answers the question first.
        grids: Tables.
        findings: What else was looked for.
        source: Where the instances came from, as label and text.
        contestants: Who scored, as name and text.
        setup: How to repeat the run, as label and text.
        examples: Pairs to look at.
    """

    title: Line
    banner: str
    answer: Answer
    notices: tuple[Line, ...]
    charts: tuple[Chart, ...]
    grids: tuple[Grid, ...]
    findings: tuple[Line, ...]
    source: tuple[Fact, ...]
    contestants: tuple[Fact, ...]
    setup: tuple[Fact, ...]
    examples: tuple[Example, ...] = ()


def build_view(
    record: Record,
    estimates: Sequence[Estimate],
    findings: Sequence[Finding] = (),
    *,
    examples: Sequence[Example] = (),
) -> View:
    """Return the view of a run."""
    index = Index(record, estimates)
    title = str(record["benchmark"]["card"].get("title") or record["benchmark"]["name"])
    return View(
        title=line("Does ", foreign(title), " need the image?"),
        banner=BANNER if record["sample"] else "",
        answer=build_answer(record, index),
        notices=build_notices(record, index),
        charts=build_charts(record, index),
        grids=build_grids(record, index),
        findings=build_findings(tuple(findings)),
        source=build_source(record),
        contestants=build_contestants(record, index),
        setup=build_setup(record),
        examples=tuple(examples),
    )
