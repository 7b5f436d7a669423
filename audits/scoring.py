"""Hand candidates to scorers and put what comes back into order.

A scorer sees options in an order derived from a digest of (seed, id), so position says nothing; here the scores are
put back. Cells are kept as flat arrays over the whole benchmark, one entry per (instance, image, caption) that the
scorer could tell apart: a text-only scorer has one per caption.
"""

from __future__ import annotations

import hashlib
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from baselines.schema import CrossFitted, Scored, Scorer, Side, Work
from benchmarks.schema import Candidates, Instance, Shape

ItemT = TypeVar("ItemT")
NO_REASON = "the scorer gave no reason"
NOT_FINITE = "not finite"


def option_order(seed: int, instance_id: str, axis: str, count: int) -> list[int]:
    """Return a permutation of range(count) that depends on nothing but its arguments.

    >>> sorted(option_order(42, "add_att:0", "caption", 3))
    [0, 1, 2]
    """
    key = f"{seed}\0{instance_id}\0{axis}\0"
    return sorted(range(count), key=lambda index: hashlib.sha256(f"{key}{index}".encode()).digest())


def chunks(items: Iterable[ItemT], size: int) -> Iterator[list[ItemT]]:
    """Yield lists of at most `size` items, in order."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


@dataclass(frozen=True, slots=True)
class Cells:
    """Hold what one scorer measured over a whole benchmark, flat; N cells.

    Attributes:
        instance: Position of the instance, int32 [N], ascending.
        image: Position of the image in the release's order, int16 [N]; -1 where the scorer saw none.
        caption: Position of the caption, int16 [N]; -1 where the scorer saw none.
        columns: Scores by column name, float64 [N].
        tokens: Tokens of the caption, int32 [N]; -1 where there are none to count.
        truncated: Whether the caption was cut, boolean [N].
        notes: Reason by cell for every NaN, and anything else worth keeping.
        sees: What the scorer was shown; the other side is repeated in `grids`.
        seconds: Time spent scoring.
    """

    instance: NDArray[np.int32]
    image: NDArray[np.int16]
    caption: NDArray[np.int16]
    columns: Mapping[str, NDArray[np.float64]]
    tokens: NDArray[np.int32]
    truncated: NDArray[np.bool_]
    notes: Mapping[int, str]
    sees: frozenset[Side]
    seconds: float

    def grids(self, column: str, shapes: Sequence[Shape]) -> Grids:
        """Return one column as [I, T] arrays, one per instance."""
        starts = np.searchsorted(self.instance, np.arange(len(shapes) + 1))
        return Grids(self.columns[column], starts, shapes, self.sees)


class Grids(Sequence[NDArray[np.float64]]):
    """Present a flat column as a sequence of [I, T] arrays without holding them all."""

    def __init__(
        self,
        values: NDArray[np.float64],
        starts: NDArray[np.int64],
        shapes: Sequence[Shape],
        sees: frozenset[Side],
    ) -> None:
        self._values, self._starts, self._shapes, self._sees = values, starts, shapes, sees

    def __len__(self) -> int:
        """Return the number of instances."""
        return len(self._shapes)

    @overload
    def __getitem__(self, index: int) -> NDArray[np.float64]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[NDArray[np.float64]]: ...
    def __getitem__(self, index: int | slice) -> NDArray[np.float64] | Sequence[NDArray[np.float64]]:
        """Return the [I, T] scores of one instance; a side that the scorer does not see is repeated."""
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        position = index % len(self)
        block = self._values[self._starts[position] : self._starts[position + 1]]
        seen = block.reshape(_seen(self._sees, self._shapes[position]))
        return np.broadcast_to(seen, self._shapes[position])

    def stacked(self, rows: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the scores of instances of one shape at once, [m, I, T], the same as one after the other."""
        one = Shape(*shape)
        images, captions = _seen(self._sees, one)
        places = self._starts[rows][:, None] + np.arange(images * captions)
        return np.broadcast_to(self._values[places].reshape(-1, images, captions), (len(rows), *one))


