"""Train a model that this package ships: `python -m audits.models.training dual_encoder --out FOLDER`.

Without options it trains what is shipped, in its place; the files are the same to the bit on the same machine with the
same libraries.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import os
from collections.abc import Sequence
from pathlib import Path

from audits.models.training.ship import NAMES, RECIPES, ship
from audits.models.weights import SHIPPED_FOLDER


def main(words: Sequence[str] | None = None) -> None:
    """Train one model and write its folder."""
    parser = argparse.ArgumentParser(prog="python -m audits.models.training", description="Train a shipped model.")
    parser.add_argument("model", choices=sorted(RECIPES))
    parser.add_argument("--out", type=Path, help="folder to write; by default the shipped one")
    parser.add_argument("--cache", type=Path, help="folder that keeps the drawn pictures for the other model")
    first = next(iter(RECIPES.values()))
    for field in dataclasses.fields(first):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(getattr(first, field.name)))
    asked = vars(parser.parse_args(words))
    model, out, cache = asked.pop("model"), asked.pop("out"), asked.pop("cache")
    # A thread that spins while it waits takes the time of the other model's, where two train side by side.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    changed = {name: value for name, value in asked.items() if value is not None}
    ship(model, dataclasses.replace(RECIPES[model], **changed), out or SHIPPED_FOLDER / NAMES[model], cache=cache)


if __name__ == "__main__":
    main()
