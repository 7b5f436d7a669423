"""Draw a whole sample into a folder, scene by scene in parallel, and a few pairs in memory."""

from __future__ import annotations

import io
import multiprocessing
import os
import secrets
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from benchmarks.errors import InputError
from benchmarks.tableaux.drawing.compose import Canvas
from benchmarks.tableaux.release import image, mask
from benchmarks.tableaux.sample import Specification, Tableau, Variation
from benchmarks.tableaux.vocabulary import EDIT_TYPES

DRAWING_VERSION = 1
"""Raised with any change that alters a pixel; the sample's identity does not depend on it."""
SIZES = (32, 2048)
_AHEAD = 4
"""Scenes that wait for each worker: enough to keep it busy, few enough for a sample of any size."""

Progress = Callable[[int, int], None]


class Example(NamedTuple):
    """Hold a drawn pair: ids, edit type, the short captions of both sides, and both pictures as PNG."""

    scene_id: str
    variation_id: str
    edit_type: str
    captions: tuple[str, str]
    base: bytes
    foil: bytes


def draw(
    spec: Specification, out: Path, *, size: int = 512, workers: int | None = None, progress: Progress | None = None
) -> None:
    """Draw every picture of a sample into `out/images` and the mask of every edit into `out/masks`.

    They appear whole or not at all; where pictures are already there, nothing is drawn.

    Args:
        spec: The sample.
        out: A new folder, or that of the sample's tables.
        size: Side of a picture in pixels, 32 to 2048.
        workers: Processes; 1 draws in this one. By default one per available core.
        progress: Called with the numbers of scenes drawn and to draw.

    Raises:
        InputError: If an option is out of range, or the folder cannot be written.
    """
    size, workers = checked_size(size), _workers(workers, spec.scenes)
    out = out.resolve()
    if drawn(out):
        return
    partial_folder = out.with_name(f".{out.name}.{secrets.token_hex(4)}.partial")
    try:
        for name in ("images", "masks"):
            (partial_folder / name).mkdir(parents=True)
        for done, _ in enumerate(_scenes(spec, partial_folder, size, workers), start=1):
            if progress is not None:
                progress(done, spec.scenes)
        _publish(partial_folder, out)
    except OSError as error:
        raise InputError("cannot write the pictures", where=str(out), got=str(error), step="check the path") from error
    finally:
        shutil.rmtree(partial_folder, ignore_errors=True)


def drawn(out: Path) -> bool:
    """Tell whether the pictures of a sample are in a folder: `images` takes its name after everything else."""
    return (out / "images").is_dir()


def examples(spec: Specification, count: int = 6, *, size: int = 512) -> list[Example]:
    """Draw a few pairs in memory, one of each edit type in turn, each from the next scene that has it.

    Args:
        spec: The sample.
        count: Number of pairs; fewer come back where the sample has fewer.
        size: Side of a picture in pixels, 32 to 2048.

    Raises:
        InputError: If the size is out of range.
    """
    size = checked_size(size)
    shown = []
    for tableau, variation in islice(_varied(spec), count):
        canvas = Canvas(tableau.scene, size)
        pictures = (_png(canvas.base), _png(canvas.foil(variation.edit).picture))
        shown.append(Example(tableau.id, variation.id, variation.edit.type, variation.captions["short"], *pictures))
    return shown


def _varied(spec: Specification) -> Iterator[tuple[Tableau, Variation]]:
    """Yield one variation of a scene after another, of another type each time as long as there is one."""
    used: dict[str, int] = dict.fromkeys(EDIT_TYPES, 0)
    for tableau in spec:
        first = min(tableau.variations, key=lambda one: (used[one.edit.type], _TURNS[one.edit.type]))
        used[first.edit.type] += 1
        yield tableau, first


# Types far apart come next to each other, so that a handful shows what there is.
_TURNS = {name: 7 * place % len(EDIT_TYPES) for place, name in enumerate(EDIT_TYPES)}


def _scenes(spec: Specification, folder: Path, size: int, workers: int) -> Iterator[None]:
    """Draw the scenes, in this process or in several; yield as often as one is done."""
    job = partial(_draw_scene, folder=folder, size=size)
    if workers == 1:
        yield from map(job, spec)
        return
    # A fresh interpreter: a fork would copy the threads of whatever the caller has loaded.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent) as pool:
        waiting: set[Future[None]] = set()
        tableaux = iter(spec)
        while True:
            waiting |= {pool.submit(job, one) for one in islice(tableaux, workers * _AHEAD - len(waiting))}
            if not waiting:
                return
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()


def _end_with_parent() -> None:
    """Let this process end when the one that started it is killed; the pool alone would let it wait for ever."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _draw_scene(tableau: Tableau, *, folder: Path, size: int) -> None:
    """Draw a base picture, those of its foils and their masks."""
    canvas = Canvas(tableau.scene, size)
    (folder / image(f"{tableau.id}_base")).write_bytes(_png(canvas.base))
    for variation in tableau.variations:
        foil = canvas.foil(variation.edit)
        (folder / image(variation.id)).write_bytes(_png(foil.picture))
        (folder / mask(variation.id)).write_bytes(_png(foil.mask))


def _png(picture: Image.Image) -> bytes:
    data = io.BytesIO()
    # Stronger compression takes four times as long and saves a tenth.
    picture.save(data, "PNG", compress_level=3)
    return data.getvalue()


def _publish(folder: Path, out: Path) -> None:
    """Give the finished folder its name, or its parts theirs; pictures that came first stay."""
    try:
        if not out.exists():
            folder.rename(out)
            return
        for name in ("masks", "images"):
            (folder / name).rename(out / name)
    except OSError:
        # Another process may have been faster: its pictures are the same.
        if not drawn(out):
            raise


def checked_size(size: object) -> int:
    """Return the size if pictures can have it.

    Raises:
        InputError: If it is not a whole number of pixels within the range.
    """
    low, high = SIZES
    if isinstance(size, bool) or not isinstance(size, int) or not low <= size <= high:
        raise InputError(
            "not a size of a picture", where="size", got=repr(size), expected=f"pixels, {low} to {high}", step="try 512"
        )
    return size


def _workers(workers: object, scenes: int) -> int:
    if workers is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        # A process takes longer to start than a scene to draw.
        return max(1, min(cores, scenes // 2, 60))
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError("not a number of processes", where="workers", got=repr(workers), expected="1 or more, or null")
    return workers
