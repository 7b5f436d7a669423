"""Score by what an image file gives away before anybody looks at the picture; no caption is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from baselines.schema import IMAGE, Scored, Side, Task, Work
from benchmarks.errors import InputError, near
from benchmarks.images import FORMATS, ImageRef, content_digest, decode, encoded, exists
from benchmarks.schema import Candidates

NO_IMAGE, MISSING = "this row has no image", "the image file is not there"
TYPICAL = 200_000  # bytes of a picture, for planning only
# Each cue, and what its two directions are called.
CUES: Mapping[str, tuple[str, str]] = {
    "width": ("larger", "smaller"),
    "height": ("larger", "smaller"),
    "aspect": ("larger", "smaller"),
    "format": ("last", "first"),
    "bytes_per_pixel": ("larger", "smaller"),
    "alpha": ("more", "fewer"),
    "sharpness": ("higher", "lower"),
}
RULES = {
    "width": "pixels, upright and cropped",
    "height": "pixels, upright and cropped",
    "aspect": "width / height",
    "format": "place of the format's name in the alphabet",
    "bytes_per_pixel": "bytes of the file / pixels before the crop",
    "alpha": "1 with an alpha channel or a transparent colour, else 0",
    "sharpness": "variance of the 4-neighbour Laplacian of the luma (ITU-R 601), grey levels squared",
}
# Bytes of image files to one commit of the cache; they are opened one at a time whatever this is.
BUDGET = 64 * 2**20


class ImageCues:
    """Score each image by cues of its file, each in both directions. Sees images only: for T2I and 2x2 sets.

    Args:
        cues: Any of `CUES`.
        name: Name in every table.

    Raises:
        InputError: If a cue is unknown or repeated.

    Source: Ours.
    """

    sees: frozenset[Side] = IMAGE

    def __init__(self, cues: Sequence[str] = tuple(CUES), *, name: str = "image_cues") -> None:
        self.cues = _checked(cues)
        self.name = name
        self.columns = tuple(f"{cue}:{direction}" for cue in self.cues for direction in CUES[cue])

    @property
    def signature(self) -> Mapping[str, str]:
        """Return the cues, how they are measured, and what decodes the images."""
        rules = {cue: RULES[cue] for cue in self.cues}
        return {"scorer": "image_cues", **rules, "pillow": version("pillow"), "numpy": version("numpy")}

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return one `Scored` per candidate, arrays [I, 1]; an image that is not there is NaN with a note.

        Raises:
            InputError: If an image is there and cannot be decoded.
        """
        refs = list(dict.fromkeys(ref for item in batch for ref in item.images if exists(ref)))
        found = dict(zip(refs, work.measure(refs, self._task()), strict=True)) if refs else {}
        return [self._scored(item, found) for item in batch]

    def _task(self) -> Task[ImageRef]:
        rules = {**RULES, "pillow": version("pillow"), "numpy": version("numpy")}
        return Task(
            label=self.name,
            signature="\n".join(f"{key}={value}" for key, value in sorted(rules.items())),
            key=content_digest,
            cost=_size,
            budget=BUDGET,
            width=len(CUES),
            compute=lambda refs: np.stack([measure(ref) for ref in refs]),
            unit="bytes",
        )

    def _scored(self, item: Candidates, found: Mapping[ImageRef, NDArray[np.float64]]) -> Scored:
        nothing = np.full(len(CUES), np.nan)
        values = np.stack([found.get(ref, nothing) for ref in item.images])
        columns = {}
        for place, (cue, (up, down)) in enumerate(CUES.items()):
            if cue in self.cues:
                columns[f"{cue}:{up}"] = values[:, place : place + 1]
                columns[f"{cue}:{down}"] = -columns[f"{cue}:{up}"]
        ordered = {name: columns[name] for name in self.columns}
        missing = {row: ref for row, ref in enumerate(item.images) if ref not in found}
        notes = {(row, 0): NO_IMAGE if ref.is_absent else MISSING for row, ref in missing.items()}
        return Scored(ordered, notes=notes)


def measure(ref: ImageRef) -> NDArray[np.float64]:
    """Return the cues of one image, float64 [F], in the order of `CUES`.

    Args:
        ref: An image that is there.

    Raises:
        InputError: If it cannot be decoded.
    """
    decoded = decode(ref)
    width, height = decoded.image.size
    pixels = decoded.original_size[0] * decoded.original_size[1]
    grey = np.asarray(decoded.image.convert("L"), np.float64)
    known = sorted(FORMATS).index(decoded.format)
    shape = [width, height, width / height, known, len(encoded(ref)) / pixels, float(decoded.had_alpha)]
    return np.array([*shape, sharpness(grey)])


def sharpness(grey: NDArray[np.float64]) -> float:
    """Return the variance of the Laplacian over the inner pixels, in grey levels squared; 0 if there are none.

    Args:
        grey: Grey levels [H, W].

    >>> sharpness(np.zeros((3, 4)))
    0.0
    """
    if min(grey.shape) < 3:
        return 0.0
    inner = grey[1:-1, 1:-1]
    laplacian = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:] - 4 * inner
    return float(laplacian.var())


def _size(ref: ImageRef) -> int:
    """Return the bytes of a file, without reading it; of a member of an archive, a typical picture's."""
    if ref.member:
        return TYPICAL
    return len(ref.data) if ref.data is not None else 0 if ref.path is None else ref.path.stat().st_size


def _checked(cues: Sequence[str]) -> tuple[str, ...]:
    """Return the cues as a tuple, or say which one is wrong."""
    chosen = (cues,) if isinstance(cues, str) else tuple(cues)
    wrong = [cue for cue in chosen if cue not in CUES]
    if wrong or not chosen or len(set(chosen)) != len(chosen):
        raise InputError(
            "the image cues are wrong",
            where="baseline.image_cues.cues",
            got=str(list(chosen)),
            expected=f"any of {', '.join(CUES)}, each once",
            step=near(wrong[0], CUES) if wrong else "name at least one, and each once",
        )
    return chosen
