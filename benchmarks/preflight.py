"""Look at every instance once before anything is scored: ids, counts, content, images."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchmarks.errors import InputError
from benchmarks.images import ImageRef, exists
from benchmarks.schema import Instance

RESERVED = ("all", "macro")  # names of the pooled rows in every table of results
LISTED = 20  # ids kept per notice


@dataclass(frozen=True, slots=True)
class Preflight:
    """Hold what one pass over the instances counts.

    Attributes:
        n: Instances.
        n_clusters: Clusters that they form.
        digest: SHA-256 over ids, captions, gold, query and image keys, in order.
        subsets: Instances by subset, in order of appearance.
        shapes: Instances by shape (`1x2`).
        identical: The first ids of instances in which a matching and a mismatching caption are the same text.
        n_identical: How many such instances there are.
        notices: Sentences that every report must show.
    """

    n: int
    n_clusters: int
    digest: str
    subsets: Mapping[str, int]
    shapes: Mapping[str, int]
    identical: tuple[str, ...] = ()
    n_identical: int = 0
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Coverage:
    """Say which instances have all their images.

    Attributes:
        present: Instances whose images are all there.
        expected: All instances.
        missing: Ids of the others, in order.
        keys: Keys of the first missing images.
        first: Where the first of them was looked for.
    """

    present: int
    expected: int
    missing: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    first: str = ""

    @property
    def share(self) -> float:
        """Return present / expected, a proportion; NaN for no instances."""
        return self.present / self.expected if self.expected else float("nan")


@dataclass(slots=True)
class _Tally:
    seen: dict[bytes, int] = field(default_factory=dict)
    clusters: set[bytes] = field(default_factory=set)
    subsets: Counter[str] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    identical: list[str] = field(default_factory=list)
    n_identical: int = 0


def preflight(instances: Iterable[Instance], expected: Mapping[str, int] | None = None) -> Preflight:
    """Check ids, count subsets and shapes, and digest the content, in one pass and with 16 bytes per id.

    Args:
        instances: All that will be scored.
        expected: Instances by subset that the benchmark's card promises; None or empty compares nothing. Only the
            names are compared here: the report says where the numbers differ, since it knows what is absent on purpose.

    Raises:
        InputError: If an id stands twice, a subset has a reserved name, or there is no instance at all.
    """
    tally, total = _Tally(), hashlib.sha256()
    for number, instance in enumerate(instances, 1):
        _check_id(instance, number, tally)
        total.update(content(instance))
        _count(instance, tally)
    if not tally.seen:
        raise InputError(
            "the benchmark has no instances",
            got="0",
            step="check that the files of the release hold rows, and benchmark.subsets and benchmark.limit",
        )
    return Preflight(
        len(tally.seen),
        len(tally.clusters),
        total.hexdigest(),
        dict(tally.subsets),
        dict(tally.shapes),
        tuple(tally.identical),
        tally.n_identical,
        tuple(_notices(tally, expected or {})),
    )


def content(instance: Instance) -> bytes:
    """Return the SHA-256 of an instance's id, captions, gold, query and image keys."""
    parts = [
        instance.id,
        list(instance.captions),
        instance.gold.astype(int).tolist(),
        instance.query,
        [[image.key, list(image.box) if image.box else None] for image in instance.images],
    ]
    # JSON separates the fields unambiguously; ASCII keeps the digest free of any encoding.
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode("ascii")).digest()


def missing_images(instances: Iterable[Instance]) -> Coverage:
    """Look for every image file, without opening one. Only for contestants and probes that see images.

    A row that never had an image counts as missing: whoever needs images cannot use it.
    """
    present = total = 0
    missing: list[str] = []
    keys: dict[str, None] = {}
    first = ""
    known: dict[str, bool] = {}
    for instance in instances:
        total += 1
        lost = [image for image in instance.images if not _there(image, known)]
        if not lost:
            present += 1
            continue
        missing.append(instance.id)
        first = first or next((str(image.path) for image in lost if image.path is not None), "")
        if len(keys) < LISTED:
            keys.update(dict.fromkeys(image.key for image in lost))
    return Coverage(present, total, tuple(missing), tuple(keys), first)


def _there(image: ImageRef, known: dict[str, bool]) -> bool:
    """Tell whether an image is there; files that many instances share are looked up once."""
    if image.path is None:
        return exists(image)
    name = f"{image.path}\0{image.member}"
    if name not in known:
        known[name] = exists(image)
    return known[name]


def _check_id(instance: Instance, number: int, tally: _Tally) -> None:
    key = _short(instance.id)
    if key in tally.seen:
        raise InputError(
            "two instances have one id",
            where=f"instances number {tally.seen[key]} and {number}",
            got=instance.id,
            expected="ids that are unique within the benchmark",
        )
    tally.seen[key] = number
    if instance.subset in RESERVED:
        raise InputError(
            "a subset has a name that tables of results use for something else",
            where=f"instance {instance.id!r}",
            got=instance.subset,
            expected=f"any name but {', '.join(RESERVED)}",
        )


def _count(instance: Instance, tally: _Tally) -> None:
    tally.clusters.add(_short(instance.cluster))
    tally.subsets[instance.subset] += 1
    images, captions = instance.shape
    tally.shapes[f"{images}x{captions}"] += 1
    if _has_identical(instance):
        tally.n_identical += 1
        tally.identical += [instance.id] if len(tally.identical) < LISTED else []


def _has_identical(instance: Instance) -> bool:
    """Tell whether some image has a matching and a mismatching caption that are the same text."""
    if len(set(instance.captions)) == len(instance.captions):
        return False
    return any(
        {text for text, right in zip(instance.captions, row, strict=True) if right and text is not None}
        & {text for text, right in zip(instance.captions, row, strict=True) if not right}
        for row in instance.gold
    )


def _notices(tally: _Tally, expected: Mapping[str, int]) -> Iterable[str]:
    if expected:
        for subset, count in tally.subsets.items():
            if subset not in expected:
                yield f"The card does not know the subset {subset!r} ({count} instance{'' if count == 1 else 's'})."
    if tally.n_identical:
        have, only = ("instance has", "it") if tally.n_identical == 1 else ("instances have", "they")
        yield (
            f"{tally.n_identical} {have} a foil identical to the caption: {only} can only tie "
            f"({', '.join(tally.identical[:5])}{', ...' if tally.n_identical > 5 else ''})."
        )


def _short(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest()
