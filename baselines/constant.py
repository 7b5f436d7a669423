"""The scorer that knows nothing: every candidate gets 0, so every metric must come out at chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from baselines.schema import TEXT, Scored, Side, Work
from benchmarks.schema import Candidates


class Constant:
    """Score 0 everywhere. What it reaches under the tie rule is chance; anything else is a fault in the scoring."""

    name = "constant"
    sees: frozenset[Side] = TEXT
    columns = ("",)

    @property
    def signature(self) -> Mapping[str, str]:
        """Return what its scores depend on: nothing but the value."""
        return {"scorer": self.name, "value": "0"}

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return zeros [1, T] for each candidate."""
        return [Scored({"": np.zeros((1, len(item.captions)))}) for item in batch]
