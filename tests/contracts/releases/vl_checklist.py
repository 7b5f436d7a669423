"""A tiny release in VL-CheckList's format: three sources, and a file that holds nothing."""

import json
from pathlib import Path

NAMES = ("Attribute/vg/color", "Object/Size/swig_size/swig_agent/swig_agent_small", "Relation/vg/spatial")
EMPTY = "Object/Size/swig_size/swig_place/swig_place_small"


def write(folder: Path) -> list[str]:
    for name in (*NAMES, EMPTY):
        path = folder / "data" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [
            [
                f"VG_100K/{2400004 + key}.jpg",
                {"POS": [f"red cup {key}", "scarlet cup"], "NEG": [f"green cup {key}", "olive cup"]},
            ]
            for key in range(0 if name == EMPTY else 3)
        ]
        path.write_text(json.dumps(rows), encoding="utf-8")
    return [f"benchmark.root={folder}"]
