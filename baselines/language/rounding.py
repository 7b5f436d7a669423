"""Multiply in bf16 and keep the rest in fp32: products of values and weights are rounded, sums and norms are not.

Such a product is several times as fast as one in fp32 where the processor has units for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import torch
from torch.nn.functional import linear


class Way(Enum):
    """Say how products are taken; the values stand in signatures."""

    LINEAR = "bfloat16 products in linear layers"
    ROUNDED = "bfloat16 products"
    EXACT = "float32"


class Matrix(NamedTuple):
    """Hold the weights of a product.

    Attributes:
        weight: [H, O], fp32.
        bias: [O], fp32, or None.
        short: The weight in bf16, or None.
    """

    weight: torch.Tensor
    bias: torch.Tensor | None
    short: torch.Tensor | None = None


def multiply(values: torch.Tensor, matrix: Matrix, way: Way = Way.EXACT) -> torch.Tensor:
    """Return the product [N, O] of values [N, H] and a matrix, plus its bias; in bf16 where the way is ROUNDED.

    Args:
        values: Values in fp32, or in bf16 where the way is ROUNDED.
        matrix: Weights; with `short` where the way is ROUNDED.
        way: How the product is taken. The rounded one sums in fp32; values, weights and result are rounded by up to
            2^-8 of themselves.
    """
    if way is Way.ROUNDED and matrix.short is not None:
        found = values.bfloat16() @ matrix.short
        return found if matrix.bias is None else found.add_(matrix.bias)
    return values @ matrix.weight if matrix.bias is None else torch.addmm(matrix.bias, values, matrix.weight)


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
