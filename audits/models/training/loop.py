"""What the training of both models shares: the order of pairs, the schedule, the optimiser, one loop."""

from __future__ import annotations

import dataclasses
import logging
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from audits.models.training.scenes import Pairs

_log = logging.getLogger(__name__)
MEAN, STD = 0.5, 0.5
TIERS = 3
EVERY = 100
"""Steps whose mean loss the log and the card tell."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Say how long and how to train.

    Attributes:
        scenes: Number of training scenes.
        seed: Seed of the training scenes; not that of the bundled sample (0).
        held_out_scenes: Number of scenes to score afterwards.
        held_out_seed: Their seed.
        steps: Optimiser steps.
        batch: Pairs per step, each from another scene where there are enough; a pair brings two pictures.
        rate: Highest learning rate.
        weight_decay: Of matrices.
        warmup: Steps until the highest rate; from there it falls along a cosine to zero.
        shift: Pictures of a pair are moved by up to this many pixels, both alike.
        draw: Seed of everything that training draws: first weights, order, tiers, shifts.
        polish: Steps of a second stage, in which a loss turns to the decision between base and foil.
        precision: `float32`, or `bfloat16` for the products of matrices.
        threads: Threads of the arithmetic; with one, two models can train side by side on two cores.
        workers: Processes that draw the scenes.
    """

    scenes: int = 2000
    seed: int = 20_260_001
    held_out_scenes: int = 100
    held_out_seed: int = 20_260_002
    steps: int = 1500
    batch: int = 64
    rate: float = 1e-3
    weight_decay: float = 0.05
    warmup: int = 100
    shift: int = 2
    draw: int = 0
    polish: int = 0
    precision: str = "float32"
    threads: int = 1
    workers: int = 1


def second_stage(recipe: Recipe) -> Recipe:
    """Return the recipe of the second stage of training."""
    return dataclasses.replace(recipe, steps=recipe.polish, warmup=20, rate=0.6 * recipe.rate, draw=recipe.draw + 1)


@dataclass(frozen=True, slots=True)
class Batch:
    """Hold B pairs.

    Attributes:
        images: uint8 [2B, S, S, 3], the base pictures first.
        captions: 2B captions in the same order, of one tier or of each.
        polish: Whether this is the second stage.
    """

    images: NDArray[np.uint8]
    captions: tuple[list[str], ...]
    polish: bool = False


def batches(pairs: Pairs, recipe: Recipe, *, together: bool, polish: bool = False) -> Iterator[Batch]:
    """Yield one batch per step: random scenes, one random pair of each.

    Args:
        pairs: Pairs to learn from.
        recipe: How many, and the seed.
        together: Whether a batch is told at every tier; else the tiers take turns.
        polish: Whether this is the second stage.
    """
    draw = np.random.default_rng(recipe.draw)
    starts = np.flatnonzero(np.diff(pairs.scenes, prepend=-1))
    sizes = np.diff(starts, append=len(pairs.scenes))
    for step in range(recipe.steps):
        scenes = draw.choice(len(starts), size=min(recipe.batch, len(starts)), replace=False)
        rows = starts[scenes] + (draw.random(len(scenes)) * sizes[scenes]).astype(np.int64)
        tiers = range(TIERS) if together else (step % TIERS,)
        told = tuple([pairs.captions[row][tier][side] for side in (0, 1) for row in rows] for tier in tiers)
        images = np.concatenate([pairs.images[pairs.base[rows]], pairs.images[pairs.foil[rows]]])
        shifts = np.tile(draw.integers(-recipe.shift, recipe.shift + 1, size=(len(rows), 2)), (2, 1))
        yield Batch(moved(images, shifts), told, polish)


def moved(images: NDArray[np.uint8], shifts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return pictures moved by (down, right) pixels; what comes in at an edge repeats it."""
    size = images.shape[1]
    rows, columns = (np.clip(np.arange(size) - shifts[:, axis, None], 0, size - 1) for axis in (0, 1))
    found: NDArray[np.uint8] = images[np.arange(len(images))[:, None, None], rows[:, :, None], columns[:, None, :]]
    return found


def pixels(images: NDArray[np.uint8]) -> torch.Tensor:
    """Return float [N, 3, S, S] around zero, as both models' own transforms do."""
    scaled = torch.from_numpy(np.ascontiguousarray(images)).permute(0, 3, 1, 2).float() / 255
    return (scaled - MEAN) / STD


class Learner(Protocol):
    """A model that can be trained.

    Attributes:
        model: The torch module.
        together: Whether a batch is told at every tier at once.
        right: Share of pairs of each batch that were told apart, for the log; empty where a loss does not know.
    """

    model: Any
    together: bool
    right: list[float]

    def loss(self, batch: Batch) -> torch.Tensor:
        """Return the loss of a batch."""


def train(learner: Learner, pairs: Pairs, recipe: Recipe, *, polish: bool = False) -> list[float]:
    """Train a model in place and return the loss of every step.

    Args:
        learner: The model.
        pairs: Pairs to learn from.
        recipe: How long and how.
        polish: Whether this is the second stage.
    """
    model = learner.model
    torch.set_num_threads(recipe.threads)
    matrices = [weight for weight in model.parameters() if weight.ndim >= 2]
    others = [weight for weight in model.parameters() if weight.ndim < 2]
    groups = [{"params": matrices, "weight_decay": recipe.weight_decay}, {"params": others, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _share(step, recipe))
    model.train()
    losses, started = [], time.perf_counter()
    order = batches(pairs, recipe, together=learner.together, polish=polish)
    for step, batch in enumerate(order, start=1):
        with torch.autocast("cpu", torch.bfloat16, enabled=recipe.precision == "bfloat16"):
            loss = learner.loss(batch)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
        if step % EVERY == 0 or step == recipe.steps:
            recent = f"loss {fmean(losses[-EVERY:]):.3f}"
            told = f", {fmean(learner.right[-EVERY:]):.1%} of pairs" if learner.right else ""
            _log.info("step %d of %d: %s%s, %.0f s", step, recipe.steps, recent, told, time.perf_counter() - started)
    model.eval()
    return losses


def _share(step: int, recipe: Recipe) -> float:
    if step < recipe.warmup:
        return (step + 1) / recipe.warmup
    done = (step - recipe.warmup) / max(1, recipe.steps - recipe.warmup)
    return 0.5 * (1 + math.cos(math.pi * done))
