"""The contract between the scorer and the adapters of model libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Hold a caption as the text tower reads it.

    Attributes:
        ids: Token ids as the library gives them, marks and padding included, int32 [L].
        tokens: How many of them are no padding, marks included.
        total: How many there were before the caption was cut.
        encoded: The string that was tokenised, after cleaning.
        width: Positions that the tower computes for it alone: what a batch is planned by.
    """

    ids: NDArray[np.int32]
    tokens: int
    total: int
    encoded: str
    width: int

    @property
    def truncated(self) -> bool:
        """Return whether the caption was cut."""
        return self.total > self.tokens

    @property
    def key(self) -> str:
        """Return what the embedding depends on: captions with equal ids are one caption."""
        return f"{self.tokens} {self.ids.tobytes().hex()}"


class Encoder(Protocol):
    """What an adapter gives: unit vectors in float32. Weights are loaded when the first vector is asked for.

    Attributes:
        name: Short name of the model.
        facts: What a reader should know of how it went.
    """

    name: str
    facts: dict[str, str | int]

    @property
    def dimension(self) -> int:
        """Return the numbers per embedding, D."""

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number."""

    def read(self, captions: Sequence[str]) -> list[Text]:
        """Clean and tokenise captions; needs no weights.

        Raises:
            InputError: If the end mark would be lost.
        """

    def prepare(self, image: Image.Image) -> Any:
        """Turn an RGB image into what the image tower takes; needs no weights, and may run in another thread."""

    def plan(self, texts: Sequence[Text], tokens: int) -> Sequence[Sequence[int]] | None:
        """Return batches of positions in this list, by which captions are encoded fastest; None if size alone tells."""

    def check(self, texts: Sequence[Text]) -> None:
        """Find, on captions of the run, how few positions give what all of them give."""

    def encode_texts(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Return [n, D] of length 1; NaN where the tower gives nothing that could be normalised."""

    def encode_images(self, prepared: Sequence[Any]) -> NDArray[np.float32]:
        """Return [n, D] of length 1; NaN where the tower gives nothing that could be normalised."""
