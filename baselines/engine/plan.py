"""Form batches from the full list of items, before anything is looked up: the plan depends on the items alone."""

from __future__ import annotations

from collections.abc import Sequence


def by_size(costs: Sequence[int], budget: int) -> list[list[int]]:
    """Cut items, sorted by falling cost, into batches whose padded cost stays within the budget.

    The padded cost of a batch is its longest item times the number of its items. An item that is larger than the
    budget makes a batch of its own.

    Args:
        costs: Cost of each item, falling.
        budget: Largest padded cost of one batch.

    >>> by_size([5, 4, 2, 2, 1], budget=10)
    [[0, 1], [2, 3, 4]]
    """
    batches: list[list[int]] = []
    room = 0
    for position, cost in enumerate(costs):
        if room == 0:
            batches.append([])
            room = max(1, budget // max(1, cost))
        batches[-1].append(position)
        room -= 1
    return batches


def check_partition(batches: Sequence[Sequence[int]], count: int) -> None:
    """Refuse a plan that leaves an item out or holds one twice.

    Raises:
        ValueError: If the batches are not a partition of `range(count)`, or one of them is empty.
    """
    flat = sorted(position for batch in batches for position in batch)
    if flat != list(range(count)) or not all(batches):
        msg = (
            f"a plan must hold each of {count} items exactly once in batches that are not empty, got {len(flat)} places"
        )
        raise ValueError(msg)
