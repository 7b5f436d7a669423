"""Tiny single-object files of COLA: the documented object, and the list that its example script reads."""

import json
from pathlib import Path


def write(folder: Path) -> list[str]:
    labels = ["red cup", "white shelf", "blue vase"]
    with_objects = [
        ["1.jpg", [["cup", ["red"]]], [1, 0, 0], [1, 1, 0]],
        ["2.jpg", [["shelf", ["white"]]], [0, 1, 0], [1, 1, 1]],
        ["3.jpg", [], [0, 0, 0], [1, 0, 1]],
    ]
    without = [[row[0], *row[2:]] for row in with_objects]
    (folder / "COLA_singleobjects_benchmark_GQA.json").write_text(
        json.dumps({"labels": labels, "data": with_objects}), encoding="utf-8"
    )
    (folder / "COLA_singleobjects_benchmark_PACO.json").write_text(json.dumps([labels, without]), encoding="utf-8")
    return [f"benchmark.root={folder}"]
