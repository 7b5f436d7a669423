"""A tiny release in EqBen's format."""

import json
from pathlib import Path


def write(folder: Path) -> list[str]:
    rows = [
        {
            "image0": f"{subset}/video{key // 2}/{key}_0.png",
            "image1": f"{subset}/video{key // 2}/{key}_1.png",
            "caption0": f"the cup stands {key}",
            "caption1": f"the cup falls {key}",
        }
        for key, subset in enumerate(("eqbenag", "eqbenag", "eqbensd"))
    ]
    (folder / "eqben_subset_10percent_final.json").write_text(json.dumps(rows), encoding="utf-8")
    return [f"benchmark.root={folder}"]
