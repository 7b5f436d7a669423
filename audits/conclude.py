"""From what contestants measured to what is concluded: contrast, claims and verdicts, under the run's thresholds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from audits.claims import claims
from audits.compared import Entrant, Settings
from audits.contrast import contrast, with_p
from audits.dataset import Roster
from audits.described import described
from audits.measured import Measured
from audits.verdict import Thresholds, verdicts
from reports.schema import Estimate, FamilyFacts, Finding, VerdictFacts


class Concluded(NamedTuple):
    """Hold what a run concludes.

    Attributes:
        rows: The rows that were given, with p-values where they are tested, those of the contrast, and what describes a
            contestant by itself.
        findings: What may be said of models and baselines.
        verdicts: One for each subset and one for all instances.
        family: Over what p-values are adjusted, or None if nothing was tested.
        thresholds: What the verdicts went by, and the digest of it.
    """

    rows: list[Estimate]
    findings: list[Finding]
    verdicts: list[VerdictFacts]
    family: FamilyFacts | None
    thresholds: dict[str, Any]


def conclude(
    rows: Sequence[Estimate],
    measured: Sequence[Measured],
    roster: Roster,
    values: Mapping[str, Any],
    *,
    primary: str,
    signatures: Mapping[str, str],
) -> Concluded:
    """Compare the contestants of a run and conclude.

    Args:
        rows: Estimates of every column by itself.
        measured: What the contestants measured.
        roster: The instances.
        values: Configuration of the run; `statistics` and `verdict` are read.
        primary: The benchmark's primary metric.
        signatures: Short signature by name of the scorer.
    """
    thresholds = Thresholds.of(values["verdict"])
    entrants = [
        Entrant(name, one.contestant.kind, one.contestant.scorer.sees, found, signatures[one.contestant.scorer.name])
        for one in measured
        for name, found in one.outcomes.items()
    ]
    options = values["statistics"]
    levels = (options["level"], thresholds.alpha, thresholds.power)
    settings = Settings(primary, options["bootstrap"], options["seed"], *levels)
    compared = contrast(entrants, roster.labels, settings)
    own = described(measured, roster, settings, signatures=signatures)
    every = [*with_p(rows, compared.adjusted), *compared.rows, *own]
    kinds = {one.name: one.kind for one in entrants}
    return Concluded(
        every,
        claims(every, kinds, thresholds),
        verdicts(every, kinds, roster.labels, thresholds),
        compared.family,
        _recorded(values["verdict"]),
    )


def _recorded(group: Mapping[str, Any]) -> dict[str, Any]:
    """Return the thresholds with a digest, by which two reports can be seen to have gone by the same ones."""
    text = json.dumps(group, sort_keys=True, default=str)
    return {**group, "digest": hashlib.sha256(text.encode()).hexdigest()[:16]}
