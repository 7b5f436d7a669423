"""Multiply in bf16 and keep the rest in fp32: products of values and weights are rounded, sums and norms are not.

Ways differ in what a product costs and loses. One bf16 product of rounded values with a bf16 result is six times as
fast as fp32 where the processor has units for it. Two halves lose a hundred times less and are twice as fast as fp32:
weights that were released in bf16 are exact in it, and a value is the sum of two bf16 numbers but for 2^-17 of itself.
The product of the first half is taken with an fp32 result, for its rounding would show; that of the second, 2^-8 as
large, in bf16.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import torch
from torch.nn.functional import linear

UPPER = -(2**16)  # the bits of an fp32 number that a bf16 number has as well


class Way(Enum):
    """Say how products are taken; the values stand in signatures."""

    LINEAR = "bfloat16 products in linear layers"
    ROUNDED = "bfloat16 products"
    HALVES = "bfloat16 products of two halves"
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

    def is_short(self) -> bool:
        """Return whether the weight is exact in bf16."""
        short = self.weight.bfloat16() if self.short is None else self.short
        return bool(torch.equal(self.weight, short.float()))


def can_halve() -> bool:
    """Return whether this torch multiplies fp32 values in bf16 with a result in fp32, and this CPU has bf16."""
    return hasattr(torch.backends.mkldnn, "matmul") and torch.ops.mkldnn._is_mkldnn_bf16_supported()


def multiply(values: torch.Tensor, matrix: Matrix, way: Way = Way.EXACT) -> torch.Tensor:
    """Return the product [N, O] of values [N, H] and a matrix, plus its bias.

    Args:
        values: Values in fp32; in bf16 as well where the way is ROUNDED.
        matrix: Weights; with `short` where the way is not EXACT.
        way: ROUNDED gives bf16, the others fp32; relative to the sum of the products' sizes, the error of HALVES is
            at most 2^-15.
    """
    if way is Way.EXACT or matrix.short is None:
        return values @ matrix.weight if matrix.bias is None else torch.addmm(matrix.bias, values, matrix.weight)
    halves = way is Way.HALVES
    found = _in_halves(values, matrix.weight, matrix.short) if halves else values.bfloat16() @ matrix.short
    return found if matrix.bias is None else found.add_(matrix.bias)


def _in_halves(values: torch.Tensor, weight: torch.Tensor, short: torch.Tensor) -> torch.Tensor:
    upper = values.view(torch.int32).bitwise_and(UPPER).view(torch.float32)
    lower = (values - upper).bfloat16()
    backend: Any = torch.backends.mkldnn
    before = backend.matmul.fp32_precision
    backend.matmul.fp32_precision = "bf16"
    try:
        found = upper @ weight
    finally:
        backend.matmul.fp32_precision = before
    return found.add_(lower @ short)


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
