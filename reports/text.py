"""Text as every page shows it: foreign text made harmless and visible, numbers with one rounding rule."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Literal, NamedTuple

Kind = Literal["ours", "name", "foreign", "strong"]
MISSING = "–"
# Zero-width joiners belong to the spelling of several scripts; everything else without a glyph is shown as an escape.
_JOINERS = "\u200c\u200d"
_NO_GLYPH = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Span(NamedTuple):
    """Hold a piece of a sentence: our own words, a name from the data, foreign prose, or a strong word of ours."""

    text: str
    kind: Kind = "ours"


Line = tuple[Span, ...]


def visible(text: str) -> str:
    r"""Return text in which characters that steer a terminal or hide (escapes, controls, bidi marks) can be seen.

    >>> visible("a\x1b[31mb\u202ec")
    'a\\x1b[31mb\\u202ec'
    """
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    return escaped(character) if is_hidden(character) else character


def is_hidden(character: str) -> bool:
    """Return whether a character has no glyph of its own: controls, bidi marks, lone surrogates, reserved codes."""
    code = ord(character)
    hidden = unicodedata.category(character) in _NO_GLYPH and character not in _JOINERS
    # The code points that Unicode reserves for ever: XML, and with it a figure, may not hold some of them at all.
    return hidden or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def escaped(character: str) -> str:
    r"""Return a character as `\xHH`, `\uHHHH` or `\UHHHHHHHH`."""
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def name(text: str, limit: int = 60) -> Span:
    """Return a name from the data (subset, scorer, id) as a span; a long one loses its middle, an empty one shows."""
    shown = visible(text) or "(empty)"
    if len(shown) > limit:
        shown = f"{shown[: limit - limit // 3]}…{shown[-(limit // 3 - 1) :]}"
    return Span(shown, "name")


def foreign(text: str) -> Span:
    """Return prose that others wrote (a notice, a caption) as a span."""
    return Span(visible(text), "foreign")


def line(*parts: Span | str) -> Line:
    """Return a sentence from our own words (strings) and spans."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def joined(items: list[Line], last: str = ", ") -> Line:
    """Return lines as one, separated by commas."""
    spans: list[Span] = []
    for index, item in enumerate(items):
        spans.extend(([Span(last if index == len(items) - 1 else ", ")] if index else []) + list(item))
    return tuple(spans)


def plain(sentence: Line) -> str:
    """Return a line's text without its kinds."""
    return "".join(span.text for span in sentence)


def percent(value: float) -> str:
    """Return a proportion as a percentage to one decimal, without the sign.

    >>> percent(0.7291)
    '72.9'
    """
    return MISSING if math.isnan(value) else f"{100 * value + 0.0:.1f}".replace("-0.0", "0.0")


def signed(value: float) -> str:
    """Return a difference of proportions in points to one decimal, with its sign.

    >>> signed(0.1234), signed(-0.05), signed(0.0)
    ('+12.3', '-5.0', '0.0')
    """
    shown = percent(value)
    return f"+{shown}" if shown not in (MISSING, "0.0") and not shown.startswith("-") else shown


def short_percent(value: float) -> str:
    """Return a percentage of a fixed value such as chance: 50, 16.7.

    >>> short_percent(0.5), short_percent(1 / 6)
    ('50', '16.7')
    """
    return percent(value).removesuffix(".0")


def decimal(value: float) -> str:
    """Return a number that is not a proportion, to two decimals."""
    return MISSING if math.isnan(value) else f"{value + 0.0:.2f}"


def bounds(low: str, high: str) -> str:
    """Return an interval from its formatted bounds; an undefined one says so."""
    return "[undefined]" if MISSING in (low, high) else f"[{low}, {high}]"


def count(number: int) -> str:
    """Return a whole number with thousands apart.

    >>> count(7511)
    '7,511'
    """
    return f"{number:,}"


def plural(number: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "instance"), plural(7511, "instance")
    ('1 instance', '7,511 instances')
    """
    return f"{count(number)} {noun if number == 1 else noun + 's'}"


def folded(text: str, width: int) -> list[str]:
    """Return text in pieces of at most `width` characters, broken after a separator where one is near.

    >>> folded("SmolLM2-135M-Instruct", 14)
    ['SmolLM2-135M-', 'Instruct']
    """
    lines = [""]
    for piece in re.findall(r"[^\s:_/\-.]*[\s:_/\-.]?", text):
        rest = piece
        if lines[-1] and len(lines[-1]) + len(rest.rstrip()) > width:
            lines.append("")
        while len(lines[-1]) + len(rest.rstrip()) > width:
            room = width - len(lines[-1])
            lines[-1] += rest[:room]
            lines.append("")
            rest = rest[room:]
        lines[-1] += rest
    return [part.rstrip() for part in lines if part.strip()] or [""]
