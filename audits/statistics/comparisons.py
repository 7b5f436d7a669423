"""The long form of outcomes: one row per comparison, for `outcomes.parquet`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from audits.statistics.decisions import Bools, Decision, Floats, choose, standing
from audits.statistics.outcomes import is_pairing, outcomes, pairing, patterns, stack

KINDS = ("win", "tie", "loss", "unscored")
_SQUARE = (
    ("i2t", "image0", "i2t_base"),
    ("i2t", "image1", "i2t_foil"),
    ("t2i", "caption{base}", "t2i_base"),
    ("t2i", "caption{foil}", "t2i_foil"),
    ("i2t", "i2t", "i2t"),
    ("t2i", "t2i", "t2i"),
    ("", "group", "group"),
    ("", "group_match", "group_match"),
)


class _Block(NamedTuple):
    """Hold one comparison of the same name over many instances."""

    rows: NDArray[np.int64]
    direction: str
    name: str
    decision: Decision


def comparisons(
    scores: Sequence[NDArray[np.floating]], golds: Sequence[Bools], *, sees: Set[str], tolerance: float = 0.0
) -> pd.DataFrame:
    """Return every comparison with its outcome and credit, in the order of the instances.

    `image0` asks for the caption of image 0, `caption1` for the image of caption 1; with several positives each stands
    against all foils by itself (`image0:caption2`). Beside them stand the metrics that join comparisons: `i2t`, `t2i`,
    `group`, `group_match` on 2x2, `accuracy_all` and `accuracy_any` with several positives.

    Args:
        scores: Float [I, T] per instance.
        golds: Boolean [I, T] per instance.
        sees: What the scorer is shown.
        tolerance: Largest difference that counts as a tie.

    Returns:
        Columns `instance` (int64, position), `direction` (`i2t`, `t2i` or empty), `order` (empty: only prompted choice
        has one), `comparison`, `outcome` (win, tie, loss, unscored), `credit` (NaN if unscored).

    Source: methods note, section 1.

    >>> table = comparisons([np.array([[0.1, 0.3]])], [np.array([[True, False]])], sees={"text"})
    >>> table[["instance", "direction", "comparison", "outcome", "credit"]].to_csv(index=False).split()
    ['instance,direction,comparison,outcome,credit', '0,i2t,image0,loss,0.0']
    """
    blocks = [
        block
        for pattern in patterns(golds)
        for block in _blocks(stack(scores, pattern), pattern.gold, pattern.rows, tolerance)
    ]
    blocks += list(_joined(scores, golds, sees, tolerance))
    return _table(blocks)


def _blocks(scores: Floats, gold: Bools, rows: NDArray[np.int64], tolerance: float) -> Iterator[_Block]:
    if is_pairing(gold):
        base, foil = gold.argmax(axis=1).tolist()
        decided = pairing(scores, gold, tolerance)
        for direction, name, metric in _SQUARE:
            yield _Block(rows, direction, name.format(base=base, foil=foil), decided[metric])
        return
    for direction, asked, offered, turned, table in (
        ("i2t", "image", "caption", scores, gold),
        ("t2i", "caption", "image", scores.transpose(0, 2, 1), gold.T),
    ):
        for row in np.flatnonzero(table.any(axis=1) & ~table.all(axis=1)).tolist():
            for option in np.flatnonzero(table[row]).tolist():
                several = table[row].sum() > 1
                name = f"{asked}{row}:{offered}{option}" if several else f"{asked}{row}"
                kept = ~table[row]
                kept[option] = True
                where = standing(turned[:, row][:, kept], table[row][kept], tolerance)
                yield _Block(rows, direction, name, choose(where, "any"))


def _joined(
    scores: Sequence[NDArray[np.floating]], golds: Sequence[Bools], sees: Set[str], tolerance: float
) -> Iterator[_Block]:
    """Yield the metrics over several positives."""
    chosen = [row for row, gold in enumerate(golds) if 1 in gold.shape and gold.sum() > 1]
    part = outcomes([scores[row] for row in chosen], [golds[row] for row in chosen], sees=sees, tolerance=tolerance)
    wide = np.array([golds[row].shape[0] == 1 for row in chosen], dtype=bool)
    for metric in ("accuracy_all", "accuracy_any"):
        if metric in part:
            decision = Decision(part[metric].credit, part[metric].tie, part[metric].unscored)
            for direction, mask in (("i2t", wide), ("t2i", ~wide)):
                kept = Decision(*(array[mask] for array in decision))
                yield _Block(np.array(chosen, dtype=np.int64)[mask], direction, metric, kept)


def _table(blocks: Sequence[_Block]) -> pd.DataFrame:
    """Join the blocks into one table, sorted by instance; within one the order of the blocks stays."""
    sizes = [len(block.rows) for block in blocks]
    directions, names = (pd.Index([block[field] for block in blocks]).unique() for field in (1, 2))
    instance = np.concatenate([block.rows for block in blocks]) if blocks else np.zeros(0, dtype=np.int64)
    credit = np.concatenate([block.decision.credit for block in blocks]) if blocks else np.zeros(0)
    kinds = np.concatenate([_kinds(block.decision) for block in blocks]) if blocks else np.zeros(0, dtype=np.int8)
    columns = {
        "instance": instance,
        "direction": _repeat(directions, [block.direction for block in blocks], sizes),
        "order": pd.Categorical.from_codes(np.zeros(len(instance), dtype=np.int8), categories=pd.Index([""])),
        "comparison": _repeat(names, [block.name for block in blocks], sizes),
        "outcome": pd.Categorical.from_codes(kinds, categories=pd.Index(KINDS)),
        "credit": credit,
    }
    return pd.DataFrame(columns).sort_values("instance", kind="stable", ignore_index=True)


def _repeat(names: pd.Index[str], values: Sequence[str], sizes: Sequence[int]) -> pd.Categorical[str]:
    codes = np.repeat(names.get_indexer(pd.Index(list(values), dtype=names.dtype)), sizes)
    return pd.Categorical.from_codes(codes, categories=names)


def _kinds(decision: Decision) -> NDArray[np.int8]:
    """Return the position in `KINDS` of each outcome."""
    plain = np.where(decision.credit == 1, 0, 2)
    return np.where(decision.unscored, 3, np.where(decision.tie, 1, plain)).astype(np.int8)
