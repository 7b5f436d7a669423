"""Sum the log-probabilities of the scored tokens of right-padded rows, in one pass of a causal model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from baselines.language.rows import Row

POSITIONS_AT_ONCE = 256  # bounds the fp32 copy of logits: positions x vocabulary x 4 bytes


@torch.inference_mode()
def log_likelihoods(model: Any, rows: Sequence[Row], device: torch.device) -> NDArray[np.float64]:
    """Return the summed log-probability of each row's scored tokens, float64 [n], in nats.

    Rows are padded on the right: a causal model never sees what comes later, positions count from 0, and sums run over
    a row's own tokens, so neither padding nor neighbours enter. The softmax is in fp32 whatever the model's dtype.

    Args:
        model: Takes `input_ids` [n, L] and returns an object with `logits` [n, L, V].
        rows: Rows to score, each with at least one scored token.
        device: Where the model is.
    """
    width = max(len(row.ids) for row in rows) - 1
    # The padding is never read by a token that is scored; the start token is an id that every vocabulary has.
    padded = [[*row.ids[:-1], *[row.ids[0]] * (width + 1 - len(row.ids))] for row in rows]
    logits = model(input_ids=torch.tensor(padded, device=device)).logits
    owner = torch.tensor([n for n, row in enumerate(rows) for _ in range(row.scored)], device=device)
    place = torch.tensor(
        [p for row in rows for p in range(len(row.ids) - 1 - row.scored, len(row.ids) - 1)], device=device
    )
    target = torch.tensor([token for row in rows for token in row.ids[len(row.ids) - row.scored :]], device=device)
    sums = torch.zeros(len(rows), dtype=torch.float64)
    for begin in range(0, len(target), POSITIONS_AT_ONCE):
        part = slice(begin, begin + POSITIONS_AT_ONCE)
        block = logits[owner[part], place[part]].float()
        picked = block.gather(1, target[part, None]).squeeze(1) - block.logsumexp(1)
        sums.index_add_(0, owner[part].cpu(), picked.double().cpu())
    values: NDArray[np.float64] = sums.numpy()
    return values
