"""Run the examples in the docstrings of generative models and of the curve over alpha."""

import doctest
import importlib

import pytest

MODULES = ("audits.prior", *(f"audits.models.generative.{name}" for name in ("contestant", "logits", "sights")))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name):
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted > 0
    assert done.failed == 0
