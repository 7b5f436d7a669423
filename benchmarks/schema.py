"""The record that everything else hangs on: `Instance`, and what a scorer may see of it, `Candidates`.

Shapes are written `[I, T]`: I images, T captions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from benchmarks.errors import InputError
from benchmarks.images import ImageRef

Origin = Literal["root", "hub", "sample", "table"]
MAX_ID = 512


class Shape(NamedTuple):
    """Number of images and captions of an instance."""

    images: int
    captions: int


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """Hold one question of a benchmark: its images, its captions, and which of them match.

    Attributes:
        id: Unique within the benchmark and stable across runs, made of the release's own keys (`swap_obj:10`).
        images: I references to images, none of them opened.
        captions: T strings, byte for byte as released; `None` only for recorded scores that come without text.
        gold: Boolean [I, T], true where the caption fits the image. Order carries no meaning, except that in a
            2x2 instance row and column 0 are called the *base* side and 1 the *foil* side.
        query: Text that stands before every caption (a question, a prompt); usually empty.
        subset: The benchmark's own split (`swap_obj`).
        cluster: What instances share (scene, image): the unit of resampling. Falls back to the image, then to the id.
        group: Instances that the benchmark scores together (an MMVP pair); empty elsewhere.
        tags: Any other label by name (`tier`, `edit_type`).

    Raises:
        InputError: If a field breaks one of these rules; the message names the instance and the field.
    """

    id: str
    images: tuple[ImageRef, ...]
    captions: tuple[str | None, ...]
    gold: NDArray[np.bool_]
    query: str = ""
    subset: str = ""
    cluster: str = ""
    group: str = ""
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        gold = np.array(self.gold, dtype=bool)
        gold.setflags(write=False)
        object.__setattr__(self, "gold", gold)
        object.__setattr__(self, "tags", MappingProxyType(dict(self.tags)))
        if not self.cluster:
            object.__setattr__(self, "cluster", self._fallback_cluster())
        _check(self)

    def _fallback_cluster(self) -> str:
        keys = [image.key for image in self.images if not image.is_absent]
        return keys[0] if keys else self.id

    @property
    def shape(self) -> Shape:
        """Return (I, T)."""
        return Shape(len(self.images), len(self.captions))

    def candidates(self) -> Candidates:
        """Return what a scorer may see: no gold, no tags, no subset."""
        return Candidates(self.id, self.images, self.captions, self.query)


def _check(instance: Instance) -> None:
    """Refuse an instance that breaks a rule of the record."""
    wrong = ""
    shape = (len(instance.images), len(instance.captions))
    if not instance.id or len(instance.id) > MAX_ID:
        wrong = f"the id must have 1 to {MAX_ID} characters, this one has {len(instance.id)}"
    elif 0 in shape:
        wrong = "an instance needs at least one image reference (ImageRef.absent() if there is none) and one caption"
    elif instance.gold.shape != shape:
        wrong = f"gold must have shape {list(shape)} (images, captions), got {list(instance.gold.shape)}"
    elif shape == (1, 1) or instance.gold.all() or not instance.gold.any():
        wrong = "gold needs at least one matching and one mismatching pair"
    if wrong:
        raise InputError("not a valid instance", where=f"instance {instance.id[:80]!r}", got=wrong)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Hold all that a scorer ever receives of an instance. Options come in an order that says nothing."""

    id: str
    images: tuple[ImageRef, ...]
    captions: tuple[str | None, ...]
    query: str = ""

    @property
    def shape(self) -> Shape:
        """Return (I, T)."""
        return Shape(len(self.images), len(self.captions))


@dataclass(frozen=True, slots=True)
class Card:
    """Describe a benchmark: where it comes from, on what terms, what it should hold. Lives in the YAML.

    Attributes:
        title: Name as its authors write it.
        paper: Key in `docs/refs.bib`.
        homepage: Address of the official release.
        hub: Hub data set id, or empty.
        revision: Pinned hub revision (a commit), or empty.
        licence: Licence as its authors state it, or `unknown`.
        gated: Whether the hub asks to accept terms first.
        shape: Shape in words: `1x2`, `2x2`, ...
        primary: The primary metric.
        expected: Expected number of instances by subset.
        files: SHA-256 of the release's files by relative path, where one release is pinned.
        addresses: Where the release's files can be fetched from, by relative path; each has a checksum in `files`.
        needs_images: Whether models under audit need image files (blind text baselines never do).
        issues: Known issues, each with the release that it applies to.
        upstream: Upstream's own metrics beside ours, by the names of `audits/upstream`.
        breakdown: What results are broken down by beside subsets and tags, as `audits/breakdown` reads it.
        how_to_get: How to get the annotations.
        how_to_get_images: How to get the images.
    """

    title: str
    paper: str
    homepage: str
    licence: str
    shape: str
    primary: str
    how_to_get: str
    hub: str = ""
    revision: str = ""
    gated: bool = False
    expected: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    needs_images: bool = True
    issues: tuple[str, ...] = ()
    how_to_get_images: str = ""
    upstream: tuple[str, ...] = ()
    breakdown: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Say where the instances that were really read came from.

    Attributes:
        origin: `root` (a folder of the user's), `hub`, `sample` (the bundled generator) or `table`.
        location: Folder, file or hub id, as the user may be shown it.
        revision: Hub commit or sample specification digest; empty for a folder.
        files: SHA-256 by relative path of every annotation file read.
        absent: Parts of the release that are not there (listed, not fatal).
        notices: Sentences that every report must show (what was left out, known issues that apply).
    """

    origin: Origin
    location: str
    revision: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


class Benchmark(Protocol):
    """Anything with a card and a provenance that can be iterated any number of times, lazily, in a stable order."""

    @property
    def card(self) -> Card:
        """Return what the benchmark should be."""

    @property
    def provenance(self) -> Provenance:
        """Return where its instances come from; complete before the first iteration."""

    def __iter__(self) -> Iterator[Instance]:
        """Yield instances lazily in a stable order."""


@runtime_checkable
class PreparesImages(Protocol):
    """A benchmark whose images are made on demand."""

    def prepare_images(self) -> None:
        """Make the images; called only where a selected contestant or probe sees images."""


class DrawnPair(Protocol):
    """A base and a foil as pictures, for people to look at."""

    @property
    def edit_type(self) -> str:
        """Return what the edit changes."""

    @property
    def captions(self) -> tuple[str, str]:
        """Return the captions of base and foil."""

    @property
    def base(self) -> bytes:
        """Return the base picture as a PNG file."""

    @property
    def foil(self) -> bytes:
        """Return the foil picture as a PNG file."""


@runtime_checkable
class ShowsExamples(Protocol):
    """A benchmark that can show a few of its pairs without anything being fetched."""

    def examples(self, count: int = 6) -> Sequence[DrawnPair]:
        """Return a few pairs; none where there is nothing to show."""
