"""A tiny release in Winoground's format, pictures in a zip whose names the annotations give without suffix."""

import io
import json
import zipfile
from pathlib import Path

from PIL import Image


def picture(colour) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (3, 2), colour).save(stream, "PNG")
    return stream.getvalue()


def write(folder: Path) -> list[str]:
    data = folder / "data"
    data.mkdir()
    rows = [
        {
            "id": key,
            "caption_0": f"a cup holds shelf {key}",
            "caption_1": f"a shelf holds cup {key}",
            "image_0": f"ex_{key}_img_0",
            "image_1": f"ex_{key}_img_1",
            "tag": "Noun",
            "secondary_tag": "",
            "num_main_preds": 1,
            "collapsed_tag": kind,
        }
        for key, kind in enumerate(("Object", "Relation", "Both"))
    ]
    (data / "examples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with zipfile.ZipFile(data / "images.zip", "w") as archive:
        for row in rows:
            for side in (0, 1):
                archive.writestr(f"images/{row[f'image_{side}']}.png", picture((row["id"], side, 9)))
    return [f"benchmark.root={folder}"]
