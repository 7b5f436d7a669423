"""Pack rows that begin alike into prefix trees: what they share is laid out, and computed, once.

A row's last id is predicted and never read, so it is a target and no node of the tree. The nodes of a tree stand in
depth-first order; each sees itself and its ancestors, at the position that is its depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from baselines.language.rows import Row


@dataclass(frozen=True, slots=True)
class Tree:
    """Hold rows as a prefix tree of N nodes with E scored steps; a step is a node and the id predicted after it.

    Attributes:
        tokens: Id read at each node, int64 [N], depth first; roots have depth 0.
        depths: Position of each node in its rows, int64 [N].
        parents: Node that stands before, int64 [N], -1 for a root.
        nodes: Node of each scored step, int64 [E], ascending.
        targets: Id predicted by each scored step, int64 [E].
        owners: Row of each scored token, int64 [P], P the scored tokens of all rows.
        steps: Scored step of each scored token, int64 [P].
    """

    tokens: NDArray[np.int64]
    depths: NDArray[np.int64]
    parents: NDArray[np.int64]
    nodes: NDArray[np.int64]
    targets: NDArray[np.int64]
    owners: NDArray[np.int64]
    steps: NDArray[np.int64]

    def visible(self) -> NDArray[np.bool_]:
        """Return which nodes each node sees, boolean [N, N]: itself and its ancestors."""
        seen = np.eye(len(self.tokens), dtype=np.bool_)
        for node, parent in enumerate(self.parents):
            if parent >= 0:  # a parent stands before its children, so its own row is complete
                seen[node] |= seen[parent]
        return seen

    def sums(self, values: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
        """Return the sum of each row's scored steps, float64 [rows], given the value of each step [E]."""
        found = np.zeros(rows)
        np.add.at(found, self.owners, values[self.steps])
        return found


def tree(rows: Sequence[Row]) -> Tree:
    """Return the prefix tree of rows, given in any order.

    Args:
        rows: Rows with at least one scored token each; equal ones may repeat.
    """
    tokens: list[int] = []
    depths: list[int] = []
    parents: list[int] = []
    children: dict[tuple[int, int], int] = {}
    scored: dict[tuple[int, int], int] = {}
    owners: list[int] = []
    steps: list[int] = []
    # In lexicographic order new nodes are met depth first.
    for owner in sorted(range(len(rows)), key=lambda position: rows[position].ids):
        row, node = rows[owner], -1
        first = len(row.ids) - row.scored
        for place, token in enumerate(row.ids):
            if place >= first:
                owners.append(owner)
                steps.append(scored.setdefault((node, token), len(scored)))
            if place == len(row.ids) - 1:
                break
            child = children.setdefault((node, token), len(tokens))
            if child == len(tokens):
                tokens.append(token)
                depths.append(place)
                parents.append(node)
            node = child
    return _ordered(tokens, depths, parents, list(scored), (owners, steps))


def _ordered(
    tokens: list[int],
    depths: list[int],
    parents: list[int],
    scored: list[tuple[int, int]],
    paths: tuple[list[int], list[int]],
) -> Tree:
    """Return the tree with its scored steps sorted by node, so that the nodes needed are read in one sweep."""
    pairs = np.asarray(scored, np.int64).reshape(-1, 2)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return Tree(
        np.asarray(tokens, np.int64),
        np.asarray(depths, np.int64),
        np.asarray(parents, np.int64),
        pairs[order, 0],
        pairs[order, 1],
        np.asarray(paths[0], np.int64),
        place[np.asarray(paths[1], np.int64)],
    )


def plan(rows: Sequence[Row], nodes: int) -> list[list[int]]:
    """Cut rows into packs: neighbours in lexicographic order whose tree has at most so many nodes.

    A row with more nodes than that makes a pack of its own. The plan depends on the rows alone.

    Args:
        rows: Distinct rows.
        nodes: Most nodes of one tree.

    >>> rows = [Row(ids, 1, 1, 1) for ids in [(0, 1, 2), (0, 5, 6), (0, 1, 3)]]
    >>> plan(rows, nodes=3)  # one tree of 0, 1 and 5
    [[0, 2, 1]]
    >>> plan(rows, nodes=2)
    [[0, 2], [1]]
    """
    packs: list[list[int]] = []
    held = nodes
    before: tuple[int, ...] = ()
    for position in sorted(range(len(rows)), key=lambda index: (rows[index].ids, rows[index].scored)):
        read = rows[position].ids[:-1]
        new = len(read) - _shared(before, read)
        if not packs or held + new > nodes:
            packs.append([])
            held, new = 0, len(read)
        packs[-1].append(position)
        held, before = held + new, read
    return packs


def _shared(left: Sequence[int], right: Sequence[int]) -> int:
    """Return how many leading ids two rows share."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count
