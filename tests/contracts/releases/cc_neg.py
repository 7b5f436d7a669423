"""Tiny rows of CC-Neg in the form that stands in for the pickled file."""

import json
from pathlib import Path


def write(folder: Path) -> list[str]:
    rows = [
        {
            "image": f"cc3m/{key}.jpg",
            "caption": f"a cup, number {key}, on a shelf",
            "negative": f"a cup {key}, not on a shelf",
        }
        for key in range(4)
    ]
    (folder / "ccneg.json").write_text(json.dumps(rows), encoding="utf-8")
    return [f"benchmark.root={folder}"]
