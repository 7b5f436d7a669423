"""The rows of each instance, by the order of options; equal rows count once, rows that differ count as none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from audits.models.recorded.joining import Joined, Target
from benchmarks.errors import InputError
from benchmarks.recordings.entries import Entry
from benchmarks.recordings.rows import Order

ValueT = TypeVar("ValueT")
NO_ROW, CONFLICT = "no row is recorded", "different values are recorded"


class Values(NamedTuple, Generic[ValueT]):
    """Hold what was read.

    Attributes:
        by_place: Values by position and order.
        reasons: Why positions have none.
        repeated: Rows that say again what another row of the same instance says.
        conflicts: Positions whose rows differ.
    """

    by_place: Mapping[int, Mapping[Order, ValueT]]
    reasons: Mapping[int, str]
    repeated: int
    conflicts: tuple[int, ...]

    @property
    def never_asked(self) -> frozenset[int]:
        """Return the positions that no row is about."""
        return frozenset(place for place, reason in self.reasons.items() if reason == NO_ROW)


class Taken:
    """Group rows by instance and order.

    Args:
        entries: All rows.
        joined: Which instance each is about.
        targets: The instances.
        ordered: Whether the order of options matters.
        where: The run, for messages.

    Raises:
        InputError: If some rows tell the order of options and some do not.
    """

    def __init__(
        self, entries: Sequence[Entry], joined: Joined, targets: Sequence[Target], *, ordered: bool, where: str
    ) -> None:
        self.targets = targets
        self.rows: dict[int, dict[Order, list[Entry]]] = {}
        for entry, place in zip(entries, joined.place.tolist(), strict=True):
            if place >= 0:
                order: Order = entry.order if ordered else ""
                self.rows.setdefault(place, {}).setdefault(order, []).append(entry)
        there = {order for by_order in self.rows.values() for order in by_order}
        if "" in there and len(there) > 1:
            raise InputError(
                "some rows tell the order of options and some do not",
                where=where,
                got=", ".join(sorted(order or "none" for order in there)),
                step="name the order of every file: {path: {ab: FILE, ba: FILE}}",
            )
        self.orders: tuple[Order, ...] = tuple(order for order in ("", "ab", "ba") if order in there)

    def first(self, place: int) -> Entry:
        """Return the first row of an instance."""
        return next(iter(self.rows[place].values()))[0]

    def values(self, read: Callable[[Entry, Target], ValueT], same: Callable[[ValueT, ValueT], bool]) -> Values[ValueT]:
        """Read every row.

        Args:
            read: Reads one row.
            same: Whether two values are equal.
        """
        found: dict[int, dict[Order, ValueT]] = {}
        reasons = {place: NO_ROW for place in range(len(self.targets)) if place not in self.rows}
        repeated, conflicts = 0, []
        for place, by_order in self.rows.items():
            several = {order: [read(row, self.targets[place]) for row in rows] for order, rows in by_order.items()}
            if all(same(values[0], other) for values in several.values() for other in values[1:]):
                found[place] = {order: values[0] for order, values in several.items()}
                repeated += sum(len(values) - 1 for values in several.values())
            else:
                reasons[place] = CONFLICT
                conflicts.append(place)
        return Values(found, reasons, repeated, tuple(conflicts))
