"""Captions that encoders with a short context cut, and pairs that the cut makes identical."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from audits.findings.schema import Reading, Text, Thresholds, Total, Worst, plural
from baselines.language.clip_bpe import ClipBpe
from reports.schema import Finding

MARKS = 2  # start and end
# SigLIP has a tokenizer of its own; CLIP's count stands in for it, and the sentence says so.
LIMITS = {77: "CLIP's context", 64: "SigLIP's context, CLIP's tokens standing in for its own"}


@dataclass(slots=True)
class _Count:
    worst: Worst
    positives: int = 0
    foils: int = 0
    instances: int = 0
    identical: int = 0


class Truncation:
    """Count captions whose CLIP tokens, with start and end mark, exceed 77 and 64, over the whole benchmark.

    `identical_after_truncation` counts instances in which a positive and a foil have different tokens of which the
    same are kept. The query is not counted.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._total, self._longest = Total(), 0
        self._counts = {limit: _Count(Worst(thresholds.shown)) for limit in LIMITS}

    @cached_property
    def _tokenizer(self) -> ClipBpe:
        """Load the vocabulary when the first long caption needs it."""
        return ClipBpe()

    def add(self, reading: Reading) -> None:
        """Take one instance into account."""
        if not reading.is_pair:
            return
        self._total.add(reading)
        if all(_surely_fits(text.raw) for text in (*reading.positives, *reading.foils)):
            return
        positives, foils = self._encode(reading.positives), self._encode(reading.foils)
        self._longest = max(self._longest, *(len(ids) + MARKS for ids in positives + foils))
        for limit, count in self._counts.items():
            _add(count, reading, limit - MARKS, positives, foils)

    def _encode(self, texts: tuple[Text, ...]) -> list[list[int]]:
        return self._tokenizer.encode([text.raw for text in texts])

    def findings(self) -> list[Finding]:
        """Return one finding for each limit that some caption exceeds."""
        return list(self._found())

    def _found(self) -> Iterator[Finding]:
        total, (one, other) = self._total, self._total.sides.many
        for limit, count in self._counts.items():
            if not count.instances:
                continue
            yield Finding(
                kind=f"cut_at_{limit}_tokens",
                severity=self._thresholds.fault(count.instances, total.instances),
                sentence=(
                    f"{count.positives:,} of {total.positives:,} {one} and {count.foils:,} of {total.foils:,} {other} "
                    f"have more than {limit} tokens ({LIMITS[limit]}) and would be cut there; "
                    f"in {plural(count.identical, 'instance')} a pair is identical after truncation."
                ),
                instances=count.worst.ids,
                values={
                    "positives": count.positives,
                    "foils": count.foils,
                    "instances": count.instances,
                    "of_instances": total.instances,
                    "identical_after_truncation": count.identical,
                    "longest": self._longest,
                },
            )


def _add(count: _Count, reading: Reading, kept: int, positives: list[list[int]], foils: list[list[int]]) -> None:
    """Count the captions of one instance that keep only their first tokens; identical pairs are the worst."""
    cut = [sum(len(ids) > kept for ids in side) for side in (positives, foils)]
    if not any(cut):
        return
    count.positives += cut[0]
    count.foils += cut[1]
    count.instances += 1
    identical = any(one != other and one[:kept] == other[:kept] for one in positives for other in foils)
    count.identical += identical
    longest = max(len(ids) for ids in positives + foils)
    count.worst.add(reading, longest + (1_000_000_000 if identical else 0))


def _surely_fits(text: str) -> bool:
    """Return whether plain text has no more characters than tokens fit: no character makes more than one token.

    Cleaning can lengthen text only by resolving an entity (`&`) or mending what is not ASCII.
    """
    return text.isascii() and "&" not in text and len(text) - text.count(" ") <= min(LIMITS) - MARKS
