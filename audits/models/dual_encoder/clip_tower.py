"""Run open_clip's text tower on no more positions than the pooled one needs, where that is exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from open_clip.transformer import text_global_pool

from audits.models.dual_encoder.checks import unit
from audits.models.dual_encoder.schema import Text

TRIED = 3
# Largest difference of an entry of the unit vector; lower precision rounds differently on other shapes.
CLOSE = {torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 5e-3}


class TextTower:
    """Encode rows of ids.

    Source: open_clip, `CLIP.encode_text` and `TextTransformer.forward`, which take rows of the full length only.

    Args:
        model: The model.
        device: Where it is.
        cuttable: Whether the configuration allows to leave out what stands behind the pooled position.
    """

    def __init__(self, model: Any, device: torch.device, *, cuttable: bool) -> None:
        self._model, self._device = model, device
        self._parts: Any = model if hasattr(model, "token_embedding") else getattr(model, "text", None)
        self.cut = cuttable and getattr(self._parts, "attn_mask", None) is not None

    def check(self, texts: Sequence[Text]) -> float:
        """Try the short way on a few captions, the shortest and the longest among them; leave it where it differs.

        Returns:
            The largest difference of an entry of a unit vector, 0 where nothing is cut.
        """
        if not self.cut:
            return 0.0
        ordered = sorted(texts, key=lambda text: text.width)
        places = np.linspace(0, len(ordered) - 1, min(TRIED, len(ordered))).astype(int)
        few = [ordered[place] for place in places]
        short, whole = (np.concatenate([unit(self._run([one], cut=cut)) for one in few]) for cut in (True, False))
        difference = float(np.nan_to_num(np.abs(short - whole)).max(initial=0.0))
        limit = CLOSE.get(next(self._model.parameters()).dtype, 1e-5)
        self.cut = difference <= limit
        return difference

    def encode(self, texts: Sequence[Text]) -> torch.Tensor:
        """Return the features of captions, [n, D]."""
        return self._run(texts, cut=self.cut)

    @torch.inference_mode()
    def _run(self, texts: Sequence[Text], *, cut: bool) -> torch.Tensor:
        rows = np.stack([text.ids for text in texts])
        length = max(text.width for text in texts)
        short = cut and length < rows.shape[1]
        ids = torch.from_numpy(rows[:, : length if short else None].astype(np.int64)).to(self._device)
        features: torch.Tensor = self._short(ids) if short else self._model.encode_text(ids, normalize=False)
        return features

    def _short(self, ids: torch.Tensor) -> torch.Tensor:
        """Run the tower on the first positions, with the mask and the positions that belong to them."""
        parts, length = self._parts, ids.shape[1]
        kind = parts.transformer.get_cast_dtype()
        x = parts.token_embedding(ids).to(kind) + parts.positional_embedding[:length].to(kind)
        x = parts.ln_final(parts.transformer(x, attn_mask=parts.attn_mask[:length, :length]))
        # The two classes of open_clip name the same things differently.
        own = "text_" if hasattr(parts, "text_pool_type") else ""
        x = text_global_pool(x, ids, getattr(parts, f"{own}pool_type"), eos_token_id=getattr(parts, f"{own}eos_id"))
        projection = parts.text_projection
        if projection is not None:
            x = projection(x) if isinstance(projection, torch.nn.Linear) else x @ projection
        features: torch.Tensor = x
        return features
