"""A tiny release in the curated set's format, pictures beside the annotations."""

import json
from pathlib import Path

from PIL import Image


def write(folder: Path) -> list[str]:
    (folder / "images").mkdir()
    rows = []
    for key, tag in enumerate(("relation", "object", "relation")):
        names = [f"images/p{key}_img{side}.png" for side in (0, 1)]
        for side, name in enumerate(names):
            Image.new("RGB", (3, 2), (key, side, 9)).save(folder / name)
        rows.append(
            {
                "id": f"p{key}",
                "image_0": names[0],
                "image_1": names[1],
                "caption_0": f"the circle is left of square {key}",
                "caption_1": f"the square is left of circle {key}",
                "tag": tag,
            }
        )
    (folder / "examples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [f"benchmark.root={folder}"]
