"""Shuffle the words of a caption in the four ways of ARO's order sets, by rule and seed.

Upstream's own build draws from an unseeded state and asks a tagger which words are nouns and adjectives. Here a list of
closed-class words, common verbs and endings decides; `tests/benchmarks/test_order.py` states how often the words that a
released build moved are nouns or adjectives by this rule.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

ItemT = TypeVar("ItemT")
MARKS = re.compile(r'[.!"()*#:;~]')
SPACES = re.compile(r"\s{2,}")
TOKENS = re.compile(r"\w+(?:['\u2019-]\w+)*|[^\w\s]")
MAX_WORDS = 30
CLOSED = frozenset(
    """
    a an the this that these those some any each every another other others both all no none many much few
    several more most such one two three four five six seven eight nine ten eleven twelve dozen his her hers its
    their theirs our ours my mine your yours he she it they them him we us i you me who whom whose which what
    where when while there here of in on at by for with without from to into onto up down over under above below
    behind beside besides between among through across along around against near next off out outside inside
    toward towards upon about after before during as than like and or but nor so yet if because not n't 's is
    are was were be been being am has have had having do does did doing can could will would shall should may
    might must very too also just only not still back away together apart ahead aside underneath beneath within
    atop per via some something someone somebody anything nothing everything everyone himself herself itself
    themselves then now how why well almost nearly quite rather while whilst beyond amongst alongside amid until
    till since another
    """.split()  # noqa: SIM905 - a list of words reads as one
)
VERBS = frozenset(
    """
    stand stands stood sit sits sat hold holds held wear wears wore walk walks walked ride rides rode look looks
    looked play plays played run runs ran jump jumps jumped eat eats ate drink drinks make makes made get gets
    got go goes went take takes took taken put puts see sees seen show shows shown lay lays laid lie lies use
    uses used catch catches hit hits throw throws thrown swing swings fly flies flew watch watches watched talk
    talks pose poses posed prepare prepares prepared fill filled cover covered park parked drive drives carry
    carries work works cut cuts try tries lean leans hang hangs hung lead leads pull pulls push pushes surround
    surrounded attach attached come comes came seem seems appear appears wait waits contain contains feature
    features read reads write writes smile smiles sleep sleeps dress dressed decorated topped piled stacked
    mounted gather gathered perform performs
    """.split()  # noqa: SIM905 - a list of words reads as one
)
NOUNS_IN_ING = frozenset(
    """
    building ceiling painting railing clothing string ring king wing thing something morning evening wedding
    crossing awning frosting icing topping dressing living dining lighting bedding spring sibling pudding
    drawing earring
    """.split()  # noqa: SIM905 - a list of words reads as one
)
ADJECTIVES = frozenset(
    """
    red blue green yellow black white brown grey gray orange pink purple tan gold golden silver beige dark light
    bright big small large little tiny tall short long wide narrow old young new clean empty full open closed
    wet dry hot cold fresh nice good beautiful pretty cute happy busy wooden metal plastic woolen stone brick
    glass blonde blond bald striped plaid different same several various male female older younger bigger
    smaller larger first second third last front rear top bottom left right high low deep flat round square huge
    giant single double asian american african snowy sunny cloudy rocky sandy grassy dirty muddy crowded
    residential electric public modern vintage antique
    """.split()  # noqa: SIM905 - a list of words reads as one
)
ENDINGS = ("ful", "ous", "ish", "less", "able", "ible", "ive", "ed", "ic")


def clean(text: str) -> str:
    """Return a text in ARO's form: lower case, marks gone, blanks single, at most thirty words.

    >>> clean("A cup. (red)  ")
    'a cup red'
    """
    words = SPACES.sub(" ", MARKS.sub(" ", text.lower())).rstrip("\n").strip(" ").split(" ")
    return " ".join(words[:MAX_WORDS])


def nominal(words: Sequence[str]) -> list[str]:
    """Return `noun`, `adjective` or an empty text for each word.

    >>> nominal("a small cup stands on wooden shelves".split())
    ['', 'adjective', 'noun', '', '', 'adjective', 'noun']
    """
    low = [word.lower() for word in words]
    open_class = [_is_open(word) for word in low]
    kinds = []
    for place, word in enumerate(low):
        followed = place + 1 < len(low) and open_class[place + 1]
        if not open_class[place]:
            kinds.append("")
        elif word in ADJECTIVES or (word.endswith(ENDINGS) and followed):
            kinds.append("adjective" if followed or word not in NOUNS_IN_ING else "noun")
        else:
            kinds.append("" if word.endswith("ed") and len(word) > 4 else "noun")
    return kinds


def shuffles(caption: str, key: str) -> tuple[str, str, str, str]:
    """Return the four perturbations in ARO's order: nouns and adjectives, all others, within trigrams, of trigrams.

    Args:
        caption: The caption as released.
        key: Seed of the draws.

    Source: aro, app. (the four shuffles); ours (which words are nouns and adjectives, the seed).

    >>> sorted(shuffles("a red cup on a blue shelf", "0")[3].split())
    ['a', 'a', 'blue', 'cup', 'on', 'red', 'shelf']
    """
    words = TOKENS.findall(caption)
    kinds = nominal(words)
    draw = random.Random(key)
    nouns = _moved(_moved(words, [kind == "noun" for kind in kinds], draw), [k == "adjective" for k in kinds], draw)
    others = _moved(words, [not kind for kind in kinds], draw)
    trigrams = [words[start : start + 3] for start in range(0, len(words), 3)]
    within = [word for part in trigrams for word in _shuffled(part, draw.shuffle)]
    whole = [word for part in _shuffled(trigrams, draw.shuffle) for word in part]
    first, second, third, fourth = (clean(" ".join(made)) for made in (nouns, others, within, whole))
    return first, second, third, fourth


@functools.lru_cache(maxsize=1 << 15)
def _is_open(word: str) -> bool:
    """Say whether a word may be a noun or an adjective."""
    if not word[0].isalpha() or word in CLOSED or word in VERBS:
        return False
    return not (word.endswith("ing") and len(word) > 4) or word in NOUNS_IN_ING


def _moved(words: Sequence[str], chosen: Sequence[bool], draw: random.Random) -> list[str]:
    """Return the words with the chosen ones shuffled among their places."""
    places = [place for place, one in enumerate(chosen) if one]
    taken = _shuffled([words[place] for place in places], draw.shuffle)
    made = list(words)
    for place, word in zip(places, taken, strict=True):
        made[place] = word
    return made


def _shuffled(items: Sequence[ItemT], shuffle: Callable[[list[ItemT]], None]) -> list[ItemT]:
    copied = list(items)
    shuffle(copied)
    return copied
