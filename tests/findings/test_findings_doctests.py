"""The examples in the docstrings of this package are true."""

import doctest
import importlib

import pytest

MODULES = ["schema", "word_order", "lengths", "lik_diff"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    result = doctest.testmod(importlib.import_module(f"audits.findings.{name}"))
    assert result.attempted > 0, "a module without an example"
    assert result.failed == 0
