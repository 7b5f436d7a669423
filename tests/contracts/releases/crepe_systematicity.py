"""A tiny release in CREPE's systematicity format: two columns of hard negatives."""

import csv
from pathlib import Path

HEADER = ("image_id", "x", "y", "width", "height", "caption", "valid_hard_negs_atom", "valid_hard_negs_comp")


def write(folder: Path) -> list[str]:
    place = folder / "syst_hard_negatives"
    place.mkdir()
    for split in ("seen", "unseen"):
        path = place / f"syst_vg_hard_negs_{split}_compounds_in_cc12m.csv"
        with path.open("w", encoding="utf-8", newline="") as stream:
            table = csv.writer(stream)
            table.writerow(HEADER)
            for key in range(2):
                atom, comp = [f"red cup on table {key}", "red cup on floor"], [f"blue vase on shelf {key}"]
                table.writerow((2400003 + key, 10, 20, 200, 150, f"red cup on shelf {key}", repr(atom), repr(comp)))
    return [f"benchmark.root={folder}"]
