"""What a run would do, put together for `dry_run=true` from what it would work on."""

from __future__ import annotations

from collections.abc import Sequence

from audits.load import Contestant
from audits.models.schema import Chooser, Plan, Recorded
from benchmarks.preflight import Preflight
from reports.announced import Announcement, Asks, Line


def announcement(
    benchmark: str, checked: Preflight, who: tuple[Sequence[Contestant], Sequence[str]], plans: Sequence[Plan]
) -> Announcement:
    """Return what there is to announce.

    Args:
        benchmark: Registry name.
        checked: What was counted of its instances.
        who: The contestants, and a sentence on each that was selected and cannot be had here.
        plans: What asking the prompted models among them would take.
    """
    panel, absent = who
    by_name = {plan.name: _asks(plan) for plan in plans}
    lines = [
        Line(one.scorer.name, one.kind, sorted(one.scorer.sees), by_name.get(one.scorer.name), _asked(one))
        for one in panel
    ]
    return Announcement(benchmark, checked.n, dict(checked.shapes), lines, absent)


def _asked(one: Contestant) -> str:
    """Say how a contestant takes part."""
    if isinstance(one.scorer, Chooser):
        return "asked"
    return "read from a file" if isinstance(one.scorer, Recorded) else "computed here"


def _asks(plan: Plan) -> Asks:
    return Asks(
        plan.questions,
        plan.requests,
        plan.cached,
        plan.images,
        plan.tokens_in,
        plan.tokens_out,
        plan.cost,
        purse=plan.purse,
        max_calls=plan.max_calls,
        max_cost=plan.max_cost,
        needs=plan.needs,
    )
