"""The contracts of contestants: what a scorer receives, what it returns, and what it must declare.

Higher is a better match, everywhere. NaN is "could not score" and always comes with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from benchmarks.schema import Candidates, Instance

Side = Literal["text", "image"]
Stored = Literal["float64", "float32"]
ItemT = TypeVar("ItemT")
TEXT: frozenset[Side] = frozenset({"text"})
IMAGE: frozenset[Side] = frozenset({"image"})
BOTH: frozenset[Side] = frozenset({"text", "image"})


@dataclass(frozen=True, slots=True)
class Scored:
    """Hold the scores of one `Candidates`, one array per column of the scorer.

    Attributes:
        columns: Scores by column name, float64 [I, T]; a text-only scorer gives one row [1, T], an image-only one one
            column [I, 1], repeated by the runner.
        tokens: Tokens per caption, int64, the same shape, or None where the scorer has no tokens.
        truncated: Whether the caption was cut, boolean, the same shape, or None.
        notes: Reason by (row, column) for every NaN, and anything else worth keeping about a cell.
    """

    columns: Mapping[str, NDArray[np.float64]]
    tokens: NDArray[np.int64] | None = None
    truncated: NDArray[np.bool_] | None = None
    notes: Mapping[tuple[int, int], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Task(Generic[ItemT]):
    """Describe one measurement that the engine plans, caches, retries and shows progress for.

    Attributes:
        label: What the progress line calls it.
        signature: Everything that could change a value; the cache's name space.
        key: Content key of an item (equal keys are measured once).
        cost: Size of an item (tokens, pixels); batches hold items of similar size, the largest first.
        budget: Largest padded cost of one batch (longest item x number of items).
        width: Numbers per item, F.
        compute: Measure items: numbers [n, F], row by row in the order given. May raise MemoryError or torch's
            out-of-memory error; the engine then halves the batch and asks for the same items again.
        unit: What `cost` counts, for the progress line (`tokens`, `pixels`).
        plan: Another way to form batches than by size: takes the distinct items, the most costly first (ties by key),
            and returns batches of positions in that list; every position exactly once, the same for the same items.
        stored: The dtype that values are kept and returned in: float32 halves the cache of long rows (embeddings).
        ahead: Told the items of a batch before the one in front of it is computed, so that files can be read
            meanwhile; each batch with something to compute is announced once.
    """

    label: str
    signature: str
    key: Callable[[ItemT], str]
    cost: Callable[[ItemT], int]
    budget: int
    width: int
    compute: Callable[[Sequence[ItemT]], NDArray[Any]]
    unit: str = "items"
    plan: Callable[[Sequence[ItemT]], Sequence[Sequence[int]]] | None = None
    stored: Stored = "float64"
    ahead: Callable[[Sequence[ItemT]], None] | None = None


class Work(Protocol):
    """What the runner lends to a scorer: measured items, each distinct one computed once, cached and resumable."""

    def measure(self, items: Sequence[ItemT], task: Task[ItemT]) -> NDArray[Any]:
        """Return numbers [n, F] in the dtype that the task names (float64), row i belonging to items[i]."""


@runtime_checkable
class Scorer(Protocol):
    """Anything that scores candidates. There is nothing to inherit.

    Attributes:
        name: Name in every table (`length`, `likelihood:SmolLM2-135M-Instruct`).
        sees: What it is shown: `TEXT`, `IMAGE` or `BOTH`.
        columns: Names of its columns in the order of tables; `("",)` if there is only one. The table's scorer name
            is `name:column`.
        signature: Everything that could change a number, flat (weights + revision, dtype, text form, start token,
            normalisation, image transform, context length, library versions).

    A scorer may also have `facts: Mapping[str, str | int]`: what a reader should know of how it went (a fallback that
    was taken, captions that were scored twice). Facts change no number beyond rounding; the runner records them.
    And `tolerance: float`: scores that differ by no more are tied, where rounding alone could part equal ones.
    And `threshold: float`: a score above it says that image and caption match, for scores that are such judgements
    (a probability of matching, 0.5); some benchmarks count these beside the comparisons.
    And `blind: bool`: it is a blind baseline although it is selected with a model (the model's twin that is denied the
    image). And `needs_images: bool`: it opens image files although it sees none of the instance's own (another
    instance's stands in). And `prior_of: str`: its log-likelihoods are an estimate of log P(text) that can be taken off
    those of the contestant of that name.
    """

    name: str
    sees: frozenset[Side]
    columns: tuple[str, ...]

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number."""

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return one `Scored` per candidate, in order. Scores must not depend on the order of options or instances."""


@runtime_checkable
class Surveys(Protocol):
    """A scorer that draws something from the benchmark as a whole (another instance's image)."""

    def survey(self, every: Iterable[Candidates]) -> None:
        """Look through all instances of a run; called before the first is scored. Their order must not matter."""


class Fitted(Protocol):
    """What a trained baseline learned from some of the instances."""

    def score(self, batch: Sequence[Candidates]) -> list[Scored]:
        """Return one `Scored` per candidate, in order, with the columns of the baseline that was fitted."""


@runtime_checkable
class CrossFitted(Protocol):
    """A baseline trained on the benchmark itself. The runner owns the folds and shows gold of the training folds only.

    `name`, `sees`, `columns`, `signature` and the optional `facts` and `tolerance` are as in `Scorer`.
    """

    name: str
    sees: frozenset[Side]
    columns: tuple[str, ...]

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number, but for the folds."""

    def prepare(self, batch: Sequence[Candidates], work: Work) -> None:
        """Compute what needs no gold, once for all folds (sentence embeddings); called before the first fit."""

    def fit(self, training: Sequence[Instance], *, seed: int) -> Fitted:
        """Learn from instances with gold.

        Args:
            training: Instances of one subset, from the training folds.
            seed: Of anything that is drawn.

        Raises:
            InputError: If nothing can be learned from these instances (the message says why).
        """


class Progress(Protocol):
    """Where long work reports how far it is; drawn by the runner, never by a scorer."""

    def begin(self, label: str, total: int, unit: str) -> None:
        """Start a line of work of `total` units (`captions`, `tokens`)."""

    def advance(self, units: int) -> None:
        """Report that this many more units are done."""

    def end(self) -> None:
        """Close the current line of work."""
