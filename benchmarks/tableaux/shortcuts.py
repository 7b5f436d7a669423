"""Plant a known shortcut in the captions of a variation: a cue that tells base from foil without the picture."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

from benchmarks.tableaux.captions import Tiers
from benchmarks.tableaux.draws import Draw

Shortcut = Literal["none", "length", "wording", "format"]
SHORTCUTS: Final[tuple[Shortcut, ...]] = get_args(Shortcut)

# Five words each: more than any edit adds or takes away, so the foil of a carrying variation is always the longer one.
PADDING: Final = (
    "as shown in this picture",
    "for everyone to see here",
    "in plain view of everyone",
    "right there in the picture",
)
# A common and a rare word of equal length, so that no count of words or characters moves.
WORDS: Final = (("typical", "halcyon"), ("regular", "diurnal"), ("beautiful", "quotidian"), ("relaxing", "workaday"))


class Sides(NamedTuple):
    """Hold the captions of both sides."""

    base: Tiers
    foil: Tiers


def plant(sides: Sides, shortcut: Shortcut, draw: Draw) -> Sides:
    """Return the captions of a variation that carries the shortcut, in all tiers.

    `length` pads the foil, `wording` gives the foil a rare word where the base has a common one, `format` ends the foil
    with a full stop and the base with a blank.
    """
    if shortcut == "length":
        extra = draw.pick(PADDING)
        return Sides(sides.base, Tiers(*(_append(text, extra) for text in sides.foil)))
    if shortcut == "wording":
        common, rare = draw.pick(WORDS)
        return Sides(
            Tiers(*(_append(text, f"on a {common} day") for text in sides.base)),
            Tiers(*(_append(text, f"on a {rare} day") for text in sides.foil)),
        )
    if shortcut == "format":
        bare = [Tiers(*(text.removesuffix(".") for text in side)) for side in sides]
        return Sides(Tiers(*(f"{text} " for text in bare[0])), Tiers(*(f"{text}." for text in bare[1])))
    return sides


def _append(text: str, words: str) -> str:
    return f"{text[:-1]}, {words}." if text.endswith(".") else f"{text} {words}"
