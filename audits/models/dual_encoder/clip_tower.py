"""Run open_clip's text tower on no more positions than the pooled ones need, where that is exact.

A causal tower that pools at the end mark never looks behind it, so rows can be cut there. On a CPU, captions that begin
alike are laid out as a prefix tree besides: what they share is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np
import torch
from open_clip.transformer import text_global_pool

from audits.models.dual_encoder.checks import unit
from audits.models.dual_encoder.schema import Text
from baselines.language import packing
from baselines.language.rows import Row

TRIED = 3
# Largest difference of an entry of the unit vector; lower precision rounds differently on other shapes.
CLOSE = {torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 5e-3}


class Way(Enum):
    """Say how rows are read, the fastest first; each value is how a report says it."""

    TREE = "captions that begin alike share what they share, cut at the end mark"
    CUT = "cut at the end mark"
    WHOLE = "not cut"


class TextTower:
    """Encode rows of ids.

    Source: open_clip, `CLIP.encode_text` and `TextTransformer.forward`, which take rows of the full length only.

    Args:
        model: The model.
        device: Where it is.
        cuttable: Whether the configuration allows to leave out what stands behind the pooled position.

    Attributes:
        way: How rows are read.
    """

    def __init__(self, model: Any, device: torch.device, *, cuttable: bool) -> None:
        self._model, self._device = model, device
        self._parts: Any = model if hasattr(model, "token_embedding") else getattr(model, "text", None)
        causal = cuttable and getattr(self._parts, "attn_mask", None) is not None
        # On a GPU a padded batch of many rows is faster than one long row with a mask of its own.
        self.way = Way.WHOLE if not causal else Way.TREE if device.type == "cpu" else Way.CUT

    def check(self, texts: Sequence[Text]) -> float:
        """Try the short ways on a few captions, the shortest and the longest among them; leave those that differ.

        Returns:
            The largest difference of an entry of a unit vector under the way that is taken.
        """
        ordered = sorted(texts, key=lambda text: text.width)
        places = np.linspace(0, len(ordered) - 1, min(TRIED, len(ordered))).astype(int).tolist()
        few = [ordered[place] for place in places]
        limit = CLOSE.get(next(self._model.parameters()).dtype, 1e-5)
        whole = unit(self._run(few, Way.WHOLE)) if self.way is not Way.WHOLE else None
        while whole is not None and self.way is not Way.WHOLE:
            # As a tree they stand together; cut, each by itself, for beside a long one a short one is not cut.
            parts = [few] if self.way is Way.TREE else [[one] for one in few]
            made = np.concatenate([unit(self._run(part, self.way)) for part in parts])
            difference = float(np.nan_to_num(np.abs(made - whole)).max(initial=0.0))
            if difference <= limit:
                return difference
            self.way = Way.CUT if self.way is Way.TREE else Way.WHOLE
        return 0.0

    def encode(self, texts: Sequence[Text]) -> torch.Tensor:
        """Return the features of captions, [n, D]."""
        return self._run(texts, self.way)

    @torch.inference_mode()
    def _run(self, texts: Sequence[Text], way: Way) -> torch.Tensor:
        if way is Way.TREE:
            return self._tree(texts)
        rows = np.stack([text.ids for text in texts])
        length = max(text.width for text in texts)
        short = way is Way.CUT and length < rows.shape[1]
        ids = torch.from_numpy(rows[:, : length if short else None].astype(np.int64)).to(self._device)
        features: torch.Tensor = self._short(ids) if short else self._model.encode_text(ids, normalize=False)
        return features

    def _short(self, ids: torch.Tensor) -> torch.Tensor:
        """Run the tower on the first positions, with the mask and the positions that belong to them."""
        parts, length = self._parts, ids.shape[1]
        x = self._layers(ids, torch.arange(length, device=ids.device), parts.attn_mask[:length, :length])
        # The two classes of open_clip name the same things differently.
        own = "text_" if hasattr(parts, "text_pool_type") else ""
        end = getattr(parts, f"{own}eos_id")
        return self._projected(text_global_pool(x, ids, getattr(parts, f"{own}pool_type"), eos_token_id=end))

    def _tree(self, texts: Sequence[Text]) -> torch.Tensor:
        """Run the tower on a prefix tree: each node sees itself and its ancestors, at the position of its depth."""
        rows = laid_out(texts)
        tree = packing.tree(rows)
        seen = torch.from_numpy(tree.visible())
        mask = torch.zeros(seen.shape, dtype=self._parts.attn_mask.dtype).masked_fill_(~seen, float("-inf"))
        ids, depths = torch.from_numpy(tree.tokens)[None], torch.from_numpy(tree.depths)
        x = self._layers(ids, depths, mask)[0]
        ends = np.empty(len(rows), np.int64)
        ends[tree.owners] = tree.nodes[tree.steps]
        return self._projected(x[torch.from_numpy(ends)])

    def _layers(self, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the normalised output of the last layer, [n, L, W]."""
        parts = self._parts
        kind = parts.transformer.get_cast_dtype()
        x = parts.token_embedding(ids).to(kind) + parts.positional_embedding[positions].to(kind)
        out: torch.Tensor = parts.ln_final(parts.transformer(x, attn_mask=mask))
        return out

    def _projected(self, x: torch.Tensor) -> torch.Tensor:
        projection = self._parts.text_projection
        if projection is not None:
            x = projection(x) if isinstance(projection, torch.nn.Linear) else x @ projection
        return x


def laid_out(texts: Sequence[Text]) -> list[Row]:
    """Return captions as rows of a prefix tree.

    Of a row the last id is predicted and not read; behind the pooled position stands one that is the same for all.
    """
    return [Row((*text.ids[: text.width].tolist(), 0), 1, text.tokens, text.total) for text in texts]


def plan(texts: Sequence[Text], nodes: int) -> list[list[int]]:
    """Return batches of captions that begin alike, with at most so many nodes each."""
    return packing.plan(laid_out(texts), nodes)
