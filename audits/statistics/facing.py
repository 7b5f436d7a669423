"""Which metrics face each other when a model stands against a baseline that was denied one side."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import NamedTuple

import numpy as np

from audits.statistics.outcomes import Outcome


class Facing(NamedTuple):
    """Name the metrics of one comparison.

    Attributes:
        judge: Of the blind baseline.
        model: Of the model, at the base side.
        foil: Of the model at the foil side (2x2), or empty.
    """

    judge: str
    model: str
    foil: str


_PAIRED = {
    "text": (Facing("caption_preference", "i2t_base", "i2t_foil"), Facing("i2t_mean", "i2t_mean", "")),
    "image": (Facing("image_preference", "t2i_base", "t2i_foil"), Facing("t2i_mean", "t2i_mean", "")),
}


def facings(sees: Set[str], primary: str) -> tuple[Facing, ...]:
    """Return the comparisons that a baseline which sees one side can enter, the preferred one first.

    On 1xT and Ix1 both sides answer the same question. On 2x2 a text-only baseline's choice between the captions faces
    the model's choice at the base image, an image-only one's choice between the images the model's at the base
    caption; strict metrics, which a blind scorer fails by construction, enter none.

    Args:
        sees: What the baseline is shown.
        primary: The benchmark's primary metric.

    >>> facings({"text"}, "group")[-2]
    Facing(judge='caption_preference', model='i2t_base', foil='i2t_foil')
    >>> facings({"text", "image"}, "group")
    ()
    """
    if len(sees) != 1:
        return ()
    lines = dict.fromkeys([primary] * primary.startswith("accuracy") + ["accuracy", "accuracy_all"])
    [side] = sees
    return (*(Facing(name, name, "") for name in lines), *_PAIRED[side])


def can_differ(outcome: Outcome) -> bool:
    """Say whether anything but ties was decided: a scorer that sees nothing that differs only ties.

    >>> none = np.zeros(2, dtype=bool)
    >>> can_differ(Outcome("accuracy", np.full(2, 0.5), ~none, none, np.full(2, 0.5)))
    False
    """
    return bool(np.any(~outcome.tie & ~np.isnan(outcome.credit)))


def judging(sees: Set[str], outcomes: Mapping[str, Outcome], primary: str) -> Facing | None:
    """Return the comparison of a baseline, or None if it cannot differ from chance in any.

    >>> judging({"text"}, {}, "accuracy") is None
    True
    """
    found = (one for one in facings(sees, primary) if one.judge in outcomes and can_differ(outcomes[one.judge]))
    return next(found, None)


def alone(outcomes: Mapping[str, Outcome], primary: str) -> str | None:
    """Return the metric that a model is tested on where no baseline faces it.

    >>> alone({}, "accuracy") is None
    True
    """
    return next((one.model for one in facings({"text"}, primary) if one.model in outcomes), None)
