"""A tiny release in COCO-Counterfactuals' format; two items share a caption's number."""

import json
from pathlib import Path

from PIL import Image


def write(folder: Path) -> list[str]:
    images = folder / "data" / "images"
    images.mkdir(parents=True)
    lines = []
    for number, key in enumerate(("900001_0", "900001_1", "900002_0")):
        row = {"id": key, "caption_0": f"A cup on a shelf {key}.", "caption_1": f"A vase on a shelf {key}."}
        for side in (0, 1):
            row[f"image_{side}"] = f"{key}_img_{side}"
            Image.new("RGB", (3, 2), (number, side, 9)).save(images / f"{key}_img_{side}.jpg")
        lines.append(json.dumps(row) + "\n")
    (folder / "data" / "examples.jsonl").write_text("".join(lines), encoding="utf-8")
    return [f"benchmark.root={folder}"]
