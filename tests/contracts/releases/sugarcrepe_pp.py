"""A tiny release in SugarCrepe++'s format."""

import json
from pathlib import Path

SUBSETS = ("replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")


def write(folder: Path) -> list[str]:
    (folder / "data").mkdir()
    for subset in SUBSETS:
        rows = [
            {
                "id": key,
                "filename": f"{key + 1:012d}.jpg",
                "caption": f"A cup stands on shelf {key}.",
                "caption2": f"There is a shelf, number {key}, with a cup on it.",
                "negative_caption": f"Shelf {key} stands on a cup ({subset}).",
            }
            for key in range(3)
        ]
        (folder / "data" / f"{subset}.json").write_text(json.dumps(rows), encoding="utf-8")
    return [f"benchmark.root={folder}"]
