"""Tables over the benchmarks of an experiment: one row per benchmark."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from reports.audited import LIK_DIFF, Audited, fixed_columns, lik_diffs, models, owners
from reports.captions import FIXED_MARK, measure_title
from reports.index import POOLED
from reports.measures import interval_text, value_text
from reports.schema import Estimate
from reports.tabular import DEPARTS, Grid, Head, cell_of, chance_text
from reports.text import count, short_percent, visible

TIES = "‡"
_FULL = "100"


class Column(NamedTuple):
    """Hold one column: its head, and what stands in it for each benchmark."""

    head: Head
    cells: tuple[str, ...]


def joint_grids(runs: Sequence[Audited]) -> tuple[Grid, ...]:
    """Return the tables; one without any content is absent."""
    grids = (_main(runs), _strongest(runs), _as_audited(runs))
    return tuple(grid for grid in grids if grid.columns)


def _main(runs: Sequence[Audited]) -> Grid:
    """Return the table that answers the question: every benchmark by the same columns, picked beforehand."""
    columns = [
        _column(runs, "measured by", lambda run: run.metric_title),
        _column(runs, "n", lambda run: count(run.record["benchmark"]["n"])),
        _column(runs, "clusters", _clusters),
        _column(runs, "coverage %", _coverage),
        _column(runs, "chance %", lambda run: chance_text(_estimates(run))),
    ]
    shown = [*fixed_columns(runs), *models(runs)]
    columns += [_named(runs, scorer, partial(_value, scorer=scorer)) for scorer in shown]
    columns.append(_column(runs, "verdict", lambda run: run.verdict["level"] if run.verdict else ""))
    differences = lik_diffs(runs)
    for scorer in differences:
        title = "Lik-Diff, nats" + (f", {visible(scorer)}" if len(differences) > 1 else "")
        columns.append(_column(runs, title, partial(_nats, scorer=scorer)))
    columns = [column for column in columns if not _says_nothing(column)]
    return _grid("Benchmarks side by side", _notes(runs, columns), runs, columns)


def _says_nothing(column: Column) -> bool:
    return set(column.cells) <= ({_FULL} if column.head.label == "coverage %" else {""})


def _notes(runs: Sequence[Audited], columns: Sequence[Column]) -> tuple[str, ...]:
    cells = [cell for column in columns for cell in column.cells]
    level = " or ".join(sorted({short_percent(run.record["statistics"]["level"]) for run in runs}))
    notes = [
        f"{level} % intervals in brackets, over all instances of a benchmark; how each was made stands in metrics.csv. "
        "The columns of the baselines are the same for every benchmark, not picked by what they show. Metric and "
        "chance differ by row: a value says something beside the chance of its own row only."
    ]
    if not any(column.head.label == "coverage %" for column in columns):
        notes.append("No benchmark lacks an image that a contestant needs.")
    notes += _marked(cells)
    return tuple(notes)


def _marked(cells: Sequence[str]) -> list[str]:
    notes = []
    if any(f" {DEPARTS}" in cell for cell in cells):
        notes.append(
            f"{DEPARTS} differs from chance after correction over the tests of that benchmark's own report; nothing is "
            "corrected across benchmarks. No mark is no proof of no difference."
        )
    if any(FIXED_MARK in cell for cell in cells):
        notes.append(f"{FIXED_MARK} by construction: a scorer that sees one side alone.")
    if any(TIES in cell for cell in cells):
        notes.append(
            f"{TIES} every instance has a single item on the side that this baseline sees: it can only tie, and "
            "whether there is a shortcut is not known from that."
        )
    return notes


def _strongest(runs: Sequence[Audited]) -> Grid:
    """Return what every baseline's column farthest from chance gets: a description, since it is picked by its value."""
    columns = [_named(runs, owner, partial(_strongest_cell, owner=owner)) for owner in owners(runs)]
    columns = [column for column in columns if any(column.cells)]
    cells = [cell for column in columns for cell in column.cells]
    notes = (
        "Of every baseline the column farthest from chance over all instances, and of two directions of a cue the one "
        "that does better, picked on these data: a description, whose interval does not allow for having been picked.",
        *_marked(cells),
    )
    return _grid("Strongest column of every blind baseline", notes, runs, columns)


