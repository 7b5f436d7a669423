"""Bring all findings of a run together, with one reading of the instances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from audits.dataset import Roster
from audits.findings.artefacts import Artefacts
from audits.findings.formats import Formats
from audits.findings.identical import Identical
from audits.findings.lengths import Lengths
from audits.findings.lik_diff import LikDiff, Resampling, lik_diff
from audits.findings.repeats import Repeats
from audits.findings.schema import Finder, Thresholds, plural, read
from audits.findings.truncation import Truncation
from audits.findings.word_order import WordOrder
from audits.measured import Measured
from benchmarks.schema import Instance
from reports.schema import Finding


def dataset_findings(
    captions: Sequence[Finding],
    measured: Sequence[Measured],
    roster: Roster,
    values: Mapping[str, Any],
    signatures: Mapping[str, str],
) -> LikDiff:
    """Return what is noticed in the data set, and the estimates among it.

    Args:
        captions: What the captions themselves show (`Captions`).
        measured: What the contestants measured on them.
        roster: What statistics need of them.
        values: The configuration of the run: `verdict.findings` holds the thresholds, `statistics` how to resample.
        signatures: Short signature by full column name.

    Raises:
        InputError: If a threshold is wrong.
    """
    thresholds = Thresholds.read(values["verdict"]["findings"])
    options = values["statistics"]
    resampling = Resampling(options["bootstrap"], options["seed"], options["level"])
    scored = lik_diff(measured, roster, thresholds, resampling, signatures)
    return LikDiff([*captions, *scored.findings], scored.rows)


class Captions:
    """Look at the captions of every instance once; of earlier instances only counts and digests are kept.

    Args:
        thresholds: From which size on something is said.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._finders: list[Finder] = [
            WordOrder(thresholds),
            Lengths(thresholds),
            Artefacts(thresholds),
            Identical(thresholds),
            Repeats(thresholds),
            Formats(thresholds),
            Truncation(thresholds),
        ]
        self._without: list[str] = []
        self._total = 0

    def take(self, instance: Instance) -> Instance:
        """Take one instance and return it."""
        reading = read(self._total, instance)
        self._total += 1
        if reading is None:
            self._without.append(instance.id)
            return instance
        for finder in self._finders:
            finder.add(reading)
        return instance

    def findings(self) -> list[Finding]:
        """Return what was found."""
        found = [finding for finder in self._finders for finding in finder.findings()]
        return [*found, *_textless(self._without, self._total, self._thresholds)]


def caption_findings(instances: Iterable[Instance], thresholds: Thresholds) -> list[Finding]:
    """Return what the captions themselves show, in one pass."""
    captions = Captions(thresholds)
    for instance in instances:
        captions.take(instance)
    return captions.findings()


def _textless(without: list[str], total: int, thresholds: Thresholds) -> list[Finding]:
    if not without:
        return []
    return [
        Finding(
            kind="captions_without_text",
            severity="info",
            sentence=(
                f"{plural(len(without), 'instance')} of {total:,} {'lacks' if len(without) == 1 else 'lack'} the text "
                "of a caption: what is said of captions here leaves them out."
            ),
            instances=tuple(without[: thresholds.shown]),
            values={"instances": len(without), "of_instances": total},
        )
    ]
