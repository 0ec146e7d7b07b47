"""Our Transformer as CTranslate2's: its converter, fed with our weights.

Every kind of attention becomes heads that CTranslate2 knows (see `Heads`), which changes no output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import torch
from ctranslate2.converters.converter import Converter
from ctranslate2.specs.attention_spec import MultiHeadAttentionSpec
from ctranslate2.specs.common_spec import Activation
from ctranslate2.specs.transformer_spec import TransformerDecoderSpec, TransformerEncoderSpec, TransformerSpec
from torch import Tensor, nn

from translate.model.positions import LearnedPositions, sinusoids

if TYPE_CHECKING:
    from translate.config.model import ModelConfig
    from translate.data.tokenizer import Tokenizer
    from translate.model.attention import Attention
    from translate.model.layers import DecoderLayer, EncoderLayer, FeedForward
    from translate.model.transformer import Embedding, Transformer

_ACTIVATIONS = {"relu": Activation.RELU, "gelu": Activation.GELU, "swish": Activation.SWISH, "swiglu": Activation.SWISH}


def check_convertible(network: ModelConfig) -> None:
    """Refuse what CTranslate2 cannot hold.

    Raises:
        ValueError: If heads talk.
    """
    kinds = zip(("encoder", "decoder", "cross"), network.attention_kinds, strict=True)
    talking = [f"model.{place}_attention" for place, kind in kinds if kind == "talking_heads"]
    if talking:
        raise ValueError(
            f"format=ctranslate2 cannot hold talking_heads ({', '.join(talking)}): its softmax works on each head by "
            "itself, with no place to mix the scores before it and the weights after it"
        )


class ModelConverter(Converter):  # type: ignore[misc]
    """CTranslate2's converter for one of our models.

    Args:
        model: The network, float32.
        tokenizer: Its pieces become the vocabularies, by id.
        network: The settings of the model.
        num_positions: Rows of the sinusoidal table, which CTranslate2 does not continue.
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer, network: ModelConfig, num_positions: int) -> None:
        check_convertible(network)
        self.model, self.tokenizer, self.network, self.num_positions = model, tokenizer, network, num_positions

    def _load(self) -> TransformerSpec:
        with torch.inference_mode():
            spec = TransformerSpec(self._encoder(), self._decoder())
        tokenizer, first = self.tokenizer, cast("EncoderLayer", self.model.encoder_layers[0])
        src_pieces = tokenizer.pieces_src(range(tokenizer.src_vocab_size))
        tgt_pieces = tokenizer.pieces_tgt(range(tokenizer.tgt_vocab_size))
        spec.register_source_vocabulary(src_pieces)
        spec.register_target_vocabulary(tgt_pieces)
        config = spec.config
        config.unk_token, config.bos_token = tgt_pieces[tokenizer.unk_id], tgt_pieces[tokenizer.bos_id]
        config.eos_token, config.decoder_start_token = tgt_pieces[tokenizer.eos_id], tgt_pieces[tokenizer.bos_id]
        config.add_source_eos = True
        config.layer_norm_epsilon = cast("nn.LayerNorm", first.self_norm).eps
        return spec

    def _encoder(self) -> TransformerEncoderSpec:
        spec = TransformerEncoderSpec(len(self.model.encoder_layers), self.network.num_heads, **self._common())
        self._set_input(spec, spec.embeddings[0], self.model.src_embedding)
        for layer_spec, module in zip(spec.layer, self.model.encoder_layers, strict=True):
            layer = cast("EncoderLayer", module)
            layer_spec.self_attention = self._attention(layer.self_attention, layer.self_norm, cross=False)
            _set_feed_forward(layer_spec.ffn, layer.feed_forward, layer.ff_norm)
        if self.network.norm_first:
            _set_norm(spec.layer_norm, self.model.encoder_norm)
        return spec

    def _decoder(self) -> TransformerDecoderSpec:
        heads = self.network.num_heads
        spec = TransformerDecoderSpec(
            len(self.model.decoder_layers), heads, alignment_layer=-1, alignment_heads=heads, **self._common()
        )
        self._set_input(spec, spec.embeddings, self.model.tgt_embedding)
        for layer_spec, module in zip(spec.layer, self.model.decoder_layers, strict=True):
            layer = cast("DecoderLayer", module)
            layer_spec.self_attention = self._attention(layer.self_attention, layer.self_norm, cross=False)
            assert layer.cross_attention is not None
            assert layer.cross_norm is not None
            layer_spec.attention = self._attention(layer.cross_attention, layer.cross_norm, cross=True)
            _set_feed_forward(layer_spec.ffn, layer.feed_forward, layer.ff_norm)
        if self.network.norm_first:
            _set_norm(spec.layer_norm, self.model.decoder_norm)
        spec.projection.weight = _stored(self.model.output.weight)
        if self.network.output_bias:
            spec.projection.bias = _stored(self.model.output.bias)
        return spec

    def _common(self) -> dict[str, Any]:
        """Return what encoder and decoder have in common."""
        network = self.network
        return {
            "pre_norm": network.norm_first,
            "activation": _ACTIVATIONS[network.activation],
            "ffn_glu": network.activation == "swiglu",
            "rms_norm": network.norm == "rmsnorm",
        }

    def _set_input(self, spec: Any, embeddings: Any, module: Embedding) -> None:
        """Set scaled embeddings and the table of positions, which rotary models do not have."""
        embeddings.weight = _stored(module.tokens.weight)
        spec.scale_embeddings = self.network.scale_embeddings
        if module.positions is None:
            del spec.position_encodings
        elif isinstance(module.positions, LearnedPositions):
            spec.position_encodings.encodings = _stored(module.positions.weight)
        else:
            spec.position_encodings.encodings = sinusoids(
                self.num_positions, self.network.d_model, self.network.sinusoids
            )

    def _attention(self, attention: Attention, norm: nn.Module, *, cross: bool) -> MultiHeadAttentionSpec:
        heads = Heads.of(attention, repeat=cross)  # CTranslate2 4.5 groups self-attention alone
        spec = MultiHeadAttentionSpec(
            self_attention=not cross,
            rms_norm=self.network.norm == "rmsnorm",
            rotary_dim=heads.rotary_dim or None,
            rotary_interleave=False,
            num_heads_kv=heads.num_kv_heads if heads.num_kv_heads < attention.num_heads else None,
            head_dim=heads.head_dim,
        )
        _set_norm(spec.layer_norm, norm)
        parts = [heads.q, torch.cat((heads.k, heads.v))] if cross else [torch.cat((heads.q, heads.k, heads.v))]
        for linear, table in zip(spec.linear, [*parts, heads.out], strict=True):
            _set_linear(linear, table, bias=self.network.bias)
        spec.queries_scale = heads.scale
        return spec


