"""Write recorded files for the tests of this folder."""

import json

import pytest


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file from rows or text and returns its path."""

    def written(name, content) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return written
