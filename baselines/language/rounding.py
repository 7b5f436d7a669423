"""Multiply in bf16 and keep the rest in fp32: the linear layers' products are rounded, sums and norms are not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch.nn.functional import linear


class RoundedProducts:
    """Switch the linear layers of an fp32 model to products in bf16, and back.

    The model's own weights stay as they are. Layers of other classes (convolutions, GPT-2's transposed layer) keep
    multiplying in fp32.

    Args:
        model: A model in fp32.
    """

    def __init__(self, model: Any) -> None:
        head = model.get_output_embeddings()
        self._layers: list[tuple[Any, torch.Tensor]] = [
            (module, module.weight.detach().to(torch.bfloat16))
            for module in model.modules()
            if type(module) is torch.nn.Linear and module is not head
        ]

    @contextmanager
    def on(self) -> Iterator[None]:
        """Round products meanwhile."""
        for layer, weight in self._layers:
            layer.forward = partial(_rounded, weight, layer.bias)
        try:
            yield
        finally:
            for layer, _ in self._layers:
                del layer.forward


def _rounded(weight: torch.Tensor, bias: torch.Tensor | None, values: torch.Tensor) -> torch.Tensor:
    found = linear(values.to(torch.bfloat16), weight).float()
    return found if bias is None else found + bias
