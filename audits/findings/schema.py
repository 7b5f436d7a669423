"""What findings share: an instance as they read it, thresholds, and how far a cue leans to one side."""

from __future__ import annotations

import heapq
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from math import isfinite
from typing import Any, NamedTuple, Protocol

import regex

from audits.statistics.intervals import wilson
from benchmarks.errors import InputError, near
from benchmarks.schema import Instance
from reports.schema import Finding, Severity

WHERE = "verdict.findings"
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}']+")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Hold the thresholds of `conf/verdict` under `findings`.

    Attributes:
        notice: Distance from one half, as a proportion, from which a cue is a notice: that of the near bound of the
            interval around the share in which the cue alone picks one side.
        warning: The same for a warning.
        faults: Share of instances with a fault from which it is a warning; a rarer one is a notice.
        alpha: Two-sided error of token artefacts over all words tested in a subset.
        least_pairs: Instances that must hold a word on one side only before it is tested.
        words: Words named in a sentence.
        shown: Instances attached to a finding.
    """

    notice: float
    warning: float
    faults: float
    alpha: float
    least_pairs: int
    words: int
    shown: int

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Thresholds:
        """Return the thresholds of a configuration.

        Raises:
            InputError: If one is missing, unknown or out of range.
        """
        names = [item.name for item in fields(cls)]
        for key in values:
            if key not in names:
                raise InputError("no such threshold", where=WHERE, got=str(key), step=near(str(key), names))
        for name in names:
            _check(name, values.get(name))
        return cls(**{name: values[name] for name in names})

    def distance(self, distance: float) -> Severity:
        """Return the severity of a distance from what chance gives."""
        return "warning" if distance >= self.warning else "notice" if distance >= self.notice else "info"

    def fault(self, count: int, n: int) -> Severity:
        """Return the severity of a fault that `count` of `n` instances have."""
        return "warning" if n and count / n >= self.faults else "notice"


def _check(name: str, value: object) -> None:
    """Refuse a threshold that is no number, or out of range."""
    whole = name in ("least_pairs", "words", "shown")
    number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if isinstance(value, int | float) and number and isfinite(value) and (value >= 1 if whole else 0 < value < 1):
        return
    raise InputError(
        "a threshold of findings is wrong",
        where=f"{WHERE}.{name}",
        got="nothing" if value is None else repr(value),
        expected="a whole number from 1" if whole else "a number between 0 and 1",
    )


class Text(NamedTuple):
    """Hold a caption as released, and its words in lower case, in order."""

    raw: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Hold what findings need of one instance, read once for all of them.

    Attributes:
        position: Of the instance, from 0.
        instance: The instance.
        positives: Captions that fit its first image, in order.
        foils: Captions that do not.
    """

    position: int
    instance: Instance
    positives: tuple[Text, ...]
    foils: tuple[Text, ...]

    @property
    def is_pair(self) -> bool:
        """Return whether there is something to compare."""
        return bool(self.positives and self.foils)

    @property
    def pairs(self) -> list[tuple[Text, Text]]:
        """Return every positive with every foil."""
        return list(product(self.positives, self.foils))


class Finder(Protocol):
    """What is shown every instance once and then says what it found."""

    def add(self, reading: Reading) -> None:
        """Take one instance into account."""

    def findings(self) -> list[Finding]:
        """Return what was found."""


def tokens(caption: str) -> tuple[str, ...]:
    """Return the words of a caption in lower case: runs of letters, digits and apostrophes, accents with their letter.

    >>> tokens("A dog's café, 2 cups.")
    ('a', "dog's", 'café', '2', 'cups')
    """
    text = caption if caption.isascii() else unicodedata.normalize("NFC", caption)
    return tuple(_WORD.findall(text.lower()))


def read(position: int, instance: Instance) -> Reading | None:
    """Return an instance as findings read it, or None if a caption has no text."""
    texts = []
    for caption in instance.captions:
        if caption is None:
            return None
        texts.append(Text(caption, tokens(caption)))
    right = instance.gold[0].tolist()
    positives = tuple(text for text, fits in zip(texts, right, strict=True) if fits)
    return Reading(
        position, instance, positives, tuple(text for text, fits in zip(texts, right, strict=True) if not fits)
    )


class Sides:
    """Name the two sides: where every instance has several images, neither caption is false."""

    def __init__(self) -> None:
        self._one_image = False

    def add(self, reading: Reading) -> None:
        """Take one instance into account."""
        self._one_image |= reading.instance.shape.images == 1

    @property
    def one(self) -> tuple[str, str]:
        """Return the names of one caption of each side."""
        return ("positive", "foil") if self._one_image else ("base caption", "foil caption")

    @property
    def many(self) -> tuple[str, str]:
        """Return the names of several captions of each side."""
        first, second = self.one
        return f"{first}s", f"{second}s"


@dataclass(slots=True)
class Total:
    """Count what was read: captions of either side, instances, and what the sides are called."""

    positives: int = 0
    foils: int = 0
    instances: int = 0
    sides: Sides = field(default_factory=Sides)

    def add(self, reading: Reading) -> None:
        """Take one instance into account."""
        self.positives += len(reading.positives)
        self.foils += len(reading.foils)
        self.instances += 1
        self.sides.add(reading)


@dataclass(slots=True)
class Lean:
    """Sum up how often a cue alone would pick the positive, one credit per instance (0 to 1, one half for a tie).

    >>> lean = Lean()
    >>> for credit in (1.0, 1.0, 0.5, 1.0): lean.add(credit)
    >>> lean.share, lean.distance(4), round(lean.distance(40), 3)
    (0.875, 0.0, 0.239)
    """

    credit: float = 0.0
    n: int = 0

    def add(self, credit: float) -> None:
        """Take one instance into account."""
        self.credit += credit
        self.n += 1

    @property
    def share(self) -> float:
        """Return the mean credit, NaN without instances."""
        return self.credit / self.n if self.n else float("nan")

    def distance(self, n_clusters: int) -> float:
        """Return how far the near bound of the Wilson interval lies from one half, 0 if the interval holds it.

        Instances of one cluster may all agree, so its size is taken to be the number of clusters: never too sure.
        """
        if not self.n:
            return 0.0
        low, high, *_ = wilson(self.share * n_clusters, n_clusters)
        return max(low - 0.5, 0.5 - high, 0.0)


@dataclass(slots=True)
class Worst:
    """Keep the ids with the largest weights; of equal ones the first."""

    size: int
    _heap: list[tuple[float, int, str]] = field(default_factory=list)

    def add(self, reading: Reading, weight: float = 0.0) -> None:
        """Take one instance into account."""
        item = (weight, -reading.position, reading.instance.id)
        if len(self._heap) < self.size:
            heapq.heappush(self._heap, item)
        else:
            heapq.heappushpop(self._heap, item)

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids, the worst first."""
        return tuple(name for *_, name in sorted(self._heap, reverse=True))


def plural(number: int, one: str, many: str = "") -> str:
    """Return a count with its noun.

    >>> plural(1, "pair"), plural(7511, "pair"), plural(2, "has", "have")
    ('1 pair', '7,511 pairs', '2 have')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
