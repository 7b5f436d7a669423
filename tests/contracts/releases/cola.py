"""A tiny release in COLA's multi-object format; two pairs share an image."""

import json
from pathlib import Path

PAIRS = ((1, 2), (3, 4), (2, 5))


def write(folder: Path) -> list[str]:
    rows = [
        [
            f"https://example.org/images/{first}.jpg",
            f"red cup {key} on white shelf",
            f"https://example.org/images/{second}.jpg",
            f"white cup {key} on red shelf",
        ]
        for key, (first, second) in enumerate(PAIRS)
    ]
    (folder / "COLA_multiobjects_matching_benchmark.json").write_text(json.dumps(rows), encoding="utf-8")
    return [f"benchmark.root={folder}", f"benchmark.cache={folder}"]
