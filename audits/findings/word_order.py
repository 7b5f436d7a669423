"""Pairs that differ in word order only, and the ceiling that they put on any scorer blind to it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from audits.statistics.chance import order_blind_ceiling
from benchmarks.schema import Instance
from reports.schema import Finding

SHOWN = 10
_WORD = re.compile(r"[a-z0-9']+")


@dataclass(slots=True)
class _Count:
    pairs: int = 0
    same: int = 0
    ids: list[str] = field(default_factory=list)


def words(caption: str) -> Counter[str]:
    """Return the multiset of lower-cased words.

    >>> words("A cat under a table.") == words("a table under a cat")
    True
    """
    return Counter(_WORD.findall(caption.lower()))


def order_only(instances: Iterable[Instance]) -> list[Finding]:
    """Count, per subset, the instances whose two captions are made of the same words.

    Only instances with exactly two captions count (1x2 and 2x2); a subset without such a pair has no finding. Two
    captions that are the same text differ in nothing, so they are no such pair; they are reported as identical. The
    ceiling is that of a scorer that ties on such pairs and is right on all others; on 2x2 it bounds the preference
    between the two captions of one image.

    Source: sugarcrepe; ours for the ceiling.
    """
    counts: dict[str, _Count] = {}
    for one in instances:
        if len(one.captions) != 2 or None in one.captions:
            continue
        count = counts.setdefault(one.subset, _Count())
        count.pairs += 1
        if one.captions[0] == one.captions[1]:
            continue
        first, second = (words(caption or "") for caption in one.captions)
        if first == second:
            count.same += 1
            if len(count.ids) < SHOWN:
                count.ids.append(one.id)
    return [_finding(subset, count) for subset, count in counts.items() if count.same]


def _finding(subset: str, count: _Count) -> Finding:
    share = count.same / count.pairs
    ceiling = order_blind_ceiling(share)
    return Finding(
        kind="order_only_pairs",
        severity="notice",
        sentence=(
            f"{count.same:,} of {count.pairs:,} pairs are made of the same words in another order: a scorer blind to "
            f"word order cannot exceed {100 * ceiling:.1f} %."
        ),
        subset=subset,
        instances=tuple(count.ids),
        values={"pairs": count.pairs, "same_words": count.same, "share": share, "order_blind_ceiling": ceiling},
    )
