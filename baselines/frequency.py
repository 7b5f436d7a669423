"""Score by how common the words of a caption are, whatever their order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version

import numpy as np
import wordfreq

from baselines.schema import TEXT, Scored, Side, Work
from benchmarks.errors import InputError, near
from benchmarks.schema import Candidates

WORDLISTS = ("large", "small")
# The rarest frequency that a list can hold: an unknown word is taken to be that rare.
FLOORS = {"large": 1e-8, "small": 1e-6}
NO_TEXT, NO_WORDS = "no text", "no words"


class Frequency:
    """Score by the mean log-frequency of a caption's words, in nats: commoner (`higher`) or rarer (`lower`).

    The sum is rounded once, so captions of the same words in another order tie exactly.

    Args:
        language: Code of a language that wordfreq knows.
        wordlist: `large` or `small`.
        name: Name in every table.

    Raises:
        InputError: If the word list is unknown.

    Source: wordfreq.
    """

    sees: frozenset[Side] = TEXT
    columns = ("mean:higher", "mean:lower")

    def __init__(self, language: str = "en", wordlist: str = "large", *, name: str = "frequency") -> None:
        known = sorted(wordfreq.available_languages(wordlist)) if wordlist in WORDLISTS else []
        if language not in known:
            raise InputError(
                "wordfreq has no such word list",
                where="baseline.frequency.language, wordlist",
                got=f"{language}, {wordlist}",
                expected=", ".join(known) if known else ", ".join(WORDLISTS),
                step=near(language, known) if known else near(wordlist, WORDLISTS),
            )
        self.name, self._language, self._wordlist = name, language, wordlist

    @property
    def signature(self) -> Mapping[str, str]:
        """Return the word list, the functions that read it, and what an unknown word counts."""
        return {
            "scorer": "frequency",
            "measure": "mean of ln(wordfreq.word_frequency) over wordfreq.tokenize",
            "language": self._language,
            "wordlist": self._wordlist,
            "unknown": f"{FLOORS[self._wordlist]:g}",
            "text": "raw",
            "query": "not read",
            "wordfreq": version("wordfreq"),
        }

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return one `Scored` per candidate, arrays [1, T]; a caption without words is NaN with a note."""
        mean = cache(self._mean)
        return [_scored(item, [math.nan if text is None else mean(text) for text in item.captions]) for item in batch]

    def _mean(self, text: str) -> float:
        words = wordfreq.tokenize(text, self._language)
        floor = FLOORS[self._wordlist]
        logs = [math.log(wordfreq.word_frequency(word, self._language, self._wordlist, floor)) for word in words]
        return math.fsum(logs) / len(logs) if logs else math.nan


def _scored(item: Candidates, means: Sequence[float]) -> Scored:
    row = np.array([means])
    notes = {
        (0, place): NO_TEXT if item.captions[place] is None else NO_WORDS
        for place, mean in enumerate(means)
        if math.isnan(mean)
    }
    return Scored({"mean:higher": row, "mean:lower": -row}, notes=notes)
