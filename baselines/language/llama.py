"""Read prefix trees under models of the Llama family by a forward pass of our own, with few passes over memory.

The same arithmetic as transformers', in fp32 on a CPU: products of a layer that read the same values are one product,
what can be changed in place is, and attention is to those who are seen. In depth-first order a run of nodes sees only
itself and the ancestors of its first node, so keys are gathered for each run: the cost grows with the number of nodes
and not with its square. Angles of positions come from the model's own module, with whatever scaling it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from baselines.language.heap import Arena
from baselines.language.packing import Tree
from baselines.language.rounding import Matrix, Way, multiply

FAMILY = frozenset({"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM"})
RUN = 32  # nodes whose keys are gathered together
HEADS = ("q_proj", "k_proj", "v_proj")
GATES = ("gate_proj", "up_proj")


class Layer(NamedTuple):
    """Hold the weights of one layer.

    Attributes:
        before: Gains of the norm before attention [H].
        qkv: Queries, keys and values, side by side.
        out: Output of attention.
        between: Gains of the norm before the gated part [H].
        gates: Gate and what it lets through, side by side.
        down: Output of the gated part.
    """

    before: torch.Tensor
    qkv: Matrix
    out: Matrix
    between: torch.Tensor
    gates: Matrix
    down: Matrix

    def shortened(self, arena: Arena) -> Layer:
        """Return the same with weights in bf16 beside those in fp32."""
        qkv, out, gates, down = (_shortened(part, arena) for part in (self.qkv, self.out, self.gates, self.down))
        return self._replace(qkv=qkv, out=out, gates=gates, down=down)


class Seen(NamedTuple):
    """Say what R runs of RUN nodes see.

    Attributes:
        keys: Node of each key, int64 [R, S].
        mask: 0 where a node sees a key, else minus infinity, fp32 [R, RUN, S].
    """

    keys: torch.Tensor
    mask: torch.Tensor


def is_of_the_family(model: Any) -> bool:
    """Return whether a model is one whose layers this module knows, plain, in fp32 and on a CPU."""
    config = model.config
    plain = type(model).__name__ in FAMILY and getattr(config, "hidden_act", "") == "silu"
    if not plain or model.dtype != torch.float32 or model.device.type != "cpu":
        return False
    return all(
        type(getattr(part, name)) is torch.nn.Linear
        for layer in model.model.layers
        for part, names in ((layer.self_attn, (*HEADS, "o_proj")), (layer.mlp, (*GATES, "down_proj")))
        for name in names
    )


class Llama:
    """Compute hidden states of prefix trees.

    The weights are moved, not copied: the model's own layers become views into those held here.

    Args:
        model: A model for which `is_of_the_family` holds.
        arena: Where the weights are to lie.
    """

    def __init__(self, model: Any, arena: Arena) -> None:
        config = model.config
        self._base, self._arena = model.model, arena
        self._queries, self._keys = config.num_attention_heads, config.num_key_value_heads
        self._width = self._base.layers[0].self_attn.head_dim
        self._epsilon = float(config.rms_norm_eps)
        self._layers = [_moved(layer, arena) for layer in self._base.layers]

    @cached_property
    def _short(self) -> list[Layer]:
        return [layer.shortened(self._arena) for layer in self._layers]

    def hidden(self, tree: Tree, way: Way = Way.EXACT) -> torch.Tensor:
        """Return the hidden states before the output layer, fp32 [N, H].

        Args:
            tree: Rows as a prefix tree of N nodes.
            way: How products are taken, ROUNDED or EXACT.
        """
        nodes, seen = len(tree.tokens), runs(tree)
        filled = (0, len(seen.keys) * RUN - nodes)  # the last run is filled up: nobody sees what stands there
        states: torch.Tensor = self._base.embed_tokens(torch.from_numpy(np.pad(tree.tokens, filled)))
        turns = self._turns(states, np.pad(tree.depths, filled))
        mask = self._mask(seen)
        for layer in self._short if way is Way.ROUNDED else self._layers:
            mixed = multiply(self._norm(states, layer.before), layer.qkv, way).float()
            states += multiply(self._attend(mixed, turns, seen.keys, mask), layer.out, way)
            gates = multiply(self._norm(states, layer.between), layer.gates, way)
            gate, through = gates.chunk(2, dim=1)
            states += multiply(functional.silu(gate).mul_(through), layer.down, way)
        return self._norm(states[:nodes], self._base.norm.weight)

    def _norm(self, states: torch.Tensor, gains: torch.Tensor) -> torch.Tensor:
        length = torch.linalg.vector_norm(states, dim=1, keepdim=True)
        scale = length.square_().div_(states.shape[1]).add_(self._epsilon).rsqrt_()
        found: torch.Tensor = (states * scale).mul_(gains)
        return found

    def _turns(self, states: torch.Tensor, depths: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return cosines and sines of each node's angles, fp32 [N, 1, width / 2]."""
        both = self._base.rotary_emb(states[None], torch.from_numpy(depths)[None])
        cos, sin = (one[0, :, None, : self._width // 2].contiguous() for one in both)
        return cos, sin

    def _mask(self, seen: Seen) -> torch.Tensor:
        """Return the mask of all heads, fp32 [keys x R, group x RUN, S], in the order in which they are computed."""
        keys, group = self._keys, self._queries // self._keys
        count, _, length = seen.mask.shape
        wide = seen.mask[None, :, None].expand(keys, count, group, RUN, length)
        return wide.reshape(keys * count, group * RUN, length)

    def _attend(
        self, mixed: torch.Tensor, turns: tuple[torch.Tensor, torch.Tensor], seen: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        """Return what each node takes from those it sees, fp32 [N, heads x width].

        Args:
            mixed: Queries, keys and values of the nodes, side by side; turned in place.
            turns: Cosines and sines of positions.
            seen: Node of each key of each run, int64 [R, S].
            mask: Who sees whom, of all heads.
        """
        (count, length), keys, width = seen.shape, self._keys, self._width
        group = self._queries // keys
        heads = mixed.view(len(mixed), -1, width)
        _turn(heads[:, : self._queries + keys], *turns)
        # The heads that share keys stand under each other, so that keys are never repeated.
        asked = heads[:, : self._queries].view(count, RUN, keys, group, width).permute(2, 0, 3, 1, 4)
        asked = asked.reshape(keys * count, group * RUN, width)
        found = heads[:, self._queries :].transpose(0, 1).contiguous().index_select(1, seen.flatten())
        known, values = found.view(2, keys * count, length, width)
        scores = torch.baddbmm(mask, asked, known.transpose(1, 2), alpha=width**-0.5)
        taken = torch.bmm(scores.softmax(-1), values).view(keys, count, group, RUN, width)
        return taken.permute(1, 3, 0, 2, 4).reshape(len(mixed), -1)


def _turn(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> None:
    """Turn the two halves of each head against each other by its position's angles, in place."""
    left, right = heads.chunk(2, dim=-1)
    turned = (left * cos).addcmul_(right, sin, value=-1)
    right.mul_(cos).addcmul_(left, sin)
    left.copy_(turned)


def runs(tree: Tree) -> Seen:
    """Return what runs of RUN nodes see: the ancestors of the first one, then the run itself.

    In depth-first order an ancestor of a node that stands before the run is an ancestor of all nodes between.
    """
    nodes, parents = len(tree.tokens), tree.parents.tolist()
    starts = range(0, nodes, RUN)
    above = [_ancestors(parents, start) for start in starts]
    longest = max(map(len, above))
    keys = np.zeros((len(above), longest + RUN), np.int64)
    seen = np.zeros((len(above), RUN, longest + RUN), np.bool_)
    for start, path, key, see in zip(starts, above, keys, seen, strict=True):
        stop = min(nodes, start + RUN)
        key[: len(path)] = path
        key[longest : longest + stop - start] = np.arange(start, stop)
        for place, parent in enumerate(parents[start:stop]):
            if parent >= start:
                see[place] = see[parent - start]
            elif parent >= 0:  # it stands on the path, with its ancestors before it
                see[place, : path.index(parent) + 1] = True
            see[place, longest + place] = True
        see[stop - start :, 0] = True  # what fills up the last run sees something, whatever it is
    mask = torch.zeros(seen.shape).masked_fill_(torch.from_numpy(~seen), -torch.inf)
    return Seen(torch.from_numpy(keys), mask)


def _ancestors(parents: Sequence[int], node: int) -> list[int]:
    """Return the nodes above a node, the root first."""
    path: list[int] = []
    while parents[node] >= 0:
        node = parents[node]
        path.append(node)
    return path[::-1]


def _shortened(matrix: Matrix, arena: Arena) -> Matrix:
    return matrix._replace(short=arena.copy(matrix.weight, torch.bfloat16))


def _moved(layer: Any, arena: Arena) -> Layer:
    """Return the weights of a layer, and make its own linear layers views into them."""
    attention, gated = layer.self_attn, layer.mlp
    return Layer(
        layer.input_layernorm.weight,
        _side_by_side([getattr(attention, name) for name in HEADS], arena),
        _side_by_side([attention.o_proj], arena),
        layer.post_attention_layernorm.weight,
        _side_by_side([getattr(gated, name) for name in GATES], arena),
        _side_by_side([gated.down_proj], arena),
    )


@torch.no_grad()
def _side_by_side(layers: Sequence[torch.nn.Linear], arena: Arena) -> Matrix:
    """Return layers as one matrix; transposed in memory, as products by a few hundred rows are then faster."""
    weight = arena.empty(layers[0].in_features, sum(layer.out_features for layer in layers))
    begin = 0
    for layer in layers:
        part = weight[:, begin : begin + layer.out_features]
        layer.weight.data = part.copy_(layer.weight.t()).t()
        begin += layer.out_features
    biases: list[torch.Tensor] = [
        layer.bias if layer.bias is not None else weight.new_zeros(layer.out_features) for layer in layers
    ]
    return Matrix(weight, torch.cat(biases) if any(layer.bias is not None for layer in layers) else None)
