"""Hold scores against what the file itself says of them, and against an encoder that hardly notices the image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audits.models.recorded.joining import Target, is_square
from audits.models.recorded.taken import Taken
from audits.models.recorded.values import flags
from audits.statistics.outcomes import outcomes
from baselines.schema import BOTH
from benchmarks.errors import InputError
from benchmarks.recordings.roles import FLAGS, Roles
from reports.schema import Finding

SHOWN = 10
Grids = Mapping[int, NDArray[np.float64]]


class Own(NamedTuple):
    """Hold how the file's own flags compare with the scores: flags compared, and the positions that differ."""

    compared: int
    differ: tuple[int, ...]


def metric_of(role: str, target: Target, roles: Roles) -> str | None:
    """Return the metric that a flag stands for on an instance, or None for none.

    Raises:
        InputError: If a single flag stands beside a 2x2 instance: it may mean any of three things.
    """
    if is_square(target):
        if role != "correct":
            return role
        return "group" if "i2t" in roles.by_role and "t2i" in roles.by_role else None
    if 1 not in target.shape or target.gold.sum() != 1:
        return None
    side = "i2t" if target.shape.images == 1 else "t2i"
    return "accuracy" if role in ("correct", side) else None


def own_flags(grids: Grids, taken: Taken, roles: Roles, where: str) -> Own:
    """Compare the flags that a file has beside its scores with what the scores say.

    Raises:
        InputError: If every flag fits once captions and images change places: the columns were misunderstood.
    """
    names = [role for role in FLAGS if role in roles.by_role]
    places = sorted(grids)
    if not names or not places:
        return Own(0, ())
    as_read = _differ(places, grids, taken, roles)
    if as_read.differ and roles.layout == "pairs":
        turned = {place: _turned(grids[place], taken.targets[place]) for place in places}
        if not _differ(places, turned, taken, roles).differ:
            raise InputError(
                "the file's own I2T and T2I fit only if captions and images change places",
                where=where,
                got=f"{len(as_read.differ):,} of {as_read.compared:,} flags differ as the columns were read",
                step="say which column is which: columns={c0_i0: ..., c0_i1: ..., c1_i0: ..., c1_i1: ...}",
            )
    return as_read


def _turned(grid: NDArray[np.float64], target: Target) -> NDArray[np.float64]:
    """Return a 2x2 with what was read as [image, caption] taken as [caption, image]."""
    back = target.gold.argmax(axis=1)
    turned = np.empty((2, 2))
    turned[:, back] = grid[:, back].T
    return turned


def _differ(places: Sequence[int], grids: Grids, taken: Taken, roles: Roles) -> Own:
    golds = [taken.targets[place].gold for place in places]
    decided = outcomes([grids[place] for place in places], golds, sees=BOTH)
    compared, differ = 0, []
    names = [role for role in FLAGS if role in roles.by_role]
    for number, place in enumerate(places):
        own = flags(taken.first(place), roles, names)
        for role, right in own.items():
            metric = metric_of(role, taken.targets[place], roles)
            if right is None or metric not in decided or np.isnan(decided[metric].credit[number]):
                continue
            compared += 1
            if right != (decided[metric].credit[number] == 1):
                differ.append(place)
    return Own(compared, tuple(dict.fromkeys(differ)))


def findings(name: str, own: Own, targets: Sequence[Target]) -> list[Finding]:
    """Return what to say of flags that differ from the scores."""
    if not own.differ:
        return []
    return [
        Finding(
            "recorded_flags_differ",
            "warning",
            f"{name}: in {len(own.differ):,} instances a flag of the file says something else than its scores "
            f"({own.compared:,} flags compared); the scores are used.",
            instances=tuple(targets[place].id for place in own.differ[:SHOWN]),
            values={"compared": own.compared, "differ": len(own.differ)},
        )
    ]


def facts(own: Own) -> dict[str, str | int]:
    """Return what to record of the comparison."""
    return (
        {"flags of its own that fit the scores": f"{own.compared - len(own.differ)} of {own.compared}"}
        if own.compared
        else {}
    )


def insensitive(name: str, grids: Grids, targets: Sequence[Target]) -> list[Finding]:
    """Return how much the image moves the scores of 2x2 instances.

    Measured: the share of instances in which no score changes with the image, ties among captions included; that in
    which the same caption has the higher score for both images (an encoder that hardly notices the image has 1,
    exchangeable scores have 1/2); and the median of |s(c, i0) - s(c, i1)|, over both captions, against that of
    |s(c0, i) - s(c1, i)|, over both images.

    Source: ours.
    """
    places = [place for place, grid in grids.items() if is_square(targets[place]) and np.isfinite(grid).all()]
    if not places:
        return []
    stack = np.stack([grids[place] for place in places])  # [m, image, caption]
    ahead = np.sign(stack[:, :, 0] - stack[:, :, 1])  # [m, image]
    same = (ahead[:, 0] == ahead[:, 1]) & (ahead[:, 0] != 0)
    by_image = float(np.median(np.abs(stack[:, 0, :] - stack[:, 1, :])))
    by_caption = float(np.median(np.abs(stack[:, :, 0] - stack[:, :, 1])))
    share = float(same.mean())
    still = np.isclose(stack[:, 0, :], stack[:, 1, :], rtol=0.0, atol=TIE_TOLERANCE).all(axis=1)  # [m]
    tied = (np.isclose(stack[:, :, 0], stack[:, :, 1], rtol=0.0, atol=TIE_TOLERANCE)).all(axis=1)
    unmoved = float(still.mean())
    if unmoved >= INSENSITIVE_SHARE:
        sentence = _unmoved(name, int(still.sum()), int((still & tied).sum()), len(places))
    else:
        sentence = (
            f"{name}: in {int(same.sum()):,} of {len(places):,} 2x2 instances ({100 * share:.1f} %) the same caption "
            f"has the higher score for both images; another image moves a caption's score by {by_image:.3g} (median), "
            f"another caption moves an image's by {by_caption:.3g}."
        )
    shown = still if unmoved >= INSENSITIVE_SHARE else same
    return [
        Finding(
            "image_insensitive",
            "warning" if max(share, unmoved) >= INSENSITIVE_SHARE else "info",
            sentence,
            instances=tuple(targets[places[number]].id for number in np.flatnonzero(shown)[:SHOWN].tolist()),
            values={
                "same_caption": int(same.sum()),
                "unmoved_by_image": int(still.sum()),
                "all_four_equal": int((still & tied).sum()),
                "instances": len(places),
                "share": share,
                "median_change_by_image": by_image,
                "median_change_by_caption": by_caption,
                "largest_change_by_image": float(np.abs(stack[:, 0, :] - stack[:, 1, :]).max()),
            },
        )
    ]


def _unmoved(name: str, still: int, equal: int, total: int) -> str:
    """Say that another image changes no score, and whether another caption does."""
    if equal == still:
        return (
            f"{name}: in {still:,} of {total:,} 2x2 instances all four scores are equal: nothing that is shown moves "
            "them, so every comparison is a tie, and a tie passes neither I2T nor T2I nor Group."
        )
    return (
        f"{name}: in {still:,} of {total:,} 2x2 instances another image moves no score at all (in {equal:,} of them "
        "another caption does not either): what is chosen does not depend on the image."
    )


TIE_TOLERANCE = 1e-12
"""Scores that differ by no more are equal here; a run's own tolerance may be larger."""
INSENSITIVE_SHARE = 0.9
"""Share from which the finding is a warning: beyond it strict I2T is at most 10 %, whatever the captions say."""
