"""Put the layers of a scene together, and those of its foils by redrawing only what an edit changes.

Every layer is drawn on its own and laid over what is behind it pixel by pixel. A pixel that no changed layer covers
goes through the same steps on both sides and so is the same: the mask of an edit is what its changed layers cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PIL import Image, ImageChops

from benchmarks.tableaux.drawing.layers import Key, draw_background, draw_layer, keys
from benchmarks.tableaux.drawing.svg import Layer
from benchmarks.tableaux.scene import Edit, Scene


class Foil(NamedTuple):
    """Hold the picture of a foil scene (RGB) and the mask of its edit (1 bit), white where something may differ."""

    picture: Image.Image
    mask: Image.Image


class Canvas:
    """Draw a base scene and its foils.

    Args:
        scene: The base scene.
        size: Side of the picture in pixels.
    """

    def __init__(self, scene: Scene, size: int) -> None:
        self._scene, self._size = scene, size
        self._drawn: dict[Key, Layer] = {}
        self._ground = draw_background(scene, size).pixels
        self._keys = keys(scene)
        self._base = self._composite(self._keys, (0, 0, size, size))

    @property
    def base(self) -> Image.Image:
        """Return the picture of the base scene, RGB."""
        return self._base.convert("RGB")

    def foil(self, edit: Edit) -> Foil:
        """Return the picture of the foil scene and the mask."""
        foil = keys(edit.apply(self._scene))
        mask = self._mask(set(self._keys) ^ set(foil))
        box = mask.getbbox()
        picture = self._base.copy()
        if box is not None:
            picture.paste(self._composite(foil, box), box)
        return Foil(picture.convert("RGB"), mask)

    def _mask(self, changed: set[Key]) -> Image.Image:
        """Return the union of the footprints of layers, shadows included."""
        mask = Image.new("L", (self._size, self._size))
        for key in changed:
            layer = self._layer(key)
            cover = layer.pixels.getchannel("A").point(_COVERS)
            box = (layer.left, layer.top, layer.left + cover.width, layer.top + cover.height)
            mask.paste(ImageChops.lighter(mask.crop(box), cover), box)
        return mask.convert("1", dither=Image.Dither.NONE)

    def _composite(self, wanted: Sequence[Key], box: tuple[int, int, int, int]) -> Image.Image:
        """Lay the layers over the background within a box."""
        picture = self._ground.crop(box)
        for key in wanted:
            layer = self._layer(key)
            left, top = max(layer.left, box[0]), max(layer.top, box[1])
            right = min(layer.left + layer.pixels.width, box[2])
            bottom = min(layer.top + layer.pixels.height, box[3])
            if left < right and top < bottom:
                inner = (left - layer.left, top - layer.top, right - layer.left, bottom - layer.top)
                picture.alpha_composite(layer.pixels.crop(inner), (left - box[0], top - box[1]))
        return picture

    def _layer(self, key: Key) -> Layer:
        if key not in self._drawn:
            self._drawn[key] = draw_layer(key, self._size)
        return self._drawn[key]


_COVERS = [0] + [255] * 255
