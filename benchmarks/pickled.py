"""Read a file that torch pickled, weights only: plain containers, texts, numbers and tensors, never code."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import torch

from benchmarks.errors import InputError

# What torch's restricted unpickler raises for broken files, depending on where they break.
FAULTS = (OSError, RuntimeError, ValueError, TypeError, LookupError, EOFError, AttributeError, pickle.UnpicklingError)


def read_torch(path: Path) -> Any:
    """Return what a torch file holds, read with `weights_only=True`.

    Raises:
        InputError: If it is missing, broken, or would have to run code to be read.
    """
    try:
        with warnings.catch_warnings():
            # torch warns of pickle protocols that it may not read; what it cannot read is refused below.
            warnings.simplefilter("ignore", UserWarning)
            return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise InputError("a file cannot be read", where=str(path.absolute()), got=type(error).__name__) from error
    except FAULTS as error:
        raise InputError(
            "a torch file is broken, or holds more than plain values; such files are never run",
            where=str(path.absolute()),
            got=f"{type(error).__name__}: {str(error).strip().splitlines()[0][:120] if str(error).strip() else ''}",
            expected="lists, mappings, texts, numbers and tensors only (torch.load with weights_only=True)",
            step="give the same rows as a JSON or csv file instead",
        ) from error
