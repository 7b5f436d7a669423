"""How many instances a table's values rest on, where its rows differ in it, and whose values are nothing but ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reports.index import SANITY, Contestant, Index
from reports.schema import Estimate
from reports.text import count, visible

MOST_TOLD = 6


def whose_n(
    labels: Sequence[str], shown: Sequence[Contestant], found: Sequence[Sequence[Estimate | None]]
) -> tuple[str, ...]:
    """Say whose n is which, in every column where contestants differ in it.

    Args:
        labels: What the columns are called.
        shown: The contestants by row.
        found: Their estimates by row and column.
    """
    told: dict[str, list[str]] = {}
    for at, label in enumerate(labels):
        by_n: dict[int, list[str]] = {}
        for item, row in zip(shown, found, strict=True):
            estimate = row[at]
            if estimate is not None:
                by_n.setdefault(estimate.n, []).append(visible(item.scorer))
        if len(by_n) > 1:
            told.setdefault(_owners_of(by_n), []).append(label)
    if not told:
        return ()
    listed = [f"{few(places)}: {text}" for text, places in list(told.items())[:MOST_TOLD]]
    more = f"; {count(len(told) - MOST_TOLD)} more in metrics.csv" if len(told) > MOST_TOLD else ""
    return (f"n is not the same in every row. {'; '.join(listed)}{more}.",)


def _owners_of(by_n: Mapping[int, Sequence[str]]) -> str:
    """Return who has which n, the commonest as that of all others."""
    commonest = max(by_n, key=lambda n: (len(by_n[n]), n))
    rare = [f"{count(n)} for {few(names)}" for n, names in sorted(by_n.items()) if n != commonest]
    rest = by_n[commonest]
    return f"{', '.join(rare)}, {count(commonest)} for {rest[0] if len(rest) == 1 else 'all others'}"


def few(names: Sequence[str], most: int = 3) -> str:
    """Return the first names, and how many more there are.

    >>> few(["a", "b"]), few(["a", "b", "c", "d", "e"])
    ('a, b', 'a, b, c and 2 more')
    """
    more = f" and {count(len(names) - most)} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def all_tied(index: Index, shown: Sequence[Contestant]) -> tuple[str, ...]:
    """Say which contestants tie everywhere: their value is what the rule for ties gives, and no more."""
    names = []
    for item in shown:
        pooled = index.find(item.scorer, index.headline(item))
        if pooled is not None and pooled.n and pooled.ties == pooled.n and item.owner != SANITY:
            names.append(visible(item.scorer))
    if not names:
        return ()
    return (
        f"Every comparison is a tie for {few(names)}: these scores tell no two options apart, so the values say what "
        "the rule for ties gives (half a credit for one decision, none for I2T, T2I and Group).",
    )
