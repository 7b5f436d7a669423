"""Parse ColorBench's robustness task: one question on a seed image and on its colour-edited versions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import files, release, sources
from benchmarks.cells import label
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Card, Instance

TEXTS = ("idx", "id", "type", "task", "filename", "prompt", "question", "choices", "answer")
READINGS = ("questions", "text_to_image")
LETTER = re.compile(r"\(?([A-Z])\)?")
SUBSET = "robustness"


class Row(NamedTuple):
    """One row of the robustness task and its place."""

    cells: Mapping[str, Any]
    image: ImageRef
    spot: files.Spot


class ColorBench:
    """Yield ColorBench robustness: questions (1xT), or the seed image against an edited one (2x1). Source: colorbench.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the parquet files.
        task: The task's name in the column `task`.
        reading: `questions`, or `text_to_image`: the prompt is taken as caption, the first image of a group as the one
            it fits, as CompoSET's suite does.
    """

    def __init__(
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        task: str = "Color Robustness",
        reading: str = "questions",
    ) -> None:
        if reading not in READINGS:
            expected = ", ".join(READINGS)
            raise InputError("unknown reading", where="benchmark.reading", got=str(reading), expected=expected)
        self._task, self._reading = task, reading
        wanted = sources.Wanted(("data/test-*.parquet", "test-*.parquet"))
        self._release = release.opened(card, root, wanted, forms=True, known=(SUBSET,))
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in the order of the files, on which the second reading rests."""
        if self._reading == "questions":
            for row in self._rows():
                yield _question(row)
            return
        first: dict[str, Row] = {}
        for row in self._rows():
            prompt = files.need_text(row.cells, "prompt", row.spot)
            if first.setdefault(prompt, row) is not row:
                yield _against(first[prompt], row, prompt)

    def _rows(self) -> Iterator[Row]:
        """Yield the rows of the task, and refuse a release that has none."""
        seen: dict[str, None] = {}
        found = False
        for path in self._release.tables():
            for place, (cells, spot) in enumerate(self._release.rows(path, TEXTS)):
                task = files.need_text(cells, "task", spot)
                seen[task] = None
                if task == self._task:
                    found = True
                    yield Row(cells, files.cell_image(path, place, "image", key=_key(cells, spot)), spot)
        if not found:
            where = f"{', '.join(self.provenance.files)}, column task"
            raise InputError("no row belongs to the task", where=where, got=", ".join(seen)[:200], expected=self._task)


def _key(cells: Mapping[str, Any], spot: files.Spot) -> str:
    return label(cells.get("idx"), spot.at("idx")) or spot.at("idx").refuse("an empty id")


def _question(row: Row) -> Instance:
    """Return a question with its choices; all images of one question are one group."""
    cells, spot = row.cells, row.spot
    question, choices = files.need_text(cells, "question", spot), cells.get("choices")
    if not isinstance(choices, list) or len(choices) < 2:
        spot.at("choices").refuse("wrong type", got=choices, expected="a list of at least two texts")
    captions = tuple(files.is_text(choice, spot.at("choices")) for choice in choices)
    answer = files.need_text(cells, "answer", spot)
    letter = LETTER.fullmatch(answer.strip())
    if letter is None or ord(letter[1]) - ord("A") >= len(captions):
        spot.at("answer").refuse(
            "not the letter of a choice", got=answer, expected=f"(A) to ({chr(64 + len(captions))})"
        )
    gold = np.zeros((1, len(captions)), dtype=bool)
    gold[0, ord(letter[1]) - ord("A")] = True
    group = files.need_text(cells, "prompt", spot)
    return files.build(
        spot,
        lambda: Instance(
            row.image.key, (row.image,), captions, gold, query=question, subset=SUBSET, cluster=group, group=group
        ),
    )


def _against(seed: Row, edited: Row, prompt: str) -> Instance:
    """Return the choice between the first image of a group and another one."""
    gold = np.array([[True], [False]])
    images = (seed.image, edited.image)
    return files.build(
        edited.spot,
        lambda: Instance(
            edited.image.key, images, (prompt,), gold, subset=SUBSET, cluster=seed.image.key, group=seed.image.key
        ),
    )
