"""Pairs that differ in word order only, and the ceiling that they put on any scorer blind to it."""

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


def words(caption: str) -> Counter[str]:
    """Return the multiset of lower-cased words.

    >>> words("A cat under a table.") == words("a table under a cat")
    True
    """
    return Counter(tokens(caption))


class WordOrder:
    """Count, per subset, the instances whose two captions are made of the same words.

    Only instances with exactly two captions count (1x2 and 2x2); a subset without such a pair has no finding. Two
    captions that are the same text differ in nothing, so they are no such pair; they are reported as identical. The
    ceiling is that of a scorer that ties on such pairs and is right on all others; on 2x2 it bounds the preference
    between the two captions of one image.

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
                f"{count.same:,} of {count.pairs:,} pairs are made of the same words in another order: a scorer blind "
                f"to word order cannot exceed {100 * ceiling:.1f} %."
            ),
            subset=subset,
            instances=count.worst.ids,
            values={"pairs": count.pairs, "same_words": count.same, "share": share, "order_blind_ceiling": ceiling},
        )


def order_only(instances: Iterable[Instance], thresholds: Thresholds) -> list[Finding]:
    """Return the findings of `WordOrder` alone."""
    finder = WordOrder(thresholds)
    for position, instance in enumerate(instances):
        if (reading := read(position, instance)) is not None:
            finder.add(reading)
    return finder.findings()
