"""Pairs that differ in word order only, and the ceiling that they put on a scorer that sees words alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from audits.findings.schema import Reading, Thresholds, Worst, read, tokens
from audits.statistics.chance import order_blind_ceiling
from benchmarks.schema import Instance
from reports.schema import Finding


@dataclass(slots=True)
class _Count:
    worst: Worst
    pairs: int = 0
    same: int = 0
    written: int = 0  # of these, pairs whose marks, capitals or blanks differ too


def words(caption: str) -> Counter[str]:
    """Return the multiset of lower-cased words.

    >>> words("A cat under a table.") == words("a table under a cat")
    True
    """
    return Counter(tokens(caption))


def characters(caption: str) -> Counter[str]:
    """Return the multiset of characters as written: capitals, marks and blanks included, in no order.

    >>> characters("a cat under a table") == characters("a table under a cat")
    True
    >>> characters("a cat under a table.") == characters("a table under a cat")
    False
    """
    return Counter(caption)


class WordOrder:
    """Count, per subset, the instances whose two captions are made of the same words.

    Only instances with exactly two captions count (1x2 and 2x2); a subset without such a pair has no finding. Two
    captions that are the same text differ in nothing, so they are no such pair; they are reported as identical. The
    ceiling is that of a scorer that sees nothing but the bag of words (lower-cased, without marks), so ties on such
    pairs, and is right on all others; on 2x2 it bounds the preference between the two captions of one image. It does
    not bind a scorer of the raw text: capitals, marks or blanks may differ too, and how often they do is counted.

    Source: sugarcrepe; ours for the ceiling.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._counts: dict[str, _Count] = {}

    def add(self, reading: Reading) -> None:
        """Take one instance into account."""
        if not reading.is_pair or reading.instance.shape.captions != 2:
            return
        count = self._counts.setdefault(reading.instance.subset, _Count(Worst(self._thresholds.shown)))
        count.pairs += 1
        first, second = reading.positives[0], reading.foils[0]
        same = len(first.words) == len(second.words) and sorted(first.words) == sorted(second.words)
        if same and first.words and first.raw != second.raw:
            count.same += 1
            count.written += characters(first.raw) != characters(second.raw)
            count.worst.add(reading)

    def findings(self) -> list[Finding]:
        """Return one finding for each subset with such a pair."""
        return [self._finding(subset, count) for subset, count in self._counts.items() if count.same]

    def _finding(self, subset: str, count: _Count) -> Finding:
        share = count.same / count.pairs
        ceiling = order_blind_ceiling(share)
        return Finding(
            kind="order_only_pairs",
            severity=self._thresholds.distance(share / 2),  # what the ceiling takes away
            sentence=(
                f"{count.same:,} of {count.pairs:,} pairs are made of the same words in another order: a scorer that "
                "sees only which words occur (lower-cased, without punctuation) cannot exceed "
                f"{100 * ceiling:.1f} %{_beside(count)}."
            ),
            subset=subset,
            instances=count.worst.ids,
            values={
                "pairs": count.pairs,
                "same_words": count.same,
                "written_differently": count.written,
                "share": share,
                "order_blind_ceiling": ceiling,
            },
        )


def _beside(count: _Count) -> str:
    """Say how many of the pairs a scorer of the raw text can tell apart without any order."""
    if not count.written:
        return ""
    return f"; in {count.written:,} of them capitals, marks or blanks differ too, which a scorer of the raw text sees"


def order_only(instances: Iterable[Instance], thresholds: Thresholds) -> list[Finding]:
    """Return the findings of `WordOrder` alone."""
    finder = WordOrder(thresholds)
    for position, instance in enumerate(instances):
        if (reading := read(position, instance)) is not None:
            finder.add(reading)
    return finder.findings()
