"""The flat tables of the run folder: one row per instance, per score, per outcome."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
import pandas as pd

from audits.dataset import Roster
from audits.load import Contestant
from audits.scoring import Cells
from audits.statistics.comparisons import comparisons
from benchmarks.schema import Instance
from reports.scrub import scrub_text


def instances(items: Iterable[Instance]) -> pd.DataFrame:
    """Return one row per instance; lists and tags are JSON text, so that the table stays flat."""
    rows = [
        {
            "instance": one.id,
            "subset": one.subset,
            "cluster": one.cluster,
            "group": one.group,
            "query": one.query,
            "images": json.dumps([image.key for image in one.images], ensure_ascii=False),
            "captions": json.dumps(list(one.captions), ensure_ascii=False),
            "gold": json.dumps(one.gold.astype(int).tolist()),
            "tags": json.dumps(dict(one.tags), ensure_ascii=False, sort_keys=True),
        }
        for one in items
    ]
    return pd.DataFrame(rows)


def scores(scored: Iterable[tuple[Contestant, Cells, object]], roster: Roster) -> pd.DataFrame:
    """Return the long table of scores; `image` or `caption` is -1 where the scorer did not see one."""
    ids = np.asarray(roster.ids, dtype=object)
    parts = []
    for contestant, cells, _ in scored:
        notes = np.full(len(cells.instance), "", dtype=object)
        # A scorer's words may hold anything.
        cleaned = {reason: scrub_text(reason) for reason in set(cells.notes.values())}
        for cell, reason in cells.notes.items():
            notes[cell] = cleaned[reason]
        for column, values in cells.columns.items():
            parts.append(
                pd.DataFrame(
                    {
                        "instance": ids[cells.instance],
                        "image": cells.image,
                        "caption": cells.caption,
                        "scorer": contestant.full_name(column),
                        "score": values,
                        "tokens": cells.tokens,
                        "truncated": cells.truncated,
                        "note": notes,
                    }
                )
            )
    table = pd.concat(parts, ignore_index=True)
    return table.astype({"scorer": "category"})


def outcomes(scored: Iterable[tuple[Contestant, Cells, object]], roster: Roster, *, tolerance: float) -> pd.DataFrame:
    """Return the long table of outcomes: one row per comparison of every scorer column.

    Args:
        scored: Contestants with what they measured.
        roster: The instances.
        tolerance: Scores that differ by no more than this are tied.
    """
    ids = np.asarray(roster.ids, dtype=object)
    parts = []
    for contestant, cells, _ in scored:
        for column in contestant.scorer.columns:
            grids = cells.grids(column, roster.shapes)
            table = comparisons(grids, roster.golds, sees=contestant.scorer.sees, tolerance=tolerance)
            table["instance"] = ids[table["instance"]]
            table.insert(1, "scorer", contestant.full_name(column))
            parts.append(table)
    return pd.concat(parts, ignore_index=True).astype({"scorer": "category", "comparison": "category"})
