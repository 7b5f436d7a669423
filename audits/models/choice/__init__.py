"""Prompted models that pick one of the options, behind any endpoint that speaks OpenAI's chat completions.

`choice` is what the YAMLs' `_target_` names: it returns the model and its blind twin, which is asked the same questions
without the image.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

from audits.models.choice.options import Options, checked
from audits.models.choice.pictures import Pictures
from audits.models.choice.prompted import Prompted
from audits.models.choice.purse import Purse


def choice(leaf: str = "choice", **options: Any) -> list[Prompted]:
    """Return the contestants of one leaf: the model, its blind twin, or both, as `conditions` says.

    Args:
        leaf: Name of the YAML, for messages.
        options: One for each line of the YAML, see `Options`.

    Raises:
        InputError: If an option cannot be used.
    """
    where = f"model.{leaf}"
    own = checked(options, where)
    purse, pictures = Purse(own, where), Pictures()
    return [Prompted(own, purse, pictures, is_blind=condition == "no_image") for condition in own.conditions]


# Every option by its name, so that a wrong one is refused as that of any other leaf is.
_NAMED = [inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY) for one in fields(Options)]
_LEAF = inspect.Parameter("leaf", inspect.Parameter.POSITIONAL_OR_KEYWORD, default="choice")
choice.__signature__ = inspect.Signature([_LEAF, *_NAMED])  # type: ignore[attr-defined]
