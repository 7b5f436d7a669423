"""Notice a folder of the user's that hides one of ours.

`python -m` puts the current folder first on Python's path, so a package there that is called `reports` or `conf` would
be imported in place of ours and fail in ways that explain nothing.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

OURS = ("benchmarks", "baselines", "reports", "conf")


def shadowed(home: Path, names: tuple[str, ...] = OURS) -> list[tuple[str, Path]]:
    """Return the packages that Python would import from somewhere else than `home`, each with that place."""
    found = []
    for name in names:
        spec = importlib.util.find_spec(name)
        origin = Path(spec.origin) if spec is not None and spec.origin else None
        if origin is not None and origin.resolve().parent.parent != home.resolve():
            found.append((name, origin))
    return found


def refuse_shadowed() -> None:
    """Stop with status 3 and one message if a package of ours is hidden."""
    hidden = shadowed(Path(__file__).parent.parent)
    if not hidden:
        return
    lines = [f"{len(hidden)} of the toolkit's packages are hidden by files of the same name"]
    lines += [f"  where: {origin} hides the package {name!r}" for name, origin in hidden]
    lines += ["  next step: use the installed command `audits`, or start from another folder, or rename that file"]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.exit(3)
