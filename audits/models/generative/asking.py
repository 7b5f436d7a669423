"""What a model is asked of a caption: how likely it is, or whether it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np

from audits.models.generative.core import Core
from audits.models.generative.items import Ids
from audits.models.generative.prompts import QUERY, TEXT
from benchmarks.errors import InputError

QUESTION = "Does this figure show '{text}'? Please answer yes or no."
ANSWER = "Yes"


class Text(NamedTuple):
    """Hold a caption and the query that stands before it."""

    query: str
    caption: str


class Ask(Protocol):
    """How a caption becomes a prompt and the ids that are scored, and their log-probability a score.

    Attributes:
        columns: Names of the scores.
        threshold: Score above which image and caption are said to match, or None where it is no such judgement.
        is_prior: Whether a twin that sees no image gives log P(t), which can be taken off the model's score.
    """

    @property
    def columns(self) -> tuple[str, ...]: ...  # noqa: D102 - see the attributes
    @property
    def threshold(self) -> float | None: ...  # noqa: D102
    @property
    def is_prior(self) -> bool: ...  # noqa: D102

    def prompt(self, text: Text) -> str:
        """Return the text in front of what is scored."""

    def target(self, text: Text, encoded: Mapping[str, Ids]) -> Ids:
        """Return the ids that are scored, or none."""

    def spoken(self, text: Text) -> str:
        """Return the text whose ids are scored."""

    def scores(self, total: float, count: int) -> tuple[float, ...]:
        """Return one score per column from the log-probability in nats and the number of scored ids."""

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything of the question that could change a number."""


class Likelihood:
    """Ask how likely a caption is: log P(caption | image, prompt), per scored id (`norm`) and whole (`unnorm`).

    Args:
        core: The model.
        prompt: Text in front; `{query}` takes the instance's query, which otherwise follows it.
        end_token: Whether the end token is scored as well.

    Source: composet, app. G.4 (norm is primary); visualgptscore, sec. 3.
    """

    columns = ("norm", "unnorm")
    threshold: float | None = None
    is_prior = True

    def __init__(self, core: Core, *, prompt: str, end_token: bool) -> None:
        self._prompt, self._end = prompt, core.end if end_token else None
        self._said = "not scored" if self._end is None else core.prompter.tokenizer.convert_ids_to_tokens(self._end)

    def prompt(self, text: Text) -> str:
        """Return the prompt, with the query in its place or behind it."""
        if QUERY in self._prompt:
            return self._prompt.replace(QUERY, text.query)
        glue = " " if self._prompt and text.query and not self._prompt[-1].isspace() else ""
        return f"{self._prompt}{glue}{text.query}"

    def spoken(self, text: Text) -> str:
        """Return the caption."""
        return text.caption

    def target(self, text: Text, encoded: Mapping[str, Ids]) -> Ids:
        """Return the caption's ids, and the end token's where it is scored."""
        ids = encoded[text.caption]
        return (*ids, self._end) if ids and self._end is not None else ids

    def scores(self, total: float, count: int) -> tuple[float, ...]:
        """Return the log-probability per scored id, and whole."""
        return total / count, total

    @property
    def signature(self) -> Mapping[str, str]:
        """Return prompt and end token."""
        return {
            "score": "log-likelihood of the caption",
            "prompt": repr(self._prompt),
            "query": f"in place of {QUERY}" if QUERY in self._prompt else "behind the prompt, not scored",
            "text": "raw, tokenised apart from what stands in front",
            "end": str(self._said),
        }


class Vqa:
    """Ask whether the image shows the caption: P(answer | image, question).

    Args:
        question: With `{text}` where the caption goes.
        answer: What is scored.

    Raises:
        InputError: If the question has no place for the caption.

    Source: vqascore, sec. 3.
    """

    columns = ("",)
    threshold: float | None = 0.5
    is_prior = False

    def __init__(self, *, question: str = QUESTION, answer: str = ANSWER) -> None:
        if TEXT not in question or not answer:
            raise InputError(
                "the question has no place for the caption, or no answer is scored",
                where="question, answer",
                got=f"{question!r}, {answer!r}",
                expected=f"a question such as {QUESTION!r}, and an answer such as {ANSWER!r}",
            )
        self._question, self._answer = question, answer

    def prompt(self, text: Text) -> str:
        """Return the question about a caption; a query goes before the caption."""
        whole = f"{text.query} {text.caption}" if text.query else text.caption
        return self._question.replace(TEXT, whole)

    def spoken(self, text: Text) -> str:
        """Return the answer."""
        return self._answer

    def target(self, text: Text, encoded: Mapping[str, Ids]) -> Ids:
        """Return the answer's ids; an empty caption asks nothing."""
        return encoded[self._answer] if text.caption else ()

    def scores(self, total: float, count: int) -> tuple[float, ...]:
        """Return the probability of the answer."""
        return (float(np.exp(total)),)

    @property
    def signature(self) -> Mapping[str, str]:
        """Return question and answer."""
        return {"score": "probability of the answer", "question": repr(self._question), "answer": repr(self._answer)}
