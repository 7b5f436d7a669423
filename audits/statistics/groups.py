"""Scores of instances that a benchmark scores together (`Instance.group`): all right, or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from audits.statistics.layout import Layout, codes
from audits.statistics.outcomes import Outcome


@dataclass(frozen=True, slots=True)
class Grouped:
    """Hold a metric at the level of groups.

    Attributes:
        names: The g groups, in order of appearance; instances without a group belong to none.
        outcome: Arrays [g]: credit 1 if every member is right, else 0; unscored (and left out) where incomplete.
        incomplete: Names of the groups that lack a member or a member's score.
    """

    names: tuple[str, ...]
    outcome: Outcome
    incomplete: tuple[str, ...]


def group_outcome(outcome: Outcome, groups: Sequence[str], *, size: int | None = None) -> Grouped:
    """Return the outcome by group: right only if every member is right; a member's tie is not right.

    Chance is the product of the members' chances: members are answered independently.

    Args:
        outcome: Outcome by instance, arrays [n].
        groups: Group of each instance; empty where it has none.
        size: Members that a complete group has, if the benchmark says so; a missing row is otherwise not noticed.

    Returns:
        The outcome under the name `<metric>_by_group`.

    Source: methods note, section 2; the unit of scoring is the benchmark's own (an MMVP pair).

    >>> credit, none = np.array([1.0, 1, 1, 0, 1, np.nan]), np.zeros(6, dtype=bool)
    >>> questions = Outcome("accuracy", credit, none, np.isnan(credit), np.full(6, 0.5))
    >>> found = group_outcome(questions, ["1", "1", "2", "2", "3", "3"])
    >>> found.outcome.credit, found.incomplete, found.outcome.chance
    (array([ 1.,  0., nan]), ('3',), array([0.25, 0.25, 0.25]))
    """
    inside = np.array([bool(name) for name in groups], dtype=bool) & (~np.isnan(outcome.chance) | outcome.unscored)
    rows = np.flatnonzero(inside)
    names, place = codes([groups[row] for row in rows.tolist()])
    members = np.bincount(place, minlength=len(names))
    lacking = np.bincount(place, weights=np.isnan(outcome.credit[rows]), minlength=len(names)) > 0
    if size is not None:
        lacking |= members != size
    right = np.ones(len(names), dtype=bool)
    not_lost = np.ones(len(names), dtype=bool)
    chance = np.ones(len(names))
    np.logical_and.at(right, place, outcome.credit[rows] == 1)
    np.logical_and.at(not_lost, place, (outcome.credit[rows] == 1) | outcome.tie[rows])
    np.multiply.at(chance, place, outcome.chance[rows])
    credit = np.where(lacking, np.nan, right.astype(float))
    joined = Outcome(f"{outcome.metric}_by_group", credit, not_lost & ~right & ~lacking, lacking, chance)
    return Grouped(tuple(names), joined, tuple(np.array(names, dtype=object)[lacking].tolist()))


def group_layout(where: Layout, groups: Sequence[str], grouped: Grouped) -> Layout:
    """Return the labels of groups: the subset of the first member, and clusters joined where a group spans several.

    Args:
        where: Labels of the instances.
        groups: Group of each instance.
        grouped: The groups, in whose order the labels come.

    Returns:
        Labels of the groups; a tag is kept where all members agree, else empty.

    >>> found = group_outcome(Outcome("accuracy", np.ones(4), *[np.zeros(4, dtype=bool)] * 2, np.ones(4)), list("aabb"))
    >>> group_layout(Layout("demo", list("xxyy"), list("1232")), list("aabb"), found).clusters
    ['0', '0']
    """
    members: dict[str, list[int]] = {name: [] for name in grouped.names}
    for row, name in enumerate(groups):
        if name in members:
            members[name].append(row)
    first = [found[0] for found in members.values()]
    clusters = _joined(where.clusters, list(members.values()))
    tags = {
        name: [labels[rows[0]] if len({labels[row] for row in rows}) == 1 else "" for rows in members.values()]
        for name, labels in where.tags.items()
    }
    return Layout(where.benchmark, [where.subsets[row] for row in first], [clusters[row] for row in first], tags)


def _joined(clusters: Sequence[str], members: Sequence[Sequence[int]]) -> list[str]:
    """Return each instance's connected group of clusters, named by number."""
    names, place = codes(clusters)
    links = [(place[rows[0]], place[row]) for rows in members for row in rows]
    ends: NDArray[np.int64] = np.array(links, dtype=np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(names), len(names)))
    _, label = connected_components(graph, directed=False)
    return [str(label[code]) for code in place.tolist()]
