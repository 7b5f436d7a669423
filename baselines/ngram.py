"""Learn from the benchmark itself which words and word pairs set released captions apart from foils."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from baselines.schema import TEXT, Fitted, Scored, Side, Work
from baselines.trained import SOLVER, documents, learnable, preference, scored
from benchmarks.errors import InputError
from benchmarks.schema import Candidates, Instance

# A blank stands in no word, so a caption cannot spell a mark.
START, OUTER_BLANK, CAPITAL = " start", " outer blank", " capital"
TIE = 1e-9
_SPLIT_OFF = re.compile(r"([.,])")


def terms(text: str) -> list[str]:
    """Return the words and pairs of neighbouring words of a caption, marks of its form among them.

    >>> terms("A dog.")[:4]
    [' start', ' capital', 'a', 'dog']
    """
    marks = [START]
    marks += [OUTER_BLANK] if text != text.strip() else []
    marks += [CAPITAL] if text.strip()[:1].isupper() else []
    words = [*marks, *_SPLIT_OFF.sub(r" \1 ", text).lower().split()]
    return [*words, *(f"{one} {other}" for one, other in pairwise(words))]


class Ngram:
    """Train on pairs of captions: tf-idf of words and word pairs, and the lengths, under a linear model.

    A caption's score is w . phi(caption), so the difference of two is the decision of a classifier on their difference.
    Given normalised text, no caption has a mark of its form and the same recipe reads words alone.

    Args:
        c: Inverse strength of the L2 penalty.
        min_count: Captions of the training folds in which a term must occur.
        name: Name in every table.

    Raises:
        InputError: If an option is out of range.

    Source: ours; arXiv 2511.04655 (training on the test set as a diagnostic).
    """

    sees: frozenset[Side] = TEXT
    columns = ("",)
    tolerance = TIE

    def __init__(self, c: float = 4.0, *, min_count: int = 2, name: str = "ngram") -> None:
        self.c, self.min_count, self.name = _positive("c", c), int(_positive("min_count", min_count)), name
        self._table = Table(())

    @property
    def signature(self) -> Mapping[str, str]:
        """Return the recipe."""
        return {
            "scorer": "ngram",
            "text": "raw",
            "query": "not read",
            "terms": "start mark, stops and commas split off, marks of outer blanks and a capital; lower case; 1 and 2",
            "weights": f"tf-idf, sublinear, l2, fitted on the training folds, min_df {self.min_count}",
            "lengths": "words / 10, characters / 10",
            "model": f"{SOLVER}, C {self.c:g}",
            "tie": f"{TIE:g}",
        }

    def prepare(self, batch: Sequence[Candidates], work: Work) -> None:
        """Count the terms of every caption."""
        self._table = self._table.grown(text for item in batch for text in item.captions if text is not None)

    def fit(self, training: Sequence[Instance], *, seed: int) -> Fitted:
        """Learn from instances with gold; nothing is drawn.

        Raises:
            InputError: If no instance has both a fitting and a misfitting caption.
        """
        pairs, read = learnable(training), documents(training)
        self._table = self._table.grown(read)
        features = Features(self._table, read, min_count=self.min_count)
        texts = sorted(set(read))
        place = {text: number for number, text in enumerate(texts)}
        rows = features(texts)
        positive, foil = (rows[[place[pair[side]] for pair in pairs]] for side in (0, 1))
        return FittedNgram(features, preference(positive - foil, c=self.c))


class Table:
    """Hold the term counts of captions, counted once; terms stand in alphabetical order.

    Args:
        texts: The captions.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.rows = {text: row for row, text in enumerate(sorted(set(texts)))}
        self._vectorizer = CountVectorizer(analyzer=terms, dtype=np.float64)
        # Without a caption there is nothing to count, which the vectoriser refuses.
        self._counts = self._vectorizer.fit_transform(self.rows).tocsr() if self.rows else None

    def grown(self, texts: Iterable[str]) -> Table:
        """Return a table with these captions as well; itself if it has them."""
        new = set(texts) - self.rows.keys()
        return Table({*self.rows, *new}) if new else self

    def counts(self, texts: Sequence[str]) -> Any:
        """Return the counts of captions, sparse float64 [n, V]; terms that the table has not met count nothing."""
        if self._counts is None:
            raise ValueError("no caption has been counted")
        if all(text in self.rows for text in texts):
            return self._counts[[self.rows[text] for text in texts]]
        return self._vectorizer.transform(texts).tocsr()


class Features:
    """Turn captions into rows: tf-idf as fitted on the training captions, words / 10, characters / 10.

    Args:
        table: Term counts that hold the training captions.
        training: The training captions, as often as they occur.
        min_count: Training captions in which a term must occur.
    """

    def __init__(self, table: Table, training: Sequence[str], *, min_count: int) -> None:
        self._table = table
        counts = table.counts(training)
        self._kept = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= min_count)
        self._weights = TfidfTransformer(sublinear_tf=True)
        if len(self._kept):
            self._weights.fit(counts[:, self._kept])

    def __call__(self, texts: Sequence[str]) -> Any:
        """Return the rows of captions, sparse float64 [n, F]."""
        lengths = sparse.csr_matrix(np.array([[len(text.split()), len(text)] for text in texts], dtype=float) / 10)
        if not len(self._kept):
            return lengths
        weighted = self._weights.transform(self._table.counts(texts)[:, self._kept])
        return sparse.hstack([weighted, lengths]).tocsr()


class FittedNgram:
    """Score captions with what was learned.

    Args:
        features: How a caption becomes a row.
        weights: Weights, float64 [F].
    """

    def __init__(self, features: Features, weights: NDArray[np.float64]) -> None:
        self._features, self._weights = features, weights

    def score(self, batch: Sequence[Candidates]) -> list[Scored]:
        """Return one `Scored` per candidate, arrays [1, T]; a caption without text is NaN with the note `no text`."""
        return scored(batch, self._judge)

    def _judge(self, texts: Sequence[str]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self._features(texts) @ self._weights
        return values


def _positive(option: str, value: float) -> float:
    """Return a value that must be above 0."""
    if not value > 0:
        raise InputError(
            f"{option} must be above 0",
            where=f"baseline.ngram.{option}",
            got=str(value),
            step="leave it at its default",
        )
    return value
