"""A tiny Karpathy file, from which COCO-Order is built: images with several captions."""

import json
from pathlib import Path


def write(folder: Path) -> list[str]:
    rows = [
        {
            "image": f"val2014/COCO_val2014_{key:012d}.jpg",
            "caption": [f"A cup stands on the small shelf number {key}. ", f"a red shelf with {key + 2} white cups"],
        }
        for key in range(3)
    ]
    (folder / "coco_karpathy_test.json").write_text(json.dumps(rows), encoding="utf-8")
    return [f"benchmark.root={folder}"]
