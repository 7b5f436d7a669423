"""From logits to the log-probabilities of the ids that are scored, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from audits.models.generative.items import Row

AT_ONCE = 256  # bounds the fp32 copy of logits: positions x vocabulary x 4 bytes


def picked(logits: torch.Tensor, targets: Sequence[int]) -> torch.Tensor:
    """Return the log-probability of one id per position, float32 [n], softmax in float32.

    Args:
        logits: [n, V], in the model's dtype.
        targets: n ids.

    >>> picked(torch.zeros(2, 4), [0, 3]).exp().tolist()
    [0.25, 0.25]
    """
    wanted = torch.tensor(targets, device=logits.device)
    found = []
    for begin in range(0, len(wanted), AT_ONCE):
        block = logits[begin : begin + AT_ONCE].float()
        found.append(block.gather(1, wanted[begin : begin + AT_ONCE, None]).squeeze(1) - block.logsumexp(1))
    return torch.cat(found) if found else torch.zeros(0)


def ends(logits: torch.Tensor, rows: Sequence[Row], lengths: Sequence[int]) -> list[torch.Tensor]:
    """Return the log-probabilities of the scored ids of right-padded rows, one [k] per row.

    Args:
        logits: [n, L, V]; what stands at a place predicts the next id.
        rows: The rows.
        lengths: How many places of each row were read; the last of them predicts the row's last id.
    """
    owner = [n for n, row in enumerate(rows) for _ in row.target]
    place = [p for row, length in zip(rows, lengths, strict=True) for p in range(length - len(row.target), length)]
    if min(place, default=0) < 0:
        raise ValueError("more ids are scored than were read")
    at = (torch.tensor(owner, device=logits.device), torch.tensor(place, device=logits.device))
    flat = picked(logits[at], [one for row in rows for one in row.target])
    return list(torch.split(flat, [len(row.target) for row in rows]))


def padded(rows: Sequence[Sequence[int]], device: torch.device) -> torch.Tensor:
    """Return ids padded on the right, [n, L]; a causal model never sees the padding from a place that is scored."""
    width = max(map(len, rows))
    fill = next(row[0] for row in rows if row)
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows], device=device)


def joined(features: Sequence[Any], device: torch.device, dtype: torch.dtype) -> dict[str, Any]:
    """Return the features of several images as one batch: along the first dimension, pixels in the model's dtype."""
    found = {}
    for name in features[0]:
        whole = torch.cat([torch.as_tensor(one[name]) for one in features]).to(device)
        found[name] = whole.to(dtype) if whole.is_floating_point() else whole
    return found
