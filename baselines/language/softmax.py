"""Log-probabilities of chosen tokens without ever holding the logits of a whole vocabulary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from baselines.language.rounding import Matrix, Way, multiply

# Blocks of logits that stay in a core's cache, measured on two CPUs: 256 x 2048 x 4 bytes is 2 MiB.
POSITIONS = 256
WORDS = 2048


class Head(NamedTuple):
    """Hold the layer that turns hidden states into logits.

    Attributes:
        weight: [V, H].
        bias: [V], or None.
        short: The weight in bf16, where products are to be taken in it.
        way: How logits under the logarithm are multiplied.
    """

    weight: torch.Tensor
    bias: torch.Tensor | None
    short: torch.Tensor | None = None
    way: Way = Way.EXACT

    def logits(self, states: torch.Tensor, start: int) -> torch.Tensor:
        """Return the logits of a block of WORDS words from `start` on, fp32 [n, WORDS]."""
        part = slice(start, start + WORDS)
        short = None if self.short is None else self.short[part].T
        found = multiply(states, Matrix(self.weight[part].T, None, short), self.way).float()
        return found if self.bias is None else found.add_(self.bias[part])


def log_probabilities(
    hidden: torch.Tensor, head: Head, nodes: NDArray[np.int64], targets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return log P(target | node) of each step in nats, float64 [E].

    The softmax is in fp32 whatever the dtype of the model, its logarithm a running one over blocks of the vocabulary.
    The target's own logit is a product in fp32, so that rounding of the others is averaged and its own is none.

    Args:
        hidden: Hidden states [N, H].
        head: The output layer.
        nodes: Row of `hidden` of each step, int64 [E], ascending.
        targets: Token of each step, int64 [E].
    """
    used, place = np.unique(nodes, return_inverse=True)
    device = hidden.device
    states = hidden[torch.from_numpy(used).to(device)]
    norms = torch.cat([_log_norm(part, head) for part in torch.split(states, POSITIONS)])
    at, wanted = torch.from_numpy(place).to(device), torch.from_numpy(targets).to(device)
    own = (states[at].float() * head.weight[wanted].float()).sum(1)
    if head.bias is not None:
        own += head.bias[wanted].float()
    values: NDArray[np.float64] = (own - norms[at]).double().cpu().numpy()
    return values


def _log_norm(states: torch.Tensor, head: Head) -> torch.Tensor:
    """Return the logarithm of the softmax's denominator of each position, fp32 [n]."""
    if head.way is Way.ROUNDED:
        states = states.bfloat16()
    highest = torch.full((len(states),), -torch.inf, device=states.device)
    total = torch.zeros_like(highest)
    for start in range(0, len(head.weight), WORDS):
        logits = head.logits(states, start)
        above = torch.maximum(highest, logits.amax(1))
        total = total * (highest - above).exp_() + logits.sub_(above[:, None]).exp_().sum(1)
        highest = above
    return highest + total.log()
