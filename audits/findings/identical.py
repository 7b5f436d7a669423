"""Captions of one instance that are the same text, or the same words in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from audits.findings.schema import Reading, Sides, Text, Thresholds, Worst, plural
from reports.schema import Finding, Severity


class _Seen:
    """Count instances of one kind."""

    def __init__(self, size: int) -> None:
        self.count = 0
        self.worst = Worst(size)

    def add(self, reading: Reading) -> None:
        self.count += 1
        self.worst.add(reading)


class Identical:
    """Look inside each instance for captions that cannot be told apart, over the whole benchmark.

    `identical_captions`: a positive and a foil are the same text. `same_words_in_order`: they differ in case, blanks
    or punctuation only. `repeated_options`: two captions of one side are the same text, or differ in no more than that.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._n = 0
        self._sides = Sides()
        self._identical, self._alike, self._repeated = (_Seen(thresholds.shown) for _ in range(3))
        self._exact = 0

    def add(self, reading: Reading) -> None:
        """Take one instance into account."""
        if not reading.is_pair:
            return
        self._n += 1
        self._sides.add(reading)
        across = reading.pairs
        if any(one.raw == other.raw for one, other in across):
            self._identical.add(reading)
        elif any(_alike(one, other) for one, other in across):
            self._alike.add(reading)
        within = [pair for side in (reading.positives, reading.foils) for pair in combinations(side, 2)]
        if any(_alike(one, other) for one, other in within):
            self._repeated.add(reading)
            self._exact += any(one.raw == other.raw for one, other in within)

    def findings(self) -> list[Finding]:
        """Return what was found, of the three kinds."""
        return list(self._found())

    def _found(self) -> Iterator[Finding]:
        one, other = self._sides.one
        of = f"of {plural(self._n, 'instance')}"
        if self._identical.count:
            text = f"In {self._identical.count:,} {of} a {one} and a {other} are the same text and can only tie."
            yield self._finding("identical_captions", self._identical, text)
        if self._alike.count:
            text = f"In {self._alike.count:,} {of} a {one} and a {other} differ in case, blanks or punctuation only."
            yield self._finding("same_words_in_order", self._alike, text)
        if self._repeated.count:
            text = (
                f"In {self._repeated.count:,} {of} two captions of the same side are the same text ({self._exact:,}) "
                f"or differ in case, blanks or punctuation only ({self._repeated.count - self._exact:,})."
            )
            yield self._finding("repeated_options", self._repeated, text, severity="notice", exact=self._exact)

    def _finding(
        self, kind: str, seen: _Seen, sentence: str, *, severity: Severity | None = None, **more: int
    ) -> Finding:
        return Finding(
            kind=kind,
            severity=severity or self._thresholds.fault(seen.count, self._n),
            sentence=sentence,
            instances=seen.worst.ids,
            values={"instances": seen.count, "of_instances": self._n, "share": seen.count / self._n, **more},
        )


def _alike(one: Text, other: Text) -> bool:
    """Return whether two captions are the same text or the same words in order; without a word only the text counts."""
    return one.raw == other.raw or (bool(one.words) and one.words == other.words)
