"""A Transformer whose layers run in `translate/native/layers.c`: what searches of an int8 model step through."""

from __future__ import annotations

from typing import Any, cast

from torch import Tensor, nn

from translate.model.attention import Attention
from translate.model.cache import DecoderState
from translate.model.int8 import Int8Linear
from translate.model.layers import DecoderLayer, EncoderLayer
from translate.model.transformer import Transformer
from translate.native.layers import Int8Weights, NormWeights, Packed, Shape, can_run


class Int8Transformer:
    """A `StepModel` that gives what its Transformer gives, but for the rounding of floats, faster.

    Args:
        model: With linear maps in 8-bit integers (`to_int8`), for which `runs_natively` holds.
    """

    def __init__(self, model: Transformer) -> None:
        self._model = model
        encoder, decoder = (list(map(_weights, stack)) for stack in (model.encoder_layers, model.decoder_layers))
        self._encoder = Packed(_shape(model), encoder, _norm(model.encoder_norm))
        self._decoder = Packed(_shape(model), decoder, _norm(model.decoder_norm), _linear(model.output))

    def encode(self, src_ids: Tensor, src_mask: Tensor) -> Tensor:
        """Memory of the sources, [B, S] to [B, S, M]."""
        return self._encoder.encode(self._model.src_embedding(src_ids).float().contiguous(), src_mask)

    def start(self, memory: Tensor, src_mask: Tensor) -> DecoderState:
        """State before the first token, one row per sentence."""
        return self._model.start(memory, src_mask)

    def step(self, last_ids: Tensor, state: DecoderState) -> Tensor:
        """Logits [B * N, V] of the next token, given each row's newest one [B * N]."""
        x = (
            self._model.tgt_embedding(last_ids[:, None], offset=state.length).squeeze(1).float().contiguous()
        )  # [B * N, M]
        entries, descent = state.self_caches[0].entries, state.advance()
        memories = [memory.kv for memory in state.memory_caches]
        pairs = zip(state.self_caches, memories, strict=True)
        caches = [(cache.reserve(memory, state.beam_size)[1], memory) for cache, memory in pairs]
        return self._decoder.step(x, descent, state.memory_mask[:, 0, 0], entries, caches)


def runs_natively(model: nn.Module) -> bool:
    """Whether `Int8Transformer` can run the model: on a CPU that can, without latents, talking heads or rotation."""
    if not isinstance(model, Transformer):
        return False
    layers = [cast(Any, layer) for layer in (*model.encoder_layers, *model.decoder_layers)]
    attentions = [layer.self_attention for layer in layers] + [layer.cross_attention for layer in model.decoder_layers]
    plain = all(one.kv_up is None and one.mix_scores is None and one.rotary is None for one in attentions)
    return plain and len({one.num_kv_heads for one in attentions}) == 1 and can_run(_shape(model))


def _shape(model: Transformer) -> Shape:
    layer = cast(DecoderLayer, model.decoder_layers[0])
    attention, ff = layer.self_attention, layer.feed_forward
    sizes = attention.num_heads, attention.num_kv_heads, attention.head_dim
    return Shape(model.output.weight.size(1), *sizes, ff.outer.weight.size(1), layer.norm_first, ff.activation)


def _weights(layer: nn.Module) -> dict[str, Int8Weights | NormWeights | None]:
    """Of one layer, by the names of `layers.c`."""
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
