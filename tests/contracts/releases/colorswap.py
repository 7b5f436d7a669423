"""A tiny release in ColorSwap's json format."""

import json
from pathlib import Path

from PIL import Image


def write(folder: Path) -> list[str]:
    (folder / "data").mkdir()
    (folder / "images").mkdir()
    rows = []
    for key in (0, 7, 40):
        names = [f"images/img_{key}_{side}.png" for side in (1, 2)]
        for side, name in enumerate(names):
            Image.new("RGB", (3, 2), (key, side, 9)).save(folder / name)
        rows.append(
            {
                "id": key,
                "caption_1": f"a red cup on white shelf {key}",
                "caption_2": f"a white cup on red shelf {key}",
                "image_1": names[0],
                "image_2": names[1],
                "image_source": "midjourney",
                "caption_source": "human",
            }
        )
    (folder / "data" / "test.json").write_text(json.dumps(rows), encoding="utf-8")
    return [f"benchmark.root={folder}"]
