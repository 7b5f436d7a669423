"""Read the answers of prompted models strictly: a fixed final form, a bare letter, or a caption; never a guess."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

State = Literal["answered", "unparsed", "empty", "refused", "truncated", "failed"]
STATES: tuple[State, ...] = get_args(State)

_MARKS = r"[\s*_`\"'(\[]*"
# The letter ends the phrase: `CHOICE: A bus` has an article, `CHOICE: A or B` names both.
_FORM = re.compile(rf"\bCHOICE{_MARKS}:{_MARKS}([A-Za-z0-9])(?=[*_`\"')\]\s]*(?:$|[.,;:!\n]))(?!\w)", re.IGNORECASE)
_MENTION = re.compile(rf"\bCHOICE{_MARKS}:", re.IGNORECASE)
_ALSO = re.compile(rf"\bCHOICE{_MARKS}:{_MARKS}[A-Za-z0-9]\s*[,;]\s*(?:(?:or|and)\s+)?[A-Z0-9]\s*(?:$|[.,;!\n])")
_BARE = re.compile(r"[\s*_`\"'(\[]*([A-Za-z0-9])[\s*_`\"')\].:]*")


class Answer(NamedTuple):
    """Hold what an answer chose: the option's place from 0, or None and why there is none."""

    choice: int | None
    state: State


class Pick(NamedTuple):
    """Hold what one answer to one question of an instance says.

    Attributes:
        right: Whether the picked option is a right one, None where none was picked.
        first: Whether the option shown first was picked, None where that is not known.
        state: What became of the question.
        option: Place of the picked option in the release, None where none was picked or its place is not known.
    """

    right: bool | None
    first: bool | None
    state: State
    option: int | None = None


UNPARSED, EMPTY, FAILED = Answer(None, "unparsed"), Answer(None, "empty"), Answer(None, "failed")


def letter(text: str | None, options: int = 2) -> Answer:
    """Return the option that an answer names in the form `CHOICE: X`, or as nothing but a letter.

    Letters count from A, digits from 1. Anything else is unparsed: a letter in a sentence, two different choices, an
    option that does not exist.

    Args:
        text: The reply; None where there was none.
        options: Number of options, at most 26.

    Source: cases reported in public for answer parsers; ours (the rule).

    >>> letter("Option A looked right at first. CHOICE: B").choice, letter("b").choice
    (1, 1)
    >>> letter("A would need two cups").state, letter("CHOICE: D").state, letter(" ").state
    ('unparsed', 'unparsed', 'empty')
    """
    if text is None:
        return FAILED
    if not text.strip():
        return EMPTY
    named = [] if _ALSO.search(text) else _FORM.findall(text)
    if not named and (bare := _BARE.fullmatch(text)):
        named = [bare[1]]
    elif len(_MENTION.findall(text)) != len(named):
        return UNPARSED  # the form stands somewhere without a letter: the prompt repeated, a cut reply
    places = {_place(name) for name in named}
    if len(places) != 1:
        return UNPARSED
    place = places.pop()
    return Answer(place, "answered") if 0 <= place < options else UNPARSED


def _place(name: str) -> int:
    """Return the place of an option from its letter or digit, -1 if it is neither."""
    if len(name) != 1 or not name.isascii():
        return -1
    return int(name) - 1 if name.isdigit() else ord(name.upper()) - ord("A")


def repeated(text: str | None, captions: Sequence[str]) -> Answer:
    """Return the caption that an answer repeats, letter by letter but for outer white space.

    >>> repeated("a cat", ["a dog", "a cat"]).choice, repeated("The cat.", ["a dog", "a cat"]).state
    (1, 'unparsed')
    """
    if text is None:
        return FAILED
    if not text.strip():
        return EMPTY
    same = [place for place, caption in enumerate(captions) if caption.strip() == text.strip()]
    return Answer(same[0], "answered") if len(same) == 1 else UNPARSED
