"""A tiny release in MMVP-VLM's format: two pairs, a statement with commas."""

from pathlib import Path

ROWS = (
    "1,Orientation and Direction,a cup facing left",
    "2,Orientation and Direction,a cup facing right",
    '3,Texts,"a sign that says one, two"',
    '4,Texts,"a sign that says two, one"',
    "5,Structural and Physical Characteristics,a cup with a handle",
    "6,Structural and Physical Characteristics,a cup without a handle",
)


def write(folder: Path) -> list[str]:
    lines = ["Question ID,Type,Statement", *ROWS]
    (folder / "Questions.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [f"benchmark.root={folder}"]
