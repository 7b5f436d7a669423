"""Decode and prepare the images of the next batch while the current one is being encoded."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

from PIL import Image

from benchmarks.images import ImageRef, decode

Prepare = Callable[[Image.Image], Any]
MOST_THREADS = 4


class Ahead:
    """Hold prepared images of at most two batches: the one being encoded, and the next.

    The engine announces a batch before it computes the one in front of it, so what waits here is bounded by two of its
    batches; each image is handed out once and then forgotten.

    Args:
        prepare: Turns an RGB image into what the image tower takes.
    """

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare
        self._waiting: dict[str, Future[Any]] = {}
        threads = max(1, min(MOST_THREADS, (os.cpu_count() or 1) // 2))
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="images-ahead")

    def __enter__(self) -> Ahead:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._waiting.clear()

    def announce(self, images: Sequence[tuple[str, ImageRef]]) -> None:
        """Start to prepare images, by key."""
        for key, ref in images:
            if key not in self._waiting:
                self._waiting[key] = self._pool.submit(self._made, ref)

    def take(self, key: str, ref: ImageRef) -> Any:
        """Return a prepared image; one that was taken before is prepared again (a batch that memory cut).

        Raises:
            InputError: If the image cannot be decoded.
        """
        waiting = self._waiting.pop(key, None)
        return self._made(ref) if waiting is None else waiting.result()

    def _made(self, ref: ImageRef) -> Any:
        return self._prepare(decode(ref).image)