@dataclass(frozen=True)
class Heads:
    """An attention as CTranslate2 knows it: H heads of queries and G of keys and values, all of width D.

    Of latent attention the down- and up-projections of keys and values are multiplied; its rotary key, which all heads
    share, comes first in each head, and the values are filled up with zeros to the same width.

    Attributes:
        q: [H * D, M], and a last column for the bias if there is one.
        k: [G * D, M], the same.
        v: [G * D, M], the same.
        out: [M, H * D] and a column for the bias.
        num_kv_heads: G.
        head_dim: D.
        rotary_dim: How many channels of a head, from the first, are turned by its position.
        scale: Factor of the scores.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    out: Tensor
    num_kv_heads: int
    head_dim: int
    rotary_dim: int
    scale: float

    @classmethod
    def of(cls, attention: Attention, *, repeat: bool) -> Heads:
        """Return the heads of one of our attentions, without talking heads, in float64.

        Args:
            attention: Of any other kind.
            repeat: Whether grouped heads repeat their keys and values, so that G = H.
        """
        if attention.kv_up is not None:
            return cls._of_latent(attention, attention.kv_up)
        q, k, v = torch.split(_table(attention.qkv), attention.q_parts + attention.kv_parts)
        groups, width = attention.num_kv_heads, attention.head_dim
        if repeat:
            k, v = (_repeat(part, groups, attention.num_heads // groups) for part in (k, v))
            groups = attention.num_heads
        rotary_dim = width if attention.rotary is not None else 0
        return cls(q, k, v, _table(attention.out), groups, width, rotary_dim, width**-0.5)

    @classmethod
    def _of_latent(cls, attention: Attention, kv_up: nn.Linear) -> Heads:
        heads, rotary_dim = attention.num_heads, attention.rotary_dim
        parts = torch.split(_table(attention.qkv), attention.q_parts + attention.kv_parts)
        q, *q_rotary = (_split(part, heads) for part in parts[: len(attention.q_parts)])  # [H, D, M]
        latent, *k_rotary = parts[len(attention.q_parts) :]
        k, v = (_split(up.double(), heads) @ latent for up in kv_up.weight.chunk(2))
        k_rotary = [part.expand(heads, -1, -1) for part in k_rotary]
        v = torch.cat((v.new_zeros(heads, rotary_dim, v.size(2)), v), dim=1)
        out, *bias = torch.split(_table(attention.out), attention.out.in_features, dim=1)
        filled = torch.cat((out.new_zeros(len(out), heads, rotary_dim), out.view(len(out), heads, -1)), dim=2)
        width = attention.head_dim + rotary_dim
        return cls(
            torch.cat((*q_rotary, q), dim=1).flatten(0, 1),
            torch.cat((*k_rotary, k), dim=1).flatten(0, 1),
            v.flatten(0, 1),
            torch.cat((filled.flatten(1), *bias), dim=1),
            heads,
            width,
            rotary_dim,
            width**-0.5,
        )


def _repeat(part: Tensor, groups: int, times: int) -> Tensor:
    """Repeat the keys or values of each of G heads."""
    return _split(part, groups).repeat_interleave(times, dim=0).flatten(0, 1)


def _split(part: Tensor, heads: int) -> Tensor:
    return part.view(heads, -1, part.size(1))


def _table(linear: nn.Linear) -> Tensor:
    """Return the weight with the bias as its last column, since rows of both are treated alike."""
    weight = linear.weight.double()
    return weight if linear.bias is None else torch.cat((weight, linear.bias.double()[:, None]), dim=1)


def _set_linear(spec: Any, table: Tensor, *, bias: bool) -> None:
    spec.weight = _stored(table[:, :-1] if bias else table)
    if bias:
        spec.bias = _stored(table[:, -1])


def _set_norm(spec: Any, norm: nn.Module) -> None:
    spec.gamma = _stored(cast("Tensor", norm.weight))
    if isinstance(norm, nn.LayerNorm):
        spec.beta = _stored(norm.bias)


def _set_feed_forward(spec: Any, module: FeedForward, norm: nn.Module) -> None:
    _set_norm(spec.layer_norm, norm)
    bias = module.inner.bias is not None
    inner = _table(module.inner)
    if module.activation == "swiglu":
        inner, value = inner.chunk(2)
        _set_linear(spec.linear_0_noact, value, bias=bias)
    _set_linear(spec.linear_0, inner, bias=bias)
    _set_linear(spec.linear_1, _table(module.outer), bias=bias)


def _stored(tensor: Tensor) -> Tensor:
    return tensor.detach().float().cpu().clone(memory_format=torch.contiguous_format)  # quantizing writes into it
