"""Audit a generated release of EqBen's size and say what it takes: seconds of each step, and peak memory.

    python tests/speed/scale.py [--pairs 250000] [--videos 2] [--baseline length] [--keep FOLDER]

The release has EqBen's documented form: one JSON list of image0, image1, caption0 and caption1, the sub-sets one after
the other in the shares of the full annotation, and so many neighbouring pairs to a video, which is what intervals
cluster by. The command runs as a user runs it, in a process of its own, with an empty score cache.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ANNOTATION = "eqben_subset_10percent_final.json"
SHARES = {
    **{"eqbenag": 195_872, "eqbenyoucook2": 45_849, "eqbengebc": 1_814, "eqbenkubric_loc": 2_000},
    **{"eqbenkubric_attr": 2_000, "eqbenkubric_cnt": 2_000, "eqbensd": 1_513},
}
THINGS = ("cup", "man", "dog", "table", "door", "phone", "book", "shoe", "towel", "box", "woman", "window", "bag")
LOOKS = ("red", "small", "wooden", "white", "large", "old", "green", "broken")
ACTS = ("holds", "opens", "closes", "takes", "puts down", "throws", "washes", "tidies", "sits on", "walks to")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def subsets(pairs: int) -> Iterator[str]:
    """Yield the sub-set of each pair, in the shares of the full annotation."""
    total, given = sum(SHARES.values()), 0
    reached = 0
    for name, size in SHARES.items():
        given += size
        for _ in range(round(pairs * given / total) - reached):
            yield name
        reached = round(pairs * given / total)


def caption(draw: random.Random) -> str:
    words = (draw.choice(LOOKS), draw.choice(THINGS), draw.choice(ACTS), draw.choice(LOOKS), draw.choice(THINGS))
    place = f" near the {draw.choice(THINGS)}" if draw.random() < 0.5 else ""
    return "the {} {} {} the {} {}{}".format(*words, place)


def rows(pairs: int, videos: int, seed: int = 0) -> Iterator[dict[str, str]]:
    """Yield pairs in the released form."""
    draw = random.Random(seed)
    for key, subset in enumerate(subsets(pairs)):
        stem = f"{subset}/video{key // videos}/{key}"
        images = {"image0": f"{stem}_0.png", "image1": f"{stem}_1.png"}
        yield images | {"caption0": caption(draw), "caption1": caption(draw)}


def write(folder: Path, pairs: int, videos: int) -> Path:
    """Write the annotation file row by row, and return it."""
    path = folder / ANNOTATION
    with path.open("w", encoding="utf-8") as file:
        for number, row in enumerate(rows(pairs, videos)):
            file.write(("[" if number == 0 else ",\n") + json.dumps(row))
        file.write("]\n")
    return path


def audit(root: Path, folder: Path, baseline: str) -> None:
    """Run the command and print what it took."""
    out = folder / "run"
    words = ["benchmark=eqben", f"baseline={baseline}", f"benchmark.root={root}", f"out={out}"]
    words.append(f"paths.cache={folder / 'cache'}")
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "audits", "run", *words]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr.decode("utf-8", "replace"))
    core = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    record = json.loads((out / "record.json").read_text(encoding="utf-8"))
    say(f"  instances {record['benchmark']['n']:,}")
    for step, seconds in record["timings"].items():
        say(f"  {step}: {seconds:.1f} s on the wall")
    say(f"  all: {wall:.1f} s on the wall, {core:.1f} s on a core, load {os.getloadavg()[0]:.1f}")
    say(f"  peak memory {after.ru_maxrss / 2**10:,.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=250_000)
    parser.add_argument("--videos", type=int, default=2, help="neighbouring pairs to a video")
    parser.add_argument("--baseline", default="length")
    parser.add_argument("--keep", type=Path, help="keep release and run in this new folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) if options.keep is None else options.keep.absolute()
        root = folder / "release"
        root.mkdir(parents=True)
        path = write(root, options.pairs, options.videos)
        say(f"{options.pairs:,} pairs, {path.stat().st_size / 2**20:.0f} MiB, baseline={options.baseline}")
        audit(root, folder, options.baseline)


if __name__ == "__main__":
    main()
