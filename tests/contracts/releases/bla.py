"""A tiny release in BLA's format: a list of rows in two files, sentences by image id in the third."""

import json
from pathlib import Path


def group(key: int) -> dict[str, str]:
    """Four sentences about two people."""
    return {
        "True1": f"the man {key} lifts the child",
        "True2": f"the child is lifted by the man {key}",
        "False1": f"the child lifts the man {key}",
        "False2": f"the man {key} is lifted by the child",
    }


def write(folder: Path) -> list[str]:
    place = folder / "annotations"
    place.mkdir()
    rows = [
        {"image_id": 2400005 + key if key % 2 else str(2400005 + key), "index": key, "caption_group": [group(key)]}
        for key in range(3)
    ]
    for subset in ("active_passive", "coordination"):
        (place / f"{subset}_captions.json").write_text(json.dumps(rows), encoding="utf-8")
    listed = {str(2400005 + key): list(group(key).values()) for key in range(3)}
    (place / "relative_clause_captions.json").write_text(json.dumps(listed), encoding="utf-8")
    return [f"benchmark.root={folder}"]
