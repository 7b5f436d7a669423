"""Break down what every contestant decided, as the benchmark's card asks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audits.breakdown.parts import Scored, crossed, faced, gaps
from audits.breakdown.spec import Breakdown, read_breakdown
from audits.breakdown.words import Named2x2, named
from audits.dataset import Dataset, Roster
from audits.measured import Measured
from reports.schema import Estimate

ONE_SIDED = ("accuracy", "caption_preference", "image_preference")
"""What a scorer that sees one side is judged by; the strict metrics say nothing of it."""
BOTH = ("accuracy", "i2t", "t2i", "group")


def breakdown(
    dataset: Dataset,
    measured: Sequence[Measured],
    roster: Roster,
    values: Mapping[str, Any],
    signatures: Mapping[str, str],
) -> list[Estimate]:
    """Return the rows that the card of the benchmark asks for; none where it asks for nothing.

    Args:
        dataset: The instances; read once more where words of direction are asked for.
        measured: What the contestants measured.
        roster: The instances' labels.
        values: The configuration of the run: `statistics`.
        signatures: Short signature by full column name.

    Raises:
        InputError: If the card asks in another form than the package's page shows.
    """
    asked = read_breakdown(dataset.benchmark.card.breakdown)
    sides = named(dataset, asked.directions) if asked.directions else None
    return [
        row for one in _scored(measured, roster, values["statistics"], signatures) for row in _rows(one, asked, sides)
    ]


def _scored(
    measured: Sequence[Measured], roster: Roster, options: Mapping[str, Any], signatures: Mapping[str, str]
) -> Iterator[Scored]:
    how = (options["bootstrap"], options["seed"], options["level"])
    for one in measured:
        sees_both = len(one.contestant.scorer.sees) > 1
        for name, outcomes in one.outcomes.items():
            kept = BOTH if sees_both else ONE_SIDED
            # The single decisions of a scorer that sees both sides are needed for the directions alone.
            used = {key: found for key, found in outcomes.items() if key in kept or (sees_both and _is_single(key))}
            yield Scored(name, used, roster.labels, signatures.get(name, ""), *how)


def _is_single(metric: str) -> bool:
    return metric in ("i2t_base", "i2t_foil", "t2i_base", "t2i_foil")


def _rows(scored: Scored, asked: Breakdown, sides: Named2x2 | None) -> Iterator[Estimate]:
    told = dataclasses.replace(
        scored, outcomes={key: found for key, found in scored.outcomes.items() if not _is_single(key)}
    )
    for tag in asked.tags:
        yield from crossed(told, tag)
    for over, under in asked.gaps:
        yield from gaps(told, over, under)
    if sides is not None and asked.directions is not None:
        yield from faced(scored, sides, tuple(asked.directions.words))
