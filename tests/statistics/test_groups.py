"""Instances that are scored together."""

from __future__ import annotations

import numpy as np

from audits.statistics.groups import group_layout, group_outcome
from audits.statistics.layout import Layout
from audits.statistics.outcomes import Outcome


def outcome(credit: list[float], tie: list[bool] | None = None) -> Outcome:
    values = np.array(credit)
    flags = np.array(tie or [False] * len(credit))
    return Outcome("accuracy", values, flags, np.isnan(values), np.full(len(credit), 0.5))


def test_a_group_of_the_wrong_size_is_incomplete() -> None:
    # Group c lost a row before scoring: only the declared size can tell.
    found = group_outcome(outcome([1, 1, 1, 0, 1]), ["a", "a", "b", "b", "c"], size=2)
    assert found.incomplete == ("c",)
    assert found.outcome.credit[:2].tolist() == [1.0, 0.0]
    assert group_outcome(outcome([1, 1, 1, 0, 1]), ["a", "a", "b", "b", "c"]).incomplete == ()


def test_a_tie_is_not_right_but_is_counted() -> None:
    found = group_outcome(outcome([0.5, 1, 0.5, 0], [True, False, True, False]), ["a", "a", "b", "b"]).outcome
    assert found.credit.tolist() == [0.0, 0.0]
    assert found.tie.tolist() == [True, False]


def test_members_need_not_be_neighbours_and_strangers_stay_out() -> None:
    found = group_outcome(outcome([1, 0, 1, 1]), ["a", "", "b", "a"])
    assert found.names == ("a", "b")
    assert found.outcome.credit.tolist() == [1.0, 1.0]
    assert found.outcome.chance.tolist() == [0.25, 0.5]


def test_undefined_members_do_not_count() -> None:
    values = Outcome("accuracy", np.array([1.0, np.nan]), *[np.zeros(2, dtype=bool)] * 2, np.array([0.5, np.nan]))
    found = group_outcome(values, ["a", "a"])
    assert found.incomplete == ()
    assert found.outcome.credit.tolist() == [1.0]


def test_no_groups() -> None:
    found = group_outcome(outcome([1, 0]), ["", ""])
    assert found.names == ()
    assert len(found.outcome.credit) == 0


def test_labels_of_groups_join_the_clusters_that_a_group_spans() -> None:
    where = Layout("demo", ["x", "x", "y", "y", "y", "y"], list("123244"), {"tier": list("aababb")})
    groups = ["p", "p", "q", "q", "r", "r"]
    found = group_layout(where, groups, group_outcome(outcome([1] * 6), groups))
    # p spans clusters 1, 2 and q spans 3, 2: one connected cluster; r stands alone.
    assert found.clusters[0] == found.clusters[1] != found.clusters[2]
    assert list(found.subsets) == ["x", "y", "y"]
    assert list(found.tags["tier"]) == ["a", "", "b"]
