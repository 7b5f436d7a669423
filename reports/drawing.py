"""Draw a layout as a stand-alone SVG and as a PNG, for slides: the same bytes whenever the numbers are the same."""

from __future__ import annotations

import io
import warnings
from importlib import import_module
from typing import Any, Final

from reports.figures import Layout, Shape
from reports.markup import environment

PALETTE: Final = {
    **{"ground": "#ffffff", "ink": "#16191d", "quiet": "#535c68", "band": "#f3f5f8"},
    **{"grid": "#d5dae0", "axis": "#d5dae0", "chance": "#16191d"},
    "series": ("#0072b2", "#c04a00", "#00795a", "#8e3a80"),
}
_MARKERS: dict[Shape, str] = {"circle": "o", "square": "s", "diamond": "D", "triangle": "^"}
_SIZES: dict[Shape, float] = {"circle": 8.4, "square": 7.4, "diamond": 7.4, "triangle": 8.6}
_SCALE = 3  # pixels of the PNG per pixel of the layout
_POINTS = 72.0


def svg(layout: Layout) -> str:
    """Return a layout as an SVG document with a white ground."""
    return environment().get_template("figure.svg.j2").render(layout=layout, palette=PALETTE)


def png(layout: Layout) -> bytes:
    """Return a layout as a PNG at three times its size, without a date or a program's name in it."""
    figure = _canvas(layout).figure
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, layout.width), ylim=(layout.height, 0))
    axes.set_axis_off()
    _lines(axes, layout)
    _marks(axes, layout)
    _texts(axes, layout)
    stream = io.BytesIO()
    with warnings.catch_warnings():
        # A subset's name in a script that the font lacks shows as boxes; the SVG has it in full.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure.savefig(stream, format="png", facecolor=PALETTE["ground"], metadata={"Software": None})
    return stream.getvalue()


def _canvas(layout: Layout) -> Any:
    """Return an empty drawing. The library is loaded here: commands that draw nothing need not wait for it."""
    with warnings.catch_warnings():
        # It keeps a list of fonts in a file of its own; in which encoding is not ours to say.
        warnings.simplefilter("ignore", EncodingWarning)
        figure = import_module("matplotlib.figure").Figure
        canvas = import_module("matplotlib.backends.backend_agg").FigureCanvasAgg
    return canvas(figure(figsize=(layout.width / _POINTS, layout.height / _POINTS), dpi=_POINTS * _SCALE))


def _lines(axes: Any, layout: Layout) -> None:
    rectangle: Any = import_module("matplotlib.patches").Rectangle
    for band in layout.bands:
        axes.add_patch(rectangle((band.x, band.y), band.width, band.height, color=PALETTE["band"], linewidth=0))
    for rule in layout.rules:
        axes.plot(
            (rule.x1, rule.x2),
            (rule.y1, rule.y2),
            color=PALETTE[rule.kind],
            linewidth=2 if rule.kind == "chance" else 1,
            solid_capstyle="butt",
        )


def _marks(axes: Any, layout: Layout) -> None:
    for mark in layout.marks:
        colour = PALETTE["series"][mark.series]
        if mark.low is not None and mark.high is not None:
            axes.plot((mark.low, mark.high), (mark.y, mark.y), color=colour, linewidth=2, solid_capstyle="butt")
        axes.plot(
            (mark.x,),
            (mark.y,),
            marker=_MARKERS[mark.shape],
            markersize=_SIZES[mark.shape],
            markeredgewidth=1.5,
            color=colour,
            markerfacecolor=colour if mark.filled else PALETTE["ground"],
            linestyle="none",
            zorder=3,
        )


def _texts(axes: Any, layout: Layout) -> None:
    sides = {"start": "left", "middle": "center", "end": "right"}
    for label in layout.labels:
        axes.text(
            label.x,
            label.y,
            label.text,
            fontsize=label.size * 0.93,  # the font that comes with the library is wider than those of systems
            family="DejaVu Sans",
            weight="bold" if label.strong else "normal",
            color=PALETTE["quiet" if label.quiet else "ink"],
            horizontalalignment=sides[label.anchor],
            verticalalignment="baseline",
            parse_math=False,
        )
