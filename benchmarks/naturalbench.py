"""Parse NaturalBench's question form: two questions on two images, each answered differently by the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import files, release, sources
from benchmarks.cells import label
from benchmarks.images import ImageRef
from benchmarks.schema import Card, Instance

OPTIONS = {"yes_no": ("Yes", "No"), "multiple_choice": ("A", "B")}
TEXTS = (
    "Index", "Question_0", "Question_1", "Image_0_Question_0", "Image_1_Question_0", "Image_0_Question_1",
    "Image_1_Question_1", "Question_Type",
)  # fmt: skip


class NaturalBench:
    """Yield one 2x2 instance per question: its images, its two answers, itself as query. Source: naturalbench.

    Both questions of a sample share a group: i2t is upstream's Q_Acc, i2t by group its G_Acc, and the mean of i2t_base
    and i2t_foil its Acc.

    Args:
        card: The `card:` mapping of the YAML.
        root: Folder that holds the parquet files.
    """

    def __init__(self, card: Card | Mapping[str, Any], root: str | Path | None = None) -> None:
        wanted = sources.Wanted(("data/train-*.parquet", "train-*.parquet"))
        self._release = release.opened(card, root, wanted, forms=True)
        self.card, self.provenance = self._release.card, self._release.provenance

    def __iter__(self) -> Iterator[Instance]:
        """Yield the two questions of each sample one after the other."""
        for path in self._release.tables():
            for place, (row, spot) in enumerate(self._release.rows(path, TEXTS)):
                index = label(row.get("Index"), spot.at("Index")) or spot.at("Index").refuse("an empty id")
                images = tuple(
                    files.cell_image(path, place, f"Image_{side}", key=f"{index}/Image_{side}") for side in (0, 1)
                )
                for question in (0, 1):
                    yield _instance(row, (index, question), images, spot)


def _instance(
    row: Mapping[str, Any], name: tuple[str, int], images: tuple[ImageRef, ...], spot: files.Spot
) -> Instance:
    index, question = name
    kind = files.need_text(row, "Question_Type", spot)
    if kind not in OPTIONS:
        spot.at("Question_Type").refuse("unknown type of question", got=kind, expected=", ".join(OPTIONS))
    options = OPTIONS[kind]
    gold = np.zeros((2, 2), dtype=bool)
    for side in (0, 1):
        field = f"Image_{side}_Question_{question}"
        answer = files.need_text(row, field, spot)
        if answer not in options:
            spot.at(field).refuse("not an answer to this type of question", got=answer, expected=", ".join(options))
        gold[side, options.index(answer)] = True
    query = files.need_text(row, f"Question_{question}", spot)
    tags = {"question_type": kind}
    return files.build(
        spot,
        lambda: Instance(
            f"{index}:{question}", images, options, gold, query, subset="train", cluster=index, group=index, tags=tags
        ),
    )
