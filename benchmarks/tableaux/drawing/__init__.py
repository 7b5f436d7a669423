"""Draw the scenes of a sample: pictures of every scene and every foil, and the mask of every edit."""

from benchmarks.tableaux.drawing.album import DRAWING_VERSION, Example, Progress, checked_size, draw, drawn, examples

__all__ = ["DRAWING_VERSION", "Example", "Progress", "checked_size", "draw", "drawn", "examples"]
