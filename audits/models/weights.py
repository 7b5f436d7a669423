"""Find what a model under audit is made of: shipped with this package, a local folder, or a pinned hub revision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from baselines.language.files import WEIGHTS, Located, locate
from benchmarks.errors import InputError, near

SHIPPED = "shipped:"
SHIPPED_FOLDER = Path(__file__).parent / "shipped"


def find(source: str, *, revision: str = "", names: Sequence[str] = WEIGHTS) -> Located:
    """Return the folder that holds a model.

    Args:
        source: `shipped:NAME` (a small model of this package), a local folder, or a hub id.
        revision: Pinned commit of a hub id; empty takes what is on this machine, else the newest.
        names: Patterns of the files that hold the weights, the preferred ones first.

    Raises:
        InputError: If it is none of these; `NotAvailableError` if a hub id cannot be had here.
    """
    if not source.startswith(SHIPPED):
        return locate(source, revision=revision, weights=True, names=names)
    name = source.removeprefix(SHIPPED)
    known = sorted(path.name for path in SHIPPED_FOLDER.iterdir() if path.is_dir()) if SHIPPED_FOLDER.is_dir() else []
    if name not in known:
        raise InputError(
            "no such model is shipped with this package",
            where=f"model {source!r}",
            got=name,
            expected=", ".join(known) or "none is shipped",
            step=near(name, known),
        )
    return Located(SHIPPED_FOLDER / name, name, source, "")
