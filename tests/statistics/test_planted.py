"""Shortcuts planted in samples are found, and samples without one stay quiet; `planted.py` has the long study."""

from __future__ import annotations

import os
from functools import cache

import pytest

from audits.load import Contestant
from tests.statistics.planted import judge, panel, study

SAMPLES = int(os.environ.get("PLANTED_SAMPLES", "1"))


@cache
def everyone() -> list[Contestant]:
    return panel()


@pytest.mark.parametrize(
    ("shortcut", "finder"),
    [("length", "length:words:more"), ("wording", "frequency:mean:lower"), ("format", "format_cues:final_stop:more")],
)
def test_a_planted_shortcut_is_found_by_what_looks_for_it(shortcut: str, finder: str) -> None:
    # A fifth of the pairs gives it away and the others do not: about 60 % against 50 %, far over two points.
    for seed in range(SAMPLES):
        found = judge(everyone(), shortcut, 0.2, seed)
        assert found.pooled in ("weakened", "compromised")
        assert finder in found.by
        assert found.off == (True, True)


def test_samples_without_a_shortcut_are_quiet() -> None:
    # At a rate of .05, at most one of three: two would come up in one of 140 such tests.
    count = max(3, SAMPLES)
    found = study(everyone(), "none", 0.0, range(100, 100 + count))
    assert found["anywhere"] <= max(1 / 3, 0.05 + 3 * (0.05 * 0.95 / count) ** 0.5)
    assert found["off chance"] <= max(1 / 3, 0.05 + 3 * (0.05 * 0.95 / count) ** 0.5)


def test_a_panel_claims_only_what_it_measures() -> None:
    # The rare word of this shortcut has as many letters as the common one: nothing for words and characters to see.
    found = judge([one for one in everyone() if one.scorer.name == "format_cues"], "wording", 0.2, 200)
    assert not found.anywhere
