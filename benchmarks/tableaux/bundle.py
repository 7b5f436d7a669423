"""Keep samples in the cache: tables from the start, pictures once somebody asks for them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.errors import InputError, near
from benchmarks.tableaux import drawing, release
from benchmarks.tableaux.sample import Specification, specification

OPTIONS: Final[Mapping[str, Any]] = {"scenes": 40, "seed": 0, "shortcut": "none", "strength": 0.0}
SIZE: Final = 512
TABLE: Final = "variations.parquet"


class Bundle(NamedTuple):
    """Hold a cached sample.

    Attributes:
        spec: The sample.
        folder: Its tables.
        pictures: Where its `images/` are, or will be.
        size: Side of a picture in pixels.
        told: Its parameters in words.
    """

    spec: Specification
    folder: Path
    pictures: Path
    size: int
    told: str

    def draw(self, progress: drawing.Progress | None = None) -> None:
        """Draw the pictures, unless they are there."""
        drawing.draw(self.spec, self.pictures, size=self.size, progress=progress)


def bundle(options: Mapping[str, Any], cache: str | Path | None = None) -> Bundle:
    """Return a sample in the cache; its tables are written on first use.

    Args:
        options: Parameters of the specification, and the `size` of the pictures.
        cache: Folder of the cache; the user's cache folder by default.

    Raises:
        InputError: If an option is unknown or out of range.
    """
    known = (*OPTIONS, "size")
    for name in options:
        if name not in known:
            raise InputError(
                "unknown option of the sample",
                where="benchmark.sample",
                got=name,
                expected=", ".join(known),
                step=near(name, known),
            )
    chosen = {name: options.get(name, value) for name, value in OPTIONS.items()}
    size = drawing.checked_size(options.get("size", SIZE))
    spec = specification(**chosen)
    folder = _cache(cache) / "tableaux" / spec.digest[:12]
    if not (folder / TABLE).is_file():
        _write(spec, folder)
    told = ", ".join(f"{name} {value}" for name, value in chosen.items())
    # Pictures of another size, or of another version of the drawing, are other pictures.
    return Bundle(spec, folder, folder / f"drawn-{size}-v{drawing.DRAWING_VERSION}", size, told)


def _write(spec: Specification, folder: Path) -> None:
    """Write the sample, unless another process just did."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        release.write(spec, folder)
    except (InputError, OSError):
        if not (folder / TABLE).is_file():
            raise


def _cache(cache: str | Path | None) -> Path:
    if cache is not None:
        return Path(cache).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "blind-audits"
