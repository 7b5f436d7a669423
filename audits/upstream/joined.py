"""Metrics that join instances: groups all of whose members are right, and means over the values of a tag."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from audits.statistics.groups import group_layout, group_outcome
from audits.statistics.layout import Layout, codes
from audits.statistics.outcomes import Outcome
from audits.statistics.primary import intervals
from audits.statistics.primary import macro as macro_sample
from audits.upstream.view import Number, View, estimated, one_row
from reports.schema import Estimate, Finding


def renamed(name: str, view: View, *, of: str, is_strict: bool = False) -> Iterator[Estimate]:
    """Yield one of our metrics under upstream's name; strict, if upstream counts a tie as wrong."""
    if of in view.outcomes:
        outcome = dataclasses.replace(view.outcomes[of], metric=name)
        if is_strict:
            lost = np.isnan(outcome.credit)
            outcome = dataclasses.replace(outcome, credit=np.where(lost, np.nan, (outcome.credit == 1).astype(float)))
        yield from estimated(view, outcome, view.roster.labels)


def grouped(name: str, view: View, *, of: str, size: int, by: str = "") -> Iterator[Estimate | Finding]:
    """Yield a metric that needs every member of a group right.

    Args:
        name: Upstream's name.
        view: The scorer column.
        of: Our metric of the members.
        size: Members of a complete group.
        by: Tag that parts groups further (an axis of a set), or empty.
    """
    if of not in view.outcomes:
        return
    labels = view.roster.labels.tags.get(by, [""] * len(view.roster.ids))
    pairs = zip(view.roster.groups, labels, strict=True)
    groups = [f"{group} {label}".strip() if group else "" for group, label in pairs]
    yield from _joined(name, view, view.outcomes[of], (groups, view.roster.labels), size)


def _joined(
    name: str, view: View, outcome: Outcome, at: tuple[list[str], Layout], size: int
) -> Iterator[Estimate | Finding]:
    groups, where = at
    # A name that two subsets use is two groups.
    own = [f"{subset} {group}" if group else "" for subset, group in zip(where.subsets, groups, strict=True)]
    found = group_outcome(outcome, own, size=size)
    if not found.names:
        return
    yield from estimated(view, dataclasses.replace(found.outcome, metric=name), group_layout(where, own, found))
    if found.incomplete:
        count, shown = len(found.incomplete), ", ".join(item.strip() for item in found.incomplete[:5])
        yield Finding(
            kind="incomplete_groups",
            severity="notice",
            sentence=(
                f"{name} leaves out {count} of {len(found.names)} groups, "
                f"which lack one of {size} members or its score: {shown}{' ...' if count > 5 else ''}."
            ),
            instances=_members(own, set(found.incomplete), view.roster.ids),
            values={"groups": len(found.names), "incomplete": count, "scorers": view.scorer},
        )


def _members(groups: Sequence[str], wanted: set[str], ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the groups' members; of groups made of several outcomes, each once."""
    count = len(ids)
    return tuple(dict.fromkeys(ids[row % count] for row, group in enumerate(groups) if group in wanted))


def images(name: str, view: View, *, is_strict: bool) -> Iterator[Estimate | Finding]:
    """Yield a metric over both images of 2x2 questions: single answers (I2T), or both questions of one image right."""
    base, foil = view.outcomes.get("i2t_base"), view.outcomes.get("i2t_foil")
    if base is None or foil is None:
        return
    both, where = stacked(name, [base, foil]), view.roster.labels
    twice = Layout(where.benchmark, [*where.subsets] * 2, [*where.clusters] * 2)
    if not is_strict:
        yield from estimated(view, both, twice)
        return
    groups = [f"{group} image {side}" if group else "" for side in (0, 1) for group in view.roster.groups]
    yield from _joined(name, view, both, (groups, twice), 2)


def stacked(name: str, parts: Sequence[Outcome]) -> Outcome:
    """Return outcomes of the same instances one after the other."""
    credit, tie, unscored, chance = (
        np.concatenate([getattr(part, field) for part in parts]) for field in ("credit", "tie", "unscored", "chance")
    )
    return Outcome(name, credit, tie, unscored, chance)


def macro(name: str, view: View, *, of: str, by: str, least: int = 1) -> Iterator[Estimate]:
    """Yield the mean over the values of a tag that have enough cases."""
    outcome, labels = view.outcomes.get(of), view.roster.labels.tags.get(by)
    if outcome is None or labels is None:
        return
    names, code_of = codes(labels)
    parts = [np.flatnonzero(code_of == code) for code, label in enumerate(names) if label]
    # Upstream counts cases before it looks at scores.
    kept = [rows for rows in parts if len(rows) >= least and not np.isnan(outcome.credit[rows]).all()]
    if not kept:
        return
    clusters, where = codes(view.roster.labels.clusters)
    sample = macro_sample(outcome.credit, where, kept)
    draws, seed, confidence = view.options
    [found] = intervals([sample], len(clusters), draws=draws, seed=seed, confidence=confidence)
    chance = float(np.mean([outcome.chance[rows][~np.isnan(outcome.credit[rows])].mean() for rows in kept]))
    rows = np.concatenate(kept)
    number = Number(
        sample.whole.value,
        sample.n,
        sample.whole.n_clusters,
        int(outcome.tie[rows].sum()),
        int(outcome.unscored[rows].sum()),
        chance,
    )
    for place, interval in enumerate(found):
        yield one_row(view, name, number, interval, is_primary=place == 0)
