"""The one view of a run from which every page is rendered, so that no two pages can tell different stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.answer import Answer, build_answer
from reports.cases import Cases
from reports.charts import Chart, build_charts
from reports.examples import Example
from reports.grids import build_grids
from reports.index import Index
from reports.notes import BANNER, Fact, build_contestants, build_notices, build_setup, build_source
from reports.noticed import Batch, build_findings
from reports.schema import Estimate, Finding, Record
from reports.tabular import Grid
from reports.text import Line, foreign, line
from reports.verdict import Verdict, build_verdict, verdict_grid
from reports.versus import versus_charts
from reports.weighted import weighted_charts, weighted_grids


@dataclass(frozen=True, slots=True)
class View:
    """Hold everything a page shows, in the order in which it shows it.

    Attributes:
        title: Names the benchmark.
        banner: Warning to repeat at the top and at the end, or empty.
        verdict: What is concluded, or None where the record says nothing of that.
        answer: The answer in words.
        notices: What limits the numbers.
        charts: Pictures of the numbers, the one that answers the question first.
        grids: Tables.
        findings: What else was looked for.
        source: Where the instances came from, as label and text.
        contestants: Who scored, as name and text.
        setup: How to repeat the run, as label and text.
        examples: Pairs to look at.
        cases: Instances to browse, or None where nobody asked for them.
        not_run: What an experiment asked for and did not get, as name and text.
        is_joint: Whether rows are benchmarks, of an experiment, and not subsets.
    """

    title: Line
    banner: str
    verdict: Verdict | None
    answer: Answer
    notices: tuple[Line, ...]
    charts: tuple[Chart, ...]
    grids: tuple[Grid, ...]
    findings: tuple[Batch, ...]
    source: tuple[Fact, ...]
    contestants: tuple[Fact, ...]
    setup: tuple[Fact, ...]
    examples: tuple[Example, ...] = ()
    cases: Cases | None = None
    not_run: tuple[Fact, ...] = ()
    is_joint: bool = False


def build_view(
    record: Record,
    estimates: Sequence[Estimate],
    findings: Sequence[Finding] = (),
    *,
    examples: Sequence[Example] = (),
    cases: Cases | None = None,
) -> View:
    """Return the view of a run."""
    index = Index(record, estimates)
    problems = tuple(line(foreign(text)) for text in cases.problems) if cases else ()
    title = str(record["benchmark"]["card"].get("title") or record["benchmark"]["name"])
    return View(
        title=line("Does ", foreign(title), " need the image?"),
        banner=BANNER if record["sample"] else "",
        verdict=build_verdict(record, index),
        answer=build_answer(record, index),
        notices=(*problems, *build_notices(record, index)),
        charts=(*versus_charts(record, index), *build_charts(record, index), *weighted_charts(record, index)),
        grids=(*verdict_grid(record, index), *build_grids(record, index), *weighted_grids(record, index)),
        findings=build_findings(tuple(findings)),
        source=build_source(record),
        contestants=build_contestants(record, index),
        setup=build_setup(record),
        examples=tuple(examples),
        cases=cases,
    )
