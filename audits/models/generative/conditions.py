"""Under which condition a model is asked: shown the image, none, images that hold nothing, or another image."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Protocol

from audits.models.generative.sights import NO_IMAGE, NULLS, SIDE, Looks, Sight, null_sights
from baselines.schema import BOTH, TEXT, Side
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates

NONE_HERE, NO_OTHER = "no image", "the benchmark holds no other image"
POOL = 1000  # images that another one is drawn from: bounds what is kept of a large benchmark


class Condition(Protocol):
    """What stands beside the captions of an instance.

    Attributes:
        name: Added to the contestant's name; empty for the model itself.
        sees: What it is shown of the instance.
        needs_images: Whether it opens image files.
        is_prior: Whether its likelihood stands for log P(t).
        about: What it is, for the signature.
    """

    name: str
    sees: frozenset[Side]
    needs_images: bool
    is_prior: bool
    about: str

    def sights(self, item: Candidates) -> Sequence[Sequence[Sight] | str]:
        """Return one row per image, or one in all: what is shown, averaged over, or why nothing can be."""


class Own:
    """Show the instance's own images."""

    name, about = "", "the instance's own"
    sees: frozenset[Side] = BOTH
    needs_images, is_prior = True, False

    def __init__(self) -> None:
        self._looks = Looks()

    def sights(self, item: Candidates) -> Sequence[Sequence[Sight] | str]:
        """Return one row per image."""
        return [NONE_HERE if ref.is_absent else (self._looks.at(ref),) for ref in item.images]


class NoImage:
    """Leave the image out of the prompt."""

    name, about = "no_image", "left out of the prompt"
    sees: frozenset[Side] = TEXT
    needs_images, is_prior = False, True

    def sights(self, item: Candidates) -> Sequence[Sequence[Sight] | str]:
        """Return one row of nothing to see."""
        return [(NO_IMAGE,)]


class NullImages:
    """Show images that hold nothing, and average the probability of the text over them.

    Source: visualgptscore, sec. 3 (a mean of probabilities over null images; black, white and grey are ours).
    """

    name = "null_images"
    about = f"{', '.join(NULLS)} ({SIDE} x {SIDE} pixels), mean of the probabilities"
    sees: frozenset[Side] = TEXT
    needs_images, is_prior = False, True

    def sights(self, item: Candidates) -> Sequence[Sequence[Sight] | str]:
        """Return one row of every null image."""
        return [null_sights()]


class ShuffledImages:
    """Show an image of another instance in place of all images of this one.

    Which one depends on the seed, on the images of the instance and on what other images there are, not on order.

    Args:
        seed: Of the draw.
    """

    name = "shuffled_images"
    sees: frozenset[Side] = TEXT
    needs_images, is_prior = True, False

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.about = f"another image of the benchmark, one per set of images, drawn with seed {seed}"
        self._pool: list[ImageRef] | None = None
        self._looks = Looks()

    def survey(self, every: Iterable[Candidates]) -> None:
        """Choose what images are drawn from: those of the whole benchmark whose digest of seed and name is smallest."""
        known: dict[str, tuple[str, ImageRef]] = {}
        for item in every:
            for ref in item.images:
                if not ref.is_absent and ref.key not in known:
                    known[ref.key] = (self._digest(ref.key), ref)
            if len(known) > 2 * POOL:
                known = dict(sorted(known.items(), key=lambda pair: pair[1][0])[:POOL])
        self._pool = [ref for _, ref in sorted(known.values(), key=lambda pair: pair[0])[:POOL]]

    def sights(self, item: Candidates) -> Sequence[Sequence[Sight] | str]:
        """Return one row of the image that was drawn."""
        own = [ref for ref in item.images if not ref.is_absent]
        pool = self._pool or []
        if not own or not pool:
            return [NO_OTHER if own else NONE_HERE]
        names, content = {ref.key for ref in own}, {self._looks.at(ref).key for ref in own}
        first = int(self._digest("\n".join(sorted(names))), 16) % len(pool)
        for step in range(len(pool)):
            other = pool[(first + step) % len(pool)]
            if other.key not in names and (drawn := self._looks.at(other)).key not in content:
                return [(drawn,)]
        return [NO_OTHER]

    @property
    def is_surveyed(self) -> bool:
        """Return whether it is known what images are drawn from."""
        return self._pool is not None

    def _digest(self, text: str) -> str:
        return sha256(f"{self._seed}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
