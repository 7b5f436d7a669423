"""The flat tables of the run folder: one row per instance, per score, per outcome."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
import pandas as pd

from audits.dataset import Roster
from audits.measured import Measured
from benchmarks.schema import Instance
from reports.scrub import scrub_text

_SCORES = {
    **{"instance": object, "image": np.int16, "caption": np.int16, "scorer": object, "score": np.float64},
    **{"tokens": np.int32, "truncated": np.bool_, "note": object},
}


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


def scores(measured: Iterable[Measured], roster: Roster) -> pd.DataFrame:
    """Return the long table of scores; `image` or `caption` is -1 where the scorer did not see one.

    A contestant of which only outcomes are known has no rows.
    """
    ids = np.asarray(roster.ids, dtype=object)
    parts = [pd.DataFrame({name: np.empty(0, kind) for name, kind in _SCORES.items()})]
    for one in measured:
        cells = one.cells
        if cells is None:
            continue
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
                        "scorer": one.contestant.full_name(column),
                        "score": values,
                        "tokens": cells.tokens,
                        "truncated": cells.truncated,
                        "note": notes,
                    }
                )
            )
    table = pd.concat(parts, ignore_index=True)
    return table.astype({"scorer": "category"})


def outcomes(measured: Iterable[Measured], roster: Roster) -> pd.DataFrame:
    """Return the long table of outcomes: one row per comparison of every scorer column."""
    ids = np.asarray(roster.ids, dtype=object)
    table = pd.concat([one.comparisons for one in measured], ignore_index=True)
    table["instance"] = ids[table["instance"]]
    return table.astype(dict.fromkeys(("direction", "order", "scorer", "comparison", "outcome"), "category"))
