"""Two pieces of a tiny release in VALSE's format; one row is not valid by its votes."""

import json
from pathlib import Path


def write(folder: Path) -> list[str]:
    for piece in ("existence", "plurals"):
        rows = {
            f"{piece}_{key}": {
                "image_file": f"v7w_{key}.jpg",
                "caption": f"There are exactly {key} cups.",
                "foil": f"There are exactly {key + 2} cups.",
                "mturk": {"caption": votes, "foil": 3 - votes, "other": 0},
            }
            for key, votes in enumerate((3, 2, 1), start=1)
        }
        (folder / f"{piece}.json").write_text(json.dumps(rows), encoding="utf-8")
    return [f"benchmark.root={folder}"]
