"""Notice ids that differ from those of the benchmark in their writing only; nothing is ever joined by such a guess."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

SYSTEMATIC = 0.05
"""Share of the rows from which ids in another writing are a warning."""


class Alike(NamedTuple):
    """Hold one recorded id and the id that it may stand for."""

    recorded: str
    known: str


def plain(name: str) -> str:
    """Return an id without what often differs: leading zeros, a trailing `.0`, case and blanks.

    >>> plain("007"), plain(" 7.0"), plain("Swap_Att:0007")
    ('7', '7', 'swap_att:7')
    """
    text = re.sub(r"\s+", "", name).casefold()
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"(?<=\d)\.0+$", "", text))


def alike(rows: Iterable[str], ids: Iterable[str]) -> list[Alike]:
    """Return the rows that are written differently from exactly one id, in order.

    Args:
        rows: Ids of rows that are about no instance.
        ids: Ids of the instances that no row is about; the part behind a subset counts too.

    >>> alike(["7", "8", "x"], ["s:007", "s:070"])
    [Alike(recorded='7', known='s:007')]
    """
    known: dict[str, set[str]] = {}
    for one in ids:
        for key in {plain(one), plain(one.rpartition(":")[2])}:
            known.setdefault(key, set()).add(one)
    found = []
    for row in rows:
        fits = known.get(plain(row), set())
        if len(fits) == 1:
            found.append(Alike(row, next(iter(fits))))
    return found


def hint(found: Alike) -> str:
    """Say which id may be meant and what to do."""
    return (
        f"recorded {found.recorded!r} may be benchmark {found.known!r}, and is not joined by guess: write the ids as "
        "the benchmark does, or give join: content"
    )
