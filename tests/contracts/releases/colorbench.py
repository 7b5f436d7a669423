"""A tiny release in ColorBench's parquet layout of the hub: two groups of the robustness task and another task."""

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image


def cell(colour):
    stream = io.BytesIO()
    Image.new("RGB", (3, 2), colour).save(stream, "PNG")
    return {"bytes": stream.getvalue(), "path": None}


def write(folder: Path) -> list[str]:
    rows = []
    for key in range(7):
        group, other = key // 3, key == 6
        rows.append(
            {
                "idx": key,
                "id": key,
                "type": "Perception" if other else "Robustness",
                "task": "Color Recognition" if other else "Color Robustness",
                "filename": f"{key}.png",
                "image": cell((key, 1, 9)),
                "prompt": f"How many cups are in picture {group}?",
                "question": f"How many cups are in picture {group}?",
                "choices": ["1", "2", "3"],
                "answer": "(B)",
                "image_url": "https://example.org",
            }
        )
    (folder / "data").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), folder / "data" / "test-00000-of-00001.parquet")
    return [f"benchmark.root={folder}"]
