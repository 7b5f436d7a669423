"""Tiny COCO captions, from which ColorFoil is built: captions in another order than images, one without a colour."""

import json
from pathlib import Path


def write(folder: Path) -> list[str]:
    images = [
        {"id": key, "file_name": f"{key:012d}.jpg", "coco_url": f"http://example.org/val2017/{key:012d}.jpg"}
        for key in (7, 3, 5)
    ]
    texts = {3: "A cup stands on a red shelf.", 5: "a shelf with one cup", 7: "a green cup and a blue vase"}
    notes = [
        {"image_id": key, "id": place, "caption": text}
        for place, (key, text) in enumerate([(3, "no colour here"), *texts.items()])
    ]
    content = {"images": images, "annotations": notes}
    (folder / "captions_val2017.json").write_text(json.dumps(content), encoding="utf-8")
    return [f"benchmark.root={folder}"]