def _strongest_cell(run: Audited, owner: str) -> str:
    item = run.strongest(owner)
    if item is None:
        return ""
    value = _value(run, item.scorer)
    return f"{value} {visible(item.column)}" if item.column else value


def _as_audited(runs: Sequence[Audited]) -> Grid:
    columns = [
        _column(runs, "title", lambda run: visible(str(run.record["benchmark"]["card"].get("title", "")))),
        _column(runs, "read from", lambda run: visible(str(run.fact("origin")))),
        _column(runs, "n", lambda run: count(run.record["benchmark"]["n"])),
        _column(runs, "n by its card", _expected),
        _column(runs, "shapes", lambda run: visible(", ".join(sorted(run.record["benchmark"]["shapes"])))),
        _column(runs, "smallest visible, points", _smallest),
        _column(runs, "seconds", lambda run: f"{run.seconds():.1f}"),
    ]
    notes = (
        "Smallest visible: how far from chance a shortcut must lie to be seen after correction. Seconds: loading, "
        "scoring and statistics of that run; what came from the cache is faster.",
    )
    return _grid("What was audited", notes, runs, columns)


def _grid(title: str, notes: tuple[str, ...], runs: Sequence[Audited], columns: Sequence[Column]) -> Grid:
    cells = tuple(tuple(column.cells[row] for column in columns) for row in range(len(runs)))
    return Grid(title, notes, tuple(Head(run.label) for run in runs), tuple(column.head for column in columns), cells)


def _column(runs: Sequence[Audited], title: str, cell: Callable[[Audited], str]) -> Column:
    return Column(Head(title, is_name=False), tuple(cell(run) for run in runs))


def _named(runs: Sequence[Audited], name: str, cell: Callable[[Audited], str]) -> Column:
    return Column(Head(visible(name)), tuple(cell(run) for run in runs))


def _estimates(run: Audited) -> list[Estimate]:
    """Return the values of a run that stand in its row and are measured as the row says."""
    found = (run.index.find(item.scorer, run.metric) for item in run.index.contestants)
    return [estimate for estimate in found if estimate is not None]


def _value(run: Audited, scorer: str) -> str:
    """Return value, interval and marks; a value by another metric than the row's says by which."""
    item, found = run.contestant(scorer), run.estimate(scorer)
    if item is None or found is None:
        return ""
    mark = f" {TIES}" if run.can_only_tie(scorer) else ""
    other = "" if found.metric == run.metric else f" {measure_title(found.metric, POOLED).removesuffix(' %')}"
    return f"{cell_of(run.index, item, found)}{mark}{other}"


def _clusters(run: Audited) -> str:
    numbers = sorted({estimate.n_clusters for estimate in _estimates(run) if estimate.n})
    return " to ".join(dict.fromkeys(count(number) for number in (*numbers[:1], *numbers[-1:])))


def _coverage(run: Audited) -> str:
    facts = run.record["benchmark"]["coverage"]
    return short_percent(facts["present"] / facts["expected"]) if facts["expected"] else ""


def _expected(run: Audited) -> str:
    expected = sum(run.record["benchmark"]["expected"].values())
    return count(expected) if expected else ""


def _smallest(run: Audited) -> str:
    size = run.verdict["smallest_visible"] if run.verdict else None
    return "" if size is None else short_percent(size)


def _nats(run: Audited, scorer: str) -> str:
    found = run.index.find(scorer, LIK_DIFF)
    if found is None:
        return ""
    return value_text(found) if math.isnan(found.low) else f"{value_text(found)} {interval_text(found)}"
