"""One reference to an image and one rule to decode it.

The rule, for files and bytes alike: first frame; rotated as its EXIF block says, tag dropped; transparency
composited on white; 16-bit grey scaled to 8 bits; everything else converted to 8-bit RGB; then cropped. A crop that
reaches beyond the image is filled with black there, as the loaders of ARO and CREPE do (PIL's own `crop`), and noted.
Colour profiles are ignored, as the image transforms of published models ignore them.
"""

from __future__ import annotations

import functools
import hashlib
import io
import re
import struct
import warnings
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from benchmarks import archives
from benchmarks.errors import InputError

MAX_PIXELS = 178_956_970  # 512 MiB as RGB: beyond it a small file may be meant to fill the memory
BACKGROUND = (255, 255, 255)
BEYOND = "black there, as upstream's loaders leave it"
# Formats that Pillow reads by itself: others hand the file to an outside program.
FORMATS = ("PNG", "JPEG", "MPO", "WEBP", "GIF", "BMP", "DIB", "TIFF", "PPM", "JPEG2000", "AVIF", "ICO", "TGA")
ORIENTATION = 274
ROTATIONS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
GREY16 = ("I", "I;16", "I;16L", "I;16B", "I;16N")
# Pillow names the buffer that it read from, by its address.
_BUFFER = re.compile(r" <_io\.BytesIO object[^>]*>")
# What Pillow's decoders raise for broken files, depending on the format and on where it breaks.
FAULTS = (OSError, SyntaxError, ValueError, TypeError, LookupError, EOFError, OverflowError, struct.error, zlib.error)


class Box(NamedTuple):
    """Crop in pixels after rotation; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class ImageRef:
    """Point to an image without opening it: a file, a member of an archive, or bytes.

    Attributes:
        key: Stable name within the benchmark (`000000001.jpg`), used for clusters and records.
        path: The file, or None (bytes, or absent).
        data: The encoded bytes, or None.
        box: Crop (left, top, right, bottom) in pixels after rotation, or None.
        member: Where `path` is a place (folder, archive, parquet file): the name, or `ROW/COLUMN`, looked up in it.
    """

    key: str
    path: Path | None = None
    data: bytes | None = None
    box: tuple[int, int, int, int] | None = None
    member: str = ""

    @classmethod
    def absent(cls) -> ImageRef:
        """Return the reference of a row that has no image at all."""
        return cls("")

    @property
    def is_absent(self) -> bool:
        """Whether there is no image behind this row, as distinct from a file that is missing."""
        return self.key == ""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Hold a decoded image and what the rule had to do to it.

    Attributes:
        image: 8-bit RGB, without metadata.
        original_size: (width, height) in pixels after rotation and before the crop.
        had_alpha: Whether the file had an alpha channel or a transparent colour.
        notes: Sentences about anything unusual (broken EXIF block, several frames, a crop that leaves the image).
        format: Name of the file's format as Pillow gives it, one of `FORMATS`.
        mode: The file's pixel mode as Pillow gives it (`RGB`, `P`, `I;16`).
        turned: Whether the EXIF block had it rotated or mirrored.
    """

    image: Image.Image
    original_size: tuple[int, int]
    had_alpha: bool
    notes: tuple[str, ...] = ()
    format: str = ""
    mode: str = ""
    turned: bool = False


def exists(ref: ImageRef) -> bool:
    """Tell whether encoded bytes stand behind a reference, without decoding them."""
    if ref.member and ref.path is not None:
        return archives.has(ref.path, ref.member)
    return bool(ref.data) or (ref.path is not None and ref.path.is_file())


def encoded(ref: ImageRef) -> bytes:
    """Return the encoded bytes of an image.

    Raises:
        InputError: If there is no image, or its file cannot be read.
    """
    if ref.data is not None:
        return ref.data
    if ref.path is None:
        raise InputError("this row has no image", where=_name(ref), step="select a scorer that sees the text only")
    if ref.member:
        return archives.read(ref.path, ref.member)
    try:
        return ref.path.read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(
            "an image file cannot be read",
            where=str(ref.path),
            got=type(error).__name__,
            step="put the file there, or leave such rows out with benchmark.missing=exclude",
        ) from error


def content_digest(ref: ImageRef) -> str:
    """Return the SHA-256 of the encoded bytes and of the crop, in hexadecimal."""
    box = "" if ref.box is None else ",".join(str(int(edge)) for edge in ref.box)
    return hashlib.sha256(hashlib.sha256(encoded(ref)).digest() + box.encode("ascii")).hexdigest()


