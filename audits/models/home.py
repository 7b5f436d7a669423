"""Say what the small models of this package may be judged on: scenes of its own generator that they never saw."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from audits.models.weights import SHIPPED, SHIPPED_FOLDER
from benchmarks.errors import InputError

CARD = "card.json"


def shipped_notices(models: Mapping[str, Any], *, is_sample: bool, seed: int | None) -> list[str]:
    """Return what a report must say of the selected models that are shipped with this package.

    Args:
        models: Options by name of every selected model.
        is_sample: Whether the instances are the bundled sample's, drawn by the generator that they were trained on.
        seed: Seed of that sample, or None.
    """
    found = {name: _card(options) for name, options in models.items()}
    told = {name: card["recipe"] for name, card in found.items() if card}
    if not told:
        return []
    names, verb, only = " and ".join(told), *(("was", "it") if len(told) == 1 else ("were", "they"))
    if not is_sample:
        return [
            f"{names} {verb} trained on scenes drawn by this package's generator and on nothing else: what {only} "
            "score here says nothing about models of photographs. model=none leaves them out."
        ]
    return [
        f"{names} {verb} trained on other scenes of the generator that drew this sample.",
        *_seen(told, seed),
    ]


class Fitting(NamedTuple):
    """Hold the models that run on these instances, and what to say of those that do not."""

    models: dict[str, Any]
    notices: list[str]


def fitting(models: Mapping[str, Any], *, is_sample: bool) -> Fitting:
    """Leave out the models that are selected with `only: sample`, unless the bundled sample is what is read.

    Args:
        models: Options by name of every selected model.
        is_sample: Whether the instances are the bundled sample's.

    Raises:
        InputError: If a model is to run only on something else.
    """
    asked = {name: options.get("only") for name, options in models.items() if isinstance(options, Mapping)}
    for name, only in asked.items():
        if only not in (None, "sample"):
            raise InputError(
                "unknown place to run", where=f"model.{name}.only", got=repr(only), expected="sample or null"
            )
    away = [name for name, only in asked.items() if only and not is_sample]
    kept = {name: options for name, options in models.items() if name not in away}
    told = f"Left out, since the bundled sample is not what is read here: {', '.join(away)} (trained on drawn scenes)."
    return Fitting(kept, [told] if away else [])


def _card(options: Any) -> dict[str, Any]:
    """Return the card of the shipped model that options name, or nothing."""
    values = options.values() if isinstance(options, Mapping) else ()
    named = [value.removeprefix(SHIPPED) for value in values if isinstance(value, str) and value.startswith(SHIPPED)]
    path = SHIPPED_FOLDER / named[0] / CARD if named else None
    if path is None or not path.is_file():
        return {}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _seen(told: Mapping[str, Mapping[str, Any]], seed: int | None) -> Iterator[str]:
    for name, recipe in told.items():
        if seed == recipe["seed"]:
            yield f"Not so {name}: this sample's seed {seed} is the one it was trained on, so its scores test nothing."
