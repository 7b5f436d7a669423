"""Parse What'sUp: controlled photos in sets of four, the same as 2x2 pairs, and its two question sets."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import files, json_lists, release, sources, visual_genome
from benchmarks.images import ImageRef
from benchmarks.schema import Card, Instance

ASKED = re.compile(r"Where (?:is|are) the (.+) in relation to the (.+?)\?")
CHOICES = re.compile(r"Answer with ([^.]+)\.")
BETWEEN = re.compile(r",? or |, ")
NO_IMAGE = "Read as questions with one word per option, which do not name their image: models cannot be scored on them."
SQUARE = np.eye(2, dtype=bool)


class Photo(NamedTuple):
    """One controlled photo: its file name, its captions with the right one first, and its place."""

    name: str
    captions: tuple[str, ...]
    spot: files.Spot


class WhatsUp:
    """Yield controlled images A or B, 1x4; a group is the set of four photos of two objects. Source: whatsup.

    The tag `axis` tells the two pairs of a set apart. The set is the cluster too: its photos share their captions.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the annotations, or its parent.
        annotations: Forms of the annotations, of which the first that is there is read: a list, or questions.
        subset: Name of the only subset.
        axes: Pair by relation, as file names and answers spell it.
        images: Folder, zip or tar of photos.
        pictures: The release's own folder of photos.
    """

    def __init__(  # noqa: PLR0913 - one argument per option of the YAML
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        annotations: Sequence[str],
        subset: str,
        axes: Mapping[str, str],
        images: str | Path | None = None,
        pictures: str = "images",
    ) -> None:
        self._subset, self._axes = subset, dict(axes)
        self._release = release.opened(
            card,
            root,
            sources.Wanted(tuple(annotations)),
            images=images,
            pictures=pictures,
            known=(subset,),
            forms=True,
        )
        self._path = next(self._release.tables())
        self.card = self._release.card
        is_prompts = self._path.suffix == ".jsonl"
        self.provenance = self._release.noticed(NO_IMAGE) if is_prompts else self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in the order of the file."""
        if self._path.suffix == ".jsonl":
            for asked in _questions(self._release, self._path):
                yield asked.instance(self._subset, self._tags(asked.answer.lower(), asked.spot), is_set=True)
            return
        for number, photo in enumerate(_photos(self._path)):
            objects, relation = _parts(photo)
            tags = self._tags(relation, photo.spot.at("image_path"))
            image = self._release.image(photo.name, photo.spot.at("image_path"), search=True)
            gold = _first(len(photo.captions))
            yield files.build(
                photo.spot,
                lambda number=number, photo=photo, image=image, objects=objects, tags=tags, gold=gold: Instance(  # type: ignore[misc]
                    f"{self._subset}:{number}",
                    (image,),
                    photo.captions,
                    gold,
                    subset=self._subset,
                    cluster=objects,
                    group=objects,
                    tags=tags,
                ),
            )

    def _tags(self, relation: str, spot: files.Spot) -> dict[str, str]:
        if relation not in self._axes:
            spot.refuse("unknown relation", got=relation, expected=", ".join(self._axes))
        return {"relation": relation, "axis": self._axes[relation]}


class WhatsUpPairs:
    """Yield every two photos of a set with their own captions, 2x2, as CompoSET's suite does. Source: composet.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the annotations.
        files_by_subset: File of each subset.
        pictures: The release's own folder of photos, by subset.
        images: Folder, zip or tar of photos; the annotations' folder by default.
        subsets: Names of the subsets to read; None reads all that are there.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        files_by_subset: Mapping[str, str],
        pictures: Mapping[str, str],
        images: str | Path | None = None,
        subsets: str | Sequence[str] | None = None,
    ) -> None:
        self._files, self._pictures = dict(files_by_subset), dict(pictures)
        chosen = sources.choose(subsets, tuple(self._files), option="benchmark.subsets")
        wanted = sources.Wanted(tuple(self._files[name] for name in chosen), required=release.ANY)
        self._release = release.opened(
            card, root, wanted, images=images, pictures="", subsets=subsets, known=tuple(self._files)
        )
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the pairs set by set; sets are the photos that share their captions, in order of appearance."""
        for subset in self._release.subsets:
            if self._files[subset] not in self.provenance.files:
                continue
            sets: dict[frozenset[str], list[tuple[int, Photo]]] = {}
            for number, photo in enumerate(_photos(self._release.file(self._files[subset]))):
                sets.setdefault(frozenset(photo.captions), []).append((number, photo))
            for members in sets.values():
                for first, second in combinations(members, 2):
                    yield self._pair(subset, first, second)

    def _pair(self, subset: str, first: tuple[int, Photo], second: tuple[int, Photo]) -> Instance:
        sides = (first[1], second[1])
        images = tuple(
            self._release.image(f"{self._pictures[subset]}/{one.name}", one.spot.at("image_path"), search=True)
            for one in sides
        )
        captions, cluster = tuple(one.captions[0] for one in sides), f"{subset}:{_parts(first[1])[0]}"
        key = f"{subset}:{first[0]}_{second[0]}"
        return files.build(
            second[1].spot, lambda: Instance(key, images, captions, SQUARE, subset=subset, cluster=cluster)
        )


