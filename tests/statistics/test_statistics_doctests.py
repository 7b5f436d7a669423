"""The examples in the docstrings of this package are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import audits.statistics

MODULES = [f"audits.statistics.{module.name}" for module in pkgutil.iter_modules(audits.statistics.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0, "a module without an example"
    assert result.failed == 0
