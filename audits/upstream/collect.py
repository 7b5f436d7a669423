"""Upstream's own metrics beside ours, named as upstream names them, for the benchmarks whose card asks for them.

A card says `upstream: [pair_accuracy, set_accuracy]`; each name stands in `METRICS`. A metric that joins instances
leaves out groups that lack a member or a member's score, and lists them. One that a scorer cannot give (a decision at a
threshold, of a scorer without one) is absent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from audits.dataset import Roster
from audits.measured import Measured
from audits.upstream import joined, ranked
from audits.upstream.view import Metric, Options, View
from benchmarks.errors import InputError, near
from reports.schema import Estimate, Finding

FEW_CASES = 25


class Found(NamedTuple):
    """Hold what is added to a run: rows of `metrics.csv`, and what was noticed."""

    rows: list[Estimate]
    findings: list[Finding]


def upstream(
    names: Sequence[str],
    measured: Sequence[Measured],
    roster: Roster,
    values: Mapping[str, Any],
    signatures: Mapping[str, str],
) -> Found:
    """Return upstream's metrics of every scorer column.

    Args:
        names: What the benchmark's card asks for.
        measured: What the contestants measured.
        roster: The instances.
        values: The configuration of the run: `statistics`.
        signatures: Short signature by full column name.

    Raises:
        InputError: If a name is unknown.
    """
    for name in names:
        if name not in METRICS:
            expected, step = ", ".join(METRICS), near(name, METRICS)
            raise InputError("unknown upstream metric", where="card, upstream", got=name, expected=expected, step=step)
    views = list(_views(measured, roster, values["statistics"], signatures)) if names else []
    made = [one for view in views for name in names for one in METRICS[name](name, view)]
    rows = [one for one in made if isinstance(one, Estimate)]
    return Found(rows, _merged(one for one in made if isinstance(one, Finding)))


def _merged(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings, those that say the same of several scorers as one."""
    found: dict[tuple[str, tuple[str, ...]], Finding] = {}
    for one in findings:
        key = (one.sentence, one.instances)
        if key in found:
            scorers = f"{found[key].values['scorers']}, {one.values['scorers']}"
            one = dataclasses.replace(one, values={**one.values, "scorers": scorers})  # noqa: PLW2901
        found[key] = one
    return list(found.values())


def _views(
    measured: Sequence[Measured], roster: Roster, options: Mapping[str, Any], signatures: Mapping[str, str]
) -> Iterator[View]:
    resampling = Options(options["bootstrap"], options["seed"], options["level"])
    for one in measured:
        scorer = one.contestant.scorer
        names = {one.contestant.full_name(column): column for column in scorer.columns}
        tolerance = max(options["tie_tolerance"], float(getattr(scorer, "tolerance", 0.0)))
        for name, outcomes in one.outcomes.items():
            known = one.cells is not None and name in names
            scores = one.cells.grids(names[name], roster.shapes) if known and one.cells is not None else None
            threshold = getattr(scorer, "threshold", None)
            yield View(name, outcomes, roster, scores, tolerance, threshold, signatures.get(name, ""), resampling)


METRICS: Mapping[str, Metric] = {
    "aro_macro": partial(joined.macro, of="accuracy", by="relation"),
    "aro_macro_25": partial(joined.macro, of="accuracy", by="attributes", least=FEW_CASES),
    "pair_accuracy": partial(joined.grouped, of="accuracy", size=2, by="axis"),
    "set_accuracy": partial(joined.grouped, of="accuracy", size=4),
    "ITT": partial(joined.renamed, of="accuracy_all", is_strict=True),
    "TOT": partial(joined.grouped, of="accuracy", size=2),
    "sentence_accuracy": ranked.upper_half,
    "sentence_set_accuracy": partial(joined.renamed, of="accuracy_all", is_strict=True),
    "mean_rank": ranked.mean_rank,
    "median_rank": ranked.median_rank,
    **{f"R@{k}": partial(ranked.recall, k=k) for k in (1, 3, 5, 10)},
    "Acc": partial(joined.images, is_strict=False),
    "Q_Acc": partial(joined.renamed, of="i2t"),
    "I_Acc": partial(joined.images, is_strict=True),
    "G_Acc": partial(joined.grouped, of="i2t", size=2),
    "mmvp_pair": partial(joined.renamed, of="t2i"),
    "acc_r": partial(joined.renamed, of="accuracy", is_strict=True),
    **dict.fromkeys(("acc", "p_c", "p_f", "min_pc_pf"), ranked.threshold),
}
"""What a card may ask for, by upstream's name."""
