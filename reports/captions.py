"""What is written above and below a table: the measure's name, how its intervals were made, what it leaves out."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from reports.index import MACRO, SANITY, Contestant, Index
from reports.measures import measure
from reports.schema import Estimate, Record
from reports.text import short_percent, visible

FIXED_MARK = "†"
_FEW_CLUSTERS = 30


def interval_notes(record: Record, index: Index, used: Sequence[Estimate]) -> tuple[str, ...]:
    """Return how the intervals of a table were made, and which others stand beside them in `metrics.csv`."""
    level = short_percent(record["statistics"]["level"])
    methods = Counter(visible(estimate.method) for estimate in used if not math.isnan(estimate.low))
    if not methods:
        return ()
    families = list(dict.fromkeys(_family(method) for method, _ in methods.most_common()))
    text = f"{level} % intervals in brackets: {'; '.join(families)}."
    told = " metrics.csv names the method of each." if len(families) > 1 else ""
    beside = ", ".join(visible(method) for method in index.secondary)
    beside = f" Beside these, in metrics.csv: {beside}." if beside else ""
    return (f"{text}{told}{beside}", *_few(used))


def _family(method: str) -> str:
    """Return a method's name without what distinguishes single rows.

    >>> _family("sign-flip by cluster (10000 draws), joined with wilson at effective n")
    'sign-flip by cluster, joined with Wilson where outcomes are rare'
    """
    if "degenerate" in method:
        return "Wilson at n = clusters where nothing varies"
    name, joined, _ = method.partition(", joined with")
    name = re.sub(r" \((exact|\d+ draws)[^)]*\)", "", name)
    return f"{name}, joined with Wilson where outcomes are rare" if joined else name


def _few(used: Sequence[Estimate]) -> tuple[str, ...]:
    few = {visible(item.subset): item.n_clusters for item in used if 0 < item.n_clusters < _FEW_CLUSTERS}
    if not few:
        return ()
    listed = ", ".join(f"{place} {number}" for place, number in list(few.items())[:6])
    return (f"Fewer than {_FEW_CLUSTERS} clusters, so read these intervals with care: {listed}.",)


def left_out(index: Index) -> tuple[str, ...]:
    """Say which columns a table leaves out because their values follow from others."""
    said = []
    if any(index.is_at_chance(item) for item in index.contestants) and len(telling(index)) < len(index.contestants):
        said.append(f"{SANITY} is exactly at chance everywhere")
    turned = [item.scorer for item in index.contestants if index.is_repetition(item)]
    if turned:
        said.append(f"{', '.join(visible(scorer) for scorer in turned)}: 100 minus the other direction")
    return (f"Not repeated here: {'; '.join(said)}.",) if said else ()


def telling(index: Index) -> list[Contestant]:
    """Return the contestants without those whose every value is known: the passed sanity check, repetitions."""
    found = [item for item in index.contestants if not index.is_repetition(item) and not index.is_at_chance(item)]
    return found or index.contestants


def marks(cells: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Explain the mark of values that follow from seeing one side alone, where a table has one."""
    if not any(FIXED_MARK in cell for row in cells for cell in row):
        return ()
    return (
        f"{FIXED_MARK} by construction: a scorer that sees one side alone cannot pass I2T, T2I or Group and always "
        "ties GroupMatch.",
    )


def foot_notes(feet: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
    """Explain the two nulls, where a table shows both."""
    if len(feet) == 1:
        return ()
    return ("Chance: scores that are exchangeable; insensitive null: a scorer that does not see the edit.",)


def measure_title(metric: str, place: str) -> str:
    """Return what a column of this metric is called, with its unit."""
    known = measure(metric)
    unit = f" {known.unit}" if known.unit else ""
    return f"{visible(known.title)}{' macro' if place == MACRO else ''}{unit}"
