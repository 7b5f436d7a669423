"""Example pictures of a run: files in its folder, so that every rendering shows the same ones and draws nothing."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.errors import InputError
from reports import files

FOLDER = Path("figures", "examples")
LISTED = "examples.json"
_PNG = b"\x89PNG\r\n\x1a\n"


class Size(NamedTuple):
    """Hold a picture's size in pixels."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Example:
    """Hold one pair as pictures with their captions.

    Attributes:
        label: What the pair shows (its subset or edit type).
        images: Base and foil, as PNG files.
        captions: Base and foil.
    """

    label: str
    images: tuple[bytes, bytes]
    captions: tuple[str, str]


def png_size(data: bytes) -> Size:
    """Return a PNG file's size from its header.

    Raises:
        ValueError: If the bytes are not a PNG file; nothing else is put into a page.
    """
    if len(data) < 24 or data[:8] != _PNG or data[12:16] != b"IHDR":
        raise ValueError("an example picture must be a PNG file")
    return Size(*struct.unpack(">II", data[16:24]))


def write_examples(run: Path, examples: Sequence[Example]) -> None:
    """Write pictures and captions into a run folder in place of those that are there.

    Args:
        run: The run folder.
        examples: In the order in which pages show them.

    Raises:
        ValueError: If a picture is not a PNG file; nothing is written then.
    """
    for example in examples:
        for image in example.images:
            png_size(image)
    folder = run / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LISTED).unlink(missing_ok=True)
    for left in folder.glob("*.png"):
        left.unlink()
    listed = [_written(folder, number, example) for number, example in enumerate(examples, start=1)]
    files.write_json(folder / LISTED, listed)


def _written(folder: Path, number: int, example: Example) -> dict[str, Any]:
    sides = {}
    for side, image, caption in zip(("base", "foil"), example.images, example.captions, strict=True):
        name = f"{number:02d}-{side}.png"
        files.write_bytes(folder / name, image)
        sides[side] = {"file": name, "caption": caption}
    return {"label": example.label, **sides}


def read_examples(run: Path) -> tuple[Example, ...]:
    """Return the examples of a run folder; none where none were written.

    Raises:
        InputError: If what is listed cannot be read as PNG files of that folder.
    """
    path = run / FOLDER / LISTED
    if not path.is_file():
        return ()
    try:
        return tuple(_example(path.parent, item) for item in files.read_json(path))  # type: ignore[attr-defined]
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise InputError(
            "the example pictures cannot be read",
            where=str(path),
            got=f"{type(error).__name__}: {error}",
            step=f"delete {path.parent} to render the report without them",
        ) from error


def _example(folder: Path, item: Any) -> Example:
    images = []
    for side in ("base", "foil"):
        name = item[side]["file"]
        if Path(name).name != name:
            raise ValueError(f"not a file name: {name}")
        data = (folder / name).read_bytes()
        png_size(data)
        images.append(data)
    captions = (str(item["base"]["caption"]), str(item["foil"]["caption"]))
    return Example(str(item["label"]), (images[0], images[1]), captions)
