"""Know what each metric is called and counted in, and how one estimate is written."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from reports.schema import Estimate
from reports.text import bounds, decimal, percent, signed

Unit = Literal["%", "points", ""]
Role = Literal["main", "orders", "other", "pair", "part"]
ACCURACIES = ("accuracy", "accuracy_all", "accuracy_any", "accuracy_mean")


class Measure(NamedTuple):
    """Say what a metric is called, what it is counted in, and in which tables it stands.

    Attributes:
        title: As tables show it.
        unit: `%`, `points` (a difference of proportions), or empty for a number that is not a proportion.
        fixed: Value that follows from seeing one side alone, if there is one.
        role: `main` has tables of its own, `orders` belongs to answers in both option orders, `pair` compares two
            contestants, `part` stands in the tables that a card asks for, `other` in one table beside the main ones.
    """

    title: str
    unit: Unit = "%"
    fixed: float | None = None
    role: Role = "main"


_BOUNDED = {
    "accuracy": "accuracy",
    "accuracy_all": "accuracy (all positives)",
    "caption_preference": "caption preference",
    "group": "Group",
    "i2t": "I2T",
    "t2i": "T2I",
}
_GAPS = {
    "accuracy": "accuracy",
    "caption_preference": "caption preference",
    "image_preference": "image preference",
    "i2t": "I2T",
    "t2i": "T2I",
    "group": "Group",
}
MEASURES = {
    "accuracy": Measure("accuracy"),
    "accuracy_all": Measure("accuracy (all positives)"),
    "accuracy_any": Measure("accuracy (any positive)"),
    "accuracy_mean": Measure("accuracy (mean over positives)"),
    "caption_preference": Measure("caption preference"),
    "image_preference": Measure("image preference"),
    "i2t_base": Measure("I2T at the base image"),
    "i2t_foil": Measure("I2T at the foil image"),
    "t2i_base": Measure("T2I at the base caption"),
    "t2i_foil": Measure("T2I at the foil caption"),
    "i2t": Measure("I2T", fixed=0.0),
    "t2i": Measure("T2I", fixed=0.0),
    "group": Measure("Group", fixed=0.0),
    "group_match": Measure("GroupMatch", fixed=0.5),
    "i2t_consistent": Measure("I2T consistent", fixed=0.0),
    "t2i_consistent": Measure("T2I consistent", fixed=0.0),
    "group_consistent": Measure("Group consistent", fixed=0.0),
    "accuracy_consistent": Measure("right in both orders", role="orders"),
    "flip_rate": Measure("answer flips", role="orders"),
    "first_option_share": Measure("first option chosen", role="orders"),
    "i2t_flip_rate": Measure("answer flips, I2T", role="orders"),
    "t2i_flip_rate": Measure("answer flips, T2I", role="orders"),
    "i2t_first_option_share": Measure("first option chosen, I2T", role="orders"),
    "t2i_first_option_share": Measure("first option chosen, T2I", role="orders"),
    "accuracy_first": Measure("accuracy, positive first", role="orders"),
    "accuracy_second": Measure("accuracy, positive second", role="orders"),
    **{
        f"{metric}_if_{end}": Measure(f"{title} if all unscored were {end}", role="other")
        for metric, title in _BOUNDED.items()
        for end in ("wrong", "right")
    },
    **{
        f"{metric}_distinct": Measure(f"{title} without captions read as the same", role="other")
        for metric, title in {**_BOUNDED, "caption_preference": "caption preference"}.items()
    },
    "lik_diff": Measure("Lik-Diff (nats)", "", role="other"),
    "sensitivity": Measure("sensitivity (d)", "", role="other"),
    "subset_std": Measure("std of the subsets", "points", role="other"),
    "format_bias": Measure("format bias", "points", role="pair"),
    "smallest_visible": Measure("smallest visible distance from chance", "points", role="other"),
    "equivalence_bound": Measure("within this distance of chance", "points", role="other"),
    "excess": Measure("excess", "points", role="pair"),
    "share_of_above_chance": Measure("share of the model's score above chance that it reaches", role="pair"),
    "accuracy_easy": Measure("where it is right", role="pair"),
    "accuracy_tie": Measure("where it ties", role="pair"),
    "accuracy_hard": Measure("where it is wrong", role="pair"),
    "easy_hard_gap": Measure("gap right - wrong", "points", role="pair"),
    "easy_hard_gap_base": Measure("gap at the base image", "points", role="pair"),
    "easy_hard_gap_foil": Measure("gap at the foil image", "points", role="pair"),
    **{f"{metric}_gap": Measure(f"{title} gap", "points", role="part") for metric, title in _GAPS.items()},
    "i2t_direction": Measure("I2T at one direction", role="part"),
    "t2i_direction": Measure("T2I at one direction", role="part"),
    "i2t_directions": Measure("I2T of a pair of directions", role="part"),
    "t2i_directions": Measure("T2I of a pair of directions", role="part"),
    "group_directions": Measure("Group of a pair of directions", role="part"),
    **{
        f"{metric}_less_prior": Measure(title, role="pair")
        for metric, title in {**_BOUNDED, "i2t_base": "I2T at the base image"}.items()
    },
    # Upstream's own, under its names. One side alone gives both members of a pair of photos the same answer.
    "pair_accuracy": Measure("pair accuracy", fixed=0.0, role="other"),
    "set_accuracy": Measure("set accuracy", fixed=0.0, role="other"),
    "mmvp_pair": Measure("MMVP pair", fixed=0.0, role="other"),
    "Acc": Measure("Acc", role="other"),
    "Q_Acc": Measure("Q_Acc", fixed=0.0, role="other"),
    "I_Acc": Measure("I_Acc", role="other"),
    "G_Acc": Measure("G_Acc", fixed=0.0, role="other"),
    "ITT": Measure("ITT", role="other"),
    "TOT": Measure("TOT", role="other"),
    "sentence_accuracy": Measure("sentence accuracy", role="other"),
    "sentence_set_accuracy": Measure("set accuracy (both true sentences first)", role="other"),
    "aro_macro": Measure("macro over relations", role="other"),
    "aro_macro_25": Measure("macro over pairs of attributes, 25 cases or more", role="other"),
    "acc_r": Measure("acc_r", role="other"),
    "acc": Measure("acc", role="other"),
    "p_c": Measure("p_c", role="other"),
    "p_f": Measure("p_f", role="other"),
    "min_pc_pf": Measure("min(p_c, p_f)", role="other"),
    "mean_rank": Measure("mean rank", "", role="other"),
    "median_rank": Measure("median rank", "", role="other"),
    **{f"R@{k}": Measure(f"R@{k}", role="other") for k in (1, 3, 5, 10)},
}


def measure(metric: str) -> Measure:
    """Return what is known of a metric; an unknown one is a proportion, as the contract of `Estimate` says."""
    if metric in MEASURES:
        return MEASURES[metric]
    return Measure(metric.replace("_", " "))


def value_text(estimate: Estimate) -> str:
    """Return an estimate's value in its unit, without the unit's sign."""
    return _shown(estimate, estimate.value)


def interval_text(estimate: Estimate) -> str:
    """Return an estimate's interval in its unit."""
    return bounds(_shown(estimate, estimate.low), _shown(estimate, estimate.high))


def _shown(estimate: Estimate, value: float) -> str:
    """Return a number in the unit of an estimate; a difference has its sign."""
    known = measure(estimate.metric)
    if not known.unit:
        return decimal(value)
    return signed(value) if known.unit == "points" and known.role in ("pair", "part") else percent(value)


def excludes_chance(estimate: Estimate) -> bool:
    """Return whether the interval lies on one side of chance (a difference: of 0); an undefined one never does."""
    null = 0.0 if estimate.against and math.isnan(estimate.chance) else estimate.chance
    return estimate.low > null or estimate.high < null


def distance(estimate: Estimate) -> float:
    """Return how far the value lies from chance, 0 where either is undefined."""
    gap = abs(estimate.value - estimate.chance)
    return 0.0 if math.isnan(gap) else gap
