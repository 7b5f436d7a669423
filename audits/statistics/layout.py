"""Where instances belong: subset, cluster and tags, as codes; and the slices that estimates are made for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.errors import InputError
from benchmarks.schema import Instance

POOLED, MACRO, NAMELESS = "all", "macro", "(no subset)"
MAX_TAG_VALUES = 40


@dataclass(frozen=True, slots=True)
class Layout:
    """Hold the labels of n instances, in their order.

    Attributes:
        benchmark: Registry name.
        subsets: Subset of each instance; empty strings where the benchmark has none.
        clusters: Name of each instance's cluster.
        tags: By tag name, the value of each instance; empty where it has none.
    """

    benchmark: str
    subsets: Sequence[str]
    clusters: Sequence[str]
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Slice(NamedTuple):
    """Hold the instances of one estimate: a subset, or all of them, or one value of a tag."""

    subset: str
    tag: str
    rows: NDArray[np.int64]


class Slices(NamedTuple):
    """Hold the slices of a layout, and the names of tags that have too many values.

    `rest` holds the rows without a subset where others have one (`NAMELESS`), which no macro average counts.
    """

    subsets: list[Slice]
    pooled: Slice
    tagged: list[Slice]
    skipped: tuple[str, ...]
    rest: tuple[Slice, ...] = ()


def layout(benchmark: str, instances: Iterable[Instance]) -> Layout:
    """Read the labels of instances.

    >>> from benchmarks.images import ImageRef
    >>> one = Instance("a", (ImageRef.absent(),), ("x", "y"), np.array([[True, False]]), tags={"tier": "short"})
    >>> layout("demo", [one]).tags
    {'tier': ['short']}
    """
    kept = [(instance.subset, instance.cluster, instance.tags) for instance in instances]
    names = dict.fromkeys(name for _, _, tags in kept for name in tags)
    return Layout(
        benchmark,
        [subset for subset, _, _ in kept],
        [cluster for _, cluster, _ in kept],
        {name: [tags.get(name, "") for _, _, tags in kept] for name in names},
    )


def codes(labels: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct labels in order of appearance, and each row's position among them.

    >>> codes(["b", "a", "b"])
    (['b', 'a'], array([0, 1, 0]))
    """
    names = list(dict.fromkeys(labels))
    place = {name: code for code, name in enumerate(names)}
    return names, np.array([place[label] for label in labels], dtype=np.int64)


def slices(where: Layout, *, max_tag_values: int = MAX_TAG_VALUES) -> Slices:
    """Return the slices to estimate on.

    Args:
        where: Labels of the instances.
        max_tag_values: A tag with more distinct values is no label but free text, and is skipped.

    Returns:
        Slices, and the skipped tags.

    Raises:
        InputError: If the labels differ in number, or a subset has a name that tables use for something else.

    >>> found = slices(Layout("demo", ["x", "y"], ["1", "2"], {"tier": ["short", ""]}))
    >>> [part.subset for part in found.subsets], [(part.tag, part.rows.tolist()) for part in found.tagged]
    (['x', 'y'], [('tier=short', [0])])
    """
    _check(where)
    pooled = Slice(POOLED, "", np.arange(len(where.subsets)))
    subsets = [Slice(name, "", rows) for name, rows in _parts(where.subsets) if name not in ("", POOLED)]
    rest = [Slice(NAMELESS, "", rows) for name, rows in _parts(where.subsets) if name == "" and subsets]
    tagged, skipped = [], []
    for tag, labels in where.tags.items():
        if len(set(labels) - {""}) > max_tag_values:
            skipped.append(tag)
            continue
        tagged += [Slice(POOLED, f"{tag}={name}", rows) for name, rows in _parts(labels) if name]
    return Slices(subsets, pooled, tagged, tuple(skipped), tuple(rest))


def _parts(labels: Sequence[str]) -> list[tuple[str, NDArray[np.int64]]]:
    names, place = codes(labels)
    order = np.argsort(place, kind="stable")
    edges = np.searchsorted(place[order], np.arange(len(names) + 1))
    return [(name, order[edges[code] : edges[code + 1]]) for code, name in enumerate(names)]


def _check(where: Layout) -> None:
    sizes = {len(where.subsets), len(where.clusters), *(len(labels) for labels in where.tags.values())}
    if len(sizes) > 1:
        raise InputError("labels of instances differ in number", where=where.benchmark, got=str(sorted(sizes)))
    used = Counter(where.subsets)
    taken = next((name for name in (MACRO, NAMELESS) if name in used), "")
    clash = taken or (POOLED if POOLED in used and len(used) > 1 else "")
    if clash:
        raise InputError(
            "a subset has a name that the tables use themselves",
            where=where.benchmark,
            got=clash,
            expected=f"any name but {POOLED!r} (pooled over the subsets), {MACRO!r} (mean of the subsets) and "
            f"{NAMELESS!r} (rows without one)",
            step="rename the subset",
        )
