"""Fit on the other folds, score the held-out one, and put the cells of all subsets into order."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from audits.crossfit.groups import Key, connected, folds, refuse_overlap, shared
from audits.scoring import Cells, Gather, handed_over, orders
from baselines.schema import CrossFitted, Scored, Side
from benchmarks.errors import InputError
from benchmarks.schema import Candidates, Instance

CONNECTED = "cannot be cross-fitted: all instances are connected"


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """Hold the instances that one fit after the other shares.

    Attributes:
        name: The subset's name, or empty.
        places: Position of each of its m instances in the benchmark.
        instances: The instances.
        given: What is handed over of each, options in an order that says nothing.
        keys: What each may share with others.
        groups: Positions within the subset, by connected group.
    """

    name: str
    places: list[int]
    instances: list[Instance]
    given: list[Candidates]
    keys: list[frozenset[Key]]
    groups: list[list[int]]


@dataclass(slots=True)
class Fits:
    """Hold what one round over all subsets and folds gave.

    Attributes:
        cells: The scores, in the benchmark's order.
        fold: Number of the fit that scored each instance, -1 where none did; int64 [n].
        problems: Why a subset is unscored, by name.
        counts: Folds by subset.
    """

    cells: Cells
    fold: NDArray[np.int64]
    problems: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


def subsets(instances: Sequence[Instance], *, seed: int) -> list[Subset]:
    """Return the subsets of a benchmark, in order of first appearance; without a name they are one.

    Args:
        instances: All instances.
        seed: Of the order of options.
    """
    places: dict[str, list[int]] = {}
    for place, instance in enumerate(instances):
        places.setdefault(instance.subset, []).append(place)
    found = []
    for name, inside in places.items():
        own = [instances[place] for place in inside]
        given = [handed_over(one, *orders(seed, one)) for one in own]
        keys = [shared(one) for one in own]
        found.append(Subset(name, inside, own, given, keys, connected(keys)))
    return found


class Runner:
    """Fit one contestant on folds again and again.

    Args:
        scorer: The contestant, prepared.
        parts: The subsets.
        k: Folds.
        seed: Of the order of options, and handed to every fit.
    """

    def __init__(self, scorer: CrossFitted, parts: Sequence[Subset], *, k: int, seed: int) -> None:
        self.scorer, self.parts, self.k, self.seed = scorer, parts, k, seed
        self._size = sum(len(part.places) for part in parts)

    def fits(self, *, fold_seed: int, shuffled: bool = False) -> Fits:
        """Score every instance with what was learned from the other folds of its subset.

        Args:
            fold_seed: Of the spread of groups over folds, and of shuffling.
            shuffled: Whether the gold of the training instances is permuted within each instance, anew for every fit.
        """
        started = time.perf_counter()
        scores: dict[int, tuple[Instance, Scored]] = {}
        fold_of = np.full(self._size, -1, dtype=np.int64)
        problems: dict[str, str] = {}
        counts: dict[str, int] = {}
        number = 0
        for part in self.parts:
            made = folds([one.id for one in part.instances], part.groups, k=self.k, seed=fold_seed)
            refuse_overlap(part.keys, made)
            counts[part.name] = len(made)
            for order, held in enumerate(made):
                draw = _draw(fold_seed, part.name, order) if shuffled else None
                found = CONNECTED if len(made) < 2 else self._fit(part, held, draw)
                if isinstance(found, str):
                    problems[part.name] = found
                    found = [self._missing(part.instances[place], found) for place in held]
                else:
                    fold_of[[part.places[place] for place in held]] = number
                scores |= {part.places[p]: (part.instances[p], one) for p, one in zip(held, found, strict=True)}
                number += 1
        return Fits(self._cells(scores, time.perf_counter() - started), fold_of, problems, counts)

    def _fit(self, part: Subset, held: Sequence[int], draw: int | None) -> list[Scored] | str:
        """Return the scores of a held-out fold, or why there are none."""
        inside = set(held)
        training = [one for place, one in enumerate(part.instances) if place not in inside]
        training.sort(key=lambda one: one.id)
        if draw is not None:
            training = list(shuffle(training, self.scorer.sees, draw))
        try:
            fitted = self.scorer.fit(training, seed=self.seed)
        except InputError as error:
            return f"cannot be fitted: {error.what}"
        found = fitted.score([part.given[place] for place in held])
        if len(found) != len(held):
            raise TypeError(f"{self.scorer.name} returned {len(found)} results for {len(held)} candidates")
        return found

    def _missing(self, instance: Instance, reason: str) -> Scored:
        """Return scores that say why there are none."""
        rows = instance.shape.images if "image" in self.scorer.sees else 1
        columns = instance.shape.captions if "text" in self.scorer.sees else 1
        grid = np.full((rows, columns), np.nan)
        notes = dict.fromkeys([(row, column) for row in range(rows) for column in range(columns)], reason)
        return Scored(dict.fromkeys(self.scorer.columns, grid), notes=notes)

    def _cells(self, scores: Mapping[int, tuple[Instance, Scored]], seconds: float) -> Cells:
        gather = Gather(self.scorer)
        for place in range(self._size):
            instance, scored = scores[place]
            gather.add(place, instance.shape, orders(self.seed, instance), scored)
        return gather.done(seconds)


def _draw(fold_seed: int, subset: str, fold: int) -> int:
    """Return the seed of one fit's shuffle, whatever other subsets there are."""
    return int.from_bytes(hashlib.sha256(f"{fold_seed}\0{subset}\0{fold}".encode()).digest()[:8], "big")


def shuffle(training: Sequence[Instance], sees: frozenset[Side], draw: int) -> Iterator[Instance]:
    """Yield the instances with the gold of their options permuted: captions where text is seen, images where they are.

    Args:
        training: Instances in a stable order.
        sees: What the contestant is shown.
        draw: Seed of the permutations.
    """
    rng = np.random.default_rng(draw)
    for one in training:
        gold = one.gold
        gold = gold[:, rng.permutation(gold.shape[1])] if "text" in sees else gold
        gold = gold[rng.permutation(gold.shape[0])] if "image" in sees else gold
        yield replace(one, gold=gold)
