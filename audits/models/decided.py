"""From flags and answers to outcomes by metric and to the long form; nothing missing is ever counted as wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from audits.models.answers import Pick
from audits.statistics.chance import CHANCE_2X2, pick
from audits.statistics.outcomes import Outcome, is_pairing
from benchmarks.schema import Shape

OrderT = TypeVar("OrderT", bound=str)

# Direction and comparison of a flag on a 2x2, as `statistics.comparisons` names them.
SQUARE = {
    "i2t": ("i2t", "i2t"),
    "t2i": ("t2i", "t2i"),
    "group": ("", "group"),
    "i2t_base": ("i2t", "image0"),
    "i2t_foil": ("i2t", "image1"),
    "t2i_base": ("t2i", "caption0"),
    "t2i_foil": ("t2i", "caption1"),
}
UNSCORED = "unscored"


class Relation(Protocol):
    """Which caption of an instance fits which image."""

    @property
    def gold(self) -> NDArray[np.bool_]:
        """Return boolean [I, T]."""

    @property
    def shape(self) -> Shape:
        """Return (I, T)."""


class Row(NamedTuple):
    """Hold one row of the long form."""

    instance: int
    direction: str
    order: str
    comparison: str
    outcome: str
    credit: float


@dataclass(frozen=True, slots=True)
class Decided:
    """Hold outcomes by metric, their long form, and the reason by position for what is unscored."""

    outcomes: Mapping[str, Outcome]
    rows: list[Row]
    reasons: Mapping[int, str] = field(default_factory=dict)

    def table(self) -> pd.DataFrame:
        """Return the long form, in the order of the instances."""
        table = pd.DataFrame(self.rows, columns=list(Row._fields)).astype({"instance": np.int64, "credit": np.float64})
        table = table.sort_values("instance", kind="stable", ignore_index=True)
        return table.astype(dict.fromkeys(("direction", "order", "comparison", "outcome"), "category"))


def outcome(metric: str, credit: Sequence[float], chance: Sequence[float], unscored: Sequence[bool]) -> Outcome:
    """Return an outcome in which nothing was decided by a tie."""
    return Outcome(
        metric,
        np.asarray(credit, dtype=np.float64),
        np.zeros(len(credit), dtype=bool),
        np.asarray(unscored, dtype=bool),
        np.asarray(chance, dtype=np.float64),
    )


def chance_of(metric: str, target: Relation) -> float:
    """Return the chance of a metric on an instance, NaN where the metric is not defined for its shape."""
    if metric == "accuracy":
        return pick(1, int((~target.gold).sum()), "any") if _is_question(target) else nan
    return CHANCE_2X2[metric] if is_pairing(target.gold) else nan


def _is_question(target: Relation) -> bool:
    return 1 in target.shape and int(target.gold.sum()) == 1


def from_flags(
    metrics: Mapping[str, Mapping[int, bool]], targets: Sequence[Relation], reasons: Mapping[int, str]
) -> Decided:
    """Return the outcomes of flags.

    Args:
        metrics: By metric, whether each instance is right; positions that are not there are unscored.
        targets: The instances.
        reasons: Why positions are not there.
    """
    found, rows = {}, []
    for metric, right in metrics.items():
        chances = [chance_of(metric, target) for target in targets]
        credit = [float(right[place]) if place in right else nan for place in range(len(targets))]
        missing = [place not in right and not isnan(chance) for place, chance in enumerate(chances)]
        found[metric] = outcome(metric, credit, chances, missing)
        for place, target in enumerate(targets):
            if not isnan(chances[place]):
                direction, name = SQUARE.get(metric) or _question(target)
                word = ("win" if right[place] else "loss") if place in right else UNSCORED
                rows.append(Row(place, direction, "", name, word, credit[place]))
    return Decided(found, rows, dict(reasons))


def _question(target: Relation) -> tuple[str, str]:
    """Return direction and comparison of an instance that asks one question."""
    return ("i2t", "image0") if target.shape.images == 1 else ("t2i", "caption0")


def from_picks(
    picks: Mapping[int, Mapping[OrderT, Pick]],
    orders: Sequence[Sequence[OrderT]],
    targets: Sequence[Relation],
    why: Mapping[int, str],
) -> Decided:
    """Return the outcomes of answers to instances that ask one question.

    An instance counts only if every order was answered: accuracy is the mean of the orders (0, .5, 1 with two). With
    several orders there are also `accuracy_consistent` (right in all), `flip_rate` (not the same option picked in all)
    and `first_option_share`. Where a question that was asked has no readable answer, `accuracy_if_wrong` and
    `accuracy_if_right` say what accuracy would be if all of these were wrong, or right; they cover what was asked.

    Args:
        picks: Picks by position and order.
        orders: The orders that were asked of each instance; none where accuracy is not to be defined.
        targets: The instances.
        why: Why positions have no pick.

    Source: composet G.4 (both orders); ours (bounds).
    """
    places = range(len(targets))
    full = [answered(picks.get(place, {}), orders[place]) for place in places]
    chances = [chance_of("accuracy", one) if own else nan for one, own in zip(targets, orders, strict=True)]
    defined = [not isnan(chance) for chance in chances]
    missing = [known and not values for known, values in zip(defined, full, strict=True)]

    def made(metric: str, chance: Sequence[float], value: Sequence[float]) -> Outcome:
        return outcome(metric, value, chance, missing)

    rights = [[bool(one.right) for one in values] for values in full]
    found = {"accuracy": made("accuracy", chances, [mean(values) for values in rights])}
    if max(map(len, orders), default=0) > 1:
        every = [chance ** len(orders[place]) for place, chance in enumerate(chances)]
        found |= {
            "accuracy_consistent": made(
                "accuracy_consistent", every, [float(all(values)) if values else nan for values in rights]
            ),
            "flip_rate": made("flip_rate", [nan] * len(full), [flip(values) for values in full]),
            "first_option_share": made(
                "first_option_share", chances, [mean([bool(one.first) for one in values]) for values in full]
            ),
        }
    if any(one.state != "answered" for by_order in picks.values() for one in by_order.values()):
        found |= {
            name: _bound(name, picks, orders, len(targets)) for name in ("accuracy_if_wrong", "accuracy_if_right")
        }
    reasons = {
        place: why.get(place) or reason(picks.get(place, {}), orders[place]) for place in places if missing[place]
    }
    return Decided(found, _rows(picks, orders, targets, defined), reasons)


def answered(by_order: Mapping[OrderT, Pick], orders: Sequence[OrderT]) -> list[Pick]:
    """Return the picks of every order, or none if one is missing."""
    found = [by_order[order] for order in orders if order in by_order and by_order[order].right is not None]
    return found if len(found) == len(orders) else []


def mean(values: Sequence[float]) -> float:
    """Return the mean of what there is, NaN of nothing."""
    return float(np.mean(values)) if values else nan


def flip(picks: Sequence[Pick]) -> float:
    """Return 1 if the orders picked different options, 0 if the same, NaN of nothing.

    Where options are not known, whether they were right tells: with two options, one is right and one wrong.
    """
    named = [one.right if one.option is None else one.option for one in picks]
    return float(len(set(named)) > 1) if named else nan


def _bound(
    name: str, picks: Mapping[int, Mapping[OrderT, Pick]], orders: Sequence[Sequence[OrderT]], size: int
) -> Outcome:
    """Return accuracy over everything that was asked if all that has no readable answer had this outcome."""
    assumed = float(name == "accuracy_if_right")
    credit = np.full(size, nan)
    for place, by_order in picks.items():
        asked = [by_order[order] for order in orders[place] if order in by_order]
        credit[place] = np.mean([assumed if one.right is None else float(one.right) for one in asked])
    none: NDArray[np.float64] = np.full(size, nan)
    return outcome(name, credit.tolist(), none.tolist(), [False] * size)


def reason(by_order: Mapping[OrderT, Pick], orders: Sequence[OrderT]) -> str:
    """Return what became of the orders that have no readable answer."""
    states = [by_order[order].state if order in by_order else "no row" for order in orders]
    told = {order: state for order, state in zip(orders, states, strict=True) if state != "answered"}
    return ", ".join(f"{state} ({order})" if order else state for order, state in told.items())


def _rows(
    picks: Mapping[int, Mapping[OrderT, Pick]],
    orders: Sequence[Sequence[OrderT]],
    targets: Sequence[Relation],
    defined: Sequence[bool],
) -> list[Row]:
    rows = []
    for place, target in enumerate(targets):
        if defined[place]:
            direction, name = _question(target)
            by_order = picks.get(place, {})
            rows += [row_of(place, direction, order, name, by_order.get(order)) for order in orders[place]]
    return rows


def row_of(place: int, direction: str, order: str, comparison: str, pick: Pick | None) -> Row:
    """Return the long form of one answer; without one it is unscored."""
    if pick is None:
        return Row(place, direction, order, comparison, UNSCORED, nan)
    if pick.right is None:
        return Row(place, direction, order, comparison, pick.state, nan)
    return Row(place, direction, order, comparison, "win" if pick.right else "loss", float(pick.right))
