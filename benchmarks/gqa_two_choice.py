"""Build CS-CLIP's GQA two-choice set: a question, its full answer, and the answer with another entity of the scene."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz import fuzz

from benchmarks import files, release, sources
from benchmarks.errors import InputError
from benchmarks.schema import Card, Instance

QUESTIONS, GRAPHS = "val_balanced_questions.json", "val_sceneGraphs.json"
GOLD = np.array([[True, False]])
SUBSET = "val_balanced"
TOO_ALIKE_WORD, TOO_ALIKE_SENTENCE, SHORT_CHANGE = 85.0, 90.0, 2


class Choice(NamedTuple):
    """One question with its two answers."""

    key: str
    image: str
    question: str
    answers: tuple[str, str]
    spot: files.Spot


class GqaTwoChoice:
    """Yield the two-choice set, 1x2: the full answer, and the same with another entity of the scene. Source: csclip.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds GQA's balanced validation questions and scene graphs, side by side.
        images: Folder, zip or tar of GQA (Visual Genome) images.
        sample: How many cases are drawn of those that pass the filters; None takes all.
        seed: Seed of the replacements and of the sample.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        images: str | Path | None = None,
        sample: int | None = 10000,
        seed: int = 0,
    ) -> None:
        if sample is not None and (not isinstance(sample, int) or isinstance(sample, bool) or sample < 1):
            raise InputError("not a sample size", where="benchmark.sample", got=f"{sample!r}", expected="1 or more")
        self._sample, self._seed = sample, seed
        self._release = release.opened(card, root, sources.Wanted((QUESTIONS, GRAPHS)), images=images, known=(SUBSET,))
        self._left: Counter[str] = Counter()
        self._kept = self._drawn()
        self.card = self._release.card
        self.provenance = self._release.noticed(self._notice())

    def __iter__(self) -> Iterator[Instance]:
        """Yield the drawn cases in the order of the questions; the question stands before both answers."""
        for choice in self._choices(Counter()):
            if choice.key in self._kept:
                image = self._release.image(choice.image, choice.spot.at("imageId"), search=True)
                yield files.build(
                    choice.spot,
                    lambda choice=choice, image=image: Instance(  # type: ignore[misc]
                        choice.key,
                        (image,),
                        choice.answers,
                        GOLD,
                        query=f"{choice.question} ",
                        subset=SUBSET,
                        cluster=choice.image,
                    ),
                )

    def _drawn(self) -> frozenset[str]:
        """Return the keys of the sample: those whose digest with the seed is smallest."""
        keys = [choice.key for choice in self._choices(self._left)]
        self._found = len(keys)
        order = sorted(keys, key=lambda key: hashlib.sha256(f"{self._seed}|{key}".encode()).digest())
        return frozenset(order[: self._sample])

    def _choices(self, left: Counter[str]) -> Iterator[Choice]:
        """Yield every question that passes the filters, and count the others by reason."""
        graphs = _object(self._release.file(GRAPHS))
        path = self._release.file(QUESTIONS)
        for key, value in _object(path).items():
            spot = files.Spot(path, f"key {files.shown(key)}")
            row = files.need_object(value, spot, what="an object with imageId, question, answer and fullAnswer")
            question, answer, full = (files.need_text(row, name, spot) for name in ("question", "answer", "fullAnswer"))
            number = files.need_text(row, "imageId", spot)
            if answer.lower() in ("yes", "no"):
                left["yes or no"] += 1
                continue
            span = re.search(rf"\b{re.escape(answer)}\b", full, re.IGNORECASE)
            if span is None:
                left["the full answer does not hold the answer"] += 1
                continue
            words = _entities(graphs, number, row, spot)
            other = self._other(key, words, span, full)
            if other is None:
                left["no entity of the scene passes the filters"] += 1
                continue
            yield Choice(key, f"{number}.jpg", question, (full, other), spot)

    def _other(self, key: str, words: list[str], span: re.Match[str], full: str) -> str | None:
        """Return the full answer with another entity, the first in a random order that passes the filters."""
        random.Random(f"{self._seed}|{key}").shuffle(words)
        for word in words:
            changed = f"{full[: span.start()]}{word}{full[span.end() :]}"
            if not too_alike(span[0], word) and fuzz.ratio(full, changed) <= TOO_ALIKE_SENTENCE:
                return changed
        return None

    def _notice(self) -> str:
        reasons = "; ".join(f"{number} ({reason})" for reason, number in sorted(self._left.items()))
        return (
            f"Built with seed {self._seed}: {len(self._kept)} cases drawn of {self._found} that pass the filters"
            f"{f'; left out: {reasons}' if reasons else ''}."
        )


def too_alike(answer: str, word: str) -> bool:
    """Say whether a replacement is nearly the answer: similar by character, or a part of it but for two characters.

    >>> too_alike("cup", "cups"), too_alike("cup", "cupboard"), too_alike("cup", "vase")
    (True, False, False)
    """
    first, second = answer.lower(), word.lower()
    part = second in first and len(first) - len(second) <= SHORT_CHANGE
    whole = first in second and len(second) - len(first) <= SHORT_CHANGE
    return fuzz.ratio(first, second) > TOO_ALIKE_WORD or part or whole


def _entities(graphs: Mapping[str, Any], number: str, row: Mapping[str, Any], spot: files.Spot) -> list[str]:
    """Return the names and attributes of the scene's objects that question and answer do not speak of, sorted.

    What an object that they do speak of is called or has as an attribute is left out too: it may be true.
    """
    scene = graphs.get(number)
    objects = scene.get("objects") if isinstance(scene, dict) else None
    if not isinstance(objects, dict):
        expected = f"an image whose scene graph {GRAPHS} holds, with its objects"
        spot.at("imageId").refuse("an image without scene graph", got=number, expected=expected)
    named: set[str] = set()
    for part in files.need_object(row.get("annotations"), spot.at("annotations")).values():
        values = files.need_object(part, spot.at("annotations")).values()
        named |= {one for value in values if isinstance(value, str) for one in value.split(",")}
    inside: set[str] = set()
    outside: set[str] = set()
    for key, value in objects.items():
        at = files.Spot(spot.path.with_name(GRAPHS), f"key {files.shown(number)}, object {files.shown(key)}")
        (inside if key in named else outside).update(_words(value, at))
    return sorted(outside - inside)


def _words(value: files.Json, spot: files.Spot) -> Iterator[str]:
    row = files.need_object(value, spot, what="a scene graph of objects with name and attributes")
    yield files.need_text(row, "name", spot)
    attributes = row.get("attributes", [])
    if not isinstance(attributes, list):
        spot.refuse("the attributes of an object are no list", got=attributes, expected="a list of texts")
    for attribute in attributes:
        yield files.is_text(attribute, spot)


def _object(path: Path) -> Mapping[str, Any]:
    return files.need_object(files.read_json(path), files.Spot(path), what="a JSON object by id")
