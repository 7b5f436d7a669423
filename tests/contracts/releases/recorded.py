"""Recorded similarities of a 2x2, with a tag."""

import json
from pathlib import Path


def write(folder: Path) -> list[str]:
    rows = [
        {"id": key, "c0_i0": 0.3 + key, "c0_i1": 0.2, "c1_i0": 0.1, "c1_i1": 0.25 + key, "tag": tag}
        for key, tag in enumerate(("Noun", "Verb", "Noun"))
    ]
    path = folder / "scores.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return [f"benchmark.path={path}"]
