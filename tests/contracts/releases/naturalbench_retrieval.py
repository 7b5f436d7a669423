"""A tiny release in the format of NaturalBench's retrieval form."""

import json
from pathlib import Path

from PIL import Image


def write(folder: Path) -> list[str]:
    (folder / "images").mkdir()
    rows = []
    for key in range(3):
        row = {"index": key, "caption_0": f"A cup on shelf {key}.", "caption_1": f"A cup under shelf {key}."}
        for side in (0, 1):
            row[f"image_{side}"] = f"images/{key}_{side}.jpg"
            Image.new("RGB", (3, 2), (key, side, 9)).save(folder / row[f"image_{side}"])
        rows.append(row)
    (folder / "metadata.json").write_text(json.dumps(rows), encoding="utf-8")
    return [f"benchmark.root={folder}"]
