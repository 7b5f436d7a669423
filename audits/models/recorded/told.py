"""What a reader should know of a recorded run: how it was read and joined, and what of it is missing or unreadable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from audits.models.answers import Pick, State
from audits.models.recorded.joining import Joined, Target
from audits.models.recorded.near_ids import SYSTEMATIC, Alike, alike, hint
from audits.models.recorded.taken import Values
from audits.models.recorded.values import flags
from audits.models.unanswered import states as count_states
from audits.models.unanswered import unanswered
from audits.statistics.outcomes import Outcome
from benchmarks.recordings.entries import Recording
from benchmarks.recordings.rows import Order
from reports.schema import Finding

SHOWN = 20
STATES: tuple[State, ...] = ("answered", "unparsed", "empty", "failed")
Picks = Mapping[int, Mapping[Order, Pick]]


class Told(NamedTuple):
    """Hold what is said of one run."""

    name: str
    recording: Recording
    joined: Joined
    targets: Sequence[Target]

    def facts(self, values: Values[Any]) -> dict[str, str | int]:
        """Return how the files were read and joined, and what is missing."""
        rows, without = len(self.recording.entries), self._without()
        found: dict[str, str | int] = {
            "read as": self.recording.told,
            "joined": self.joined.way,
            "rows": rows,
            "rows without an instance": rows - self.joined.found,
            "instances without a row": len(without),
        }
        if values.repeated:
            found["rows that repeat another"] = values.repeated
        if values.conflicts:
            found["instances with conflicting rows"] = len(values.conflicts)
        if own := self._own_flags():
            found["right by the file's own flags"] = own
        if self.recording.ignored:
            found["not rows"] = ", ".join(self.recording.ignored[:5])
        return found

    def unmatched(self, values: Values[Any]) -> list[Finding]:
        """Return what is unmatched on either side, and what conflicts."""
        rows = [
            str(entry.spot.row) if len(self.recording.files) == 1 else f"{entry.spot.path.name}, {entry.spot.row}"
            for entry, place in zip(self.recording.entries, self.joined.place.tolist(), strict=True)
            if place < 0
        ]
        without, total = self._without(), len(self.recording.entries)
        found = []
        if rows or without:
            why = "; ".join(f"{count:,}: {reason}" for reason, count in self.joined.lost.items())
            near = self._alike(without)
            said = f" Ids of {len(near):,} of these rows differ in their writing only: {hint(near[0])}." if near else ""
            found.append(
                Finding(
                    "recorded_unmatched",
                    "warning" if len(near) >= SYSTEMATIC * total and near else "notice",
                    f"{self.name}: {len(rows):,} of {total:,} rows are about no instance of this run"
                    f"{f' ({why})' if why else ''}, and "
                    f"{len(without):,} of {len(self.targets):,} instances have no row.{said}",
                    instances=tuple(self.targets[place].id for place in without[:SHOWN]),
                    values={
                        "rows": total,
                        "rows_without_instance": len(rows),
                        "instances_without_row": len(without),
                        "rows_with_an_id_in_another_writing": len(near),
                        "first_rows_without_instance": ", ".join(rows[:SHOWN]),
                    },
                )
            )
        if values.conflicts:
            found.append(
                Finding(
                    "recorded_conflicts",
                    "warning",
                    f"{self.name}: {len(values.conflicts):,} instances have rows that differ; they are unscored.",
                    instances=tuple(self.targets[place].id for place in values.conflicts[:SHOWN]),
                    values={"instances": len(values.conflicts)},
                )
            )
        return found

    def unanswered(self, picks: Picks, outcomes: Mapping[str, Outcome]) -> list[Finding]:
        """Return what became of the questions that were asked, if not all were answered."""
        places = [
            place for place, by_order in picks.items() if any(one.state != "answered" for one in by_order.values())
        ]
        lost = [self.targets[place].id for place in sorted(places)]
        return unanswered("recorded_unanswered", self.name, states(picks), outcomes, lost)

    def _own_flags(self) -> str:
        """Return how many rows of answers the file itself counts as right: it may count unreadable ones as wrong."""
        roles = self.recording.roles
        if roles.layout != "answers" or "correct" not in roles.by_role:
            return ""
        counts: dict[str, Counter[bool]] = {}
        for entry in self.recording.entries:
            right = flags(entry, roles, ["correct"])["correct"]
            counts.setdefault(entry.order, Counter())[right is True] += 1
        told = ((f"{order}: " if order else "", found) for order, found in sorted(counts.items()))
        return ", ".join(f"{order}{found[True]} of {found.total()}" for order, found in told)

    def _alike(self, without: Sequence[int]) -> list[Alike]:
        """Return the rows without an instance whose id is that of an instance without a row, written differently."""
        pairs = zip(self.recording.entries, self.joined.place.tolist(), strict=True)
        return alike([entry.name for entry, place in pairs if place < 0], [self.targets[one].id for one in without])

    def _without(self) -> list[int]:
        """Return the positions of the instances that no row is about."""
        found = set(self.joined.place.tolist())
        return [place for place in range(len(self.targets)) if place not in found]


def states(picks: Picks) -> dict[str, int]:
    """Return the number of questions by what became of them; empty if nothing was asked."""
    return count_states((one for by_order in picks.values() for one in by_order.values()), STATES)
