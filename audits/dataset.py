"""The instances of a run: what is selected of a benchmark, and its roster.

Instances themselves are never all held; the roster (ids, subsets, clusters, gold) is, since every statistic needs it.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from audits.statistics.layout import Layout
from baselines.text_form import normalised
from benchmarks.errors import InputError
from benchmarks.preflight import Coverage, Preflight, missing_images, preflight
from benchmarks.schema import Benchmark, Instance, PreparesImages, Shape

Missing = Literal["error", "exclude"]
SHOWN = 5


@dataclasses.dataclass(frozen=True, slots=True)
class Roster:
    """Hold what scoring and statistics need of n instances, without text or images.

    Attributes:
        ids: Instance ids [n].
        groups: Group of each, or empty [n].
        golds: Boolean [I, T] of each [n]; equal ones are one object.
        shapes: (I, T) of each [n].
        labels: Subset, cluster and tags of each.
        texts: Code of each instance's captions and query, normalised and in any order [n]; equal ones are equal.
    """

    ids: list[str]
    groups: list[str]
    golds: list[NDArray[np.bool_]]
    shapes: list[Shape]
    labels: Layout
    texts: list[int] = dataclasses.field(default_factory=list)


class Dataset:
    """Iterate over the selected instances of a benchmark, again and again, in its own order.

    Args:
        benchmark: What to read.
        limit: Only the first so many instances, or None for all.
        excluded: Ids left out because an image is missing.
    """

    def __init__(
        self, benchmark: Benchmark, *, limit: int | None = None, excluded: frozenset[str] = frozenset()
    ) -> None:
        self.benchmark, self.limit, self.excluded = benchmark, limit, excluded

    def __iter__(self) -> Iterator[Instance]:
        """Yield the selected instances."""
        for instance in islice(iter(self.benchmark), self.limit):
            if instance.id not in self.excluded:
                yield instance

    def check(self) -> Preflight:
        """Return counts, shapes and the content digest; refuse a repeated id.

        Counts are compared with the card's only where the whole benchmark is read.
        """
        return preflight(self, self._expected())

    def roster(self, name: str) -> Roster:
        """Read through the instances once and return what scoring and statistics need.

        Args:
            name: Registry name of the benchmark, for the tables.
        """
        rows = _Rows()
        for instance in self:
            rows.take(instance)
        return rows.roster(name)

    def survey(self, name: str) -> tuple[Preflight, Roster]:
        """Return what `check` and `roster` return, with one reading of the instances."""
        rows = _Rows()
        checked = preflight(map(rows.take, self), self._expected())
        return checked, rows.roster(name)

    def _expected(self) -> Mapping[str, int] | None:
        whole = self.limit is None and not self.excluded
        return self.benchmark.card.expected if whole else None


def _told(instance: Instance) -> bytes:
    """Return a digest of what a text-only scorer is told: long sets would not keep their captions in memory twice."""
    told = [normalised(caption) for caption in instance.captions if caption is not None]
    known = len(told) == len(instance.captions)
    # An instance without text is like no other.
    words = [normalised(instance.query), *sorted(told)] if known else ["", "without text", instance.id]
    return hashlib.blake2b("\n".join(words).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class _Rows:
    """Collect what a roster holds, equal values as one object: parsers make every label anew."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.groups: list[str] = []
        self.subsets: list[str] = []
        self.clusters: list[str] = []
        self.golds: list[NDArray[np.bool_]] = []
        self.shapes: list[Shape] = []
        self.tags: dict[str, list[str]] = {}
        self._golds: dict[tuple[Shape, bytes], tuple[Shape, NDArray[np.bool_]]] = {}
        self._texts: dict[str, str] = {}
        self.told: list[int] = []
        self._codes: dict[bytes, int] = {}

    def take(self, instance: Instance) -> Instance:
        """Take one instance and return it."""
        for label, column in (
            (instance.group, self.groups),
            (instance.subset, self.subsets),
            (instance.cluster, self.clusters),
        ):
            column.append(self._texts.setdefault(label, label))
        shape, gold = instance.shape, instance.gold
        shape, gold = self._golds.setdefault((shape, gold.tobytes()), (shape, gold))
        self.shapes.append(shape)
        self.golds.append(gold)
        for tag, value in instance.tags.items():
            _extend(self.tags.setdefault(tag, []), len(self.ids)).append(self._texts.setdefault(value, value))
        self.ids.append(instance.id)
        self.told.append(self._codes.setdefault(_told(instance), len(self._codes)))
        return instance

    def roster(self, name: str) -> Roster:
        """Return the roster of what was taken."""
        for column in self.tags.values():
            _extend(column, len(self.ids))
        labels = Layout(name, self.subsets, self.clusters, self.tags)
        return Roster(self.ids, self.groups, self.golds, self.shapes, labels, self.told)


def _extend(column: list[str], length: int) -> list[str]:
    """Fill a column up to a length with empty values, for instances that lack the tag."""
    column.extend([""] * (length - len(column)))
    return column


def open_dataset(
    benchmark: Benchmark, *, limit: int | None, missing: Missing, images: bool
) -> tuple[Dataset, Coverage | None]:
    """Select the instances of a run and check that the images they need are there.

    Args:
        benchmark: What to read.
        limit: Only the first so many instances.
        missing: What to do about an image that is needed and not there: refuse, or leave its instances out.
        images: Whether a selected contestant or probe sees images.

    Returns:
        The instances, and the coverage, or None where no image is needed.

    Raises:
        InputError: If an image is missing and `missing` is `error`, or nothing is left.
    """
    dataset = Dataset(benchmark, limit=limit)
    if images and isinstance(benchmark, PreparesImages):
        benchmark.prepare_images()
    coverage = missing_images(dataset) if images else None
    if coverage is None:
        return dataset, None
    if coverage.missing and missing == "error":
        raise _missing(benchmark, coverage)
    if coverage.present == 0:
        raise InputError("there is no instance to run on", where=benchmark.provenance.location, got="0 instances")
    return Dataset(benchmark, limit=limit, excluded=frozenset(coverage.missing)), coverage


def _missing(benchmark: Benchmark, coverage: Coverage) -> InputError:
    ids = ", ".join(coverage.missing[:SHOWN])
    more = len(coverage.missing) - SHOWN
    keys = [key for key in coverage.keys[:SHOWN] if key]
    return InputError(
        f"{len(coverage.missing)} of {coverage.expected} instances need an image that is not there",
        where=coverage.first or benchmark.provenance.location,
        got=f"instances {ids}"
        + (f" and {more} more" if more > 0 else "")
        + (f"; the first images: {', '.join(keys)}" if keys else ""),
        expected=benchmark.card.how_to_get_images,
        step="get the images, or run on the rest with benchmark.missing=exclude (the report then shows the coverage)",
    )
