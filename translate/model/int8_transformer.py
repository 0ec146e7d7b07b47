"""A Transformer whose layers run in `translate/kernels/layers.c`: what searches of an int8 model step through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from translate.kernels.layers import Int8Weights, LayerShape, NormWeights, PackedStack, StepInputs, can_run
from translate.model.attention import Attention
from translate.model.cache import DecoderState, expected_length
from translate.model.int8 import Int8Linear
from translate.model.layers import DecoderLayer, EncoderLayer
from translate.model.transformer import Transformer


class Int8Transformer:
    """A `BestStepModel` and `GreedyModel` that gives what its Transformer does, but for the rounding of floats, faster.

    Args:
        model: With linear maps in 8-bit integers (`to_int8`), for which `runs_natively` holds.
    """

    def __init__(self, model: Transformer) -> None:
        self._model = model
        encoder, decoder = (list(map(_weights, stack)) for stack in (model.encoder_layers, model.decoder_layers))
        last, output = _norm(model.decoder_norm), _linear(model.output)
        table = model.tgt_embedding.tokens.weight.detach().float()
        self._encoder = PackedStack(_shape(model.encoder_layers), encoder, _norm(model.encoder_norm))
        self._decoder = PackedStack(_shape(model.decoder_layers), decoder, last, output, table)
        self._table_of_positions = table.new_empty(0, table.size(1))

    def encode(self, src_ids: Tensor, src_mask: Tensor) -> Tensor:
        """Compute the memory of the sources, [B, S] to [B, S, M]."""
        return self._encoder.encode(self._model.src_embedding(src_ids).float().contiguous(), src_mask)

    def start(self, memory: Tensor, src_mask: Tensor) -> DecoderState:
        """Return the state before the first token, one row per sentence."""
        return self._model.start(memory, src_mask)

    def step(self, last_ids: Tensor, state: DecoderState) -> Tensor:
        """Compute the logits [B * N, V] of the next token, given each row's newest one [B * N]."""
        return self._decoder.step(self._step_inputs(last_ids, state))

    def best_step(
        self, last_ids: Tensor, state: DecoderState, sums: Tensor, banned: Sequence[int], count: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Find the best continuations of a step in its logits."""
        return self._decoder.best_step(self._step_inputs(last_ids, state), sums, banned, count)

    def greedy(
        self,
        memory: Tensor,
        src_mask: Tensor,
        limits: Sequence[int],
        banned: Sequence[int],
        bos_id: int,
        eos_id: int,
    ) -> list[tuple[list[int], list[float]]]:
        """Run a whole greedy search; see `GreedyModel`."""
        memories = [cache.kv for cache in self._model.start(memory, src_mask).memory_caches]
        expected = expected_length(src_mask.size(1))
        return self._decoder.greedy(memories, src_mask, self._positions, limits, expected, banned, bos_id, eos_id)

    def _step_inputs(self, last_ids: Tensor, state: DecoderState) -> StepInputs:
        """Return the inputs of a step in C, with room for its tokens in the caches."""
        positions = self._positions(state.length + 1)
        position = None if positions is None else positions[state.length]
        entries, descent = state.self_caches[0].entries, state.advance()
        memories = [memory.kv for memory in state.memory_caches]
        pairs = zip(state.self_caches, memories, strict=True)
        caches = [(cache.reserve(memory, state.beam_size)[1], memory) for cache, memory in pairs]
        return StepInputs(last_ids, position, descent, state.memory_mask[:, 0, 0], entries, caches)

    def _positions(self, count: int) -> Tensor | None:
        """Return what is added to the embeddings of the first `count` tokens or more, [P, M]."""
        positions = self._model.tgt_embedding.positions
        if positions is None:
            return None
        table = self._table_of_positions  # which another thread may replace
        if len(table) < count:
            most = min(max(64, 2 * count), getattr(positions, "max_positions", 2 * count + 64))
            table = positions(torch.zeros(1, max(count, most), table.size(1))).squeeze(0).float().contiguous()
            self._table_of_positions = table
        return table


def runs_natively(model: nn.Module) -> bool:
    """Return whether the C kernels can run the model on this CPU: without latents, talking heads or rotation."""
    if not isinstance(model, Transformer):
        return False
    return _alike(model.encoder_layers) and _alike(model.decoder_layers)


def _alike(layers: nn.ModuleList) -> bool:
    """Return whether a stack has only attention that `layers.c` knows, with as many key and value heads everywhere."""
    attentions = [module for module in layers.modules() if isinstance(module, Attention)]
    plain = all(one.kv_up is None and one.mix_scores is None and one.rotary is None for one in attentions)
    return plain and len({one.num_kv_heads for one in attentions}) == 1 and can_run(_shape(layers))


def _shape(layers: nn.ModuleList) -> LayerShape:
    layer = layers[0]
    assert isinstance(layer, (EncoderLayer, DecoderLayer))
    attention, ff = layer.self_attention, layer.feed_forward
    sizes = attention.num_heads, attention.num_kv_heads, attention.head_dim
    return LayerShape(attention.out.weight.size(0), *sizes, ff.outer.weight.size(1), layer.norm_first, ff.activation)


def _weights(layer: nn.Module) -> dict[str, Int8Weights | NormWeights | None]:
    """Return the weights of one layer, by the names of `layers.c`."""
    assert isinstance(layer, (EncoderLayer, DecoderLayer))
    attention, ff = layer.self_attention, layer.feed_forward
    found: dict[str, Int8Weights | NormWeights | None] = {
        "qkv": _linear(attention.qkv),
        "self_out": _linear(attention.out),
        "inner": _linear(ff.inner),
        "outer": _linear(ff.outer),
        "self_norm": _norm(layer.self_norm),
        "ff_norm": _norm(layer.ff_norm),
    }
    if isinstance(layer, DecoderLayer):
        cross = cast(Attention, layer.cross_attention)
        (queries,) = cross.q_parts
        found |= {
            "cross_q": _linear(cross.qkv, slice(queries)),
            "cross_out": _linear(cross.out),
            "cross_norm": _norm(cast(nn.Module, layer.cross_norm)),
        }
    return found


def _linear(linear: nn.Module, rows: slice = slice(None)) -> Int8Weights:
    assert isinstance(linear, Int8Linear)
    return Int8Weights(linear.weight[rows], linear.scale[rows], None if linear.bias is None else linear.bias[rows])


def _norm(norm: nn.Module) -> NormWeights | None:
    if isinstance(norm, nn.LayerNorm):
        return NormWeights(norm.weight.detach(), norm.bias.detach(), norm.eps)
    if isinstance(norm, nn.RMSNorm):
        return NormWeights(norm.weight.detach(), None, cast(float, norm.eps))
    return None  # the identity
