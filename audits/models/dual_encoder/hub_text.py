"""Read captions with a tokenizer of transformers: padded and cut to the length that the model was trained with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import AutoTokenizer

from audits.models.dual_encoder.cleaning import OFF, cleaner
from audits.models.dual_encoder.files import TOKENIZER_FILES, files_digest
from audits.models.dual_encoder.schema import Text
from baselines.language.files import transformers_errors
from benchmarks.errors import InputError

# Trained on rows of fixed length whose padding the tower reads, without a mask, on cleaned text.
FIXED = ("siglip", "siglip2")
# Pool the position of the end mark, as their configuration names it.
POOLS_END = ("clip", "clipseg", "metaclip_2", "xclip")
OLD_END = 2  # the id that early configurations of CLIP gave; transformers then takes the largest id
PART = 2000  # captions tokenised at once


class HubCaptions:
    """Turn captions into ids.

    Args:
        folder: Folder of the tokenizer.
        config: Configuration of the model, as transformers read it.
        cleaning: `auto` (for SigLIP: lower case without punctuation; else as the tokenizer does by itself), `off`, ...

    Attributes:
        context: Ids per caption.
        fixed: Whether the tower must see the whole row, padding included and without a mask.
        signature: How text is read.

    Raises:
        InputError: If the cleaning is unknown, or the tokenizer cannot be loaded.
    """

    def __init__(self, folder: Path, config: Any, cleaning: str) -> None:
        self._kind = str(config.model_type)
        self.fixed = self._kind in FIXED
        self._clean, cleaned = cleaner(cleaning, "canonicalize" if self.fixed else OFF)
        with transformers_errors("tokenizer", str(folder)):
            self._tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        text = config.get_text_config()
        self.context = _context(text, self._tokenizer)
        self._end = getattr(text, "eos_token_id", None)
        self._vocabulary = int(getattr(text, "vocab_size", None) or np.iinfo(np.int32).max)
        self.signature: Mapping[str, str] = {
            "text": cleaned,
            "tokenizer": f"{type(self._tokenizer).__name__}, files {files_digest(folder, TOKENIZER_FILES)}",
            "context": str(self.context),
            "padding": "to the context, without a mask" if self.fixed else "masked",
        }

    def read(self, captions: Sequence[str]) -> list[Text]:
        """Clean and tokenise captions.

        Raises:
            InputError: If the tower would read another position than that of the end mark, or does not know an id.
        """
        found: list[Text] = []
        for start in range(0, len(captions), PART):
            found += self._part([self._clean(text) for text in captions[start : start + PART]])
        return found

    def _part(self, cleaned: list[str]) -> list[Text]:
        made = self._tokenizer(
            cleaned, padding="max_length", truncation=True, max_length=self.context, padding_side="right",
            return_attention_mask=True,
        )  # fmt: skip
        rows = np.array(made["input_ids"], np.int32)
        kept = np.array(made["attention_mask"], np.int64).sum(axis=1)
        totals = kept.copy()
        full = np.flatnonzero(kept == self.context).tolist()
        if full:
            whole = self._tokenizer([cleaned[place] for place in full], truncation=False, verbose=False)["input_ids"]
            totals[full] = [len(ids) for ids in whole]
        self._check_known(rows, cleaned)
        self._check_ends(rows, cleaned)
        return [
            Text(row, int(tokens), int(total), text, self.context if self.fixed else int(tokens))
            for row, tokens, total, text in zip(rows, kept, totals, cleaned, strict=True)
        ]

    def _check_known(self, rows: NDArray[np.int32], cleaned: Sequence[str]) -> None:
        """Make sure that the tower has an embedding for every id."""
        wrong = np.flatnonzero(rows.max(axis=1, initial=0) >= self._vocabulary).tolist()
        if wrong:
            raise InputError(
                "the tokenizer gives ids that the model does not know",
                where=f"vocab_size={self._vocabulary} of the text configuration",
                got=f"id {rows[wrong[0]].max()} for {cleaned[wrong[0]][:80]!r}",
                expected=f"ids below {self._vocabulary}",
                step="use the tokenizer that the model was trained with",
            )

    def _check_ends(self, rows: NDArray[np.int32], cleaned: Sequence[str]) -> None:
        """Make sure that a tower which pools at the end mark finds it in every row."""
        if self._kind not in POOLS_END or self._end is None:
            return
        place = rows.argmax(axis=1) if self._end == OLD_END else (rows == self._end).argmax(axis=1)
        pooled = rows[np.arange(len(rows)), place]
        wrong = np.flatnonzero(pooled != self._tokenizer.eos_token_id).tolist()
        if wrong:
            raise InputError(
                "the model would read another position than that of the end mark",
                where=f"eos_token_id={self._end} of the text configuration",
                got=f"id {pooled[wrong[0]]} for {cleaned[wrong[0]][:80]!r}",
                expected=f"the tokenizer's end mark, id {self._tokenizer.eos_token_id}",
                step="correct eos_token_id in config.json, or use the tokenizer that the model was trained with",
            )


def _context(text: Any, tokenizer: Any) -> int:
    """Return how many ids a row has: what both the positions and the tokenizer allow."""
    limits = [getattr(text, "max_position_embeddings", None), tokenizer.model_max_length]
    return int(min(limit for limit in limits if limit and limit > 0))
