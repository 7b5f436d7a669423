"""One recorded run: read its files, find the instances that its rows are about, and return what it knows of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audits.models.answers import Pick
from audits.models.decided import Decided, from_flags, from_picks
from audits.models.recorded import checks
from audits.models.recorded.joining import Target, is_square, join, targets
from audits.models.recorded.picks import from_answer, from_flag
from audits.models.recorded.sheet import cells
from audits.models.recorded.taken import Taken, Values
from audits.models.recorded.told import Told, states
from audits.models.recorded.values import NO_VALUE, flags, grid
from audits.models.schema import Recalled
from baselines.schema import BOTH, Side
from benchmarks.errors import InputError
from benchmarks.recordings import entries
from benchmarks.recordings.roles import FLAGS, Chosen
from benchmarks.recordings.rows import Order, Source
from benchmarks.schema import Instance

Flags = Mapping[str, bool | None]


@dataclass(frozen=True, slots=True)
class Options:
    """Say how the files of one run are read.

    Attributes:
        path: See `benchmarks.recordings.rows.collect`.
        layout: See `benchmarks.recordings.roles.assign`.
        columns: Likewise.
        join: `auto`, `content`, `id` or `position`.
        normalise: Whether captions are compared without case, repeated blanks and final stop.
    """

    path: Source
    layout: str = "auto"
    columns: Chosen | None = None
    join: str = "auto"
    normalise: bool = False


class Run:
    """Hold one recorded run of a model.

    Args:
        key: Its name in the configuration.
        options: How it is read.
        where: The option that names it, for messages.

    Raises:
        InputError: If the files are not there or cannot be read.
    """

    sees: frozenset[Side] = BOTH
    columns: tuple[str, ...] = ("",)

    def __init__(self, key: str, options: Options, *, where: str) -> None:
        self.name = f"recorded:{key}"
        self._options, self._where = options, where
        self._recording = entries.read(options.path, layout=options.layout, columns=options.columns, where=where)
        self._roles = self._recording.roles

    @property
    def signature(self) -> Mapping[str, str]:
        """Return the digests of the files and how they are read."""
        return {
            "files": ", ".join(f"{name}={digest}" for name, digest in self._recording.files.items()),
            "read as": self._recording.told,
            "join": self._options.join,
            "normalise": str(self._options.normalise).lower(),
        }

    def recall(self, instances: Iterable[Instance]) -> Recalled:
        """Return what is recorded of the instances.

        Raises:
            InputError: If no row is about any of them, or a value cannot be read.
        """
        known, rows = targets(instances), self._recording.entries
        joined = join(rows, known, self._options.join, normalise=self._options.normalise, where=self._where)
        scored = self._roles.layout in ("captions", "pairs")
        taken = Taken(rows, joined, known, ordered=not scored, where=self._where)
        told = Told(self.name, self._recording, joined, known)
        if scored:
            return self._scores(taken, told)
        return self._answers(taken, told) if self._roles.layout == "answers" else self._flags(taken, told)

    def _scores(self, taken: Taken, told: Told) -> Recalled:
        found = taken.values(lambda entry, target: grid(entry, self._roles, target), _same_grid)
        grids = {place: by_order[""] for place, by_order in found.by_place.items()}
        own = checks.own_flags(grids, taken, self._roles, self._where)
        notes = [
            *told.unmatched(found),
            *checks.findings(self.name, own, taken.targets),
            *checks.insensitive(self.name, grids, taken.targets),
        ]
        facts = {**told.facts(found), **checks.facts(own)}
        sheet = cells(grids, taken.targets, found.reasons)
        return Recalled(sheet, facts=facts, findings=tuple(notes), never_asked=found.never_asked)

    def _answers(self, taken: Taken, told: Told) -> Recalled:
        self._refuse_squares(taken, "answers")
        found = taken.values(lambda entry, target: from_answer(entry, self._roles, target), _same)
        return self._picked(found, taken, told)

    def _flags(self, taken: Taken, told: Told) -> Recalled:
        names = [role for role in FLAGS if role in self._roles.by_role]
        if names == ["correct"]:
            self._refuse_squares(taken, "one flag")
        found = taken.values(lambda entry, _: flags(entry, self._roles, names), _same)
        if taken.orders != ("",):
            self._refuse_squares(taken, "flags in an order of options")
            return self._picked(self._as_picks(found, taken), taken, told)
        metrics = self._metrics(found, taken.targets)
        reasons = dict(found.reasons)
        for place in found.by_place:
            if not any(place in right for right in metrics.values()):
                reasons[place] = NO_VALUE
        return self._decided(from_flags(metrics, taken.targets, reasons), found, {}, told)

    def _metrics(self, found: Values[Flags], known: Sequence[Target]) -> dict[str, dict[int, bool]]:
        """Return by metric whether each instance is right.

        Raises:
            InputError: If no flag stands for any metric of these instances.
        """
        metrics: dict[str, dict[int, bool]] = {}
        for place, by_order in found.by_place.items():
            for role, right in by_order[""].items():
                metric = checks.metric_of(role, known[place], self._roles)
                if metric is not None and right is not None:
                    metrics.setdefault(metric, {}).setdefault(place, right)
        if not metrics:
            raise InputError(
                "no flag says anything about these instances",
                where=self._where,
                got=f"flags {self._recording.told}",
                expected="correct for instances with one question; i2t, t2i, group for 2x2",
                step="name the columns, for example columns={group: MY_COLUMN}",
            )
        return metrics

    def _as_picks(self, found: Values[Flags], taken: Taken) -> Values[Pick]:
        """Return flags in both orders as picks: with two options a flag and the order tell which was picked."""
        picks: dict[int, dict[Order, Pick]] = {}
        for place, by_order in found.by_place.items():
            for order, own in by_order.items():
                right = next((value for value in own.values() if value is not None), None)
                picks.setdefault(place, {})[order] = from_flag(taken.rows[place][order][0], right)
        return Values(picks, found.reasons, found.repeated, found.conflicts)

    def _picked(self, found: Values[Pick], taken: Taken, told: Told) -> Recalled:
        decided = from_picks(found.by_place, [taken.orders] * len(taken.targets), taken.targets, found.reasons)
        return self._decided(decided, found, found.by_place, told)

    def _decided(
        self,
        decided: Decided,
        found: Values[Flags] | Values[Pick],
        picks: Mapping[int, Mapping[Order, Pick]],
        told: Told,
    ) -> Recalled:
        facts = {**told.facts(found), **states(picks)}
        notes = (*told.unmatched(found), *told.unanswered(picks, decided.outcomes))
        table, never = decided.table(), found.never_asked
        return Recalled(None, decided.outcomes, table, decided.reasons, facts, notes, never)

    def _refuse_squares(self, taken: Taken, what: str) -> None:
        """Refuse what cannot be told apart on 2x2 instances.

        Raises:
            InputError: If a row is about one.
        """
        place = next((place for place in taken.rows if is_square(taken.targets[place])), None)
        if place is not None:
            taken.first(place).spot.refuse(
                f"{what} cannot be read for the 2x2 instance {taken.targets[place].id!r}",
                told=self._recording.told[:200],
                expected="similarities (c0_i0 to c1_i1), or flags by direction (i2t, t2i, group)",
                step="name the columns, for example columns={group: MY_COLUMN, correct: null}",
            )


def _same(first: object, second: object) -> bool:
    return first == second


def _same_grid(first: NDArray[np.float64], second: NDArray[np.float64]) -> bool:
    return bool(np.array_equal(first, second, equal_nan=True))
