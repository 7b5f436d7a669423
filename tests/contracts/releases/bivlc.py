"""A tiny release in BiVLC's parquet layout of the hub: image columns are structs of bytes and path."""

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image


def cell(colour, name):
    stream = io.BytesIO()
    Image.new("RGB", (3, 2), colour).save(stream, "PNG")
    return {"bytes": stream.getvalue(), "path": name}


def write(folder: Path) -> list[str]:
    (folder / "data").mkdir()
    kinds = [("replace", "obj"), ("add", "att"), ("swap", "obj"), ("replace", "rel")]
    rows = [
        {
            "image": cell((key, 0, 9), f"{key // 2:012d}.jpg"),
            "caption": f"A cup on shelf {key}.",
            "negative_caption": f"A vase on shelf {key}.",
            "negative_image": cell((key, 1, 9), None),
            "type": kind,
            "subtype": subtype,
        }
        for key, (kind, subtype) in enumerate(kinds)
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "data" / "test-00000-of-00001.parquet", row_group_size=2)
    return [f"benchmark.root={folder}"]
