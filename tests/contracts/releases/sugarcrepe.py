"""A tiny release in SugarCrepe's format."""

import json
from pathlib import Path

SUBSETS = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")


def write(folder: Path) -> list[str]:
    for subset in SUBSETS:
        rows = {
            str(key): {
                "filename": f"{key:012d}.jpg",
                "caption": f"A cup stands on shelf {key} ({subset}).",
                "negative_caption": f"A cup stands under shelf {key} ({subset}).",
            }
            for key in (0, 2, 10)
        }
        (folder / f"{subset}.json").write_text(json.dumps(rows), encoding="utf-8")
    return [f"benchmark.root={folder}"]
