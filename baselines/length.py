"""Score by length alone: words, characters, tokens of a named tokenizer, each in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from baselines.language.clip_bpe import ClipBpe
from baselines.language.files import locate
from baselines.language.tokenizer import HubTokenizer
from baselines.schema import TEXT, Scored, Side, Work
from benchmarks.errors import InputError, near
from benchmarks.schema import Candidates

UNITS = ("words", "characters", "tokens")
NO_TEXT = "no text"


class Tokenizer(Protocol):
    """What turns text into token ids without special tokens."""

    name: str
    digest: str

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text."""


class Length:
    """Count each caption (never the query) and prefer the shorter one (`fewer`) or the longer one (`more`).

    Args:
        units: Any of `words` (runs without white space), `characters` (code points, text as released) and `tokens`.
        tokenizer: `clip-bpe`, or a hub id or local folder that transformers loads.
        revision: Pinned commit of a hub id.
        name: Name in every table.

    Raises:
        InputError: If a unit is unknown or repeated, or the tokenizer cannot be had.
    """

    sees: frozenset[Side] = TEXT

    def __init__(
        self,
        units: Sequence[str] = UNITS,
        tokenizer: str = "clip-bpe",
        *,
        revision: str | None = None,
        name: str = "length",
    ) -> None:
        self.units = _checked(units)
        self.name = name
        self.columns = tuple(f"{unit}:{direction}" for unit in self.units for direction in ("fewer", "more"))
        self._tokenizer = _tokenizer(tokenizer, revision or "") if "tokens" in self.units else None

    @property
    def signature(self) -> Mapping[str, str]:
        """Return the units and the tokenizer."""
        rules = {"words": "str.split", "characters": "code points", "tokens": ""}
        parts = {"scorer": "length", "text": "raw", "query": "not counted"}
        parts |= {unit: rules[unit] for unit in self.units if unit != "tokens"}
        if self._tokenizer is not None:
            parts |= {"tokens": self._tokenizer.name, "tokenizer_sha256": self._tokenizer.digest}
        return parts

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return one `Scored` per candidate, arrays [1, T]; a caption without text is NaN with the note `no text`."""
        texts = list(dict.fromkeys(text for item in batch for text in item.captions if text is not None))
        counts = {unit: dict(zip(texts, self._count(unit, texts), strict=True)) for unit in self.units}
        return [self._scored(item, counts) for item in batch]

    def _count(self, unit: str, texts: Sequence[str]) -> list[int]:
        if unit == "words":
            return [len(text.split()) for text in texts]
        if unit == "characters" or self._tokenizer is None:
            return [len(text) for text in texts]
        return [len(ids) for ids in self._tokenizer.encode(texts)]

    def _scored(self, item: Candidates, counts: Mapping[str, Mapping[str, int]]) -> Scored:
        columns: dict[str, NDArray[np.float64]] = {}
        for unit, count in counts.items():
            row = np.array([[np.nan if text is None else float(count[text]) for text in item.captions]])
            columns[f"{unit}:fewer"], columns[f"{unit}:more"] = -row, row
        tokens = None
        if "tokens" in counts:
            tokens = np.array([[0 if text is None else counts["tokens"][text] for text in item.captions]])
        notes = {(0, column): NO_TEXT for column, text in enumerate(item.captions) if text is None}
        return Scored(columns, tokens=tokens, notes=notes)


def _checked(units: Sequence[str]) -> tuple[str, ...]:
    """Return the units as a tuple, or say which one is wrong."""
    chosen = (units,) if isinstance(units, str) else tuple(units)
    wrong = [unit for unit in chosen if unit not in UNITS]
    if wrong or not chosen or len(set(chosen)) != len(chosen):
        raise InputError(
            "the units of length are wrong",
            where="baseline.length.units",
            got=str(list(chosen)),
            expected=f"any of {', '.join(UNITS)}, each once",
            step=near(wrong[0], UNITS) if wrong else "name at least one, and each once",
        )
    return chosen


def _tokenizer(source: str, revision: str) -> Tokenizer:
    """Return the named tokenizer."""
    if source == ClipBpe.name:
        return ClipBpe()
    located = locate(source, revision=revision, weights=False)
    name = f"{located.identity}@{located.revision}" if located.revision else located.name
    return HubTokenizer(located.folder, name=name)
