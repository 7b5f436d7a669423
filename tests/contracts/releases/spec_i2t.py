"""A tiny release in SPEC's format, both directions."""

import json
from pathlib import Path

SUBSETS = ("absolute_size", "relative_size", "absolute_spatial", "relative_spatial", "existence", "count")


def write(folder: Path) -> list[str]:
    for width, subset in enumerate(SUBSETS, start=2):
        (folder / subset).mkdir()
        texts = [f"cup number {key} ({subset})" for key in range(width)]
        names = [f"images/{key}.jpg" for key in range(width)]
        forward = [{"query": name, "keys": texts, "label": key} for key, name in enumerate(names)]
        backward = [{"query": text, "keys": names, "label": key} for key, text in enumerate(texts)]
        (folder / subset / "image2text.json").write_text(json.dumps(forward), encoding="utf-8")
        (folder / subset / "text2image.json").write_text(json.dumps(backward), encoding="utf-8")
    return [f"benchmark.root={folder}"]
