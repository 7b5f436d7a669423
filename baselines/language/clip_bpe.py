"""Tokenise as CLIP does, from the vocabulary that open_clip ships, without importing open_clip or torch.

Source: the byte-pair encoding of CLIP, `open_clip.tokenizer.SimpleTokenizer`; a test holds the two equal.
"""

from __future__ import annotations

import gzip
import html
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import ftfy
import regex
from tokenizers.models import BPE

from benchmarks.errors import InputError

MERGES = 49152 - 256 - 2
MARKS = ("<start_of_text>", "<end_of_text>")
WORD_END = "</w>"
PATTERN = regex.compile(
    "|".join(MARKS) + r"|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", regex.IGNORECASE
)


class ClipBpe:
    """Turn text into CLIP's token ids, without start and end marks and without cutting.

    Attributes:
        name: `clip-bpe`.
        digest: SHA-256 of the vocabulary file, by 16 digits.

    Raises:
        InputError: If open_clip, which ships the vocabulary, is not installed.
    """

    name = "clip-bpe"

    def __init__(self) -> None:
        packed = _vocabulary_file().read_bytes()
        self.digest = sha256(packed).hexdigest()[:16]
        lines = gzip.decompress(packed).decode("utf-8").split("\n")[1 : MERGES + 1]
        merges = [(first, second) for first, second in (line.split() for line in lines)]
        letters = list(_byte_letters().values())
        words = [*letters, *(letter + WORD_END for letter in letters), *(first + second for first, second in merges)]
        self._ids = {word: number for number, word in enumerate([*words, *MARKS])}
        self._bpe = BPE(vocab=self._ids, merges=merges, end_of_word_suffix=WORD_END)
        self._letters = _byte_letters()
        self._known: dict[str, tuple[int, ...]] = {mark: (self._ids[mark],) for mark in MARKS}

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text after CLIP's own cleaning (mended, unescaped, one blank, lower case)."""
        return [[number for word in PATTERN.findall(clean(text)) for number in self._word(word)] for text in texts]

    def _word(self, word: str) -> tuple[int, ...]:
        """Return the ids of one word, remembered: captions repeat their words."""
        if word not in self._known:
            letters = "".join(self._letters[byte] for byte in word.encode("utf-8"))
            self._known[word] = tuple(token.id for token in self._bpe.tokenize(letters))
        return self._known[word]


def clean(text: str) -> str:
    """Return the text as CLIP reads it.

    >>> clean("  A  cup &amp;amp; a SAUCER ")
    'a cup & a saucer'
    """
    mended = html.unescape(html.unescape(ftfy.fix_text(text)))
    return " ".join(mended.split()).lower()


def _byte_letters() -> dict[int, str]:
    """Return a printable letter for each of the 256 bytes: itself where it has one, else one from 256 upwards."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    rest = [byte for byte in range(256) if byte not in set(printable)]
    return {byte: chr(byte) for byte in printable} | {byte: chr(256 + rank) for rank, byte in enumerate(rest)}


def _vocabulary_file() -> Path:
    """Find the vocabulary inside the installed open_clip, without importing it."""
    spec = find_spec("open_clip")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "bpe_simple_vocab_16e6.txt.gz"
        if path.is_file():
            return path
    raise InputError(
        "the CLIP vocabulary is not here",
        where="tokenizer clip-bpe",
        expected="the package open_clip_torch, which ships it",
        step="pip install open_clip_torch, or name another tokenizer (a hub id or a local folder)",
    )
