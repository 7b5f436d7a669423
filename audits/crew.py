"""Several processes of one run: each computes its share of the planned batches, and the first one does all the rest.

    accelerate launch --num_processes 4 -m audits run benchmark=compset model=clip_b32 out=DIR

Every process plans the same batches. It computes those that are its own into the shared cache, waits for the others,
and finds the rest there: a batch is computed as one process alone would have computed it. Only the leader writes.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from benchmarks.errors import InputError

PATIENCE = timedelta(days=2)  # for the slowest share
# What `accelerate launch` and `torchrun` set.
SET = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR")


@dataclass(frozen=True, slots=True)
class Crew:
    """Say which of how many processes this one is.

    Attributes:
        rank: Number of this process, from 0, the leader.
        size: Number of processes.
    """

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Return whether this process writes the run folder."""
        return self.rank == 0

    def total(self, number: int) -> int:
        """Wait until every process is here, and return the sum of their numbers."""
        if self.size == 1:
            return number
        return sum(int(one) for one in _utilities().gather_object([number]))

    def told(self, *, work: bool) -> bool:
        """Return whether there is work to do, as the leader says; what the others say does not count."""
        if self.size == 1:
            return work
        said = [work]
        _utilities().broadcast_object_list(said)
        return bool(said[0])


ALONE = Crew()


def several() -> bool:
    """Return whether this process was started as one of several."""
    return all(os.environ.get(name) for name in SET) and os.environ["WORLD_SIZE"] != "1"


def join() -> Crew:
    """Join the other processes, if this one was started as one of several.

    Raises:
        InputError: If they cannot be reached.
    """
    if not several():
        return ALONE
    torch = importlib.import_module("torch")
    try:
        state = importlib.import_module("accelerate").PartialState(cpu=not torch.cuda.is_available(), timeout=PATIENCE)
    except (RuntimeError, ValueError) as error:
        raise InputError(
            "the processes of this run cannot reach each other",
            where=f"process {os.environ['RANK']} of {os.environ['WORLD_SIZE']}",
            got=f"{type(error).__name__}: {' '.join(str(error).split())[:200]}",
            expected="processes that accelerate launch or torchrun started together",
            step="accelerate launch --num_processes N -m audits run ...",
        ) from error
    return Crew(int(state.process_index), int(state.num_processes))


def _utilities() -> Any:
    return importlib.import_module("accelerate.utils")
