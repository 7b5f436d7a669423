"""Read captions as an open_clip model does: clean once, tokenise, cut with the end mark kept, count what was cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
from numpy.typing import NDArray
from open_clip.tokenizer import HFTokenizer, SimpleTokenizer

from audits.models.dual_encoder.cleaning import as_it_is, cleaner
from audits.models.dual_encoder.files import TOKENIZER_FILES, files_digest
from audits.models.dual_encoder.schema import Text
from baselines.language.files import locate, transformers_errors
from benchmarks.errors import InputError

PART = 2000  # captions tokenised at once


class Captions:
    """Turn captions into ids with the tokenizer of an open_clip model.

    The model's own cleaning is taken out of the tokenizer and applied here, once, so that what is encoded is known.

    Args:
        config: The model's configuration.
        folder: Folder that holds tokenizer files of its own, or None.
        cleaning: `auto` (the model's own), `off`, `whitespace`, `lower` or `canonical`.

    Attributes:
        context: Ids per caption.
        cuttable: Whether positions behind the pooled one change nothing, as far as the configuration tells.
        needs_transformers: Whether tokenizer or tower are of that library.
        signature: How text is read.

    Raises:
        InputError: If the cleaning is unknown, or the tokenizer cannot be had.
    """

    def __init__(self, config: Mapping[str, Any], folder: Path | None, cleaning: str) -> None:
        text = dict(config["text_cfg"])
        self.needs_transformers = bool(text.get("hf_tokenizer_name") or text.get("hf_model_name"))
        self.context = int(text.get("context_length", 77))
        self._pool, self._end = str(text.get("pool_type", "argmax")), int(text.get("eos_id", 2))
        self.cuttable = _cuttable(config, text)
        options = dict(text.get("tokenizer_kwargs") or {})
        own = str(options.pop("clean", "whitespace" if text.get("hf_tokenizer_name") else "lower"))
        self._clean, cleaned = cleaner(cleaning, own)
        self._tokenizer, identity = _tokenizer(text, folder, self.context, options)
        self._tokenizer.clean_fn = as_it_is
        self.signature = {"text": cleaned, "tokenizer": identity, "context": str(self.context)}

    def read(self, captions: Sequence[str]) -> list[Text]:
        """Clean and tokenise captions.

        Raises:
            InputError: If the tower would read another position than that of the end mark.
        """
        found: list[Text] = []
        for start in range(0, len(captions), PART):
            cleaned = [self._clean(text) for text in captions[start : start + PART]]
            rows = self._tokenizer(cleaned).numpy().astype(np.int32)
            kept, totals = self._lengths(cleaned, rows)
            widths = self._widths(rows, cleaned)
            found += [
                Text(row, int(tokens), int(total), text, int(width))
                for row, tokens, total, text, width in zip(rows, kept, totals, cleaned, widths, strict=True)
            ]
        return found

    def _lengths(self, cleaned: Sequence[str], rows: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many ids of each caption are kept, and how many there were, marks included."""
        if isinstance(self._tokenizer, SimpleTokenizer):
            # Padding is 0, and so is `!`: the end mark, the last of the vocabulary, shows where padding begins.
            kept = rows.argmax(axis=1).astype(np.int64) + 1
            full = np.flatnonzero(kept == self.context)
            totals = kept.copy()
            totals[full] = [len(self._tokenizer.encode(cleaned[place])) + 2 for place in full.tolist()]
            return kept, np.maximum(totals, kept)
        clips = self._tokenizer.tokenizer_mode == "clips"
        encoded = self._tokenizer.tokenizer(
            list(cleaned), add_special_tokens=not clips, padding=False, truncation=False, verbose=False
        )
        totals = np.array([len(ids) + 3 * clips for ids in encoded["input_ids"]], np.int64)
        return np.minimum(totals, self.context), totals

    def _widths(self, rows: NDArray[np.int32], cleaned: Sequence[str]) -> NDArray[np.int64]:
        """Return how many positions the tower needs for each caption."""
        if self._pool == "eos":
            lacking = np.flatnonzero(~(rows == self._end).any(axis=1))
            if lacking.size:
                raise InputError(
                    "a caption lacks the end mark that the model reads: it would read the start instead",
                    where=f"tokenizer of {self.signature['tokenizer']}",
                    got=f"no id {self._end} in the ids of {cleaned[lacking[0]][:80]!r}",
                    expected=f"every caption with its end mark (eos_id={self._end})",
                    step="correct eos_id in the model's configuration, or use the tokenizer that it was trained with",
                )
        if not self.cuttable:
            return np.full(len(rows), self.context, np.int64)
        place = (rows == self._end).argmax(axis=1) if self._pool == "eos" else rows.argmax(axis=1)
        widths: NDArray[np.int64] = place.astype(np.int64) + 1
        return widths


def _cuttable(config: Mapping[str, Any], text: Mapping[str, Any]) -> bool:
    """Return whether the tower attends to the left only and pools at a mark: what stands behind it changes nothing."""
    other = text.get("hf_model_name") or text.get("embed_cls") or "multimodal_cfg" in config
    return not other and not text.get("no_causal_mask") and text.get("pool_type", "argmax") in ("argmax", "eos")


def _tokenizer(
    text: Mapping[str, Any], folder: Path | None, context: int, options: Mapping[str, Any]
) -> tuple[Any, str]:
    """Return the tokenizer as `open_clip.get_tokenizer` makes it, and what pins it."""
    hub = str(text.get("hf_tokenizer_name") or "")
    if not hub:
        return SimpleTokenizer(context_length=context, **options), f"CLIP's BPE of open_clip {open_clip.__version__}"
    own = folder if folder is not None and any(folder.glob("tokenizer*")) else None
    located = locate(hub, weights=False) if own is None else None
    source = located.folder if located is not None else Path(str(own))
    with transformers_errors("tokenizer", str(source)):
        made = HFTokenizer(str(source), context_length=context, tokenizer_mode=text.get("tokenizer_mode"), **options)
    pinned = f"{located.identity} at {located.revision}" if located is not None and located.revision else ""
    return made, pinned or f"files {files_digest(source, TOKENIZER_FILES)}"