class WhatsUpQa:
    """Yield COCO-QA or VG-QA, 1x2: the right caption and its opposite; or the same as questions, 1x4. Source: whatsup.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the annotations, or its parent.
        files_by_subset: Official file of each subset.
        prompts: Files of questions by subset, read where no official file is there.
        padding: Digits that image ids are padded to.
        images: Folder, zip or tar of images.
        subsets: Names of the subsets to read; None reads all that are there.
    """

    def __init__(  # noqa: PLR0913 - one argument per option of the YAML
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        files_by_subset: Mapping[str, str],
        prompts: Mapping[str, Sequence[str]],
        padding: int = 0,
        images: str | Path | None = None,
        subsets: str | Sequence[str] | None = None,
    ) -> None:
        chosen = sources.choose(subsets, tuple(files_by_subset), option="benchmark.subsets")
        official = {files_by_subset[name]: name for name in chosen}
        others = {path: name for name in chosen for path in prompts.get(name, ())}
        self._release = release.opened(
            card,
            root,
            sources.Wanted((*official, *others), required=release.ANY),
            images=images,
            subsets=subsets,
            known=tuple(files_by_subset),
        )
        self._padding, self.card, found = padding, self._release.card, self._release.provenance
        is_official = any(name in found.files for name in official)
        self._read = {path: name for path, name in (official if is_official else others).items() if path in found.files}
        self.provenance = dataclasses.replace(
            found,
            files={path: found.files[path] for path in self._read},
            absent=tuple(name for name in found.absent if name in official),
            notices=found.notices if is_official else (*found.notices, NO_IMAGE),
        )

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances by subset, in the order of the files."""
        for name, subset in self._read.items():
            path = self._release.file(name)
            if path.suffix == ".jsonl":
                for asked in _questions(self._release, path):
                    yield asked.instance(subset, {"relation": asked.answer.lower()}, is_set=False)
            else:
                yield from self._captions(subset, path)

    def _captions(self, subset: str, path: Path) -> Iterator[Instance]:
        for number, value in json_lists.stream_list(path):
            spot = files.Spot(path, f"row {number}")
            if not isinstance(value, list) or len(value) != 3:
                spot.refuse("not an item", got=value, expected="[image id, right caption, wrong caption]")
            captions = tuple(files.is_text(text, spot.at(f"item {place}")) for place, text in enumerate(value[1:], 1))
            name = visual_genome.image_name(value[0], spot.at("item 0")).rjust(self._padding + len(".jpg"), "0")
            image = self._release.image(name, spot.at("item 0"), search=True)
            yield files.build(
                spot,
                lambda number=number, image=image, captions=captions, name=name: Instance(  # type: ignore[misc]
                    f"{subset}:{number - 1}", (image,), captions, _first(2), subset=subset, cluster=name
                ),
            )


class Asked(NamedTuple):
    """One question about two objects, its options in the order in which it names them, and the right one."""

    key: str
    question: str
    objects: str
    options: tuple[str, ...]
    answer: str
    spot: files.Spot

    def instance(self, subset: str, tags: Mapping[str, str], *, is_set: bool) -> Instance:
        """Return the question as an instance; a set is scored together."""
        gold = np.array([[option == self.answer.lower() for option in self.options]])
        group = self.objects if is_set else ""
        return files.build(
            self.spot,
            lambda: Instance(
                f"{subset}:{self.key}",
                (ImageRef.absent(),),
                self.options,
                gold,
                query=self.question,
                subset=subset,
                cluster=self.objects,
                group=group,
                tags=tags,
            ),
        )


def _questions(opened: release.Release, path: Path) -> Iterator[Asked]:
    """Yield the questions of a JSON lines file of prompts."""
    for row, spot in opened.rows(path):
        question, number, answer = files.need_text(row, "question", spot), row.get("id"), row.get("answer")
        objects, choices = ASKED.search(question), CHOICES.search(question)
        if objects is None or choices is None:
            expected = "Where is the X in relation to the Y? Answer with A, B, C or D."
            spot.at("question").refuse("not such a question", got=question, expected=expected)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 10**9:
            spot.at("id").refuse("not an id", got=number, expected="a whole number")
        if not isinstance(answer, list) or len(answer) != 1:
            spot.at("answer").refuse("wrong type", got=answer, expected="a list of one word")
        word, options = files.is_text(answer[0], spot.at("answer")), tuple(BETWEEN.split(choices[1]))
        if word.lower() not in options:
            spot.at("answer").refuse("not an option of the question", got=word, expected=", ".join(options))
        yield Asked(str(number), question, f"{objects[1]} | {objects[2]}", options, word, spot)


def _photos(path: Path) -> Iterator[Photo]:
    """Yield the rows of a controlled set; paths are the authors' own, file names the release's."""
    for number, value in json_lists.stream_list(path):
        spot = files.Spot(path, f"row {number}")
        row = files.need_object(value, spot, what="an object with image_path and caption_options")
        name, options = files.need_text(row, "image_path", spot).rpartition("/")[2], row.get("caption_options")
        if not isinstance(options, list) or len(options) != 4:
            spot.at("caption_options").refuse("wrong type", got=options, expected="a list of four texts")
        yield Photo(name, tuple(files.is_text(text, spot.at("caption_options")) for text in options), spot)


def _parts(photo: Photo) -> tuple[str, str]:
    """Return the objects and the relation that a file name is made of (`cup_left_of_chair.jpeg`), as upstream does."""
    parts = photo.name.rpartition(".")[0].split("_")
    if len(parts) < 3:
        photo.spot.at("image_path").refuse(
            "a file name that tells no set", got=photo.name, expected="OBJECT_RELATION_OBJECT.jpeg"
        )
    return f"{parts[0]} | {parts[-1]}", parts[1]


def _first(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    gold = np.zeros((1, count), dtype=bool)
    gold[0, 0] = True
    return gold
