"""A tiny release in CREPE's productivity format: hard negatives as a Python literal in one cell."""

import csv
from pathlib import Path

HEADER = ("image_id", "x", "y", "width", "height", "caption", "hard_negs")


def write(folder: Path) -> list[str]:
    for kind, complexity in (("atom", 4), ("negate", 5)):
        place = folder / "prod_hard_negatives" / kind
        place.mkdir(parents=True)
        with (place / f"prod_vg_hard_negs_{kind}_complexity_{complexity}.csv").open(
            "w", encoding="utf-8", newline=""
        ) as stream:
            table = csv.writer(stream)
            table.writerow(HEADER)
            for key in range(3):
                foils = [f"cup on table {number}. shelf near window." for number in range(4)]
                caption = f"cup on shelf {key}. shelf near window."
                table.writerow((2400003 + key, 10, 20.0, 200, 150, caption, repr(foils)))
    return [f"benchmark.root={folder}"]
