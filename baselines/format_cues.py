"""Score by how a caption is written, without reading a word of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from baselines.schema import TEXT, Scored, Side, Work
from benchmarks.errors import InputError, near
from benchmarks.schema import Candidates

NO_TEXT = "no text"
CURLY, STRAIGHT = "‘’‚‛“”„‟", "'\"`"
_DOUBLED = re.compile(r"\s{2}")


def outer_blanks(text: str) -> int:
    """Return 1 if white space stands before or after the text, else 0.

    >>> outer_blanks("A cup. "), outer_blanks("A cup.")
    (1, 0)
    """
    return int(text != text.strip())


def final_stop(text: str) -> int:
    """Return 1 if the text ends in a full stop, outer white space aside, else 0.

    >>> final_stop("A cup. "), final_stop("A cup")
    (1, 0)
    """
    return int(text.rstrip().endswith("."))


def first_capital(text: str) -> int:
    """Return 1 if the first letter is upper case, 0 if it is not or there is none.

    >>> first_capital(' "A cup"'), first_capital("a Cup")
    (1, 0)
    """
    return next((int(character.isupper()) for character in text if character.isalpha()), 0)


def doubled_blanks(text: str) -> int:
    """Return 1 if white space is doubled inside the text, else 0.

    >>> doubled_blanks("a  cup"), doubled_blanks("a cup  ")
    (1, 0)
    """
    return int(_DOUBLED.search(text.strip()) is not None)


def curly_quotes(text: str) -> int:
    """Return 1 if quotes and apostrophes are typographic, -1 if they are straight, 0 if there are none or both.

    >>> curly_quotes("a man’s cup"), curly_quotes("a man's cup"), curly_quotes("a cup")
    (1, -1, 0)
    """
    return int(any(mark in text for mark in CURLY)) - int(any(mark in text for mark in STRAIGHT))


def rule(text: str) -> int:
    """Return outer blanks + doubled blanks - final stop: from 2, typed by hand, to -1, tidied up.

    The rule was read off SugarCrepe, whose foils are tidier than its captions; elsewhere it is one cue among others.

    >>> rule("A  cup "), rule("A cup.")
    (2, -1)
    """
    return outer_blanks(text) + doubled_blanks(text) - final_stop(text)


CUES: Mapping[str, Callable[[str], int]] = {
    cue.__name__: cue for cue in (outer_blanks, final_stop, first_capital, doubled_blanks, curly_quotes, rule)
}


class FormatCues:
    """Prefer the caption that has more of a cue of form (`more`), or less of it (`fewer`).

    Args:
        cues: Any of `CUES`.
        name: Name in every table.

    Raises:
        InputError: If a cue is unknown or repeated.

    Source: Ours, after the faults of form in SugarCrepe (sugarcrepe).
    """

    sees: frozenset[Side] = TEXT

    def __init__(self, cues: Sequence[str] = tuple(CUES), *, name: str = "format_cues") -> None:
        self.cues = _checked(cues)
        self.name = name
        self.columns = tuple(f"{cue}:{direction}" for cue in self.cues for direction in ("more", "fewer"))

    @property
    def signature(self) -> Mapping[str, str]:
        """Return the cues and what they look at."""
        rules = {
            "outer_blanks": "str.strip",
            "final_stop": "'.' after str.rstrip",
            "first_capital": "first str.isalpha is str.isupper",
            "doubled_blanks": "two white space characters after str.strip",
            "curly_quotes": f"{CURLY} against {STRAIGHT}",
            "rule": "outer_blanks + doubled_blanks - final_stop",
        }
        return {
            "scorer": "format_cues", "text": "raw", "query": "not read", **{cue: rules[cue] for cue in self.cues}
        }  # fmt: skip

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return one `Scored` per candidate, arrays [1, T]; a caption without text is NaN with the note `no text`."""
        return [self._scored(item) for item in batch]

    def _scored(self, item: Candidates) -> Scored:
        columns = {}
        for cue in self.cues:
            row = np.array([[np.nan if text is None else float(CUES[cue](text)) for text in item.captions]])
            columns[f"{cue}:more"], columns[f"{cue}:fewer"] = row, -row
        return Scored(columns, notes={(0, n): NO_TEXT for n, text in enumerate(item.captions) if text is None})


def _checked(cues: Sequence[str]) -> tuple[str, ...]:
    """Return the cues as a tuple, or say which one is wrong."""
    chosen = (cues,) if isinstance(cues, str) else tuple(cues)
    wrong = [cue for cue in chosen if cue not in CUES]
    if wrong or not chosen or len(set(chosen)) != len(chosen):
        raise InputError(
            "the cues of form are wrong",
            where="baseline.format_cues.cues",
            got=str(list(chosen)),
            expected=f"any of {', '.join(CUES)}, each once",
            step=near(wrong[0], CUES) if wrong else "name at least one, and each once",
        )
    return chosen
