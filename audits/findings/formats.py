"""Faults of format, and marks of format that one side bears more often than the other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from audits.findings.schema import Lean, Reading, Text, Thresholds, Total, Worst
from reports.schema import Finding

_DOUBLED = re.compile(r"\s\s")
_BEFORE_STOP = re.compile(r"\s[.,;:!?]")
_QUOTES = frozenset("“”„‟‘’‚‛´`«»")


def _controls(text: str) -> bool:
    return not text.isprintable() and any(unicodedata.category(character) == "Cc" for character in text)


def _invisible(text: str) -> bool:
    return not text.isprintable() and any(
        not character.isprintable() and unicodedata.category(character) != "Cc" for character in text
    )


def _is_nfc(text: str) -> bool:
    return text.isascii() or unicodedata.is_normalized("NFC", text)


def _ends(text: str) -> bool:
    return text.rstrip().endswith(".")


class _Mark(NamedTuple):
    """Describe what a caption can bear: a name, words for it, how to see it, whether it is a fault in itself."""

    kind: str
    phrase: str
    bears: Callable[[str], bool]
    is_fault: bool = True


MARKS = (
    _Mark("empty_captions", "there is no text but white space", lambda text: not text.strip()),
    _Mark("outer_white_space", "white space stands at the start or the end", lambda text: text != text.strip()),
    _Mark(
        "doubled_blanks", "two blanks or more stand together inside", lambda text: bool(_DOUBLED.search(text.strip()))
    ),
    _Mark("control_characters", "there are control characters (line breaks, tabs, escapes)", _controls),
    _Mark("invisible_characters", "there are characters that do not show, or blanks of another kind", _invisible),
    _Mark("not_nfc", "the text is not in Unicode's composed form (NFC)", lambda text: not _is_nfc(text)),
    _Mark("replacement_characters", "characters were lost (U+FFFD stands for them)", lambda text: "\ufffd" in text),
    _Mark("odd_quotes", "there are typographic quotes or backticks", lambda text: not _QUOTES.isdisjoint(text)),
    _Mark("unbalanced_quotes", "the number of double quotes is odd", lambda text: text.count('"') % 2 == 1),
    _Mark(
        "blank_before_stop", "a blank stands before a punctuation mark", lambda text: bool(_BEFORE_STOP.search(text))
    ),
    _Mark("final_stop", "the text ends with a full stop, outer white space aside", _ends, False),
    _Mark("capital_start", "the text starts with a capital letter", lambda text: text.lstrip()[:1].isupper(), False),
)


@dataclass(slots=True)
class _Count:
    worst: Worst
    positives: int = 0
    foils: int = 0
    instances: int = 0
    differ: int = 0
    lean: float = 0.0


class Formats:
    """Count captions that bear a mark of format on each side, over the whole benchmark.

    A fault (outer white space, control characters, ...) is reported wherever it occurs; what is no fault in itself (a
    final full stop, a capital at the start) only where the sides of a pair differ. Severity is that of a scorer that
    knows the mark alone.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._total = Total()
        self._clusters: set[str] = set()
        self._counts = [_Count(Worst(thresholds.shown)) for _ in MARKS]

    def add(self, reading: Reading) -> None:
        """Take one instance into account."""
        if not reading.is_pair:
            return
        self._total.add(reading)
        self._clusters.add(reading.instance.cluster)
        for mark, count in zip(MARKS, self._counts, strict=True):
            positives, foils = _bearing(mark, reading.positives), _bearing(mark, reading.foils)
            if positives or foils:
                self._count(count, reading, positives, foils, mark.is_fault)

    @staticmethod
    def _count(count: _Count, reading: Reading, positives: int, foils: int, is_fault: bool) -> None:
        p, f = len(reading.positives), len(reading.foils)
        differ = (positives, foils) != (p, f)
        count.positives += positives
        count.foils += foils
        count.instances += 1
        count.differ += differ
        count.lean += positives / p - foils / f
        if is_fault or differ:
            count.worst.add(reading, float(differ))

    def findings(self) -> list[Finding]:
        """Return one finding for each mark that occurs."""
        return [
            self._finding(mark, count)
            for mark, count in zip(MARKS, self._counts, strict=True)
            if count.differ or (mark.is_fault and count.instances)
        ]

    def _finding(self, mark: _Mark, count: _Count) -> Finding:
        total, (one, other) = self._total, self._total.sides.many
        lean = Lean((total.instances + count.lean) / 2, total.instances)
        severity = self._thresholds.distance(lean.distance(len(self._clusters)))
        if mark.kind == "empty_captions":
            severity = "warning"
        return Finding(
            kind=mark.kind,
            severity=severity,
            sentence=(
                f"In {count.positives:,} of {total.positives:,} {one} and {count.foils:,} of {total.foils:,} {other} "
                f"{mark.phrase}."
            ),
            instances=count.worst.ids,
            values={
                "positives": count.positives,
                "of_positives": total.positives,
                "foils": count.foils,
                "of_foils": total.foils,
                "instances": count.instances,
                "instances_whose_captions_differ": count.differ,
                "preference": lean.share,
            },
        )


def _bearing(mark: _Mark, texts: tuple[Text, ...]) -> int:
    return sum(mark.bears(text.raw) for text in texts)
