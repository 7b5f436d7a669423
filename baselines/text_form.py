"""Let any text baseline read captions as they were released, or without what only their form gives away.

Raw minus normalised is what a baseline draws from the form alone: case, punctuation, blanks (format bias).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from baselines.schema import CrossFitted, Fitted, Scored, Scorer, Side, Work
from benchmarks.errors import InputError, near
from benchmarks.schema import Candidates, Instance

Form = Literal["raw", "normalised"]
FORMS: tuple[Form, ...] = get_args(Form)
EMPTIED = "nothing is left of the caption when it is normalised"
_OTHER = re.compile(r"[^a-z0-9]+")


def normalised(text: str) -> str:
    """Return a text in lower case in which runs of anything but a to z and 0 to 9 are one blank, none at the ends.

    >>> normalised(" A  man's Café, 2 cups.")
    'a man s caf 2 cups'
    """
    return _OTHER.sub(" ", text.lower()).strip()


def forms(given: object, where: str) -> tuple[Form, ...]:
    """Return the forms that a leaf asks for; none if it leaves the matter open.

    Args:
        given: `raw`, `normalised`, a list of them, or None.
        where: The leaf, for messages.

    Raises:
        InputError: If a form is unknown or named twice.
    """
    if given is None:
        return ()
    listed = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    chosen = tuple(form for form in listed if form in FORMS)
    if len(chosen) < len(listed) or len(set(chosen)) < len(chosen) or not chosen:
        wrong = next((str(form) for form in listed if form not in FORMS), "")
        raise InputError(
            "the text form is wrong",
            where=f"{where}.text_form",
            got=str(given),
            expected="raw, normalised, [raw, normalised], or null for the text as released under the plain name",
            step=near(wrong, FORMS) or "name each form once",
        )
    return chosen


def in_form(contestant: Scorer | CrossFitted, form: Form, where: str) -> Scorer | CrossFitted:
    """Return a contestant that receives its text in a form and bears that form in its name.

    Args:
        contestant: What scores; two forms of it share its model.
        form: The form.
        where: The leaf, for messages.

    Raises:
        InputError: If the contestant sees no text.
    """
    if "text" not in contestant.sees:
        raise InputError(
            "this baseline sees no text that could have a form",
            where=f"{where}.text_form",
            got=form,
            step="leave text_form out, or at null",
        )
    return FormedScorer(contestant, form) if isinstance(contestant, Scorer) else FormedCrossFitted(contestant, form)


class _Formed:
    """Pass on what a contestant declares, with the form added."""

    def __init__(self, contestant: Scorer | CrossFitted, form: Form) -> None:
        self.contestant, self.form = contestant, form
        self.name = f"{contestant.name}:{form}"
        self.sees: frozenset[Side] = contestant.sees
        self.columns: tuple[str, ...] = contestant.columns
        self.facts: dict[str, str | int] = {}

    @property
    def signature(self) -> Mapping[str, str]:
        """Return what the contestant declares, and the form."""
        return {**self.contestant.signature, "text": self.form}

    @property
    def tolerance(self) -> float:
        """Return the contestant's tolerance for ties."""
        return float(getattr(self.contestant, "tolerance", 0.0))

    def _note_facts(self, before: Mapping[str, str | int]) -> None:
        """Take over what the contestant noted since; another form of it notes in the same place, and counts add up."""
        for name, value in getattr(self.contestant, "facts", {}).items():
            was, own = before.get(name, 0), self.facts.get(name, 0)
            counts = isinstance(value, int) and isinstance(was, int) and isinstance(own, int)
            self.facts[name] = own + value - was if counts else value

    def _facts(self) -> dict[str, str | int]:
        return dict(getattr(self.contestant, "facts", {}))


class FormedScorer(_Formed):
    """Score with a `Scorer` that receives its text in a form.

    Args:
        contestant: The scorer.
        form: The form.
    """

    def __init__(self, contestant: Scorer, form: Form) -> None:
        super().__init__(contestant, form)
        self._scorer = contestant

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return one `Scored` per candidate, in order."""
        before = self._facts()
        found = self._scorer.score(_candidates(batch, self.form), work)
        self._note_facts(before)
        return _noted(batch, found, self.form)


class FormedFitted:
    """Score with what was learned from text in a form.

    Args:
        fitted: What was learned.
        form: The form.
    """

    def __init__(self, fitted: Fitted, form: Form) -> None:
        self._fitted, self._form = fitted, form

    def score(self, batch: Sequence[Candidates]) -> list[Scored]:
        """Return one `Scored` per candidate, in order."""
        return _noted(batch, self._fitted.score(_candidates(batch, self._form)), self._form)


class FormedCrossFitted(_Formed):
    """Train a `CrossFitted` baseline on text in a form, and score text in that form.

    Args:
        contestant: The baseline.
        form: The form.
    """

    def __init__(self, contestant: CrossFitted, form: Form) -> None:
        super().__init__(contestant, form)
        self._trained = contestant

    def prepare(self, batch: Sequence[Candidates], work: Work) -> None:
        """Compute what needs no gold."""
        before = self._facts()
        self._trained.prepare(_candidates(batch, self.form), work)
        self._note_facts(before)

    def fit(self, training: Sequence[Instance], *, seed: int) -> Fitted:
        """Learn from instances with gold; their ids, images and gold are untouched."""
        before = self._facts()
        fitted = FormedFitted(self._trained.fit(_instances(training, self.form), seed=seed), self.form)
        self._note_facts(before)
        return fitted


def _candidates(batch: Sequence[Candidates], form: Form) -> Sequence[Candidates]:
    if form == "raw":
        return batch
    return [dataclasses.replace(one, captions=_captions(one.captions), query=_query(one.query)) for one in batch]


def _instances(training: Sequence[Instance], form: Form) -> Sequence[Instance]:
    if form == "raw":
        return training
    return [dataclasses.replace(one, captions=_captions(one.captions), query=_query(one.query)) for one in training]


def _captions(texts: tuple[str | None, ...]) -> tuple[str | None, ...]:
    return tuple(None if text is None else normalised(text) for text in texts)


def _query(query: str) -> str:
    """Return a query that still ends in a blank: a caption is joined to it without anything between."""
    text = normalised(query)
    return f"{text} " if text else ""


def _noted(batch: Sequence[Candidates], found: Sequence[Scored], form: Form) -> list[Scored]:
    """Say where a caption lost all its text; whether nothing can be scored is the scorer's to say."""
    if form == "raw":
        return list(found)
    return [_emptied(item, scored) for item, scored in zip(batch, found, strict=True)]


def _emptied(item: Candidates, scored: Scored) -> Scored:
    places = [place for place, text in enumerate(item.captions) if text and not normalised(text)]
    if not places:
        return scored
    rows = next(iter(scored.columns.values())).shape[0]
    notes = dict(scored.notes)
    for cell in [(row, place) for row in range(rows) for place in places]:
        notes[cell] = "; ".join(filter(None, (notes.get(cell, ""), EMPTIED)))
    return dataclasses.replace(scored, notes=notes)
