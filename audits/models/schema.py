"""The contracts of what takes part in a run without scoring: what somebody else recorded, and models that pick."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

import pandas as pd

from audits.models.answers import State
from audits.scoring import Cells
from audits.statistics.outcomes import Outcome
from baselines.schema import Progress, Side
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from reports.schema import Finding


@dataclass(frozen=True, slots=True, eq=False)
class Recalled:
    """Hold what a recorded contestant knows of the instances of a run.

    Attributes:
        cells: Scores, where scores were recorded; the outcomes are then decided from them.
        outcomes: Outcomes by metric, arrays [n], where only outcomes were recorded, or beside those of the cells.
        comparisons: The long form of these outcomes as `statistics.comparisons` gives it, without `scorer`.
        reasons: Reason by instance position for what is unscored.
        facts: What a reader should know: how the file was read, joined, and what is missing.
        findings: What was noticed.
        never_asked: Positions of instances that nothing is recorded of at all.
        answers: The answers themselves, one row each, for the run folder; None where there are none to keep.
    """

    cells: Cells | None
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    comparisons: pd.DataFrame | None = None
    reasons: Mapping[int, str] = field(default_factory=dict)
    facts: Mapping[str, str | int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    never_asked: Set[int] = frozenset()
    answers: pd.DataFrame | None = None


@runtime_checkable
class Recorded(Protocol):
    """Other people's scores, flags or answers. `name`, `sees`, `columns` and `signature` are as in `Scorer`."""

    name: str
    sees: frozenset[Side]
    columns: tuple[str, ...]

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number: the files' digests and how they are read."""

    def recall(self, instances: Iterable[Instance]) -> Recalled:
        """Return what is recorded of these instances.

        Raises:
            InputError: If the file does not fit the instances at all, or one of its values cannot be read.
        """


Direction = Literal["i2t", "t2i"]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Hold one question in one order of its options: everything that a model may be told, and no gold.

    Attributes:
        direction: `i2t` (image given, choose the caption) or `t2i` (caption given, choose the image).
        given: The image, or the caption.
        options: Captions or images, in the order in which they are shown.
        query: Text that stands before every caption; usually empty.
    """

    direction: Direction
    given: ImageRef | str
    options: tuple[str, ...] | tuple[ImageRef, ...]
    query: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Hold what became of one question.

    Attributes:
        state: Whether there is an answer that can be read, and if not, why.
        choice: Place of the chosen option as shown, from 0; None without a readable answer.
        text: The raw reply; empty where there was none.
        note: Why there is no answer, as far as it is known.
        cached: Whether the reply was there before this run.
        tokens_in: Tokens of the request as the model counted them, -1 where that is not known.
        tokens_out: Tokens of the reply, likewise.
        request: Digest of everything that was asked and how; equal requests are sent once.
    """

    state: State
    choice: int | None = None
    text: str = ""
    note: str = ""
    cached: bool = False
    tokens_in: int = -1
    tokens_out: int = -1
    request: str = ""


@runtime_checkable
class Chooser(Protocol):
    """A prompted model that picks one of the options. `name`, `sees`, `columns` and `signature` are as in `Scorer`.

    The runner asks every question in both orders of its options (all rotations where there are more than two). A
    chooser that sees only text is asked no `t2i` question: without the images nothing is left to choose between.
    It may have `facts: Mapping[str, str | int]` as a scorer may, and `blind: bool`: a blind twin, listed as a baseline.
    """

    name: str
    sees: frozenset[Side]
    columns: tuple[str, ...]

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change an answer: model, prompt, decoding, form of images; never a key."""

    def choose(self, questions: Sequence[Question], progress: Progress) -> list[Chosen]:
        """Return one `Chosen` for each question, in order.

        Raises:
            InputError: If the model cannot be asked at all, or not any longer.
        """


@dataclass(frozen=True, slots=True)
class Plan:
    """Say what asking questions would take, before anything is sent.

    Attributes:
        name: The chooser.
        questions: Questions in every order.
        requests: Distinct requests among them.
        cached: Requests whose reply is already there.
        images: Images that the others carry.
        tokens_in: Tokens of the others, estimated.
        tokens_out: Tokens of their replies at most.
        cost: At most, in the currency of the prices; None where a price is not known.
        purse: Who pays: plans of one purse count together against its ceilings.
        where: The option that holds the ceilings, for messages.
        max_calls: Most requests that may be sent, or None.
        max_cost: Most that they may cost, or None.
        needs: What asking needs and what is not there (a key), or empty.
    """

    name: str
    questions: int
    requests: int
    cached: int
    images: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    purse: str
    where: str
    max_calls: int | None = None
    max_cost: float | None = None
    needs: str = ""

    @property
    def calls(self) -> int:
        """Return the number of requests that would be sent, but for repeated attempts."""
        return self.requests - self.cached


@runtime_checkable
class Plans(Protocol):
    """A chooser that can say beforehand what asking would take; it sends nothing to find out."""

    def plan(self, questions: Sequence[Question]) -> Plan:
        """Return what asking these questions would take.

        Raises:
            InputError: If an image cannot be read.
        """
