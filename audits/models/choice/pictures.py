"""Images as an endpoint receives them: the file's own bytes where any reader sees the same picture, else a PNG of it.

A camera's rotation tag, transparency, a crop, further frames, 16-bit grey and unusual colour spaces are read one way
here and other ways elsewhere; such a file is decoded by our rule and sent as PNG.
"""

from __future__ import annotations

import base64
import io
from typing import Final, NamedTuple

from benchmarks.images import Decoded, ImageRef, content_digest, decode, encoded

RULE: Final = "PNG, JPEG, WebP and GIF files that need no rotation, crop or background as they are, others as PNG"
_SENT: Final = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
_MODES: Final = ("RGB", "L", "P")


class Seen(NamedTuple):
    """Hold what is known of an image without keeping it.

    Attributes:
        digest: Of its bytes and its crop.
        size: (width, height) in pixels, as sent.
    """

    digest: str
    size: tuple[int, int]


class Pictures:
    """Look at every distinct image once."""

    def __init__(self) -> None:
        self._seen: dict[ImageRef, Seen] = {}

    def seen(self, ref: ImageRef) -> Seen:
        """Return digest and size of an image.

        Raises:
            InputError: If it cannot be read.
        """
        found = self._seen.get(ref)
        if found is None:
            found = self._seen[ref] = Seen(content_digest(ref), decode(ref).image.size)
        return found


def data_url(ref: ImageRef) -> str:
    """Return an image as a `data:` address.

    Raises:
        InputError: If it cannot be read.
    """
    decoded = decode(ref)
    if is_plain(decoded, ref):
        kind, data = _SENT[decoded.format], encoded(ref)
    else:
        kind, data = "image/png", _png(decoded)
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def is_plain(decoded: Decoded, ref: ImageRef) -> bool:
    """Return whether the file's own bytes show the same picture to any reader."""
    turned_or_odd = decoded.turned or decoded.had_alpha or ref.box is not None or bool(decoded.notes)
    return decoded.format in _SENT and decoded.mode in _MODES and not turned_or_odd


def _png(decoded: Decoded) -> bytes:
    stream = io.BytesIO()
    decoded.image.save(stream, "PNG")
    return stream.getvalue()
