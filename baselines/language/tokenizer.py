"""Tokenise as any tokenizer does that transformers loads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from baselines.language.files import transformers_errors


class HubTokenizer:
    """Turn text into token ids, without special tokens, text byte for byte.

    Args:
        folder: Folder that holds the tokenizer.
        name: What to call it.

    Attributes:
        digest: SHA-256 of vocabulary and rules, by 16 digits.
        raw: The tokenizer itself.

    Raises:
        InputError: If transformers cannot read it.
    """

    def __init__(self, folder: Path, *, name: str) -> None:
        self.name = name
        # Seconds to import, and torch with it: counting the tokens of CLIP must not pay for it.
        loader = import_module("transformers").AutoTokenizer
        with transformers_errors(f"tokenizer {name}", str(folder)):
            self.raw: Any = loader.from_pretrained(folder, trust_remote_code=False)
        self.digest = _digest(self.raw)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text; marks of the tokenizer that stand in a text are read as text."""
        return self._ids(texts, as_text=True)

    def encode_template(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text; marks of the tokenizer are read as marks, as a rendered template needs."""
        return self._ids(texts, as_text=False)

    def encode_marked(self, texts: Sequence[str], *, limit: int | None) -> list[list[int]]:
        """Return the ids of each text between the marks that the model expects; marks that stand in a text are text.

        Args:
            texts: The texts.
            limit: Most ids of one text, marks included; what is beyond is cut off the text's end.
        """
        if not texts:
            return []
        cut = {"truncation": limit is not None, "max_length": limit}
        options = {"split_special_tokens": True, "return_attention_mask": False, "verbose": False}
        ids: list[list[int]] = self.raw(list(texts), add_special_tokens=True, **options, **cut)["input_ids"]
        return ids

    def _ids(self, texts: Sequence[str], *, as_text: bool) -> list[list[int]]:
        if not texts:
            return []
        options = {"add_special_tokens": False, "split_special_tokens": as_text, "return_attention_mask": False}
        ids: list[list[int]] = self.raw(list(texts), **options)["input_ids"]
        return ids


def _digest(raw: Any) -> str:
    backend = getattr(raw, "backend_tokenizer", None)
    text = backend.to_str() if backend is not None else json.dumps(sorted(raw.get_vocab().items()))
    return sha256(text.encode()).hexdigest()[:16]
