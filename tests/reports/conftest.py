import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def make():
    """Return the module that fabricates records and estimates."""
    spec = importlib.util.spec_from_file_location("fabricate", Path(__file__).with_name("fabricate.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def show():
    """Return a function that renders a view for a terminal of a given width, as plain text."""
    import io

    from rich.console import Console

    from reports.terminal import render_terminal

    def render(view, width=100):
        stream = io.StringIO()
        render_terminal(view, Console(file=stream, width=width, markup=True, emoji=True, highlight=True))
        return stream.getvalue()

    return render
