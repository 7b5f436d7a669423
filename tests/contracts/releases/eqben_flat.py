"""A tiny release in EqBen's older flat annotation, with an index."""

import json
import random
from pathlib import Path


def write(folder: Path) -> list[str]:
    entries = [
        {"image": f"eqbensd/{key}_{image}.png", "caption": f"cup {key} stands" if caption == 0 else f"cup {key} falls"}
        for key in range(3)
        for caption in (0, 1)
        for image in (0, 1)
    ]
    order = list(range(len(entries)))
    random.Random(3).shuffle(order)
    places = [order.index(number) for number in range(len(entries))]
    (folder / "ann_json_finegrained_random.json").write_text(
        json.dumps([entries[number] for number in order]), encoding="utf-8"
    )
    index = [places[4 * key : 4 * key + 4] for key in range(3)]
    (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")
    return [f"benchmark.root={folder}", f"benchmark.index={folder}/index.json"]
