"""A small sample of our own in CompoSET's release layout."""

from pathlib import Path

from benchmarks import tableaux
from benchmarks.tableaux import release


def write(folder: Path) -> list[str]:
    release.write(tableaux.specification(scenes=3, seed=1), folder / "release")
    return [f"benchmark.root={folder / 'release'}", f"benchmark.cache={folder}"]
