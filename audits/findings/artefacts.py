"""Words that stand on one side of a pair far more often than on the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import sqrt

from scipy.special import ndtri

from audits.findings.schema import Lean, Reading, Sides, Text, Thresholds, plural
from reports.schema import Finding

_LONGEST = 24


@dataclass(slots=True)
class _Word:
    """Count one word: pairs that hold it on one side only.

    With two captions an instance is one pair. With more, the pairs of an instance share captions and are not
    independent, so its difference enters as one number: z is then the self-normalised sum.
    """

    first: int  # position of the first instance that counts
    positive: int = 0
    foil: int = 0
    instances: int = 0
    lean: float = 0.0
    squares: float = 0.0

    @property
    def z(self) -> float:
        return (self.positive - self.foil) / sqrt(self.squares) if self.squares else 0.0

    @property
    def share(self) -> float:
        return self.positive / (self.positive + self.foil)


@dataclass(slots=True)
class _Count:
    n: int = 0
    sides: Sides = field(default_factory=Sides)
    clusters: set[str] = field(default_factory=set)
    words: dict[str, _Word] = field(default_factory=dict)


class Artefacts:
    """Test, per subset, every word that stands on one side only in enough pairs.

    For a word in n pairs on one side only, p of them the positive's: z = (p - 1/2) / sqrt(1 / (4 n)); two-sided at
    alpha over all words tested (Bonferroni). Pairs count as independent, although some share an image.

    Source: gardner2021, sec. 4; ours for more than two captions.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._counts: dict[str, _Count] = {}
        self._ids: list[str] = []

    def add(self, reading: Reading) -> None:
        """Take one instance into account."""
        if not reading.is_pair:
            return
        count = self._counts.setdefault(reading.instance.subset, _Count())
        count.n += 1
        count.sides.add(reading)
        count.clusters.add(reading.instance.cluster)
        place = len(self._ids)
        self._ids.append(reading.instance.id)
        one_sided(reading, count.words, place)

    def findings(self) -> list[Finding]:
        """Return one finding for each subset in which a word was tested."""
        found = []
        for subset, count in self._counts.items():
            tested = {word: one for word, one in count.words.items() if one.instances >= self._thresholds.least_pairs}
            if tested:
                found.append(self._finding(subset, count, tested))
        return found

    def _finding(self, subset: str, count: _Count, tested: dict[str, _Word]) -> Finding:
        limit = float(-ndtri(self._thresholds.alpha / (2 * len(tested))))
        strong = sorted(
            ((word, one) for word, one in tested.items() if abs(one.z) > limit),
            key=lambda item: (-abs(item[1].z), item[0]),
        )
        worst = max((self._distance(one, count) for _, one in strong), default=0.0)
        severity = self._thresholds.distance(worst)
        named = strong[: self._thresholds.words]
        return Finding(
            kind="token_artefacts",
            severity="notice" if strong and severity == "info" else severity,
            sentence=self._sentence(len(tested), len(strong), named, count),
            subset=subset,
            instances=tuple(dict.fromkeys(self._ids[one.first] for _, one in strong[: self._thresholds.shown])),
            values=_values(tested, strong, self._thresholds.shown, limit),
        )

    @staticmethod
    def _distance(one: _Word, count: _Count) -> float:
        """Return how far from one half a scorer gets that knows this word alone: ties wherever it says nothing."""
        return Lean((count.n + one.lean) / 2, count.n).distance(len(count.clusters))

    def _sentence(self, tested: int, strong: int, named: list[tuple[str, _Word]], count: _Count) -> str:
        thresholds = self._thresholds
        text = (
            f"Of {plural(tested, 'word')} that stand on one side only in at least {thresholds.least_pairs} pairs, "
            f"{plural(strong, 'leans', 'lean')} to one side (two-sided {thresholds.alpha:g} over all of them, pairs "
            "taken as independent)"
        )
        if not named:
            return text + "."
        side = count.sides.one[0]
        shown = ", ".join(
            f"{_short(word)} ({plural(one.positive + one.foil, 'pair')}, {100 * one.share:.1f} % in the {side}, "
            f"z {one.z:+.1f})"
            for word, one in named
        )
        return f"{text}; the strongest: {shown}."


def one_sided(reading: Reading, words: dict[str, _Word], place: int) -> None:
    """Count the words that pairs of an instance hold on one side only."""
    positive, foil = _alone(reading.positives, reading.foils), _alone(reading.foils, reading.positives)
    size = len(reading.positives) * len(reading.foils)
    for word in {**positive, **foil}:
        one = words.get(word)
        if one is None:
            one = words[word] = _Word(place)
        one.positive += positive[word]
        one.foil += foil[word]
        one.instances += 1
        one.lean += (positive[word] - foil[word]) / size
        one.squares += (positive[word] - foil[word]) ** 2


def _alone(these: tuple[Text, ...], others: tuple[Text, ...]) -> Counter[str]:
    """Return in how many pairs (one of these, one of the others) a word is in the first and not in the second."""
    found: Counter[str] = Counter()
    sets = [set(text.words) for text in others]
    for text in these:
        for other in sets:
            found.update(set(text.words) - other)
    return found


def _short(word: str) -> str:
    shown = word if len(word) <= _LONGEST else word[: _LONGEST - 1] + "…"
    return f"“{shown}”"


def _values(
    tested: dict[str, _Word], strong: list[tuple[str, _Word]], shown: int, limit: float
) -> dict[str, float | int | str]:
    values: dict[str, float | int | str] = {"words_tested": len(tested), "words_leaning": len(strong), "z_limit": limit}
    for rank, (word, one) in enumerate(strong[:shown], 1):
        values |= {f"word_{rank}": word, f"pairs_{rank}": one.positive + one.foil, f"share_positive_{rank}": one.share}
        values[f"z_{rank}"] = one.z
    return values