class Gather:
    """Collect the cells of one scorer instance by instance, in the order of the benchmark."""

    def __init__(self, scorer: Scorer | CrossFitted) -> None:
        self.scorer = scorer
        # Arrays, not lists of objects: a large benchmark has millions of cells.
        self.values = {name: array("d") for name in scorer.columns}
        self.instance, self.image, self.caption = array("i"), array("h"), array("h")
        self.tokens, self.truncated = array("i"), array("b")
        self.notes: dict[int, str] = {}

    def add(self, position: int, shape: Shape, orders: tuple[list[int], list[int]], scored: Scored) -> None:
        """Take the scores of one instance, given in the order that the scorer saw."""
        rows, columns = _seen(self.scorer.sees, shape)
        image_order = orders[0] if "image" in self.scorer.sees else [0]
        caption_order = orders[1] if "text" in self.scorer.sees else [0]
        back = [row * columns + column for row in _back(image_order) for column in _back(caption_order)]
        first = len(self.instance)
        for name in self.scorer.columns:
            flat = _checked(self.scorer, name, scored, (rows, columns)).ravel().tolist()
            self.values[name].extend([flat[place] for place in back])
        self._cells(position, rows, columns)
        for kept, given, missing in ((self.tokens, scored.tokens, -1), (self.truncated, scored.truncated, 0)):
            whole = [missing] * len(back) if given is None else np.asarray(given).ravel().tolist()
            kept.extend([int(whole[place]) for place in back])
        for (row, column), reason in scored.notes.items():
            self.notes[first + image_order[row] * columns + caption_order[column]] = reason

    def _cells(self, position: int, rows: int, columns: int) -> None:
        images = range(rows) if "image" in self.scorer.sees else [-1]
        captions = range(columns) if "text" in self.scorer.sees else [-1]
        for image in images:
            self.instance.extend([position] * columns)
            self.image.extend([image] * columns)
            self.caption.extend(captions)

    def done(self, seconds: float) -> Cells:
        """Return the cells; a missing score without a reason is given one that says so."""
        columns = {name: np.array(values, np.float64) for name, values in self.values.items()}
        for values in columns.values():
            for cell in np.flatnonzero(np.isinf(values)):
                values[cell] = np.nan
                self.notes.setdefault(int(cell), NOT_FINITE)
            for cell in np.flatnonzero(np.isnan(values)):
                self.notes.setdefault(int(cell), NO_REASON)
        return Cells(
            np.array(self.instance, np.int32),
            np.array(self.image, np.int16),
            np.array(self.caption, np.int16),
            columns,
            np.array(self.tokens, np.int32),
            np.array(self.truncated, np.bool_),
            self.notes,
            self.scorer.sees,
            seconds,
        )


def score(scorer: Scorer, instances: Iterable[Instance], work: Work, *, seed: int, chunk: int) -> Cells:
    """Score all instances with one scorer.

    Args:
        scorer: The contestant.
        instances: The benchmark.
        work: The engine.
        seed: Of the order in which options are handed over.
        chunk: Instances handed over at a time.

    Raises:
        TypeError: If the scorer returns something else than its contract says (a fault in the scorer).
    """
    gather = Gather(scorer)
    started = time.perf_counter()
    position = 0
    for batch in chunks(instances, chunk):
        turned = [orders(seed, one) for one in batch]
        given = [handed_over(one, *order) for one, order in zip(batch, turned, strict=True)]
        scores = scorer.score(given, work)
        if len(scores) != len(given):
            raise TypeError(f"{scorer.name} returned {len(scores)} results for {len(given)} candidates")
        for one, order, scored in zip(batch, turned, scores, strict=True):
            gather.add(position, one.shape, order, scored)
            position += 1
    return gather.done(time.perf_counter() - started)


def orders(seed: int, instance: Instance) -> tuple[list[int], list[int]]:
    """Return the order in which the images, and that in which the captions of an instance are handed over."""
    images, captions = instance.shape
    return option_order(seed, instance.id, "image", images), option_order(seed, instance.id, "caption", captions)


def handed_over(instance: Instance, images: list[int], captions: list[int]) -> Candidates:
    """Return what a scorer receives of an instance, in these orders."""
    return Candidates(
        instance.id,
        tuple(instance.images[index] for index in images),
        tuple(instance.captions[index] for index in captions),
        instance.query,
    )


def _back(order: Sequence[int]) -> list[int]:
    """Return where each option of the release stands in an order: the inverse permutation."""
    return sorted(range(len(order)), key=order.__getitem__)


def _seen(sees: frozenset[Side], shape: Shape) -> tuple[int, int]:
    """Return the shape of what a scorer returns for an instance."""
    return (shape.images if "image" in sees else 1, shape.captions if "text" in sees else 1)


def _checked(scorer: Scorer | CrossFitted, name: str, scored: Scored, wanted: tuple[int, int]) -> NDArray[np.float64]:
    """Return one column as float64, refusing what breaks the contract."""
    if name not in scored.columns:
        raise TypeError(f"{scorer.name} declares the column {name!r} and returned {sorted(scored.columns)}")
    values = np.array(scored.columns[name], dtype=np.float64)
    if values.shape != wanted:
        raise TypeError(f"{scorer.name} returned shape {values.shape} for column {name!r}, expected {wanted}")
    return values
