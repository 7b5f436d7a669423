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
from numpy.typing import NDArray

from baselines.engine import cache_folder
from baselines.language import packing
from baselines.language.decisions import PAIRS, SAFETY, Entry, settle
from baselines.language.model import choose_device, choose_dtype, context_length, find, load
from baselines.language.options import AUTO, end_token_id, positive, start_token_id
from baselines.language.reading import Reader
from baselines.language.rounding import Way
from baselines.language.rows import Layout, Row
from baselines.language.tokenizer import HubTokenizer
from baselines.schema import TEXT, Scored, Side, Task, Work
from benchmarks.schema import Candidates

Text = tuple[str, str]  # query, caption
MIXED = "mixed"
DECIDED = f"bfloat16 products; in float32 {PAIRS} pairs and sets with margins within {SAFETY} x their largest error"
WIDER = 2  # rounded products are fastest on trees that are this many times larger


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

    @property
    def lengths(self) -> tuple[int, int, int, int]:
        """Return what each column divides the sum by."""
        return self.row.scored, 1, self.characters, self.octets


class Likelihood:
    """Score by log P(caption | start, query) under a causal language model, normalised in four ways, from one pass.

    `unnorm` is the sum over the caption's tokens in nats, `norm` that sum per scored token, `char` per character,
    `byte` per byte of UTF-8. Every caption token is scored, conditioned on a start token: the model's own, else its
    end-of-text as a declared stand-in. The query conditions and is not scored. Text is read byte for byte.

    Args:
        model: `offline`, the path of a GGUF file, a local folder or a hub id.
        revision: Pinned commit of a hub id; without one the commit that was found stands in the signature.
        dtype: float32, bfloat16 or float16 of the whole model, or `mixed`: every caption with matrix products in
            bfloat16, then in float32 those whose comparison could be decided otherwise (see `language.decisions`);
            a caption of several candidates may have a sum of either kind. The softmax is in float32.
        device: auto, cpu or cuda.
        tokens_per_batch: Tokens read at once. Changes speed and memory, not what is measured.
        end_token: Whether the end token is scored as well.
        start: `auto` or a token of the vocabulary.
        name: Name in every table; null takes `likelihood:<model>`.
        cache: Folder for converted models; null takes the user's cache folder.

    Whether rows are packed into prefix trees is a fact of a run and no part of the signature: where the model lends
    itself to it, sums agree with those of padded batches to rounding, as they do between numbers of threads.

    Attributes:
        facts: What a reader should know of the runs so far: how rows were packed, what was read again.

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
        tokens_per_batch: int = 768,
        end_token: bool = False,
        start: str = AUTO,
        name: str | None = None,
        cache: str | None = None,
    ) -> None:
        self._dtype, self._device = choose_dtype(dtype), choose_device(device)
        self._mixed = dtype == MIXED
        self._budget = positive(tokens_per_batch)
        self._found = find(model, revision=revision or "", cache=Path(cache).expanduser() if cache else cache_folder())
        self._tokenizer = HubTokenizer(self._found.folder, name=self._found.name)
        self._context = context_length(self._found.folder)
        self._start = start_token_id(self._tokenizer, start)
        self._end = end_token_id(self._tokenizer) if end_token else None
        self.name = name or f"likelihood:{self._found.name}"
        self.facts: dict[str, str | int] = {}

    @cached_property
    def _model(self) -> Any:
        """Load the weights when the first caption needs them: a run that finds all in the cache never does.

        Only where the dtype is `mixed` they are loaded in any case, for they decide in which ways captions are read.
        """
        return load(self._found, dtype=self._dtype, device=self._device)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self._model, self._device, self._budget)

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number."""
        return self._signature(DECIDED if self._mixed else str(self._dtype).removeprefix("torch."))

    def _signature(self, dtype: str) -> dict[str, str]:
        raw = self._tokenizer.raw
        own = self._start == raw.bos_token_id
        return {
            "scorer": "likelihood",
            **self._found.identity,
            "dtype": dtype,
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
        known = {text: self._judged(text[1], row) for text, row in rows.items()}
        if self._mixed and scorable:
            totals = self._decided(batch, known, scorable, work)
        else:
            totals = [self._sums(scorable, work)] * len(batch)
        return [_scored(item, known, sums) for item, sums in zip(batch, totals, strict=True)]

    def _decided(
        self, batch: Sequence[Candidates], known: Mapping[Text, Judged], rows: Sequence[Row], work: Work
    ) -> list[Mapping[str, float]]:
        """Return the sums of each candidate, by key, in the way of reading that decides between its captions."""
        self._check(rows)
        by_key = {row.key: row for row in rows}
        groups = [_entries(item, known) for item in batch]
        rough = self._sums(rows, work, self._reader.rounding)
        exact, limit = settle(groups, rough, lambda keys: self._sums([by_key[key] for key in keys], work, Way.EXACT))
        for name, count in (("read again in float32", len(exact)), ("distinct captions", len(rough))):
            self.facts[name] = int(self.facts.get(name, 0)) + count  # several calls add up
        self.facts["products"] = self._reader.rounding.value
        self.facts["bound of rounding"] = f"{limit:.2g} nats x sqrt(tokens of both)"
        return [exact if all(entry.key in exact for entry in group) else rough for group in groups]

    def _check(self, rows: Sequence[Row]) -> None:
        """Find how the model lets itself be read, on these rows."""
        self._reader.check(rows)
        self.facts["packing"] = self._reader.packing

    def _sums(self, rows: Sequence[Row], work: Work, way: Way | None = None) -> dict[str, float]:
        """Return the sum of each distinct row by its key."""
        values = work.measure(rows, self._task(rows, way))
        return {row.key: float(value[0]) for row, value in zip(rows, values, strict=True)}

    def _task(self, rows: Sequence[Row], way: Way | None) -> Task[Row]:
        """Return the task of reading rows.

        Args:
            rows: All rows; where no way is given, weights are loaded, and packing is tried on these rows, at need.
            way: How products are taken, or None for the model as it is; it is part of what values are kept under.
        """
        kind = str(self._dtype).removeprefix("torch.") if way is None else way.value
        signature = "\n".join(f"{key}={value}" for key, value in sorted(self._signature(kind).items()))
        nodes = self._budget * (WIDER if way is Way.ROUNDED else 1)
        checked = [way is not None]

        def compute(part: Sequence[Row]) -> NDArray[np.float64]:
            if not checked[0]:
                self._check(rows)
                checked[0] = True
            return self._reader.read(part, way or Way.EXACT)[:, None]

        return Task(
            label=f"{self.name} ({kind})" if self._mixed else self.name,
            signature=signature,
            key=lambda row: row.key,
            cost=lambda row: len(row.ids),
            budget=nodes,
            width=1,
            compute=compute,
            unit="tokens",
            plan=lambda ordered: packing.plan(ordered, nodes),
        )

    def _rows(self, texts: Sequence[Text]) -> list[Row]:
        """Tokenise and lay out each (query, caption)."""
        marks = set(self._tokenizer.raw.all_special_ids)
        layout = Layout(self._start, start_is_mark=self._start in marks, end=self._end, context=self._context)
        queries = list(dict.fromkeys(query for query, _ in texts))
        heads = dict(zip(queries, self._tokenizer.encode_template(queries), strict=True))
        captions = self._tokenizer.encode([caption for _, caption in texts])
        return [layout.row(heads[query], ids) for (query, _), ids in zip(texts, captions, strict=True)]

    def _judged(self, caption: str, row: Row) -> Judged:
        """Join a row with the length of the text that is scored."""
        kept = caption
        if row.truncated:
            end = len(row.ids) - (self._end is not None)
            kept = self._tokenizer.raw.decode(row.ids[end - row.kept : end], clean_up_tokenization_spaces=False)
        return Judged(row, np.nan, len(kept), len(kept.encode("utf-8", "surrogatepass")))


def _entries(item: Candidates, known: Mapping[Text, Judged]) -> list[Entry]:
    """Return what comparisons of one candidate are made of."""
    texts = [known[item.query, text] for text in item.captions if text is not None]
    return [Entry(one.row.key, one.row.scored, one.lengths) for one in texts if not one.row.problem]


def _scored(item: Candidates, judged: Mapping[Text, Judged], sums: Mapping[str, float]) -> Scored:
    """Return the columns of one candidate."""
    texts = [None if text is None else judged[item.query, text] for text in item.captions]
    known = [None if one is None else one._replace(total=sums.get(one.row.key, np.nan)) for one in texts]
    columns = {name: np.full((1, len(known)), np.nan) for name in Likelihood.columns}
    tokens, truncated = np.zeros((1, len(known)), np.int64), np.zeros((1, len(known)), np.bool_)
    for place, one in enumerate(known):
        if one is None:
            continue
        tokens[0, place], truncated[0, place] = one.row.scored, one.row.truncated
        if np.isfinite(one.total):
            for name, length in zip(Likelihood.columns, one.lengths, strict=True):
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
