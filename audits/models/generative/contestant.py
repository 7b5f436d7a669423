"""A generative model as a contestant, or one of its blind twins: the same rows and candidates, another condition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audits.models.generative.asking import Ask, Text
from audits.models.generative.conditions import Condition, ShuffledImages
from audits.models.generative.core import Core
from audits.models.generative.items import Ids, Item
from audits.models.generative.sights import Sight
from baselines.schema import Scored, Side, Work
from benchmarks.schema import Candidates

NO_TEXT, NO_TOKENS = "no text", "no tokens"
NO_ROOM, NOT_FINITE = "prompt and caption do not fit the model's context", "the log-likelihood is not finite"


class Cell(NamedTuple):
    """Hold what one score is made of.

    Attributes:
        items: Measurements whose probabilities are averaged.
        target: Ids that are scored.
        problem: Why there is no score, or empty.
    """

    items: tuple[Item, ...] = ()
    target: Ids = ()
    problem: str = ""


class Generative:
    """Score a caption by what a generative model makes of it, under one condition.

    Args:
        core: The model, shared with the other conditions.
        ask: What is asked of a caption.
        condition: What is shown beside it.
        name: Name of the model's own contestant; a twin's is `name:condition`.

    Attributes:
        facts: What a reader should know of how it went.
        threshold: Score above which image and caption are said to match; only where the score is such a judgement.
        blind: Whether it is a blind baseline, though it is selected with a model.
        needs_images: Whether it opens image files.
        prior_of: Name of the contestant off which its log P(t) can be taken; empty where it is none.
    """

    def __init__(self, core: Core, ask: Ask, condition: Condition, *, name: str) -> None:
        self._core, self._ask, self._condition = core, ask, condition
        self.name = f"{name}:{condition.name}" if condition.name else name
        self.columns = ask.columns
        self.sees: frozenset[Side] = condition.sees
        self.blind, self.needs_images = bool(condition.name), condition.needs_images
        self.prior_of = name if condition.is_prior and ask.is_prior else ""
        self.facts = core.facts
        self._last = ("", False, core.prompter.render("", has_image=False))
        if ask.threshold is not None:
            self.threshold = ask.threshold

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number."""
        return {
            "scorer": "generative",
            **self._core.identity,
            **self._ask.signature,
            "image": self._condition.about,
        }

    def survey(self, every: Iterable[Candidates]) -> None:
        """Look through all instances of a run before the first is scored, where the condition draws from them."""
        if isinstance(self._condition, ShuffledImages):
            self._condition.survey(every)

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return one `Scored` per candidate, [I, T]; [1, T] where the condition does not look at its images.

        A caption is NaN, with a note, if it has no text, no ids, no image, or does not fit the context.
        """
        if isinstance(self._condition, ShuffledImages) and not self._condition.is_surveyed:
            self._condition.survey(batch)
        texts = [Text(item.query, one) for item in batch for one in item.captions if one is not None]
        encoded = self._core.encode([self._ask.spoken(text) for text in texts])
        grids = [self._grid(item, encoded) for item in batch]
        items = list({one.key: one for grid in grids for row in grid for cell in row for one in cell.items}.values())
        values = self._core.measure(items, work, self.name) if items else {}
        return [self._scored(grid, values) for grid in grids]

    def _grid(self, item: Candidates, encoded: Mapping[str, Ids]) -> list[list[Cell]]:
        return [[self._cell(row, item.query, one, encoded) for one in item.captions] for row in self._rows(item)]

    def _rows(self, item: Candidates) -> Sequence[Sequence[Sight] | str]:
        return self._condition.sights(item)

    def _cell(self, row: Sequence[Sight] | str, query: str, caption: str | None, encoded: Mapping[str, Ids]) -> Cell:
        if caption is None:
            return Cell(problem=NO_TEXT)
        text = Text(query, caption)
        target = self._ask.target(text, encoded)
        if not target or isinstance(row, str):
            return Cell(problem=str(row) if target else NO_TOKENS, target=target)
        asked = self._ask.prompt(text)
        prompts = {shows: self._rendered(asked, has_image=shows) for shows in {seen.shows for seen in row}}
        return Cell(tuple(Item(seen, prompts[seen.shows], target) for seen in row), target)

    def _rendered(self, asked: str, *, has_image: bool) -> str:
        """Render a prompt once for all captions that follow it."""
        if self._last[:2] != (asked, has_image):
            self._last = (asked, has_image, self._core.prompter.render(asked, has_image=has_image))
        return self._last[2]

    def _scored(self, grid: Sequence[Sequence[Cell]], values: Mapping[str, float]) -> Scored:
        shape = (len(grid), len(grid[0]))
        columns = {name: np.full(shape, np.nan) for name in self.columns}
        tokens = np.zeros(shape, np.int64)
        notes = {}
        for place in np.ndindex(shape):
            cell = grid[place[0]][place[1]]
            tokens[place] = len(cell.target)
            total = averaged(np.array([values[one.key] for one in cell.items]))
            problem = cell.problem or (NO_ROOM if np.isnan(total) else NOT_FINITE if np.isinf(total) else "")
            if problem:
                notes[int(place[0]), int(place[1])] = problem
                continue
            scores = self._ask.scores(total, len(cell.target))
            for name, value in zip(self.columns, scores, strict=True):
                columns[name][place] = value
        return Scored(columns, tokens, notes=notes)


def averaged(totals: NDArray[np.float64]) -> float:
    """Return the log of the mean of probabilities given by their logs, in nats; NaN of none.

    >>> round(averaged(np.log(np.array([0.5, 0.25]))), 4) == round(float(np.log(0.375)), 4)
    True
    >>> averaged(np.array([-800.0]))
    -800.0
    """
    if not len(totals) or np.isnan(totals).any():
        return float("nan")
    return float(np.logaddexp.reduce(totals) - np.log(len(totals)))
