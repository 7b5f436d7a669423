"""Score a caption by how likely a language model finds it, without the image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers

from baselines.engine import cache_folder
from baselines.language.model import choose_device, choose_dtype, context_length, find, load
from baselines.language.rows import Layout, Row
from baselines.language.scoring import log_likelihoods
from baselines.language.tokenizer import HubTokenizer
from baselines.schema import TEXT, Scored, Side, Task, Work
from benchmarks.errors import InputError, near
from benchmarks.schema import Candidates

AUTO = "auto"
Text = tuple[str, str]  # query, caption


class Judged(NamedTuple):
    """Hold what is known of one (query, caption).

    Attributes:
        row: Its tokens.
        total: Sum of the log-probabilities of the scored tokens, in nats; NaN if it could not be scored.
        characters: Characters of the scored text.
        octets: Bytes of the scored text in UTF-8.
    """

    row: Row
    total: float
    characters: int
    octets: int


class Likelihood:
    """Score by log P(caption | start, query) under a causal language model, normalised in four ways, from one pass.

    `unnorm` is the sum over the caption's tokens in nats, `norm` that sum per scored token, `char` per character,
    `byte` per byte of UTF-8. Every caption token is scored, conditioned on a start token: the model's own, else its
    end-of-text as a declared stand-in. The query conditions and is not scored. Text is read byte for byte.

    Args:
        model: `offline`, the path of a GGUF file, a local folder or a hub id.
        revision: Pinned commit of a hub id; without one the commit that was found stands in the signature.
        dtype: float32, bfloat16 or float16; the softmax is in float32.
        device: auto, cpu or cuda.
        tokens_per_batch: Padded tokens of one batch. Changes speed and memory, not what is measured.
        end_token: Whether the end token is scored as well.
        start: `auto` or a token of the vocabulary.
        name: Name in every table; null takes `likelihood:<model>`.
        cache: Folder for converted models; null takes the user's cache folder.

    Raises:
        InputError: If the model cannot be had or used, or an option is wrong.

    Source: goodcrepe, "Simple heuristics as baselines" (norm, unnorm).
    """

    sees: frozenset[Side] = TEXT
    columns = ("norm", "unnorm", "char", "byte")

    def __init__(  # noqa: PLR0913 - one argument per line of its YAML
        self,
        model: str = "offline",
        *,
        revision: str | None = None,
        dtype: str = "float32",
        device: str = AUTO,
        tokens_per_batch: int = 1024,
        end_token: bool = False,
        start: str = AUTO,
        name: str | None = None,
        cache: str | None = None,
    ) -> None:
        self._dtype, self._device = choose_dtype(dtype), choose_device(device)
        self._budget = _positive(tokens_per_batch)
        self._found = find(model, revision=revision or "", cache=Path(cache).expanduser() if cache else cache_folder())
        self._tokenizer = HubTokenizer(self._found.folder, name=self._found.name)
        self._context = context_length(self._found.folder)
        self._start = _start_token(self._tokenizer, start)
        self._end = _end_token(self._tokenizer) if end_token else None
        self.name = name or f"likelihood:{self._found.name}"

    @cached_property
    def _model(self) -> Any:
        """Load the weights when the first caption needs them: a run that finds all in the cache never does."""
        return load(self._found, dtype=self._dtype, device=self._device)

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number."""
        raw = self._tokenizer.raw
        own = self._start == raw.bos_token_id
        return {
            "scorer": "likelihood",
            **self._found.identity,
            "dtype": str(self._dtype).removeprefix("torch."),
            "softmax": "float32",
            "device": self._device.type,
            "start": f"{raw.convert_ids_to_tokens(self._start)} ({'own' if own else 'stand-in'})",
            "end": "not scored" if self._end is None else str(raw.convert_ids_to_tokens(self._end)),
            "text": "raw",
            "query": "conditions, tokenised apart, not scored",
            "context": str(self._context or "unlimited"),
            "tokenizer_sha256": self._tokenizer.digest,
            "transformers": transformers.__version__,
            "torch": torch.__version__,
        }

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return one `Scored` per candidate, arrays [1, T].

        A caption is NaN, with a note, if it has no text, no tokens, or no room behind its query.
        """
        texts = list(dict.fromkeys((item.query, text) for item in batch for text in item.captions if text is not None))
        rows = dict(zip(texts, self._rows(texts), strict=True))
        scorable = list({row.key: row for row in rows.values() if not row.problem}.values())
        values = work.measure(scorable, self._task())
        sums = {row.key: float(value[0]) for row, value in zip(scorable, values, strict=True)}
        judged = {text: self._judged(text[1], row, sums) for text, row in rows.items()}
        return [_scored(item, judged) for item in batch]

    def _task(self) -> Task[Row]:
        signature = "\n".join(f"{key}={value}" for key, value in sorted(self.signature.items()))
        return Task(
            label=self.name,
            signature=signature,
            key=lambda row: row.key,
            cost=lambda row: len(row.ids),
            budget=self._budget,
            width=1,
            compute=lambda rows: log_likelihoods(self._model, rows, self._device)[:, None],
            unit="tokens",
        )

    def _rows(self, texts: Sequence[Text]) -> list[Row]:
        """Tokenise and lay out each (query, caption)."""
        marks = set(self._tokenizer.raw.all_special_ids)
        layout = Layout(self._start, start_is_mark=self._start in marks, end=self._end, context=self._context)
        queries = list(dict.fromkeys(query for query, _ in texts))
        heads = dict(zip(queries, self._tokenizer.encode_template(queries), strict=True))
        captions = self._tokenizer.encode([caption for _, caption in texts])
        return [layout.row(heads[query], ids) for (query, _), ids in zip(texts, captions, strict=True)]

    def _judged(self, caption: str, row: Row, sums: Mapping[str, float]) -> Judged:
        """Join a row with its sum and the length of the text that was scored."""
        kept = caption
        if row.truncated:
            end = len(row.ids) - (self._end is not None)
            kept = self._tokenizer.raw.decode(row.ids[end - row.kept : end], clean_up_tokenization_spaces=False)
        return Judged(row, sums.get(row.key, np.nan), len(kept), len(kept.encode("utf-8", "surrogatepass")))


def _scored(item: Candidates, judged: Mapping[Text, Judged]) -> Scored:
    """Return the columns of one candidate."""
    known = [None if text is None else judged[item.query, text] for text in item.captions]
    columns = {name: np.full((1, len(known)), np.nan) for name in Likelihood.columns}
    tokens, truncated = np.zeros((1, len(known)), np.int64), np.zeros((1, len(known)), np.bool_)
    for place, one in enumerate(known):
        if one is None:
            continue
        tokens[0, place], truncated[0, place] = one.row.scored, one.row.truncated
        if np.isfinite(one.total):
            lengths = (one.row.scored, 1, one.characters, one.octets)
            for name, length in zip(Likelihood.columns, lengths, strict=True):
                columns[name][0, place] = one.total / length
    return Scored(columns, tokens, truncated, _notes(known))


def _notes(known: Sequence[Judged | None]) -> dict[tuple[int, int], str]:
    """Say why a caption has no score, or what happened to it."""
    seen = Counter(one.row.key for one in known if one is not None and one.row.truncated)
    notes = {}
    for place, one in enumerate(known):
        if one is None:
            said = "no text"
        elif one.row.problem:
            said = one.row.problem
        elif not np.isfinite(one.total):
            said = "the log-likelihood is not finite"
        elif one.row.truncated:
            said = f"cut to {one.row.kept} of {one.row.total} tokens"
            said += "; identical_after_truncation" if seen[one.row.key] > 1 else ""
        else:
            continue
        notes[0, place] = said
    return notes


def _positive(tokens: int) -> int:
    if tokens < 1:
        raise InputError(
            "the token budget of a batch must be positive",
            where="tokens_per_batch",
            got=str(tokens),
            expected="1 or more",
        )
    return tokens


def _start_token(tokenizer: HubTokenizer, wanted: str) -> int:
    """Return the id of the start token: the one named, else the model's own, else its end-of-text."""
    raw = tokenizer.raw
    if wanted == AUTO:
        found = raw.bos_token_id if raw.bos_token_id is not None else raw.eos_token_id
        step = "name a token of the vocabulary to start from: start=TOKEN"
    else:
        found = raw.get_vocab().get(wanted)
        step = near(wanted, raw.all_special_tokens) or f"the model's marks are {', '.join(raw.all_special_tokens)}"
    if found is None:
        raise InputError(
            "the model has no such start token",
            where=f"start={wanted}",
            got=f"tokenizer {tokenizer.name} without it",
            expected="a token of the vocabulary",
            step=step,
        )
    return int(found)


def _end_token(tokenizer: HubTokenizer) -> int:
    """Return the id of the end token, where it is to be scored."""
    if tokenizer.raw.eos_token_id is None:
        raise InputError(
            "the model has no end token to score",
            where="end_token=true",
            got=f"tokenizer {tokenizer.name} without one",
            step="leave end_token off",
        )
    return int(tokenizer.raw.eos_token_id)
