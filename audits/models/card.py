"""The card of a model under audit, as its YAML gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from benchmarks.errors import InputError, near


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Describe a model: what it is, where it comes from, on what terms. For people; nothing is built from it.

    Attributes:
        title: Name as its authors or the paper write it.
        kind: `dual encoder`, `captioner`, `vision-language model`, `endpoint`, ...
        licence: Licence of the weights, as their authors state it.
        source: Where the weights come from.
        paper: Key in `docs/refs.bib`, or empty where the model is up to the user.
        parameters: Number of parameters in millions, or None where it is not known or up to the user.
    """

    title: str
    kind: str
    licence: str
    source: str
    paper: str
    parameters: float | None = None

    def facts(self) -> list[tuple[str, str]]:
        """Return every field with its label."""
        size = "" if self.parameters is None else f"{self.parameters:,.1f} million"
        shown = {item.name: str(getattr(self, item.name)) for item in fields(self)}
        return [*(shown | {"parameters": size}).items()]


def model_card(values: Mapping[str, Any], name: str) -> ModelCard:
    """Return the card that a YAML holds.

    Raises:
        InputError: If a field is missing or unknown.
    """
    known = [item.name for item in fields(ModelCard)]
    unknown, missing = sorted(set(values) - set(known)), sorted(set(known) - set(values))
    if unknown or missing:
        raise InputError(
            "the card of a model is not complete",
            where=f"model.{name}.card",
            got=f"missing: {', '.join(missing) or 'nothing'}; unknown: {', '.join(unknown) or 'nothing'}",
            expected=", ".join(known),
            step=near(unknown[0], known) if unknown else f"add {missing[0]}",
        )
    size = values["parameters"]
    text = {key: "" if value is None else str(value) for key, value in values.items() if key != "parameters"}
    return ModelCard(**text, parameters=None if size is None else float(size))
