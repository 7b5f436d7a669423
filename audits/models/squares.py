"""From the answers to the questions of a 2x2 to its outcomes: strict I2T, T2I and Group by order of options, averaged.

A 2x2 asks four questions: the caption of each image, and the image of each caption. An order says which side's option
is shown first, and it is the same in all four, so whoever always picks the first option passes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Literal, NamedTuple

import numpy as np

from audits.models.answers import Pick
from audits.models.decided import UNSCORED, Decided, Relation, Row, answered, flip, mean, outcome, row_of
from audits.statistics.chance import PROMPTED_2X2
from audits.statistics.outcomes import Outcome, is_pairing

Name = Literal["i2t_base", "i2t_foil", "t2i_base", "t2i_foil"]
SquareOrder = Literal["ab", "ba"]
ORDERS: tuple[SquareOrder, ...] = ("ab", "ba")
I2T: tuple[Name, ...] = ("i2t_base", "i2t_foil")
T2I: tuple[Name, ...] = ("t2i_base", "t2i_foil")
Picks = Mapping[Name, Mapping[SquareOrder, Pick]]
_Value = Callable[[list[list[bool]]], float]


class Strict(NamedTuple):
    """Say which questions must all be right for a metric."""

    metric: str
    direction: str
    needs: tuple[Name, ...]


STRICT = (Strict("i2t", "i2t", I2T), Strict("t2i", "t2i", T2I), Strict("group", "", (*I2T, *T2I)))


def comparison(name: Name, target: Relation) -> str:
    """Return the comparison that a question is, as `statistics.comparisons` names it."""
    side, of = name.split("_")
    at = int(of == "foil")
    return f"image{at}" if side == "i2t" else f"caption{int(target.gold[at].argmax())}"


def from_square_picks(picks: Mapping[int, Picks], targets: Sequence[Relation]) -> Decided:
    """Return the outcomes of a model that was asked all four questions of each 2x2, in both orders.

    Strict metrics are computed by order and averaged (0, .5, 1); `X_consistent` asks for the same in both orders. Each
    question by itself is the mean of its orders. `flip_rate` and `first_option_share` are means over the questions,
    and stand for each direction as well. A metric is unscored where one of its answers cannot be read; `group_if_wrong`
    and `group_if_right` say what Group would be if all of these were wrong, or right.

    Args:
        picks: By position, question and order.
        targets: The instances; those that are no 2x2 stay undefined.

    Source: composet G.4 (both orders); ours (strict by order, chance of coins, bounds).
    """
    of = _Squares(picks, targets)
    found: dict[str, Outcome] = {}
    for metric, _, needs in STRICT:
        chance = PROMPTED_2X2[metric]
        found[metric] = of.made(metric, chance, needs, lambda rows: mean([all(row) for row in rows]))
        consistent = f"{metric}_consistent"
        found[consistent] = of.made(consistent, chance**2, needs, lambda rows: float(all(map(all, rows))))
    for name in (*I2T, *T2I):
        found[name] = of.made(name, 0.5, (name,), lambda rows: mean([all(row) for row in rows]))
    found |= of.position("", (*I2T, *T2I)) | of.position("i2t_", I2T) | of.position("t2i_", T2I)
    if any(one.state != "answered" for asked in picks.values() for by in asked.values() for one in by.values()):
        found |= {f"group_if_{end}": of.bound(f"group_if_{end}", is_right=end == "right") for end in ("wrong", "right")}
    return Decided(found, of.rows(STRICT), of.reasons())


def from_blind_picks(picks: Mapping[int, Picks], targets: Sequence[Relation]) -> Decided:
    """Return the outcomes of a prompt's blind twin, which is asked for the caption of each image without the image.

    Both questions of an instance are then the same, and so are their answers: strict I2T is 0 by construction, and what
    there is to know is which caption is picked (`caption_preference`: the base one).

    Args:
        picks: By position, question (`i2t_base`, `i2t_foil`) and order.
        targets: The instances.

    Source: ours.
    """
    of = _Squares(picks, targets)
    preference = of.made("caption_preference", 0.5, ("i2t_base",), lambda rows: mean([all(row) for row in rows]))
    zero = [0.0 if place in picks else nan for place in range(len(targets))]
    quarter = [PROMPTED_2X2["i2t"] if place in picks else nan for place in range(len(targets))]
    found = {
        "i2t": outcome("i2t", zero, quarter, [False] * len(targets)),
        "caption_preference": preference,
        **of.position("", ("i2t_base",)),
    }
    if preference.unscored.any():
        names = ((f"caption_preference_if_{end}", end == "right") for end in ("wrong", "right"))
        found |= {name: of.bound(name, is_right=is_right, needs=("i2t_base",)) for name, is_right in names}
    return Decided(found, of.rows(STRICT[:1]), of.reasons())


class _Squares:
    """Hold the answers to 2x2 instances, and turn them into outcomes over all n instances."""

    def __init__(self, picks: Mapping[int, Picks], targets: Sequence[Relation]) -> None:
        self.picks, self.targets, self.size = picks, targets, len(targets)
        self.square = [is_pairing(target.gold) for target in targets]

    def full(self, place: int, needs: Sequence[Name]) -> list[list[Pick]]:
        """Return the picks of each order [2][questions], or nothing where one cannot be read."""
        asked = self.picks.get(place, {})
        found = [answered(asked.get(name, {}), ORDERS) for name in needs]
        return [list(row) for row in zip(*found, strict=True)] if all(found) else []

    def made(self, metric: str, chance: float, needs: Sequence[Name], value: _Value) -> Outcome:
        """Return an outcome whose credit is a function of what was right, by order and question."""
        full = [self.full(place, needs) if known else [] for place, known in enumerate(self.square)]
        credit = [value([[bool(one.right) for one in row] for row in rows]) if rows else nan for rows in full]
        missing = [known and not rows for known, rows in zip(self.square, full, strict=True)]
        return outcome(metric, credit, [chance if known else nan for known in self.square], missing)

    def position(self, prefix: str, needs: Sequence[Name]) -> dict[str, Outcome]:
        """Return how often the order alone changes an answer, and how often the first option is picked."""
        full = [self.full(place, needs) if known else [] for place, known in enumerate(self.square)]
        missing = [known and not rows for known, rows in zip(self.square, full, strict=True)]
        flips = [mean([flip(pair) for pair in zip(*rows, strict=True)]) for rows in full]
        first = [mean([bool(one.first) for row in rows for one in row]) for rows in full]
        half = [0.5 if known else nan for known in self.square]
        return {
            f"{prefix}flip_rate": outcome(f"{prefix}flip_rate", flips, [nan] * self.size, missing),
            f"{prefix}first_option_share": outcome(f"{prefix}first_option_share", first, half, missing),
        }

    def bound(self, metric: str, *, is_right: bool, needs: Sequence[Name] = (*I2T, *T2I)) -> Outcome:
        """Return a strict metric over everything that was asked, if all that cannot be read had this outcome."""
        credit = np.full(self.size, nan)
        for place, asked in self.picks.items():
            orders = [[asked[name][order] for name in needs] for order in ORDERS]
            credit[place] = mean([all(is_right if one.right is None else one.right for one in row) for row in orders])
        return outcome(metric, credit.tolist(), [nan] * self.size, [False] * self.size)

    def reasons(self) -> dict[int, str]:
        """Return why instances lack a value: how many of their answers are none, by what became of them."""
        found = {}
        for place, asked in self.picks.items():
            counts = Counter(one.state for by_order in asked.values() for one in by_order.values())
            open_ = {state: count for state, count in counts.items() if state != "answered"}
            if open_:
                told = ", ".join(f"{state}: {open_[state]}" for state in sorted(open_))
                found[place] = f"{told} of {counts.total()} answers"
        return found

    def rows(self, strict: Sequence[Strict]) -> list[Row]:
        """Return the long form: every answer, and the strict metrics by order."""
        rows = []
        for place, asked in sorted(self.picks.items()):
            for name, by_order in asked.items():
                told = comparison(name, self.targets[place])
                rows += [row_of(place, name[:3], order, told, by_order.get(order)) for order in ORDERS]
            rows += [self._joined(place, order, one) for one in strict for order in ORDERS]
        return rows

    def _joined(self, place: int, order: SquareOrder, of: Strict) -> Row:
        rights = [self.picks[place][name][order].right for name in of.needs]
        if None in rights:
            return Row(place, of.direction, order, of.metric, UNSCORED, nan)
        credit = float(all(rights))
        return Row(place, of.direction, order, of.metric, "win" if credit else "loss", credit)
