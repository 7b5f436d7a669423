"""Parse MMVP-VLM: statements by question id, two consecutive ids to a pair, images in one folder per pattern."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import files, release, sources
from benchmarks.errors import near
from benchmarks.schema import Card, Instance

TABLE = "Questions.csv"
FIELDS = ("Question ID", "Type", "Statement")
GOLD = np.eye(2, dtype=bool)


class Question(NamedTuple):
    """One statement and its image."""

    number: int
    kind: str
    statement: str
    spot: files.Spot


class MmvpVlm:
    """Yield MMVP-VLM, 2x2: ids 2k-1 and 2k are a pair; its own score chooses the image (our t2i). Source: mmvp.

    Args:
        card: The `card:` mapping of the YAML; its `expected` names the patterns.
        root: Folder that holds `Questions.csv`, or its parent.
        images: Folder, zip or tar of images.
        pictures: The release's own folder of images.
        subsets: Names of the patterns to read; None reads all.
        image: How an image's name is made of `{kind}` (as written in the file) and `{number}`.
        aliases: Name of a pattern by another spelling of it.
    """

    def __init__(  # noqa: PLR0913 - one argument per option of the YAML
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        images: str | Path | None = None,
        pictures: str = "MLLM_VLM Images",
        subsets: str | Sequence[str] | None = None,
        image: str = "{kind}/{number}.jpg",
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self._pattern, self._aliases = image, dict(aliases or {})
        self._release = release.opened(
            card, root, sources.Wanted((TABLE,)), images=images, pictures=pictures, subsets=subsets
        )
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield one instance per pair, in the order of the file."""
        path = self._release.file(TABLE)
        questions = self._questions(path)
        for first in questions:
            second = next(questions, None)
            if second is None or first.number % 2 != 1 or second.number != first.number + 1:
                got = f"{first.number} and {'the end' if second is None else second.number}"
                first.spot.at(FIELDS[0]).refuse("not a pair", told=got, expected="consecutive ids 2k-1 and 2k")
            if second.kind != first.kind:
                second.spot.at("Type").refuse("a pair of two patterns", got=second.kind, expected=first.kind)
            if self._pattern_of(first.kind) in self._release.subsets:
                yield self._instance(first, second)

    def _questions(self, path: Path) -> Iterator[Question]:
        for row, spot in self._release.rows(path):
            text = files.need_text(row, FIELDS[0], spot)
            if not (text.isascii() and text.isdigit() and len(text) < 10):
                spot.at(FIELDS[0]).refuse("not a question id", got=text, expected="a whole number from 1")
            kind = files.need_text(row, "Type", spot)
            known = self._release.known
            if self._pattern_of(kind) not in known:
                spot.at("Type").refuse("unknown pattern", got=kind, expected=", ".join(known), step=near(kind, known))
            yield Question(int(text), kind, files.need_text(row, "Statement", spot), spot)

    def _pattern_of(self, kind: str) -> str:
        return self._aliases.get(kind, kind)

    def _instance(self, first: Question, second: Question) -> Instance:
        pair = str((first.number + 1) // 2)
        refs = tuple(
            self._release.image(self._pattern.format(kind=one.kind, number=one.number), one.spot, search=True)
            for one in (first, second)
        )
        captions, subset = (first.statement, second.statement), self._pattern_of(first.kind)
        return files.build(
            first.spot, lambda: Instance(pair, refs, captions, GOLD, subset=subset, cluster=pair, group=pair)
        )
