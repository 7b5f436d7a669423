"""Instances of every shape, and ways to read what is recorded of them."""

from pathlib import Path

import numpy as np
import pytest

from audits.models.recorded import recorded
from audits.statistics.outcomes import outcomes
from baselines.schema import BOTH
from benchmarks.images import ImageRef
from benchmarks.schema import Instance


def pair(key, *, subset="s", foils=1, captions=True):
    """An image with one true caption and some foils."""
    texts = (f"caption {key}", *(f"foil {number} of {key}" for number in range(foils)))
    gold = np.arange(1 + foils)[None, :] == 0
    return Instance(
        f"{subset}:{key}", (ImageRef(f"{key}.jpg"),), texts if captions else (None,) * len(texts), gold, subset=subset
    )


def square(key, *, turned=False):
    """Two images and two captions; turned: caption 1 belongs to image 0."""
    gold = np.eye(2, dtype=bool)[:, ::-1] if turned else np.eye(2, dtype=bool)
    texts = (f"base {key}", f"foil {key}")
    return Instance(
        f"q:{key}",
        (ImageRef(f"{key}a.jpg"), ImageRef(f"{key}b.jpg")),
        texts[::-1] if turned else texts,
        gold,
        subset="q",
    )


def tall(key):
    """One caption, two images, the first of which fits."""
    images = (ImageRef(f"{key}a.jpg"), ImageRef(f"{key}b.jpg"))
    return Instance(f"t:{key}", images, (f"caption {key}",), np.array([[True], [False]]), subset="t")


def csv(header, *rows) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def data(*parts) -> Path:
    """Return a released file beside the repository, or skip and say why."""
    path = Path(__file__).resolve().parents[2].parent / "shared" / "data" / Path(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(parts)} is not beside the repository")
    return path


def recall(instances, path, **options):
    """Return what one run recalls."""
    [run] = recorded({"run": {"path": path, **options}})
    return run.recall(instances)


def results(instances, recalled):
    """Return the outcomes by metric, decided from scores where there are scores."""
    if recalled.cells is None:
        return dict(recalled.outcomes)
    grids = recalled.cells.grids("", [one.shape for one in instances])
    return outcomes(grids, [one.gold for one in instances], sees=BOTH)


def means(instances, recalled):
    """Return the mean credit of every metric, rounded to four places."""
    found = results(instances, recalled)
    return {name: round(float(np.nanmean(one.credit)), 4) for name, one in found.items()}
