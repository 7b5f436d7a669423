"""Draw pairs of scenes and their captions into memory, at the size that a small model sees."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.tableaux import Specification, Tableau
from benchmarks.tableaux.drawing import DRAWING_VERSION
from benchmarks.tableaux.drawing.compose import Canvas
from reports.files import write_atomically

SIZE = 64
"""Side of the pictures that both models see, in pixels."""
DRAWN = 128
"""Side at which pictures are drawn before they are scaled down: lines then look as they do in a larger drawing."""


class Pairs(NamedTuple):
    """Hold P pairs of scenes that differ in one edit.

    Attributes:
        images: uint8 [N, S, S, 3], every distinct picture once.
        base: Position of the base picture of each pair, int64 [P].
        foil: Position of the foil picture, int64 [P].
        captions: Captions of each pair by tier (short, medium, long), each (base, foil).
        edit_types: Edit type of each pair.
        scenes: Number of the scene of each pair, int64 [P].
    """

    images: NDArray[np.uint8]
    base: NDArray[np.int64]
    foil: NDArray[np.int64]
    captions: list[tuple[tuple[str, str], ...]]
    edit_types: list[str]
    scenes: NDArray[np.int64]


def pairs_of(
    spec: Specification, *, size: int = SIZE, drawn: int = DRAWN, workers: int = 1, cache: Path | None = None
) -> Pairs:
    """Return every variation of a specification with its pictures.

    Args:
        spec: The scenes.
        size: Side of the pictures in pixels.
        drawn: Side at which they are drawn; scaled down to `size` as the models' own transforms do (bicubic).
        workers: Processes that draw; 1 draws in this one.
        cache: Folder that keeps pictures, for the next model or run; None keeps none.
    """
    base, foil, scenes = [], [], []
    captions: list[tuple[tuple[str, str], ...]] = []
    types: list[str] = []
    first = 0
    for number, tableau in enumerate(spec):
        for place, variation in enumerate(tableau.variations, start=1):
            base.append(first)
            foil.append(first + place)
            scenes.append(number)
            captions.append(tuple(variation.captions.values()))
            types.append(variation.edit.type)
        first += 1 + len(tableau.variations)
    images = _pictures(spec, partial(_draw, size=size, drawn=drawn), workers, cache)
    return Pairs(images, np.asarray(base), np.asarray(foil), captions, types, np.asarray(scenes))


def _pictures(
    spec: Specification, job: partial[NDArray[np.uint8]], workers: int, cache: Path | None
) -> NDArray[np.uint8]:
    """Return the pictures of all scenes, each base before its foils, from the cache if they are there."""
    size, drawn = job.keywords["size"], job.keywords["drawn"]
    kept = cache / f"{spec.digest[:16]}-{size}-{drawn}-v{DRAWING_VERSION}.npy" if cache else None
    if kept is not None and kept.is_file():
        found: NDArray[np.uint8] = np.load(kept)
        return found
    made = np.concatenate(list(_drawn(spec, job, workers)))
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, lambda file: np.save(file, made))
    return made


def _drawn(spec: Specification, job: partial[NDArray[np.uint8]], workers: int) -> Iterator[NDArray[np.uint8]]:
    if workers == 1:
        yield from map(job, spec)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        yield from pool.map(job, spec, chunksize=4)


def _draw(tableau: Tableau, *, size: int, drawn: int) -> NDArray[np.uint8]:
    """Return the base picture and those of the variations, uint8 [1 + V, S, S, 3]."""
    canvas = Canvas(tableau.scene, drawn)
    pictures = [canvas.base, *(canvas.foil(variation.edit).picture for variation in tableau.variations)]
    return np.stack([_scaled(picture, size) for picture in pictures])


def _scaled(picture: Image.Image, size: int) -> NDArray[np.uint8]:
    return np.asarray(picture.resize((size, size), Image.Resampling.BICUBIC))


def texts(captions: Sequence[tuple[tuple[str, str], ...]]) -> Iterator[str]:
    """Yield every caption, of all tiers and both sides."""
    for tiers in captions:
        for sides in tiers:
            yield from sides
