"""The bundled sample: scenes of our own grammar with single edits and captions, in the release layout of CompoSET."""

from benchmarks.tableaux.sample import Specification, Tableau, Variation, specification
from benchmarks.tableaux.shortcuts import SHORTCUTS

__all__ = ["SHORTCUTS", "Specification", "Tableau", "Variation", "specification"]
