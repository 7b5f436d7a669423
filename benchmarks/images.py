"""One reference to an image and one rule to decode it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ImageRef:
    """Point to an image without opening it: a file, a member of an archive, or bytes.

    Attributes:
        key: Stable name within the benchmark (`000000001.jpg`), used for clusters and records.
        path: The file, or None (bytes, or absent).
        data: The encoded bytes, or None.
        box: Crop (left, top, right, bottom) in pixels after rotation, or None.
    """

    key: str
    path: Path | None = None
    data: bytes | None = None
    box: tuple[int, int, int, int] | None = None

    @classmethod
    def absent(cls) -> ImageRef:
        """Return the reference of a row that has no image at all."""
        return cls("")

    @property
    def is_absent(self) -> bool:
        """Whether there is no image behind this row, as distinct from a file that is missing."""
        return self.key == ""
