"""The examples in the docstrings of cues, forms and batches."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["format_cues", "image_cues", "text_form", "language.judges"])
def test_examples_hold(name):
    result = doctest.testmod(importlib.import_module(f"baselines.{name}"))
    assert result.failed == 0
    assert result.attempted > 0
