"""Say in words what a contestant's column does, where it is known."""

from __future__ import annotations

from collections.abc import Sequence

from reports.index import OPPOSITE
from reports.text import Line, Span, line, name

_NORMALISATION = {
    **{"unnorm": "unnormalised likelihood", "norm": "per-token likelihood", "char": "per-character likelihood"},
    "byte": "per-byte likelihood",
}
_WORDS = {"higher": "more frequent", "lower": "rarer"}
_LEARNERS = {"ngram": "n-gram", "embedding": "sentence embedding"}
_FORMS = ("raw", "normalised")
_FORMAT = {
    "outer_blanks": "blanks at its ends",
    "final_stop": "final full stops",
    "first_capital": "capitals at its start",
    "doubled_blanks": "doubled blanks",
    "curly_quotes": "typographic quotes",
    "rule": "marks of typing by hand (blanks at its ends or doubled, no final stop)",
}
_IMAGE = {
    **{"width": "width", "height": "height", "aspect": "width over height", "bytes_per_pixel": "bytes per pixel"},
    **{"sharpness": "sharpness", "alpha": "transparent parts", "format": "file format in the alphabet"},
}


def words(scorer: str) -> Line:
    """Return what a contestant's column does, in words where they are known, else its name.

    >>> words("frequency:mean:higher"), words("ngram:raw")[0].text
    ((Span(text='taking the caption with more frequent words', kind='ours'),), 'a trained n-gram classifier (raw text)')
    """
    parts = scorer.split(":")
    return _choice(parts) or _classifier(parts) or line(name(scorer))


def _choice(parts: Sequence[str]) -> Line:
    """Return what a rule takes, or nothing where it is none of ours."""
    if parts[0] == "likelihood" and len(parts) >= 3 and parts[-1] in _NORMALISATION:
        return line(f"{_NORMALISATION[parts[-1]]} (", name(":".join(parts[1:-1])), ")")
    if parts[0] == "length" and len(parts) == 3 and parts[2] in OPPOSITE:
        return line(f"taking the caption with {parts[2]} ", _unit(parts[1]))
    if parts[0] == "frequency" and parts[-1] in _WORDS:
        return line(f"taking the caption with {_WORDS[parts[-1]]} words")
    if parts[0] == "format_cues" and len(parts) == 3 and parts[1] in _FORMAT and parts[2] in OPPOSITE:
        return line(f"taking the caption with {parts[2]} {_FORMAT[parts[1]]}")
    if parts[0] == "image_cues" and len(parts) == 3 and parts[1] in _IMAGE and parts[2] in OPPOSITE:
        article = "" if parts[2] in ("more", "fewer") else "the "
        return line(f"taking the image with {article}{parts[2]} {_IMAGE[parts[1]]}")
    return ()


def _classifier(parts: Sequence[str]) -> Line:
    """Return what was trained, or nothing where it is none of ours."""
    if parts[0] in _LEARNERS:
        form = f" ({parts[1]} text)" if len(parts) == 2 and parts[1] in _FORMS else ""
        rest = () if form or len(parts) == 1 else line(" (", name(":".join(parts[1:])), ")")
        return line(f"a trained {_LEARNERS[parts[0]]} classifier{form}", *rest)
    return ()


def _unit(unit: str) -> Span:
    return Span(unit) if unit in ("words", "characters", "tokens") else name(unit)
