"""Judge a text by one number of a model that reads it whole: classifiers and encoders with a head.

Texts are batched with texts of exactly their length, so nothing is padded, and what a text gets depends on no mask.
A judge says what it is meant to say only if it ranks what nobody doubts: `refuse_misjudged` asks it first (case: a
published classifier whose labels stand in another order).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from baselines.engine import cache_folder
from baselines.language.model import choose_device, choose_dtype, find, load_whole
from baselines.language.options import positive
from baselines.language.tokenizer import HubTokenizer
from baselines.schema import Scored, Task, Work
from benchmarks.errors import InputError
from benchmarks.schema import Candidates

NO_TEXT, NO_TOKENS, NOT_FINITE = "no text", "no tokens", "the model's answer is not finite"
# Pairs of the start-up probe that may be ranked wrongly: a right judge errs, one with turned labels fails nearly all.
ALLOWED = 1
Head = Callable[[Any, torch.Tensor], torch.Tensor]
# A plainly good text, and a plainly bad one.
Pair = tuple[str, str]


class Options(NamedTuple):
    """Hold what every judge is told.

    Attributes:
        model: Local folder or hub id.
        revision: Pinned commit of a hub id.
        dtype: float32, bfloat16 or float16.
        device: auto, cpu or cuda.
        tokens_per_batch: Tokens read at once.
        max_tokens: Most tokens read of a text, marks included; None leaves it to the model.
    """

    model: str
    revision: str | None
    dtype: str
    device: str
    tokens_per_batch: int
    max_tokens: int | None


class Text(NamedTuple):
    """Hold a tokenised text.

    Attributes:
        ids: What the model reads, its marks included.
        kept: Tokens of the text among them.
        total: Tokens of the text before cutting.
    """

    ids: tuple[int, ...]
    kept: int
    total: int

    @property
    def key(self) -> str:
        """Return the content key."""
        return sha256(np.asarray(self.ids, "<i8").tobytes()).hexdigest()


class Judged(NamedTuple):
    """Hold a text and the number that it got; NaN if it got none."""

    text: Text
    value: float


class Judge:
    """Read texts with a model and keep one number of each.

    Args:
        options: Which model, and how it is run.
        loader: Class of transformers whose `from_pretrained` makes the model.
        head: Takes the model and ids [n, L]; returns one number per row [n], higher is better.

    Attributes:
        found: Which model was found.

    Raises:
        InputError: If the model cannot be had or used, or an option is wrong.
    """

    def __init__(self, options: Options, loader: Any, head: Head) -> None:
        self._dtype, self._device = choose_dtype(options.dtype), choose_device(options.device)
        self._budget = positive(options.tokens_per_batch)
        self._loader, self._head = loader, head
        self.found = find(options.model, revision=options.revision or "", cache=cache_folder())
        self._tokenizer = HubTokenizer(self.found.folder, name=self.found.name)
        self._marks = int(self._tokenizer.raw.num_special_tokens_to_add(pair=False))
        self._limit = _limit(options.max_tokens, self._tokenizer.raw, self.found.folder)

    @cached_property
    def _model(self) -> Any:
        """Load the weights when the first text needs them: a run that finds all in the cache never does."""
        return load_whole(self._loader, self.found, dtype=self._dtype, device=self._device)

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything of the judge that could change a number, but for its head."""
        return {
            **self.found.identity,
            "dtype": str(self._dtype).removeprefix("torch."),
            "device": self._device.type,
            "text": "raw",
            "query": "not read",
            "context": str(self._limit or "unlimited"),
            "batches": "texts of one length, nothing padded",
            "tokenizer_sha256": self._tokenizer.digest,
            "transformers": transformers.__version__,
            "torch": torch.__version__,
        }

    def judge(self, texts: Sequence[str], work: Work, *, label: str, signature: Mapping[str, str]) -> dict[str, Judged]:
        """Return what each text got.

        Args:
            texts: Distinct texts.
            work: Where they are measured.
            label: What the progress line calls it.
            signature: Everything that could change a number.
        """
        laid = dict(zip(texts, self._lay(texts), strict=True))
        readable = [one for one in laid.values() if one.kept]
        task: Task[Text] = Task(
            label=label,
            signature="\n".join(f"{key}={value}" for key, value in sorted(signature.items())),
            key=lambda text: text.key,
            cost=lambda text: len(text.ids),
            budget=self._budget,
            width=1,
            compute=self._compute,
            unit="tokens",
            plan=lambda ordered: of_one_length([len(text.ids) for text in ordered], self._budget),
        )
        values = work.measure(readable, task)
        found = {text.key: float(value[0]) for text, value in zip(readable, values, strict=True)}
        return {text: Judged(one, found.get(one.key, np.nan)) for text, one in laid.items()}

    @torch.inference_mode()
    def _compute(self, part: Sequence[Text]) -> NDArray[np.float64]:
        """Return [n, 1]; a batch that was cut is still of one length, but for what memory or the cache left over."""
        model = self._model
        values = np.empty((len(part), 1))
        places = sorted(range(len(part)), key=lambda place: len(part[place].ids))
        for _, group in groupby(places, key=lambda place: len(part[place].ids)):
            chosen = list(group)
            ids = torch.tensor([part[place].ids for place in chosen], device=self._device)
            values[chosen, 0] = self._head(model, ids).double().cpu().numpy()
        return values

    def _lay(self, texts: Sequence[str]) -> list[Text]:
        """Tokenise each text with the model's marks around it; a text that is too long loses its tail."""
        whole = self._tokenizer.encode_marked(texts, limit=None)
        cut = whole if self._limit is None else self._tokenizer.encode_marked(texts, limit=self._limit)
        return [
            Text(tuple(ids), len(ids) - self._marks, len(full) - self._marks)
            for ids, full in zip(cut, whole, strict=True)
        ]


