"""Compute a batch, and when memory runs out, the same items again in smaller parts."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from baselines.engine.memory import free_memory, is_memory_error
from baselines.schema import Task
from benchmarks.errors import InputError

log = logging.getLogger(__name__)
ItemT = TypeVar("ItemT")


class Reducer:
    """Compute batches of one task and remember how large a batch has fitted since memory last ran out.

    Attributes:
        reductions: Times that a batch was cut because memory ran out.
    """

    def __init__(self) -> None:
        self.reductions = 0
        self._ceiling: int | None = None

    def compute(self, items: Sequence[ItemT], task: Task[ItemT]) -> NDArray[Any]:
        """Return [n, F] in the task's dtype for the items in the order given.

        Raises:
            InputError: If memory does not suffice for a single item.
            ValueError: If `task.compute` returns another shape.
        """
        parts: list[NDArray[Any]] = []
        start = 0
        while start < len(items):
            part = items[start : start + self._fitting(items[start:], task)]
            values, failure = _attempt(part, task)
            if values is None:
                self._reduce(part, task, failure)
                continue
            if values.shape != (len(part), task.width):
                msg = f"{task.label}: expected values of shape {[len(part), task.width]}, got {list(values.shape)}"
                raise ValueError(msg)
            parts.append(values)
            start += len(part)
        return np.concatenate(parts)

    def _fitting(self, items: Sequence[ItemT], task: Task[ItemT]) -> int:
        """Return how many of the items to try at once."""
        if self._ceiling is None:
            return len(items)
        return max(1, self._ceiling // _longest(items, task))

    def _reduce(self, part: Sequence[ItemT], task: Task[ItemT], failure: str) -> None:
        """Halve what is tried at once, or give up on a single item that does not fit."""
        free_memory()
        cost = _longest(part, task)
        if len(part) == 1:
            raise InputError(
                "memory does not suffice for a single item",
                where=task.label,
                got=f"{cost} {task.unit}: {failure}",
                step="use a smaller dtype (bfloat16), a smaller model or another device",
            )
        half = len(part) // 2
        self.reductions += 1
        self._ceiling = half * cost
        log.warning("%s: memory ran out with %d items at once, trying %d", task.label, len(part), half)


def _longest(items: Sequence[ItemT], task: Task[ItemT]) -> int:
    return max(1, *(task.cost(item) for item in items))


def _attempt(part: Sequence[ItemT], task: Task[ItemT]) -> tuple[NDArray[Any] | None, str]:
    """Return the values, or None and what was said when memory ran out.

    The exception ends here, and with it the traceback that would keep the failed batch in memory.
    """
    try:
        return np.asarray(task.compute(part), dtype=task.stored), ""
    except (MemoryError, RuntimeError) as error:
        if not is_memory_error(error):
            raise
        return None, f"{type(error).__name__} {error}".strip()[:300]
