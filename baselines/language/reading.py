"""Read rows under a causal model: as prefix trees where the model lends itself to it, else as padded batches."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from baselines.engine.memory import is_memory_error
from baselines.engine.plan import by_size
from baselines.language import scoring
from baselines.language.heap import Arena, keep_freed_memory, return_freed_memory
from baselines.language.llama import Llama, is_of_the_family
from baselines.language.packing import Tree, tree
from baselines.language.rounding import RoundedProducts, Way
from baselines.language.rows import Row
from baselines.language.softmax import Head, log_probabilities

log = logging.getLogger(__name__)
TREES = "prefix trees"
# How far the two ways may be apart, in nats per scored token: rounding is a tenth of it or less, while a model that
# does not heed mask or positions is off by tenths of a nat and more.
AGREEMENT: Mapping[torch.dtype, float] = {torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}
REFUSALS = (TypeError, ValueError, RuntimeError, IndexError, AttributeError, NotImplementedError)


class Reader:
    """Give the log-likelihood of rows under one model.

    Whether rows can be read as trees is found by `check`, on rows of the run: custom masks and positions are ignored
    by some architectures, and some (windows, a cap on logits) cannot be read so.

    Args:
        model: A causal model as transformers loads it.
        device: Where it is.
        budget: Padded tokens of one batch where rows cannot be read as trees.

    Attributes:
        packing: How rows are read, and why if not as trees.
    """

    def __init__(self, model: Any, device: torch.device, budget: int) -> None:
        self.model, self.device, self.budget = model, device, budget
        self.packing = "padded batches (not checked)"
        self._lean: Llama | None = None
        self._arena, self._settled = Arena(), False
        if device.type == "cpu":
            keep_freed_memory()

    def check(self, rows: Sequence[Row]) -> None:
        """Decide how to read, by reading a few of the rows in each way until one agrees with padded batches.

        Args:
            rows: All rows that are to be read, in any order.
        """
        few = spread(rows)
        expected = self.padded(few)
        self._settle_down()
        reason = self._refused(few, expected)
        if reason and self._lean is not None:
            log.info("our own forward pass is not used: %s", reason)
            self._lean = None
            reason = self._refused(few, expected)
        self.packing = f"padded batches ({reason})" if reason else TREES
        log.info("packing: %s", self.packing)

    def _settle_down(self) -> None:
        """Move weights to where products read them fastest, the first time; those of the family side by side."""
        if self.device.type != "cpu" or self._settled:
            return
        if is_of_the_family(self.model):
            self._lean = Llama(self.model, self._arena)
            self._arena.move(self.model.get_input_embeddings(), self.model.get_output_embeddings())
        else:
            self._arena.move(self.model)
        return_freed_memory()
        self._settled = True

    def _refused(self, few: Sequence[Row], expected: NDArray[np.float64]) -> str:
        """Return why rows cannot be read as trees, or nothing if they can."""
        try:
            found = self.trees(few)
        except REFUSALS as error:
            if is_memory_error(error):
                raise
            log.info("%s", error)
            return f"trees are refused: {type(error).__name__}"
        apart = np.abs(found - expected) / [row.scored for row in few]
        limit = AGREEMENT.get(self.model.dtype, AGREEMENT[torch.float32])
        return "" if np.all(apart <= limit) else f"trees differ by {np.max(apart):.2g} nats per token"

    @property
    def rounding(self) -> Way:
        """Return how products are rounded here, once rows were checked."""
        return Way.LINEAR if self._lean is None or self.packing != TREES else Way.ROUNDED

    def read(self, rows: Sequence[Row], way: Way = Way.EXACT) -> NDArray[np.float64]:
        """Return the summed log-probability of each row's scored tokens, float64 [n], in nats.

        Args:
            rows: Rows to read, each with a scored token.
            way: How products are taken: EXACT, or as `rounding` says.
        """
        if way is Way.LINEAR:
            with self._rounded.on():
                return self.trees(rows, way) if self.packing == TREES else self.padded(rows)
        return self.trees(rows, way) if self.packing == TREES else self.padded(rows)

    @torch.inference_mode()
    def trees(self, rows: Sequence[Row], way: Way = Way.EXACT) -> NDArray[np.float64]:
        """Read rows as one prefix tree: each node once, no padding."""
        packed = tree(rows)
        lean = None if way is Way.LINEAR else self._lean
        hidden = self._hidden(packed) if lean is None else lean.hidden(packed, way)
        values = log_probabilities(hidden, self._head(way), packed.nodes, packed.targets)
        return packed.sums(values, len(rows))

    def _hidden(self, packed: Tree) -> torch.Tensor:
        """Return hidden states [N, H] of a tree by the model's own forward pass."""
        states: torch.Tensor = self.model.base_model(
            input_ids=self._tensor(packed.tokens)[None],
            position_ids=self._tensor(packed.depths)[None],
            attention_mask=self._tensor(packed.visible())[None, None],
            use_cache=False,
        ).last_hidden_state[0]
        return states

    def padded(self, rows: Sequence[Row]) -> NDArray[np.float64]:
        """Read rows padded on the right, those of similar length together."""
        order = sorted(range(len(rows)), key=lambda position: -len(rows[position].ids))
        values = np.empty(len(rows))
        for part in by_size([len(rows[position].ids) for position in order], self.budget):
            chosen = [order[position] for position in part]
            values[chosen] = scoring.log_likelihoods(self.model, [rows[position] for position in chosen], self.device)
        return values

    def _head(self, way: Way) -> Head:
        """Return the output layer, its products taken in a way."""
        layer = self.model.get_output_embeddings()
        rounded = Way.ROUNDED if way is Way.LINEAR else way
        return Head(layer.weight, getattr(layer, "bias", None), None if way is Way.EXACT else self._short_head, rounded)

    @cached_property
    def _short_head(self) -> torch.Tensor:
        weight = self.model.get_output_embeddings().weight
        return self._arena.copy(weight, torch.bfloat16) if self.device.type == "cpu" else weight.to(torch.bfloat16)

    @cached_property
    def _rounded(self) -> RoundedProducts:
        return RoundedProducts(self.model)

    def _tensor(self, values: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(values).to(self.device)


def spread(rows: Sequence[Row], count: int = 8) -> list[Row]:
    """Return a few rows that try a way of reading hard: the longest with its neighbours, and rows from all over.

    Args:
        rows: Rows in any order; the choice does not depend on it.
        count: Most rows to return.
    """
    order = sorted(rows, key=lambda row: (row.ids, row.scored))
    longest = max(range(len(order)), key=lambda place: (len(order[place].ids), -place))
    near = [longest, longest + 1, longest - 1]
    evenly = np.linspace(0, len(order) - 1, num=count).astype(int).tolist()
    places = [place for place in dict.fromkeys([*near, *evenly]) if 0 <= place < len(order)]
    return [order[place] for place in sorted(places[:count])]
