"""`Engine`: measure every distinct item once, in batches that are planned first and committed whole."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from baselines.engine.cache import ScoreCache, item_digest, task_digest
from baselines.engine.plan import by_size, check_partition
from baselines.engine.retry import Reducer
from baselines.schema import Progress, Task

log = logging.getLogger(__name__)
ItemT = TypeVar("ItemT")
Rows = dict[str, NDArray[Any]]


class Share(Protocol):
    """One of several processes that compute the same plan into the same cache."""

    @property
    def rank(self) -> int:
        """Return the number of this process, from 0."""

    @property
    def size(self) -> int:
        """Return the number of processes."""

    def total(self, number: int) -> int:
        """Wait until every process is here, and return the sum of their numbers."""


class _Found(NamedTuple, Generic[ItemT]):
    """Hold a batch as the cache knows it: digest by key, rows by digest, and the items that are missing by key."""

    digests: dict[str, bytes]
    known: dict[bytes, NDArray[Any]]
    missing: dict[str, ItemT]


@dataclass(slots=True)
class Counts:
    """Count what became of the items of one label.

    Attributes:
        items: Items asked for, repeats included.
        distinct: Distinct items among them.
        hits: Distinct items found in the cache.
        computed: Distinct items computed now.
        batches: Batches committed now.
        reductions: Times that a batch was cut because memory ran out.
    """

    items: int = 0
    distinct: int = 0
    hits: int = 0
    computed: int = 0
    batches: int = 0
    reductions: int = 0


class Engine:
    """Measure items through a cache on disk: the `Work` that the runner lends to scorers.

    Batches are planned from the full list before the cache is read, so a run that was killed meets the same batches
    when it starts again: those that were committed are found, the others are computed as they would have been.

    Args:
        cache_path: The cache file.
        progress: Where to report, or None.
        share: Which of several processes this is, or None. Each computes its share of the batches; all of them must
            measure the same items in the same order.

    Attributes:
        counts: What became of the items, by task label.

    Raises:
        InputError: If the cache cannot be used, or memory does not suffice for a single item.
    """

    def __init__(self, cache_path: Path, progress: Progress | None = None, share: Share | None = None) -> None:
        self.cache = ScoreCache(cache_path)
        self.progress = progress
        self.share = share
        self.counts: dict[str, Counts] = {}
        self._reducers: dict[bytes, Reducer] = {}

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the cache."""
        self.cache.close()

    def measure(self, items: Sequence[ItemT], task: Task[ItemT]) -> NDArray[Any]:
        """Return [n, F] in the dtype of the task, row i belonging to items[i].

        Raises:
            InputError: If memory does not suffice for a single item, or the cache cannot be used.
            ValueError: If `task.compute` or `task.plan` breaks the contract.
        """
        counts = self.counts.setdefault(task.label, Counts())
        keys = [task.key(item) for item in items]
        distinct = dict(zip(keys, items, strict=True))
        counts.items += len(items)
        counts.distinct += len(distinct)
        if not items:
            return np.empty((0, task.width), dtype=task.stored)
        rows = self._measure_distinct(distinct, task, counts)
        log.info("%s: %s", task.label, counts)
        return np.stack([rows[key] for key in keys])

    def _measure_distinct(self, distinct: dict[str, ItemT], task: Task[ItemT], counts: Counts) -> Rows:
        """Return the row of every distinct item by key."""
        costs = {key: task.cost(item) for key, item in distinct.items()}
        order = sorted(distinct, key=lambda key: (-costs[key], key))
        ordered = [distinct[key] for key in order]
        batches = by_size([costs[key] for key in order], task.budget) if task.plan is None else task.plan(ordered)
        check_partition(batches, len(order))
        planned = [{order[position]: ordered[position] for position in batch} for batch in batches]
        rows: Rows = {}
        with self._line(task, sum(costs.values())):
            reported = self._shared(planned, task, counts, costs)
            for place, found in enumerate(self._looked_up(planned, task)):
                rows.update(self._batch(found, task, counts))
                if place not in reported:
                    self._advance(sum(costs[key] for key in found.digests))
        return rows

    def _shared(
        self, planned: Sequence[dict[str, ItemT]], task: Task[ItemT], counts: Counts, costs: dict[str, int]
    ) -> Collection[int]:
        """Compute this process's share of the batches, wait for the others, and return the places of its own."""
        if self.share is None or self.share.size == 1:
            return ()
        own = range(self.share.rank, len(planned), self.share.size)
        mine = Counts()
        for found in self._looked_up([planned[place] for place in own], task):
            self._batch(found, task, mine)
            self._advance(sum(costs[key] for key in found.digests))
        computed = self.share.total(mine.computed)
        counts.computed += computed
        counts.hits -= computed  # they are about to be found in the cache, where they were not before
        counts.batches += mine.batches
        counts.reductions += mine.reductions
        return own

    def _looked_up(self, batches: Iterable[dict[str, ItemT]], task: Task[ItemT]) -> Iterator[_Found[ItemT]]:
        """Yield each batch as the cache knows it, one batch late: the next one is announced before it is computed."""
        name = task_digest(task.signature, task.width, task.stored)
        waiting: _Found[ItemT] | None = None
        for batch in batches:
            digests = {key: item_digest(key) for key in batch}
            known = self.cache.read(name, list(digests.values()), task.width, task.stored)
            missing = {key: item for key, item in batch.items() if digests[key] not in known}
            if missing and task.ahead is not None:
                task.ahead(list(missing.values()))
            if waiting is not None:
                yield waiting
            waiting = _Found(digests, known, missing)
        if waiting is not None:
            yield waiting

    def _batch(self, batch: _Found[ItemT], task: Task[ItemT], counts: Counts) -> Rows:
        """Compute what is missing in a batch, commit that as one."""
        name = task_digest(task.signature, task.width, task.stored)
        digests, known, missing = batch
        counts.hits += len(digests) - len(missing)
        if missing:
            reducer = self._reducers.setdefault(name, Reducer())
            before = reducer.reductions
            values = reducer.compute(list(missing.values()), task)
            counts.reductions += reducer.reductions - before
            fresh = {digests[key]: row for key, row in zip(missing, values, strict=True)}
            known.update(self.cache.write(name, fresh, task.stored))
            counts.computed += len(missing)
            counts.batches += 1
        return {key: known[digest] for key, digest in digests.items()}

    @contextmanager
    def _line(self, task: Task[ItemT], total: int) -> Iterator[None]:
        """Hold one line of progress open."""
        if self.progress is not None:
            self.progress.begin(task.label, total, task.unit)
        try:
            yield
        finally:
            if self.progress is not None:
                self.progress.end()

    def _advance(self, units: int) -> None:
        if self.progress is not None:
            self.progress.advance(units)