def of_one_length(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Cut positions of items, sorted by falling length, into batches of one length each.

    >>> of_one_length([5, 4, 4, 4, 2], budget=8)
    [[0], [1, 2], [3], [4]]
    """
    batches: list[list[int]] = []
    for length, group in groupby(range(len(lengths)), key=lambda place: lengths[place]):
        places, size = list(group), max(1, budget // max(1, length))
        batches += [places[start : start + size] for start in range(0, len(places), size)]
    return batches


def distinct_texts(batch: Sequence[Candidates]) -> list[str]:
    """Return the captions of a batch, each once."""
    return list(dict.fromkeys(text for item in batch for text in item.captions if text is not None))


def scored(item: Candidates, judged: Mapping[str, Judged], columns: Mapping[str, float]) -> Scored:
    """Return the scores of one candidate.

    Args:
        item: The candidate.
        judged: What is known of each of its captions.
        columns: The factor of each column: 1, or -1 for the direction turned round.
    """
    known = [None if text is None else judged[text] for text in item.captions]
    row = np.array([[np.nan if one is None or not np.isfinite(one.value) else one.value for one in known]])
    tokens = np.array([[0 if one is None else one.text.kept for one in known]], np.int64)
    cut = np.array([[one is not None and one.text.kept < one.text.total for one in known]])
    notes = {(0, place): note for place, one in enumerate(known) if (note := _note(one))}
    return Scored({name: factor * row for name, factor in columns.items()}, tokens, cut, notes)


def refuse_misjudged(pairs: Sequence[Pair], values: Mapping[str, float], *, where: str, step: str) -> None:
    """Stop if a judge does not rank plainly good texts above plainly bad ones.

    Args:
        pairs: A good and a bad text each.
        values: What each got.
        where: The judge, for the message.
        step: What to do.

    Raises:
        InputError: If more than `ALLOWED` pairs are ranked wrongly, a tie being wrong.
    """
    wrong = [pair for pair in pairs if not values[pair[0]] > values[pair[1]]]
    if len(wrong) > ALLOWED:
        shown = "; ".join(
            f"{bad!r} ({values[bad]:.3g}) not below {good!r} ({values[good]:.3g})" for good, bad in wrong[:2]
        )
        raise InputError(
            "the start-up probe failed: the judge does not rank plainly good texts above plainly bad ones",
            where=where,
            got=f"{len(wrong)} of {len(pairs)} pairs wrong: {shown}",
            expected=f"at most {ALLOWED} of {len(pairs)} pairs wrong",
            step=step,
        )


def _note(one: Judged | None) -> str:
    if one is None:
        return NO_TEXT
    if not one.text.kept:
        return NO_TOKENS
    if not np.isfinite(one.value):
        return NOT_FINITE
    return f"cut to {one.text.kept} of {one.text.total} tokens" if one.text.kept < one.text.total else ""


def _limit(asked: int | None, tokenizer: Any, folder: Path) -> int | None:
    """Return the most ids to read of a text: what was asked for, the tokenizer's limit or the model's, the least."""
    with_positions = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
    known = [
        asked if asked is None else positive(asked),
        getattr(tokenizer, "model_max_length", None),
        getattr(with_positions, "max_position_embeddings", None),
    ]
    # A tokenizer without a limit states a number beyond all texts.
    limits = [int(limit) for limit in known if limit and 0 < limit < 10**9]
    return min(limits) if limits else None
