"""Load the templates: everything that they insert is escaped, and a name that is missing is an error."""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files as resources

from jinja2 import DictLoader, Environment, StrictUndefined

from reports.figures import Mark
from reports.text import visible

_FOLDER = resources("reports") / "templates"
_RADIUS = 4.2


def read_template(name: str) -> str:
    """Return the text of a file in `templates/`, with the same line ends on every system."""
    return (_FOLDER / name).read_text(encoding="utf-8").replace("\r\n", "\n")


@cache
def environment() -> Environment:
    """Return the environment of all templates, compiled once."""
    names = sorted(item.name for item in _FOLDER.iterdir() if item.name.endswith(".j2"))
    found = Environment(
        loader=DictLoader({name: read_template(name) for name in names}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters.update(px=pixels, outline=outline, visible=visible)
    return found


def pixels(value: float) -> str:
    """Return a length in pixels to a tenth, the same on every system.

    >>> pixels(12.0), pixels(0.449), pixels(-0.01)
    ('12', '0.4', '0')
    """
    return (
        f"{value:.1f}".removesuffix(".0").replace("-0", "0") if abs(value) < 0.05 else f"{value:.1f}".removesuffix(".0")
    )


def outline(mark: Mark) -> str:
    """Return the path of a mark; the shapes look equally large."""
    x, y, radius = mark.x, mark.y, _RADIUS
    if mark.shape == "circle":
        arc = f"a{pixels(radius)} {pixels(radius)} 0 1 0"
        return f"M{pixels(x - radius)} {pixels(y)}{arc} {pixels(2 * radius)} 0{arc} {pixels(-2 * radius)} 0Z"
    corners = {"square": (4, 45.0, 1.25), "diamond": (4, 0.0, 1.25), "triangle": (3, -90.0, 1.3)}
    count, turn, scale = corners[mark.shape]
    angles = [math.radians(turn + 360 * corner / count) for corner in range(count)]
    points = [(x + scale * radius * math.cos(angle), y + scale * radius * math.sin(angle)) for angle in angles]
    return "M" + "L".join(f"{pixels(at)} {pixels(down)}" for at, down in points) + "Z"
