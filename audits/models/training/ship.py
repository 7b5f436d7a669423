"""Train a model from a recipe and write its folder: weights, configuration, tokenizer and card."""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

import torch

from audits.models.training import captioner, dual_encoder, files
from audits.models.training.held_out import held_out_scores
from audits.models.training.loop import EVERY, Recipe, second_stage, train
from audits.models.training.scenes import Pairs, pairs_of, texts
from audits.models.training.tokens import train_tokenizer
from benchmarks.tableaux import specification

_log = logging.getLogger(__name__)
TOLD_BY = 4000
"""Pairs whose captions the tokenizer learns from; more hold no further word."""

NAMES: Final = {"dual_encoder": "tableaux_clip", "captioner": "tableaux_captioner"}
RECIPES: Final[Mapping[str, Recipe]] = {
    # Base and foil begin with all but equal embeddings: what parts them drowns in the rounding of bfloat16.
    "dual_encoder": Recipe(steps=3000, batch=32, polish=900),
    "captioner": Recipe(steps=1500, batch=16, precision="bfloat16"),
}
_ARCHITECTURES = {"dual_encoder": "dual encoder (open_clip, ModifiedResNet)", "captioner": "captioner (GIT)"}
_LIBRARIES = ("torch", "open-clip-torch", "transformers", "tokenizers", "resvg-py", "pillow", "numpy")


class Drawn(NamedTuple):
    """Hold the scenes to learn from and those to score, and the seconds that drawing took."""

    training: Pairs
    held_out: Pairs
    seconds: float


def ship(name: str, recipe: Recipe, out: Path, *, cache: Path | None = None) -> dict[str, Any]:
    """Train a model and write its folder.

    Args:
        name: `dual_encoder` or `captioner`.
        recipe: How.
        out: The folder; files of the same names are replaced.
        cache: Folder that keeps drawn pictures for the other model, or None.

    Returns:
        The card.
    """
    drawn = _drawn(recipe, cache)
    tokenizer = train_tokenizer(texts(drawn.training.captions[:TOLD_BY]))
    torch.manual_seed(recipe.draw)
    made = dual_encoder.DualEncoder(tokenizer) if name == "dual_encoder" else captioner.Captioner(tokenizer)
    started = time.perf_counter()
    losses = train(made, drawn.training, recipe)
    if recipe.polish:
        files.halved(made.model)
        losses += train(made, drawn.training, second_stage(recipe), polish=True)
    seconds = {"drawing": drawn.seconds, "training": time.perf_counter() - started}
    weights = files.halved(made.model)
    scores = held_out_scores(made.score, drawn.held_out)
    _log.info("held out: %s", {edit: told["group"] for edit, told in scores.items()})
    out.mkdir(parents=True, exist_ok=True)
    digests = {**made.write(weights, out), **_write_tokenizer(tokenizer, out)}
    card = {
        **_about(name, made.model, recipe),
        "data": _data(drawn),
        "generator": files.generator_digest(),
        "recipe": dataclasses.asdict(recipe),
        "losses": [round(fmean(losses[at : at + EVERY]), 4) for at in range(0, len(losses), EVERY)],
        "seconds": {step: round(took, 1) for step, took in seconds.items()},
        "versions": {library: version(library) for library in _LIBRARIES},
        "sha256": digests,
        "held_out": scores,
    }
    files.write_json(card, out / files.CARD)
    return card


def _about(name: str, model: Any, recipe: Recipe) -> dict[str, Any]:
    kind = _ARCHITECTURES[name]
    return {
        "title": f"{NAMES[name]}: a small {kind} trained on drawn scenes",
        "kind": kind,
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "licence": "MIT",
        "limits": "It has seen nothing but scenes of this package's own generator; on any other picture its scores "
        f"mean nothing. Never audit it on the seeds {recipe.seed} and {recipe.held_out_seed}.",
    }


def _drawn(recipe: Recipe, cache: Path | None) -> Drawn:
    """Draw the scenes to learn from and those to score, which share no seed."""
    if recipe.seed == recipe.held_out_seed:
        raise ValueError(f"the held-out scenes would be those trained on: seed {recipe.seed} for both")
    started = time.perf_counter()
    training = pairs_of(specification(recipe.scenes, recipe.seed), workers=recipe.workers, cache=cache)
    held_out = pairs_of(
        specification(recipe.held_out_scenes, recipe.held_out_seed), workers=recipe.workers, cache=cache
    )
    _log.info("drew %d and %d pictures", len(training.images), len(held_out.images))
    return Drawn(training, held_out, time.perf_counter() - started)


def _data(drawn: Drawn) -> dict[str, int]:
    return {
        "pictures": len(drawn.training.images),
        "pairs": len(drawn.training.base),
        "tiers": len(drawn.training.captions[0]),
        "held_out_pictures": len(drawn.held_out.images),
        "held_out_pairs": len(drawn.held_out.base),
    }


def _write_tokenizer(tokenizer: Any, out: Path) -> dict[str, str]:
    names = ("tokenizer.json", "tokenizer_config.json")
    tokenizer.save_pretrained(out)
    return {name: files.sha256(out / name) for name in names}
