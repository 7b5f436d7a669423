"""The peer of `likelihood.py`: minicons' incremental scorer, in a process of its own."""

from __future__ import annotations

import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from baselines.language.heap import Arena, keep_freed_memory  # noqa: E402

SIZES = (1, 8, 32)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Spent(NamedTuple):
    """Hold the seconds on the wall, and those that the process had on a core: the latter hold on a busy machine."""

    wall: float
    core: float


def timed(function: Callable[[], object]) -> Spent:
    wall, core = time.perf_counter(), time.process_time()
    function()
    return Spent(time.perf_counter() - wall, time.process_time() - core)


class Peer:
    """Score captions by minicons, so many at a time in the order given, in a process of its own.

    `tuned` gives it the memory settings that ours sets for itself; they change speed and no number.
    """

    def __init__(self, folder: Path, *, tuned: bool) -> None:
        self.process = multiprocessing.get_context("spawn").Pool(1, _load_peer, (str(folder), tuned))

    def __call__(self, captions: Sequence[str], size: int) -> tuple[Spent, list[float]]:
        """Return the seconds that it took, and the sums."""
        return self.process.apply(_peer, (list(captions), size))

    def stop(self) -> None:
        self.process.terminate()
        self.process.join()

    def best_size(self, captions: Sequence[str]) -> int:
        self(captions[:32], 32)
        rates = {size: len(captions) / self(captions, size)[0].core for size in SIZES}
        said = ", ".join(f"{size}: {rate:.1f}" for size, rate in rates.items())
        say(f"minicons, captions a second on a core by batch size: {said}")
        return max(rates, key=rates.__getitem__)


def _load_peer(folder: str, tuned: bool) -> None:
    """Load the peer, in its process."""
    if tuned:
        keep_freed_memory()
    warnings.simplefilter("ignore")
    transformers.utils.logging.disable_progress_bar()
    from minicons.scorer import IncrementalLMScorer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    _peers.append(IncrementalLMScorer(model, "cpu", tokenizer=AutoTokenizer.from_pretrained(folder)))
    if tuned:
        Arena().move(model)


def _peer(captions: list[str], size: int) -> tuple[Spent, list[float]]:
    found: list[float] = []

    def score() -> None:
        for start in range(0, len(captions), size):
            part = captions[start : start + size]
            found.extend(_peers[0].sequence_score(part, reduction=lambda x: x.sum(0).item(), bos_token=True))

    return timed(score), found


_peers: list[Any] = []
