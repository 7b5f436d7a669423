"""A tiny release in ARO VG-Attribution's format: the attributes of two objects exchanged."""

import json
from pathlib import Path

PAIRS = (("red", "wooden"), ("small", "white"), ("open", "old"))


def rows():
    """Rows of the documented form."""
    return [
        {
            "image_path": f"{2400010 + key}.jpg",
            "bbox_x": 0,
            "bbox_y": 5,
            "bbox_w": 300,
            "bbox_h": 200,
            "attributes": [first, second],
            "true_caption": f"the {first} door and the {second} bench",
            "false_caption": f"the {second} door and the {first} bench",
        }
        for key, (first, second) in enumerate(PAIRS)
    ]


def write(folder: Path) -> list[str]:
    (folder / "visual_genome_attribution.json").write_text(json.dumps(rows()), encoding="utf-8")
    return [f"benchmark.root={folder}"]
