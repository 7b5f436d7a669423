"""Build one layer as SVG and turn it into pixels: shapes with light from one side, soft shadows, local frames.

A layer holds one thing with its shadow and is drawn on its own, so no pixel of it can depend on another thing.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil, cos, floor, pi, sin
from typing import NamedTuple

import resvg_py
from PIL import Image

from benchmarks.tableaux.drawing.palette import ink, mix

UNIT = 512
"""Side of the picture in the units in which everything is drawn."""
OUTLINE = 1.5

Point = tuple[float, float]


class Paint(NamedTuple):
    """Hold what fills a shape, one fill over the other, and the colour of its outline."""

    fills: tuple[str, ...]
    ink: str


class Layer(NamedTuple):
    """Hold the pixels of one layer and where their upper left corner is, in pixels of the picture."""

    pixels: Image.Image
    left: int
    top: int


def plain(color: str) -> Paint:
    """Return the paint of one hex colour."""
    return Paint((color,), ink(color))


def path(*parts: str | float) -> str:
    """Return path data from commands and numbers.

    >>> path("M", 0, 1.5, "Z")
    'M 0 1.5 Z'
    """
    return " ".join(part if isinstance(part, str) else f"{part:.2f}".rstrip("0").rstrip(".") for part in parts)


def oval(x: float, y: float, rx: float, ry: float | None = None) -> str:
    """Return an ellipse about a centre as path data."""
    ry = rx if ry is None else ry
    half = ("a", rx, ry, 0, 1, 0)
    return path("M", x - rx, y, *half, 2 * rx, 0, *half, -2 * rx, 0, "Z")


def rect(x: float, y: float, width: float, height: float, radius: float = 0) -> str:
    """Return a rectangle with rounded corners as path data; x and y are its upper left corner."""
    r = min(radius, width / 2, height / 2)
    w, h = width - 2 * r, height - 2 * r
    turn = ("a", r, r, 0, 0, 1)
    return path(
        "M", x + r, y, "h", w, *turn, r, r, "v", h, *turn, -r, r, "h", -w, *turn, -r, -r, "v", -h, *turn, r, -r, "Z"
    )


def polygon(*points: Point) -> str:
    """Return a polygon as path data."""
    first, *rest = points
    return path("M", *first, *(part for point in rest for part in ("L", *point)), "Z")


def ring(n: int, x: float, y: float, radius: float, *, inner: float = 0, turn: float = -90) -> str:
    """Return a regular polygon with n corners, or a star with n points where an inner radius is given."""
    steps = 2 * n if inner else n
    corners = []
    for i in range(steps):
        r, angle = (inner if inner and i % 2 else radius), pi * (turn + 360 * i / steps) / 180
        corners.append((x + r * cos(angle), y + r * sin(angle)))
    return polygon(*corners)


_SHADES = {
    # Shares along the way from the bright to the dark side: (offset, black or white, opacity).
    "round": ((0, 1, 0.16), (0.22, 1, 0.28), (0.55, 0, 0.0), (1, 0, 0.42)),
    "flat": ((0, 1, 0.20), (0.5, 0, 0.0), (1, 0, 0.20)),
    "ball": ((0, 1, 0.75), (0.25, 1, 0.25), (0.6, 0, 0.0), (1, 0, 0.45)),
}


class Pen:
    """Collect the shapes of one layer.

    Args:
        light: Side from which the light comes, `left` or `right`.
    """

    def __init__(self, light: str) -> None:
        self.side = -1 if light == "left" else 1
        self._defs: dict[str, str] = {}
        self._body: list[str] = []

    def define(self, name: str, markup: str) -> str:
        """Keep a definition and return the reference to it; `{id}` in the markup stands for its id."""
        self._defs.setdefault(name, markup.replace("{id}", name))
        return f"url(#{name})"

    @contextmanager
    def frame(self, x: float, y: float, scale: float = 1, *, flip: bool = False, turn: float = 0) -> Iterator[None]:
        """Draw within in a frame moved to (x, y), then turned (degrees, clockwise), then scaled and mirrored."""
        across = -scale if flip else scale
        self._body.append(
            f'<g transform="translate({x:.3f} {y:.3f}) rotate({turn:.3f}) scale({across:.4f} {scale:.4f})">'
        )
        self.side = -self.side if flip else self.side
        yield
        self.side = -self.side if flip else self.side
        self._body.append("</g>")

    @contextmanager
    def clip(self, data: str) -> Iterator[None]:
        """Draw within only inside of a path."""
        name = f"c{len(self._defs)}"
        where = self.define(name, f'<clipPath id="{name}"><path d="{data}"/></clipPath>')
        self._body.append(f'<g clip-path="{where}">')
        yield
        self._body.append("</g>")

    def fill(self, data: str, color: str, opacity: float = 1, blur: float = 0) -> None:
        """Fill a path."""
        extra = f' fill-opacity="{opacity:.3f}"' if opacity < 1 else ""
        self._body.append(f'<path d="{data}" fill="{color}"{extra}{self._blurred(blur)}/>')

    def line(self, data: str, color: str, width: float = OUTLINE, opacity: float = 1, blur: float = 0) -> None:
        """Stroke a path with round ends."""
        extra = f' stroke-opacity="{opacity:.3f}"' if opacity < 1 else ""
        self._body.append(
            f'<path d="{data}" fill="none" stroke="{color}" stroke-width="{width:.2f}" stroke-linecap="round" '
            f'stroke-linejoin="round"{extra}{self._blurred(blur)}/>'
        )

    def form(self, data: str, paint: Paint | str, shade: str = "round", *, outline: float = OUTLINE) -> None:
        """Draw a body: its fills, light and shade, an outline. `shade` is round, flat, ball or empty."""
        paint = plain(paint) if isinstance(paint, str) else paint
        for one in paint.fills:
            self.fill(data, one)
        if shade:
            self.fill(data, self._shade(shade))
        if outline:
            self.line(data, paint.ink, outline)

    def rod(self, points: Sequence[Point], color: str, width: float, *, shine: float = 0.3) -> None:
        """Draw a round rod or limb through points, with an outline and a bright edge towards the light."""
        data = path("M", *points[0], *(part for point in points[1:] for part in ("L", *point)))
        self.line(data, ink(color), width + 2 * OUTLINE - 0.6)
        self.line(data, color, width)
        if shine:
            shift = self.side * width * 0.22
            moved = path("M", points[0][0] + shift, points[0][1], *_moved(points[1:], shift))
            self.line(moved, mix(color, "#ffffff", 0.6), width * 0.25, shine + 0.2)

    def shadow(self, x: float, y: float, rx: float, ry: float = 0, strength: float = 0.42) -> None:
        """Cast a soft shadow on the ground, away from the light."""
        ry = ry or max(2.5, rx * 0.16)
        stops = "".join(f'<stop offset="{at}" stop-color="#20180f" stop-opacity="{o}"/>' for at, o in _PENUMBRA)
        soft = self.define("soft", f'<radialGradient id="{{id}}">{stops}</radialGradient>')
        # A gradient costs a tenth of a blurred ellipse.
        self.fill(oval(x - self.side * rx * 0.14, y, rx * 1.18, ry * 1.7), soft, strength)
        self.fill(oval(x, y, rx * 0.9, ry * 0.8), soft, strength * 0.9)

    def cast(self, data: str) -> None:
        """Cast the soft shadow of a path on the wall close behind it, away from the light."""
        with self.frame(-self.side * 4, 4):
            self.fill(data, "#20180f", 0.16)
            # Strokes of growing width fade outwards, at a tenth of the cost of a blur.
            for width in (1.5, 3.5, 6):
                self.line(data, "#20180f", width, 0.08)

    def glow(self, x: float, y: float, radius: float, color: str = "#ffe27a") -> None:
        """Draw light around a point that fades to nothing."""
        stops = "".join(f'<stop offset="{at}" stop-color="{color}" stop-opacity="{o}"/>' for at, o in _FADE)
        name = f"glow{color[1:]}"
        self.fill(oval(x, y, radius), self.define(name, f'<radialGradient id="{{id}}">{stops}</radialGradient>'))

    def _shade(self, kind: str) -> str:
        name = f"{kind}{'l' if self.side < 0 else 'r'}"
        stops = "".join(
            f'<stop offset="{at}" stop-color="{"#fff" if white else "#140c1e"}" stop-opacity="{opacity}"/>'
            for at, white, opacity in _SHADES[kind]
        )
        if kind == "ball":
            x = 0.34 if self.side < 0 else 0.66
            return self.define(
                name,
                f'<radialGradient id="{{id}}" cx="{x}" cy="0.3" r="0.75" fx="{x}" fy="0.3">{stops}</radialGradient>',
            )
        x1, x2 = (0, 1) if self.side < 0 else (1, 0)
        y2 = 0 if kind == "round" else 0.7
        return self.define(
            name, f'<linearGradient id="{{id}}" x1="{x1}" y1="0" x2="{x2}" y2="{y2}">{stops}</linearGradient>'
        )

    def _blurred(self, blur: float) -> str:
        if not blur:
            return ""
        name = f"b{round(blur * 100)}"
        area = 'x="-0.3" y="-0.3" width="1.6" height="1.6"'
        where = self.define(name, f'<filter id="{{id}}" {area}><feGaussianBlur stdDeviation="{blur:.2f}"/></filter>')
        return f' filter="{where}"'

    def render(self, box: tuple[float, float, float, float], size: int) -> Layer:
        """Return the pixels of the layer; `box` (left, top, right, bottom) bounds it, in units of the picture."""
        scale = size / UNIT
        left, top = (max(0, floor(edge * scale)) for edge in box[:2])
        right, bottom = (min(size, ceil(edge * scale)) for edge in box[2:])
        view = path(left / scale, top / scale, (right - left) / scale, (bottom - top) / scale)
        markup = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{right - left}" height="{bottom - top}" viewBox="{view}">'
            f"<defs>{''.join(self._defs.values())}</defs>{''.join(self._body)}</svg>"
        )
        data = resvg_py.svg_to_bytes(svg_string=markup, skip_system_fonts=True)
        with Image.open(io.BytesIO(data)) as opened:
            pixels = opened.convert("RGBA")
        inner = pixels.getchannel("A").getbbox() or (0, 0, 1, 1)
        return Layer(pixels.crop(inner), left + inner[0], top + inner[1])


_PENUMBRA = ((0, 1), (0.45, 0.85), (0.75, 0.35), (1, 0))
_FADE = ((0, 0.9), (0.25, 0.55), (0.6, 0.18), (1, 0))


def _moved(points: Sequence[Point], shift: float) -> list[str | float]:
    return [part for x, y in points for part in ("L", x + shift, y)]
