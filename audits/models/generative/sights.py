"""What a model may be shown: an image of the benchmark, one that holds nothing, or no image at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
from PIL import Image

from benchmarks.images import ImageRef, content_digest, decode

SIDE = 336  # pixels of a null image; models that read images at their own size get this one
NULLS = ("black", "white", "grey", "noise")
_GREYS = {"black": 0, "white": 255, "grey": 128}
_MEAN, _DEVIATION = 127.5, 51.0  # of the noise, in grey levels: few pixels are clipped


@dataclass(frozen=True, slots=True)
class Sight:
    """Hold one thing to look at, and the key of its content.

    Attributes:
        key: Digest of the image's content, `null:black` and its like, or `none`.
        ref: Where the image is, or None if there is none to decode.
    """

    key: str
    ref: ImageRef | None = field(default=None, compare=False)

    @property
    def shows(self) -> bool:
        """Return whether there is an image to see."""
        return self.key != NO_IMAGE.key

    @property
    def image(self) -> Image.Image | None:
        """Return the image as 8-bit RGB, or None where the model is to see none.

        Raises:
            InputError: If the file cannot be decoded.
        """
        if self.ref is not None:
            return decode(self.ref).image
        return null_image(self.key.partition(":")[2]) if self.key.startswith("null:") else None


NO_IMAGE = Sight("none")


class Looks:
    """Know images of the benchmark by their content: equal bytes are one sight wherever they are.

    Each file is read once for its digest. References that hold the bytes themselves are not kept.
    """

    def __init__(self) -> None:
        self._known: dict[ImageRef, Sight] = {}

    def at(self, ref: ImageRef) -> Sight:
        """Return the sight of an image.

        Raises:
            InputError: If the file cannot be read.
        """
        if ref.data is not None:
            return Sight(content_digest(ref), ref)
        if ref not in self._known:
            self._known[ref] = Sight(content_digest(ref), ref)
        return self._known[ref]


def null_sights() -> tuple[Sight, ...]:
    """Return the images that hold nothing."""
    return tuple(Sight(f"null:{name}") for name in NULLS)


def null_image(name: str) -> Image.Image:
    """Return a square of one grey level, or of Gaussian noise that is the same every time.

    >>> null_image("grey").getpixel((0, 0)), null_image("noise").size
    ((128, 128, 128), (336, 336))
    """
    if name in _GREYS:
        return Image.new("RGB", (SIDE, SIDE), (_GREYS[name],) * 3)
    seed = int.from_bytes(sha256(name.encode()).digest()[:8])
    levels = np.random.default_rng(seed).normal(_MEAN, _DEVIATION, (SIDE, SIDE, 3))
    return Image.fromarray(levels.round().clip(0, 255).astype(np.uint8))