def decode(ref: ImageRef) -> Decoded:
    """Decode an image under the one rule of this module.

    Raises:
        InputError: If it is absent, missing, truncated, no image, too large, or the crop holds nothing of it; never
            returns a stand-in.
    """
    data = encoded(ref)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with Image.open(io.BytesIO(data), formats=_formats()) as opened:
                decoded = _decode(opened, ref)
        except (*FAULTS, MemoryError, Image.DecompressionBombError) as error:
            raise InputError(
                "an image file is broken, too large or no image",
                where=_name(ref),
                got=f"{len(data)} bytes; {type(error).__name__}: {_BUFFER.sub('', str(error))[:120]}",
                expected=f"a complete file of one of {', '.join(FORMATS)} with at most {MAX_PIXELS} pixels",
                step="fetch the file again",
            ) from error
    heard = tuple(dict.fromkeys(str(item.message) for item in caught if item.category is not ResourceWarning))
    return replace(decoded, notes=decoded.notes + heard)


def _decode(opened: Image.Image, ref: ImageRef) -> Decoded:
    """Apply the rule to an opened image."""
    if opened.width * opened.height > MAX_PIXELS:
        raise ValueError(f"{opened.width} x {opened.height} pixels")
    notes = []
    frames = int(getattr(opened, "n_frames", 1))
    if frames > 1:
        opened.seek(0)
        notes.append(f"first of {frames} frames")
    opened.load()
    mode = opened.mode
    turn, note = _rotation(opened)
    rgb, had_alpha = _to_rgb(opened)
    rgb = rgb if turn is None else rgb.transpose(turn)
    rgb.info = {}
    size = rgb.size
    cropped, beyond = _crop(rgb, ref)
    found = (*notes, *note, *beyond)
    return Decoded(cropped, size, had_alpha, found, str(opened.format), mode, turn is not None)


def _rotation(image: Image.Image) -> tuple[Image.Transpose | None, list[str]]:
    """Return how to turn an image upright; a broken EXIF block turns nothing and is noted."""
    try:
        raw = image.info.get("exif")
        if isinstance(raw, bytes):
            # Pillow's JPEG reader has swallowed the fault of a broken block; a fresh reading raises it again.
            Image.Exif().load(raw)
        tag = image.getexif().get(ORIENTATION, 1)
    except FAULTS as error:
        return None, [f"EXIF block is broken ({type(error).__name__}): not rotated"]
    if tag in (0, 1):
        return None, []
    if not isinstance(tag, int) or tag not in ROTATIONS:
        return None, [f"EXIF orientation {str(tag)[:20]!r} is not one of 1 to 8: not rotated"]
    return ROTATIONS[tag], []


def _to_rgb(image: Image.Image) -> tuple[Image.Image, bool]:
    """Return the image as 8-bit RGB on white, and whether it had alpha."""
    had_alpha = "transparency" in image.info or image.mode.lower().endswith("a")
    if image.mode in GREY16:
        image = _grey16(image)
    elif image.mode == "F":
        raise ValueError("grey values are floats of unknown range")
    if not had_alpha:
        return image.convert("RGB"), False
    rgba = image.convert("RGBA")
    ground = Image.new("RGBA", rgba.size, (*BACKGROUND, 255))
    return Image.alpha_composite(ground, rgba).convert("RGB"), True


def _grey16(image: Image.Image) -> Image.Image:
    """Scale 16-bit grey to 8 bits (65535 becomes 255, with rounding); Pillow's own conversion clips at 255."""
    values = np.asarray(image).astype(np.int64)
    if values.size and (values.min() < 0 or values.max() > 65535):
        raise ValueError(f"grey values {values.min()} to {values.max()} do not fit 16 bits")
    grey = Image.fromarray(((values + 128) // 257).astype(np.uint8))
    clear = image.info.get("transparency")
    if clear is None:
        return grey
    grey.putalpha(Image.fromarray(np.where(values == clear, 0, 255).astype(np.uint8)))
    return grey


def _crop(image: Image.Image, ref: ImageRef) -> tuple[Image.Image, list[str]]:
    """Cut out the box of a reference; what it holds beyond the image is black, and noted."""
    if ref.box is None:
        return image, []
    box = Box(*ref.box)
    inside = Box(max(0, box.left), max(0, box.top), min(image.width, box.right), min(image.height, box.bottom))
    if inside.left >= inside.right or inside.top >= inside.bottom:
        raise InputError(
            "a crop lies outside its image",
            where=_name(ref),
            got=f"left, top, right, bottom = {tuple(box)}",
            expected=f"a box that holds at least one pixel of {image.width} x {image.height}",
        )
    if (box.right - box.left) * (box.bottom - box.top) > MAX_PIXELS:
        raise ValueError(f"a crop of {box.right - box.left} x {box.bottom - box.top} pixels")
    return image.crop(box), [] if box == inside else [f"a crop reaches beyond its image: {BEYOND}"]


def _name(ref: ImageRef) -> str:
    name = str(ref.path) if ref.path is not None else f"image {ref.key!r}"
    return f"{name}, member {ref.member!r}" if ref.member else name


@functools.cache
def _formats() -> tuple[str, ...]:
    """Return the formats of the list that this installation of Pillow can open."""
    Image.init()
    return tuple(name for name in FORMATS if name in Image.OPEN)
