"""Ask prompted models: every question in both orders of its options, and what their answers come to."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, cast

import numpy as np
import pandas as pd

from audits.models.answers import Pick
from audits.models.decided import Decided, from_picks
from audits.models.schema import Chooser, Chosen, Plan, Plans, Recalled
from audits.models.squares import Name, Picks, SquareOrder, from_blind_picks, from_square_picks
from audits.models.unanswered import states, unanswered
from audits.questions import LINE, Posed, orders_of, posed
from audits.statistics.outcomes import Outcome
from baselines.schema import Progress
from benchmarks.errors import InputError
from benchmarks.schema import Instance
from reports.schema import Finding

ANSWERS = (
    *("instance", "direction", "comparison", "order", "shown", "state", "choice", "right", "answer", "note"),
    *("cached", "tokens_in", "tokens_out", "request"),
)


def chosen(chooser: Chooser, instances: Iterable[Instance], progress: Progress, *, seed: int) -> Recalled:
    """Ask a chooser about every instance and return what its answers come to.

    Args:
        chooser: The model.
        instances: The benchmark.
        progress: Where to report.
        seed: Of the order that the rotations start from.

    Raises:
        InputError: If an instance cannot be asked about, or the model cannot be asked.
        TypeError: If the chooser returns another number of answers (a fault in the chooser).
    """
    held = list(instances)
    is_blind = "image" not in chooser.sees
    asked = list(posed(held, is_blind=is_blind, seed=seed))
    answers = chooser.choose([one.question for one in asked], progress)
    if len(answers) != len(asked):
        raise TypeError(f"{chooser.name} returned {len(answers)} answers to {len(asked)} questions")
    picks = [_pick(one, answer) for one, answer in zip(asked, answers, strict=True)]
    decided = _decided(asked, picks, held, is_blind=is_blind)
    outcomes = {name: one for name, one in decided.outcomes.items() if not _is_undefined(one)}
    counts = states(picks)
    return Recalled(
        None,
        outcomes,
        decided.table(),
        decided.reasons,
        {**counts, **dict(getattr(chooser, "facts", {}))},
        tuple(_unanswered(chooser.name, asked, picks, outcomes, held)),
        frozenset(range(len(held))) - {one.place for one in asked},
        _answers(asked, answers, picks, held),
    )


def plans(choosers: Iterable[object], instances: Iterable[Instance], *, seed: int) -> list[Plan]:
    """Return what asking each of these choosers would take, as far as they can say; nothing is sent.

    Args:
        choosers: Contestants of any kind; those that are no choosers are passed over.
        instances: The benchmark.
        seed: Of the order that the rotations start from.

    Raises:
        InputError: If an instance cannot be asked about, or an image cannot be read.
    """
    found = []
    for one in choosers:
        if isinstance(one, Chooser) and isinstance(one, Plans):
            asked = posed(instances, is_blind="image" not in one.sees, seed=seed)
            found.append(one.plan([item.question for item in asked]))
    return found


def refuse_above_ceiling(made: Sequence[Plan]) -> None:
    """Refuse a run that would send or cost more than a ceiling allows, before anything is sent.

    Raises:
        InputError: If the plans of one purse are above one of its ceilings together.
    """
    for purse in dict.fromkeys(plan.purse for plan in made):
        own = [plan for plan in made if plan.purse == purse]
        calls, cost = sum(plan.calls for plan in own), sum(plan.cost or 0.0 for plan in own)
        for name, planned, most in (("max_calls", calls, own[0].max_calls), ("max_cost", cost, own[0].max_cost)):
            if most is not None and planned > most:
                shown = f"{planned:,}" if isinstance(planned, int) else f"up to {planned:.2f}"
                raise InputError(
                    f"this run is above its ceiling {name}; nothing was sent",
                    where=f"{own[0].where}.{name}",
                    got=f"{shown} for {', '.join(f'{plan.name}: {plan.calls:,} requests' for plan in own)}",
                    expected=f"at most {most:,}",
                    step=f"see dry_run=true; raise {own[0].where}.{name}, or ask less with benchmark.limit=N",
                )


def _pick(one: Posed, answer: Chosen) -> Pick:
    if answer.state != "answered" or answer.choice is None:
        return Pick(None, None, "unparsed" if answer.state == "answered" else answer.state)
    if not 0 <= answer.choice < len(one.shown):
        raise TypeError(f"option {answer.choice} was chosen of {len(one.shown)}")
    option = one.shown[answer.choice]
    return Pick(option == one.right, answer.choice == 0, "answered", option)


def _decided(asked: Sequence[Posed], picks: Sequence[Pick], held: Sequence[Instance], *, is_blind: bool) -> Decided:
    lines: dict[int, dict[str, Pick]] = defaultdict(dict)
    squares: dict[int, dict[Name, dict[SquareOrder, Pick]]] = defaultdict(lambda: defaultdict(dict))
    for one, pick in zip(asked, picks, strict=True):
        if one.name == LINE:
            lines[one.place][one.order] = pick
        else:
            squares[one.place][cast("Name", one.name)][cast("SquareOrder", one.order)] = pick
    found = []
    if lines:
        orders = [orders_of(one) if place in lines else () for place, one in enumerate(held)]
        found.append(from_picks(lines, orders, held, {}))
    if squares:
        own = cast("Mapping[int, Picks]", squares)
        found.append(from_blind_picks(own, held) if is_blind else from_square_picks(own, held))
    return _joined(found)


def _joined(parts: Sequence[Decided]) -> Decided:
    """Join outcomes over the same instances; where two parts have a metric, each defines its own instances."""
    found: dict[str, Outcome] = {}
    for part in parts:
        for name, one in part.outcomes.items():
            found[name] = _filled(found[name], one) if name in found else one
    reasons = {place: why for part in parts for place, why in part.reasons.items()}
    return Decided(found, [row for part in parts for row in part.rows], reasons)


def _filled(first: Outcome, second: Outcome) -> Outcome:
    theirs = second.unscored | ~np.isnan(second.credit)
    return Outcome(
        first.metric,
        np.where(theirs, second.credit, first.credit),
        first.tie | second.tie,
        first.unscored | second.unscored,
        np.where(theirs, second.chance, first.chance),
    )


def _is_undefined(one: Outcome) -> bool:
    return bool(np.isnan(one.credit).all() and not one.unscored.any())


def _unanswered(
    name: str, asked: Sequence[Posed], picks: Sequence[Pick], outcomes: Mapping[str, Outcome], held: Sequence[Instance]
) -> list[Finding]:
    open_: Set[int] = {one.place for one, pick in zip(asked, picks, strict=True) if pick.state != "answered"}
    bounded = ("accuracy", "group", "caption_preference")
    metric = next((one for one in bounded if f"{one}_if_wrong" in outcomes), "accuracy")
    lost = [held[place].id for place in sorted(open_)]
    return unanswered("unanswered", name, states(picks), outcomes, lost, metric=metric)


def _answers(
    asked: Sequence[Posed], answers: Sequence[Chosen], picks: Sequence[Pick], held: Sequence[Instance]
) -> pd.DataFrame:
    """Return the answers themselves, one row for each question in each order."""
    rows: list[tuple[Any, ...]] = [
        (
            *(held[one.place].id, one.question.direction, one.comparison, one.order, json.dumps(list(one.shown))),
            *(pick.state, -1 if pick.option is None else pick.option, one.right, answer.text, answer.note),
            *(answer.cached, answer.tokens_in, answer.tokens_out, answer.request),
        )
        for one, answer, pick in zip(asked, answers, picks, strict=True)
    ]
    return pd.DataFrame(rows, columns=list(ANSWERS))
