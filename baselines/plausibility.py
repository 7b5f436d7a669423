"""Score by how plausible a caption is as a statement about the world, by Vera."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from transformers import T5EncoderModel

from baselines.language.judges import Judge, Options, Pair, distinct_texts, refuse_misjudged, scored
from baselines.schema import TEXT, Scored, Side, Work
from benchmarks.errors import InputError
from benchmarks.schema import Candidates

# Rows of the shared embedding in which Vera keeps its head; no text has these tokens.
WEIGHT, BIAS, TEMPERATURE = 32099, 32098, 32097
PROBE: tuple[Pair, ...] = (
    ("Fish live in water.", "Fish live in fire."),
    ("Ice is cold.", "Ice is hot."),
    ("Birds have wings.", "Birds have wheels."),
    ("People drink water.", "People drink stones."),
    ("The sun rises in the morning.", "The sun rises at midnight."),
    ("A car has wheels.", "A car has feathers."),
    ("An elephant is larger than a mouse.", "A mouse is larger than an elephant."),
    ("You can read a book.", "You can read a potato."),
)


class Plausibility:
    """Score by Vera's calibrated logit: a linear head on the last token of a T5 encoder, over a temperature.

    The logit orders captions as the published score does, which is its sigmoid, and does not run into 1. Plainly
    plausible statements must rank above plainly implausible ones before any caption is judged.

    Args:
        model: Local folder or hub id of a T5 encoder with Vera's rows in its embedding.
        revision: Pinned commit of a hub id.
        dtype: float32, bfloat16 or float16.
        device: auto, cpu or cuda.
        tokens_per_batch: Tokens read at once: speed and memory only.
        max_tokens: Most tokens read of a caption.
        name: Name in every table; null takes `plausibility:<model>`.

    Raises:
        InputError: If the model cannot be had or used.

    Source: vera.
    """

    sees: frozenset[Side] = TEXT
    columns = ("",)

    def __init__(  # noqa: PLR0913 - one argument per line of its YAML
        self,
        model: str = "liujch1998/vera",
        *,
        revision: str | None = None,
        dtype: str = "bfloat16",
        device: str = "auto",
        tokens_per_batch: int = 2048,
        max_tokens: int | None = 128,
        name: str | None = None,
    ) -> None:
        options = Options(model, revision, dtype, device, tokens_per_batch, max_tokens)
        self._judge = Judge(options, T5EncoderModel, self._logit)
        self._passed = False
        self.name = name or f"plausibility:{self._judge.found.name}"

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number."""
        head = f"calibrated logit of the last token, embedding rows {WEIGHT}, {BIAS}, {TEMPERATURE}, in float32"
        return {"scorer": "plausibility", "head": head, **self._judge.signature}

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return one `Scored` per candidate, arrays [1, T]; a caption without text or tokens is NaN with a note.

        Raises:
            InputError: If the start-up probe fails.
        """
        if batch and not self._passed:
            self._ask(work)
        judged = self._judge.judge(distinct_texts(batch), work, label=self.name, signature=self.signature)
        return [scored(item, judged, {"": 1.0}) for item in batch]

    def _ask(self, work: Work) -> None:
        texts = list(dict.fromkeys(text for pair in PROBE for text in pair))
        judged = self._judge.judge(texts, work, label=f"{self.name} (probe)", signature=self.signature)
        step = "use Vera's released weights, or another T5 encoder that keeps its head in those rows"
        refuse_misjudged(PROBE, {text: one.value for text, one in judged.items()}, where=self.name, step=step)
        self._passed = True

    def _logit(self, model: Any, ids: torch.Tensor) -> torch.Tensor:
        """Return (w . h + b) / t [n], h the hidden state of the last token."""
        rows = model.shared.weight
        if rows.shape[0] <= WEIGHT:
            raise InputError(
                "the model's embedding lacks the rows of Vera's head",
                where=self.name,
                got=f"{rows.shape[0]} rows",
                expected=f"more than {WEIGHT}",
                step="use liujch1998/vera",
            )
        last = model(input_ids=ids).last_hidden_state[:, -1].float()
        found: torch.Tensor = (last @ rows[WEIGHT].float() + rows[BIAS, 0].float()) / rows[TEMPERATURE, 0].float()
        return found
