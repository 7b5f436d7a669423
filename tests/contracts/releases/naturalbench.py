"""A tiny release in NaturalBench's parquet layout of the hub."""

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
    for key, (kind, first, second) in enumerate([("yes_no", "Yes", "No"), ("multiple_choice", "A", "B")]):
        rows.append(
            {
                "Index": key,
                "Question_0": f"Is cup {key} on the shelf?",
                "Question_1": f"Is cup {key} under the shelf?",
                "Image_0": cell((key, 0, 9)),
                "Image_1": cell((key, 1, 9)),
                "Image_0_Question_0": first,
                "Image_1_Question_0": second,
                "Image_0_Question_1": second,
                "Image_1_Question_1": first,
                "Question_Type": kind,
            }
        )
    (folder / "data").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), folder / "data" / "train-00000-of-00001.parquet")
    return [f"benchmark.root={folder}"]
