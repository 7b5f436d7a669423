"""Build CS-CLIP's controlled cases from ARO's files: one object, relation or attribute becomes a random other one."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import files, json_lists, release, sources, visual_genome
from benchmarks.errors import InputError
from benchmarks.schema import Card, Instance

RELATION, ATTRIBUTION = "visual_genome_relation.json", "visual_genome_attribution.json"
FILES = {"object": RELATION, "relation": RELATION, "attribute": ATTRIBUTION}
BOX = ("bbox_x", "bbox_y", "bbox_w", "bbox_h")
GOLD = np.array([[True, False]])
TRIES = 200


class Slot(NamedTuple):
    """The part of a caption that is replaced: what stands before it, itself, after it, and what it must not become."""

    before: str
    word: str
    after: str
    others: tuple[str, ...]


class CsClip:
    """Yield the controlled cases, 1x2: a caption, and the same with one part replaced at random. Source: csclip.

    The vocabularies are those of the files themselves, sorted: the objects, relations and first and second attributes
    of all rows that follow the template. A substitute is drawn evenly among them until it differs from the word and
    from the caption's other words of its kind, a plural in -s or -es not counting as different.

    Args:
        card: The `card:` mapping of the YAML; its `expected` names the subsets.
        root: Folder that holds ARO's two files.
        images: Folder, zip or tar of images; `images` beside the files by default.
        subsets: Some of `object`, `relation`, `attribute`; None reads all whose file is there.
        seed: Seed of the draws.
        crop: Whether the image is cut to the released box.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        images: str | Path | None = None,
        subsets: str | Sequence[str] | None = None,
        seed: int = 0,
        crop: bool = True,
    ) -> None:
        self._seed, self._crop = seed, release.flag(crop, "benchmark.crop")
        chosen = sources.choose(subsets, tuple(FILES), option="benchmark.subsets")
        names = tuple(dict.fromkeys(FILES[name] for name in chosen))
        self._release = release.opened(
            card,
            root,
            sources.Wanted(names, required=release.ANY),
            images=images,
            subsets=subsets,
            known=tuple(FILES),
        )
        self._subsets = tuple(name for name in self._release.subsets if FILES[name] in self._release.provenance.files)
        self.card = self._release.card
        self._words = {subset: self._vocabulary(subset) for subset in self._subsets}
        self.provenance = self._release.noticed(*self._notices())

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances by subset, in the order of the files."""
        for subset in self._subsets:
            for number, row, spot in self._rows(FILES[subset]):
                slot = _slot(subset, row, spot)
                if slot is not None:
                    yield self._instance(subset, number, slot, (row, spot))

    def _instance(self, subset: str, number: int, slot: Slot, at: tuple[Mapping[str, Any], files.Spot]) -> Instance:
        row, spot = at
        name = files.need_text(row, "image_path", spot)
        image = self._release.image(name, spot.at("image_path"), search=True)
        region = visual_genome.box(row, BOX, spot)
        if self._crop:
            image = visual_genome.cropped(image, region)
        other = substitute(self._words[subset], slot, f"{self._seed}|{subset}|{number}")
        captions = tuple(f"{slot.before}{word}{slot.after}" for word in (slot.word, other))
        return files.build(
            spot,
            lambda: Instance(f"{subset}:{number}", (image,), captions, GOLD, subset=subset, cluster=name),
        )

    def _rows(self, name: str) -> Iterator[tuple[int, Mapping[str, Any], files.Spot]]:
        path = self._release.file(name)
        for number, value in json_lists.stream_list(path):
            spot = files.Spot(path, f"row {number}")
            yield number - 1, files.need_object(value, spot, what="an object with true_caption"), spot

    def _vocabulary(self, subset: str) -> tuple[str, ...]:
        """Return the distinct words of a kind, in order."""
        found: set[str] = set()
        for _, row, spot in self._rows(FILES[subset]):
            slot = _slot(subset, row, spot)
            found |= {slot.word, *slot.others} if slot is not None else set()
        return tuple(sorted(found))

    def _notices(self) -> Iterator[str]:
        for subset in self._subsets:
            kept = [_slot(subset, row, spot) is not None for _, row, spot in self._rows(FILES[subset])]
            yield (
                f"Built with seed {self._seed} from {FILES[subset]}: {sum(kept)} cases of {subset}, drawn from "
                f"{len(self._words[subset])} words; {kept.count(False)} rows do not follow the template, and are out."
            )


def substitute(words: Sequence[str], slot: Slot, key: str) -> str:
    """Return a random word that is none of the slot's.

    Raises:
        InputError: If the vocabulary has no other word.
    """
    draw = random.Random(key)
    for _ in range(TRIES):
        word = words[draw.randrange(len(words))]
        if not any(alike(word, one) for one in (slot.word, *slot.others)):
            return word
    free = [word for word in words if not any(alike(word, one) for one in (slot.word, *slot.others))]
    if not free:
        raise InputError(
            "the vocabulary has no other word", got=f"{len(words)} words", expected="one besides the row's"
        )
    return free[draw.randrange(len(free))]


def alike(first: str, second: str) -> bool:
    """Say whether two words are the same but for case and a plural ending.

    >>> alike("Cup", "cups"), alike("box", "boxes"), alike("on", "in")
    (True, True, False)
    """
    short, long = sorted((first.lower(), second.lower()), key=len)
    return long in (short, f"{short}s", f"{short}es")


def _slot(subset: str, row: Mapping[str, Any], spot: files.Spot) -> Slot | None:
    """Return the part to replace, or None where the caption does not follow the template."""
    caption = files.need_text(row, "true_caption", spot)
    if subset == "attribute":
        return _attribute(caption, row.get("attributes"), spot.at("attributes"))
    relation = files.need_text(row, "relation_name", spot)
    found = re.fullmatch(rf"(the (.+?) is )({re.escape(relation)})( the )(.+)", caption)
    if found is None:
        return None
    if subset == "relation":
        return Slot(found[1], relation, found[4] + found[5], ())
    return Slot(found[1] + found[3] + found[4], found[5], "", (found[2],))


def _attribute(caption: str, pair: object, spot: files.Spot) -> Slot | None:
    """Return the first attribute of `the ATTRIBUTE object and the ATTRIBUTE object`."""
    if not isinstance(pair, list) or len(pair) != 2:
        spot.refuse("wrong type", got=pair, expected="a list of two attributes")
    first, second = (files.is_text(part, spot) for part in pair)
    found = re.fullmatch(rf"(the )({re.escape(first)})( .+ and the {re.escape(second)} .+)", caption)
    return None if found is None else Slot(found[1], first, found[3], (second,))
