"""A tiny release in the format of What'sUp's COCO-QA: [image id, right caption, wrong caption]."""

import json
from pathlib import Path


def rows(kind="two"):
    """Rows of the documented form."""
    of = "of a chair" if kind == "two" else ""
    return [
        [
            139 + key,
            f"A photo of cup {key} to the left {of}".rstrip(),
            f"A photo of cup {key} to the right {of}".rstrip(),
        ]
        for key in range(3)
    ]


def write(folder: Path) -> list[str]:
    for kind in ("one", "two"):
        (folder / f"coco_qa_{kind}_obj.json").write_text(json.dumps(rows(kind)), encoding="utf-8")
    return [f"benchmark.root={folder}"]
