"""Lay out one row of a likelihood: start token, query, caption, perhaps an end token; cut to the model's context.

Query and caption are tokenised apart and joined without anything between, so a caption has the same tokens, and the
same number of them, whatever stands before it. A query that should end in a blank must bring that blank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np


@dataclass(frozen=True, slots=True)
class Row:
    """Hold the token ids of one (query, caption).

    Attributes:
        ids: Start token, query, caption as far as it fits, end token if it is scored.
        scored: How many ids at the end of the row are scored.
        kept: Caption tokens that fitted.
        total: Caption tokens before cutting.
        problem: Why the row cannot be scored, or empty.
    """

    ids: tuple[int, ...]
    scored: int
    kept: int
    total: int
    problem: str = ""

    @property
    def truncated(self) -> bool:
        """Return whether the caption was cut."""
        return self.kept < self.total

    @property
    def key(self) -> str:
        """Return the content key: what the model reads, and how much of it is scored."""
        return f"{self.scored}:{sha256(np.asarray(self.ids, '<i8').tobytes()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Layout:
    """Say how rows are laid out.

    Attributes:
        start: Id of the start token.
        start_is_mark: Whether the start token is a mark of the tokenizer, which no text can contain.
        end: Id of the end token where it is scored, else None.
        context: Most ids that the model reads at once, or None if it has no limit.
    """

    start: int
    start_is_mark: bool = True
    end: int | None = None
    context: int | None = None

    def row(self, query: Sequence[int], caption: Sequence[int]) -> Row:
        """Return the row of a query and a caption, given by their ids.

        A start mark that a tokenizer or a rendered template put in front is dropped: exactly one remains. The last id
        is only predicted, never read, so it does not count towards the context. A caption that is too long loses its
        tail and keeps the end token.

        Raises:
            ValueError: If a start mark stands anywhere but in front.
        """
        before = self._without_start(query)
        text = self._without_start(caption) if not before else tuple(caption)
        ends = () if self.end is None else (self.end,)
        head = (self.start, *before)
        room = len(text) if self.context is None else self.context + 1 - len(head) - len(ends)
        kept = text[: max(0, room)]
        ids = (*head, *kept, *ends)
        if self.start_is_mark and self.start in kept:
            msg = f"the start token {self.start} stands inside a tokenised caption"
            raise ValueError(msg)
        problem = ""
        if not text:
            problem = "no tokens"
        elif not kept:
            problem = "the query fills the context"
        return Row(ids, scored=len(kept) + len(ends), kept=len(kept), total=len(text), problem=problem)

    def _without_start(self, ids: Sequence[int]) -> tuple[int, ...]:
        leading = bool(ids) and ids[0] == self.start and self.start_is_mark
        return tuple(ids[1:] if leading else ids)
