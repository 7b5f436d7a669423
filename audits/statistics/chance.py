"""Values that a scorer without information reaches, by shape: analytic, never simulated.

Three nulls stand beside a 2x2 score, since they differ: exchangeable scores (`CHANCE_2X2`), independent coin decisions
of a prompted model (`PROMPTED_2X2`), and an encoder that does not notice the edit (`INSENSITIVE_2X2`).
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from math import comb
from types import MappingProxyType
from typing import Literal

Rule = Literal["all", "any", "mean"]

CHANCE_2X2: Mapping[str, float] = MappingProxyType(
    {
        "i2t": 1 / 4,
        "t2i": 1 / 4,
        "group": 1 / 6,
        "group_match": 1 / 2,
        "i2t_base": 1 / 2,
        "i2t_foil": 1 / 2,
        "t2i_base": 1 / 2,
        "t2i_foil": 1 / 2,
        "caption_preference": 1 / 2,
        "image_preference": 1 / 2,
    }
)
"""Chance of every 2x2 metric under exchangeable continuous scores. Source: composet2026 eq. 1-3, arXiv 2510.07632."""

INSENSITIVE_2X2: Mapping[str, float] = MappingProxyType({"i2t": 0.0, "t2i": 0.0, "group": 0.0, "group_match": 1 / 2})
"""Value of a scorer that does not see the edit: it keeps the same choice on both sides, and strict metrics fail."""

PROMPTED_2X2: Mapping[str, float] = MappingProxyType({"i2t": 1 / 4, "t2i": 1 / 4, "group": 1 / 16})
"""Chance when every question is an independent coin toss (a prompted model that picks)."""


def pick(positives: int, foils: int, rule: Rule) -> float:
    """Return the chance of one decision among p positives and f foils under exchangeable scores.

    `all` (every positive above every foil) is p! f! / (p + f)!, `any` (the best option is a positive) is p / (p + f),
    `mean` (one positive against all foils) is 1 / (1 + f). With p = 1 all three are 1 / T.

    Args:
        positives: Matching options, at least 1.
        foils: Mismatching options, at least 1.
        rule: What counts as right.

    Returns:
        Proportion, 0 to 1.

    Source: methods note, section 1 (counting orderings).

    >>> pick(1, 4, "all"), pick(1, 4, "any"), pick(1, 4, "mean")
    (0.2, 0.2, 0.2)
    >>> pick(2, 1, "any"), pick(2, 1, "mean")
    (0.6666666666666666, 0.5)
    """
    if rule == "all":
        return 1 / comb(positives + foils, positives)
    if rule == "any":
        return positives / (positives + foils)
    return 1 / (1 + foils)


def order_blind_ceiling(share: float) -> float:
    """Return the best accuracy that a scorer blind to word order can reach on pairs of captions.

    Pairs made of the same words are ties to it and give 1/2 each: 1 - share / 2.

    Args:
        share: Share of pairs whose captions have equal multisets of words, 0 to 1.

    Returns:
        Proportion, 1/2 to 1.

    Source: methods note, section 3 (order-only pairs).

    >>> order_blind_ceiling(1 / 2), round(order_blind_ceiling(164 / 245), 4)
    (0.75, 0.6653)
    """
    return 1 - share / 2


def forced(metric: str, sees: Set[str]) -> float | None:
    """Return the value that a blind scorer is bound to get on a 2x2 metric by construction, or None if it is free.

    A scorer that ignores the image gives both images the same caption, so strict I2T fails; all its T2I comparisons
    are ties, and a tie fails. GroupMatch is a tie throughout. The same holds for a scorer that ignores the text.

    Args:
        metric: Name of a 2x2 metric.
        sees: What the scorer is shown: `text`, `image` or both.

    Returns:
        0.0 for strict metrics, 0.5 for GroupMatch, None for everything else.

    >>> forced("i2t", {"text"}), forced("group_match", {"image"}), forced("i2t", {"text", "image"})
    (0.0, 0.5, None)
    """
    if "text" in sees and "image" in sees:
        return None
    return INSENSITIVE_2X2.get(metric)
