"""A tiny release in the format of CounterCurate's counting test."""

import json
from pathlib import Path


def write(folder: Path) -> list[str]:
    content = {
        "2400001": [{"name": "cups", "ans": "3"}, {"name": "plates", "ans": 2}],
        "2400002": [{"name": "dogs", "ans": "10"}],
    }
    (folder / "vg_dict.json").write_text(json.dumps(content), encoding="utf-8")
    return [f"benchmark.root={folder}"]
