"""A tiny release in CounterCurate's format: tab-separated, paths of the machine that built it."""

from pathlib import Path


def write(folder: Path) -> list[str]:
    for name in ("left_right", "up_down"):
        rows = [
            f"a cup {name} of vase {key}\t./train_data/{name}/pos/{key}.jpg\t"
            f"a vase {name} of cup {key}\t/home/one/train_data/{name}/neg/{key}.jpg"
            for key in (1001, 1002)
        ]
        lines = ["captions\timages\tneg_captions\tneg_images", *rows]
        (folder / f"test_{name}_.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [f"benchmark.root={folder}"]
