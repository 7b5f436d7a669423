"""Shortcuts planted in samples are found, and samples without one stay quiet; `planted.py` has the long study."""

from __future__ import annotations

import os

import pytest

from tests.statistics.planted import panel, study

SAMPLES = int(os.environ.get("PLANTED_SAMPLES", "5"))


def test_a_planted_length_is_found_in_every_sample() -> None:
    # A fifth of the foils is five words longer, the others are as long as their bases: about 60 % against 50 %.
    found = study(panel(), "length", 0.2, range(SAMPLES))
    assert found["pooled"] == found["off chance"] == 1


def test_samples_without_a_shortcut_are_quiet() -> None:
    # At most one of five: with a rate of .05 two or more would come up once in forty such tests.
    found = study(panel(), "none", 0.0, range(100, 100 + SAMPLES))
    assert found["anywhere"] <= max(0.2, 0.05 + 3 * (0.05 * 0.95 / SAMPLES) ** 0.5)


@pytest.mark.parametrize("shortcut", ["wording"])
def test_length_does_not_claim_what_it_does_not_measure(shortcut: str) -> None:
    # The rare word of this shortcut has as many letters as the common one: nothing for a baseline of lengths to see.
    assert study(panel(), shortcut, 0.2, range(200, 200 + SAMPLES))["anywhere"] <= 0.2
