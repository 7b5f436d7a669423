"""Score a caption by how likely an encoder-decoder finds it after an empty source, without the image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from transformers import AutoModelForSeq2SeqLM

from baselines.engine import cache_folder
from baselines.language.files import transformers_errors
from baselines.language.model import choose_device, choose_dtype, find, load_whole
from baselines.language.options import positive
from baselines.language.tokenizer import HubTokenizer
from baselines.schema import TEXT, Scored, Side, Task, Work
from benchmarks.errors import InputError
from benchmarks.schema import Candidates

NO_TEXT, NO_TOKENS, NOT_FINITE = "no text", "no tokens", "the log-likelihood is not finite"


class Pair(NamedTuple):
    """Hold what encoder and decoder read: ids of the source with its marks, and of the caption without."""

    source: tuple[int, ...]
    target: tuple[int, ...]

    @property
    def size(self) -> tuple[int, int]:
        """Return the lengths of both; pairs of one size make a batch without padding."""
        return len(self.target), len(self.source)

    @property
    def key(self) -> str:
        """Return the content key."""
        return sha256(np.asarray((len(self.source), *self.source, *self.target), "<i8").tobytes()).hexdigest()


class Seq2SeqLikelihood:
    """Score by log P(caption | source), the source being the query and usually empty.

    Columns as in `likelihood`: `unnorm` is the sum over the caption's tokens in nats, `norm` that sum per token, `char`
    per character, `byte` per byte of UTF-8. The decoder starts from its own start token, every caption token is scored,
    the end token is not.

    Args:
        model: Local folder or hub id of an encoder-decoder.
        revision: Pinned commit of a hub id.
        dtype: float32, bfloat16 or float16; the softmax is in float32.
        device: auto, cpu or cuda.
        tokens_per_batch: Tokens read at once: speed and memory only.
        name: Name in every table; null takes `seq2seq:<model>`.

    Raises:
        InputError: If the model cannot be had or used.

    Source: Ours; goodcrepe, table 5, names the model (flant5) and not how it was asked.
    """

    sees: frozenset[Side] = TEXT
    columns = ("norm", "unnorm", "char", "byte")

    def __init__(
        self,
        model: str = "google/flan-t5-xl",
        *,
        revision: str | None = None,
        dtype: str = "bfloat16",
        device: str = "auto",
        tokens_per_batch: int = 2048,
        name: str | None = None,
    ) -> None:
        self._dtype, self._device = choose_dtype(dtype), choose_device(device)
        self._budget = positive(tokens_per_batch)
        self._found = find(model, revision=revision or "", cache=cache_folder())
        self._tokenizer = HubTokenizer(self._found.folder, name=self._found.name)
        with transformers_errors("configuration", str(self._found.folder)):
            config = transformers.AutoConfig.from_pretrained(self._found.folder, trust_remote_code=False)
        start = getattr(config, "decoder_start_token_id", None)
        if not config.is_encoder_decoder or start is None:
            raise InputError(
                "not an encoder-decoder with a start token",
                where=f"model {self._found.name}",
                got=str(config.model_type),
                step="use a model such as google/flan-t5-xl, or the baseline `likelihood` for a decoder alone",
            )
        self._start = int(start)
        self.name = name or f"seq2seq:{self._found.name}"

    @cached_property
    def _model(self) -> Any:
        """Load the weights when the first caption needs them."""
        return load_whole(AutoModelForSeq2SeqLM, self._found, dtype=self._dtype, device=self._device)

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number."""
        return {
            "scorer": "seq2seq",
            **self._found.identity,
            "dtype": str(self._dtype).removeprefix("torch."),
            "softmax": "float32",
            "device": self._device.type,
            "source": "the query, with the tokenizer's marks; empty where there is none",
            "start": str(self._tokenizer.raw.convert_ids_to_tokens(self._start)),
            "end": "not scored",
            "text": "raw",
            "batches": "texts of one length, nothing padded",
            "tokenizer_sha256": self._tokenizer.digest,
            "transformers": transformers.__version__,
            "torch": torch.__version__,
        }

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return one `Scored` per candidate, arrays [1, T]; a caption without text or tokens is NaN with a note."""
        texts = list(dict.fromkeys((item.query, text) for item in batch for text in item.captions if text is not None))
        sources = dict(
            zip(texts, self._tokenizer.encode_marked([query for query, _ in texts], limit=None), strict=True)
        )
        targets = dict(zip(texts, self._tokenizer.encode([text for _, text in texts]), strict=True))
        pairs = {text: Pair(tuple(sources[text]), tuple(targets[text])) for text in texts}
        readable = [pair for pair in pairs.values() if pair.target]
        values = work.measure(readable, self._task())
        sums = {pair.key: float(value[0]) for pair, value in zip(readable, values, strict=True)}
        return [_scored(item, pairs, sums) for item in batch]

    def _task(self) -> Task[Pair]:
        return Task(
            label=self.name,
            signature="\n".join(f"{key}={value}" for key, value in sorted(self.signature.items())),
            key=lambda pair: pair.key,
            cost=lambda pair: sum(pair.size),
            budget=self._budget,
            width=1,
            compute=self._compute,
            unit="tokens",
            plan=lambda ordered: _of_one_size(ordered, self._budget),
        )

    @torch.inference_mode()
    def _compute(self, part: Sequence[Pair]) -> NDArray[np.float64]:
        """Return sums [n, 1] in nats."""
        values = np.empty((len(part), 1))
        for places in _of_one_size(part, self._budget):
            source = torch.tensor([part[place].source for place in places], device=self._device)
            target = torch.tensor([part[place].target for place in places], device=self._device)
            start = torch.full((len(places), 1), self._start, device=self._device)
            seen = torch.cat([start, target[:, :-1]], dim=1)
            logits = self._model(input_ids=source, decoder_input_ids=seen, use_cache=False).logits.float()
            chosen = logits.log_softmax(-1).gather(2, target[:, :, None])[:, :, 0]
            values[places, 0] = chosen.double().sum(1).cpu().numpy()
        return values


def _of_one_size(pairs: Sequence[Pair], budget: int) -> list[list[int]]:
    """Return batches of positions whose pairs have one size, the largest first."""
    order = sorted(range(len(pairs)), key=lambda place: (pairs[place].size, pairs[place].key), reverse=True)
    batches: list[list[int]] = []
    for size, group in groupby(order, key=lambda place: pairs[place].size):
        places, most = list(group), max(1, budget // max(1, sum(size)))
        batches += [places[first : first + most] for first in range(0, len(places), most)]
    return batches


def _scored(item: Candidates, pairs: Mapping[tuple[str, str], Pair], sums: Mapping[str, float]) -> Scored:
    columns = {name: np.full((1, len(item.captions)), np.nan) for name in Seq2SeqLikelihood.columns}
    tokens = np.zeros((1, len(item.captions)), np.int64)
    notes = {}
    for place, text in enumerate(item.captions):
        pair = None if text is None else pairs[item.query, text]
        if text is None or pair is None or not pair.target:
            notes[0, place] = NO_TEXT if text is None else NO_TOKENS
            continue
        total, tokens[0, place] = sums[pair.key], len(pair.target)
        if not np.isfinite(total):
            notes[0, place] = NOT_FINITE
            continue
        lengths = (len(pair.target), 1, len(text), len(text.encode("utf-8", "surrogatepass")))
        for name, length in zip(Seq2SeqLikelihood.columns, lengths, strict=True):
            columns[name][0, place] = total / length
    return Scored(columns, tokens, notes=notes)
