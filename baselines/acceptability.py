"""Score by how acceptable a caption is to a sequence classifier, such as one trained on judgements of grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForSequenceClassification

from baselines.language.files import transformers_errors
from baselines.language.judges import Judge, Options, Pair, distinct_texts, refuse_misjudged, scored
from baselines.language.model import Found
from baselines.schema import TEXT, Scored, Side, Work
from benchmarks.errors import InputError, near
from benchmarks.schema import Candidates

PROBE: tuple[Pair, ...] = (
    ("The cat sleeps.", "Cat the the sleeps."),
    ("The boy reads a book.", "Reads the a boy book."),
    ("She has eaten the apple.", "She have ate apple the has."),
    ("They are going home now.", "They is home going are now."),
    ("The woman who lives here is kind.", "The woman lives who here kind is."),
    ("I do not want to leave.", "I not do to want leaves."),
    ("Two dogs run in the park.", "Two dog runs park the in."),
    ("He gave me a letter.", "He a gave letter me the."),
)


class Acceptability:
    """Score by the log-odds of the label that means "acceptable", under a classifier that sees the caption alone.

    Log-odds order captions as probabilities do, and do not run into 1. With the probe, plainly good sentences must rank
    above plainly broken ones before any caption is judged. Without it nothing says which end of the label is the
    acceptable one (a paraphrase classifier): both directions stand, `higher` and `lower`.

    Args:
        model: Local folder or hub id of a sequence classifier.
        acceptable: The label that means "acceptable", by index or by name.
        revision: Pinned commit of a hub id; without one the commit that was found stands in the signature.
        probe: Whether to ask the start-up probe.
        dtype: float32, bfloat16 or float16.
        device: auto, cpu or cuda.
        tokens_per_batch: Tokens read at once: speed and memory only.
        max_tokens: Most tokens read of a caption; null leaves it to the model.
        name: Name in every table; null takes `acceptability:<model>`.

    Raises:
        InputError: If the model cannot be had or used, or it has no such label.

    Source: cola, textattack; goodcrepe, table 5.
    """

    sees: frozenset[Side] = TEXT

    def __init__(  # noqa: PLR0913 - one argument per line of its YAML
        self,
        model: str,
        acceptable: int | str,
        *,
        revision: str | None = None,
        probe: bool = True,
        dtype: str = "float32",
        device: str = "auto",
        tokens_per_batch: int = 2048,
        max_tokens: int | None = None,
        name: str | None = None,
    ) -> None:
        options = Options(model, revision, dtype, device, tokens_per_batch, max_tokens)
        self._judge = Judge(options, AutoModelForSequenceClassification, self._log_odds)
        self._label, self._label_name = _label(self._judge.found, acceptable)
        self._probe, self._passed = probe, not probe
        self.name = name or f"acceptability:{self._judge.found.name}"
        self.columns = ("",) if probe else ("higher", "lower")

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number."""
        label = f"{self._label} ({self._label_name})"
        head = f"log-odds of label {label}"
        return {"scorer": "acceptability", "head": head, "probe": str(self._probe), **self._judge.signature}

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return one `Scored` per candidate, arrays [1, T]; a caption without text or tokens is NaN with a note.

        Raises:
            InputError: If the start-up probe fails.
        """
        if batch and not self._passed:
            self._ask(work)
        judged = self._judge.judge(distinct_texts(batch), work, label=self.name, signature=self.signature)
        columns = {"": 1.0} if self._probe else {"higher": 1.0, "lower": -1.0}
        return [scored(item, judged, columns) for item in batch]

    def _ask(self, work: Work) -> None:
        texts = list(dict.fromkeys(text for pair in PROBE for text in pair))
        judged = self._judge.judge(texts, work, label=f"{self.name} (probe)", signature=self.signature)
        values = {text: one.value for text, one in judged.items()}
        step = f"declare the label that means acceptable: `acceptable` is {self._label} ({self._label_name}) now"
        refuse_misjudged(PROBE, values, where=self.name, step=step)
        self._passed = True

    def _log_odds(self, model: Any, ids: torch.Tensor) -> torch.Tensor:
        """Return logit - logsumexp of the other labels [n]."""
        logits = model(input_ids=ids).logits.float()
        others = torch.cat([logits[:, : self._label], logits[:, self._label + 1 :]], dim=1)
        found: torch.Tensor = logits[:, self._label] - others.logsumexp(dim=1)
        return found


def _label(found: Found, acceptable: int | str) -> tuple[int, str]:
    """Return index and name of the label that means "acceptable"."""
    with transformers_errors("configuration", str(found.folder)):
        config = AutoConfig.from_pretrained(found.folder, trust_remote_code=False)
    names = {int(index): str(name) for index, name in config.id2label.items()}
    if isinstance(acceptable, str):
        index = next((index for index, name in names.items() if name == acceptable), -1)
    else:
        index = int(acceptable)
    if index not in names or len(names) < 2:
        raise InputError(
            "the classifier has no such label" if len(names) > 1 else "not a classifier: it has one output",
            where=f"acceptable, {found.name}",
            got=str(acceptable),
            expected=", ".join(f"{number} ({name})" for number, name in sorted(names.items())),
            step=near(str(acceptable), names.values()) or "name the label that means acceptable, by index or by name",
        )
    return index, names[index]
