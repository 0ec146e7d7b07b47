"""The encoder-decoder Transformer around the layers, and the one place that builds it from its settings."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from translate.model.attention import Attention
from translate.model.cache import DecoderState
from translate.model.dropout import apply_dropout, drop_words, run_layers
from translate.model.layers import DecoderLayer, EncoderLayer, make_norm
from translate.model.masks import causal_attn_mask, source_attn_mask
from translate.model.positions import LearnedPositions, SinusoidalPositions

if TYPE_CHECKING:
    from translate.config.model import ModelConfig


class Embedding(nn.Module):
    """Token ids to vectors: a scaled lookup, plus positions, with dropout.

    Args:
        config: Settings of the network; with rotary positions nothing is added, as attention sees them by itself.
        vocab_size: Number of tokens V.
        pad_id: Token whose vector is zero and stays so; None = every token has a trained vector.
    """

    def __init__(self, config: ModelConfig, vocab_size: int, pad_id: int | None) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, config.d_model, padding_idx=pad_id)
        nn.init.normal_(self.tokens.weight, std=config.d_model**-0.5)
        if pad_id is not None:
            nn.init.zeros_(self.tokens.weight[pad_id])
        self.positions: nn.Module | None = None
        if config.positions == "sinusoidal":
            self.positions = SinusoidalPositions(config.d_model, config.sinusoids)
        elif config.positions == "learned":
            self.positions = LearnedPositions(config.d_model, config.max_positions)
        self.dropout, self.word_dropout = config.embedding_dropout, config.word_dropout
        self.scale = config.embedding_scale

    def forward(self, ids: Tensor, offset: int = 0) -> Tensor:
        """Embed ids [B, T], the first of which stands at position `offset`, as [B, T, M]."""
        x = self.tokens(ids) * self.scale  # [B, T, M]
        x = drop_words(x, self.word_dropout, self.training)
        if self.positions is not None:
            x = self.positions(x, offset)
        return apply_dropout(x, self.dropout, self.training)


class Transformer(nn.Module):
    """Source ids and target ids in, logits out; or, for decoding, `encode`, `start` and `step`.

    Args:
        config: Settings of the network.
        src_embedding: Embeds source ids.
        tgt_embedding: Embeds target ids; may be the same object.

    Source: Vaswani et al. 2017 (arXiv:1706.03762); norm before the sub-layer: Xiong et al. 2020 (arXiv:2002.04745).
    """

    def __init__(self, config: ModelConfig, src_embedding: Embedding, tgt_embedding: Embedding) -> None:
        super().__init__()
        self.src_embedding, self.tgt_embedding = src_embedding, tgt_embedding
        self.encoder_layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_encoder_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_decoder_layers))
        self.encoder_norm, self.decoder_norm = make_last_norm(config), make_last_norm(config)
        self.layer_drop = config.layer_drop
        table = tgt_embedding.tokens
        self.output = nn.Linear(config.d_model, table.num_embeddings, bias=config.output_bias)
        if config.output_bias:
            nn.init.zeros_(self.output.bias)
        if config.tie_output:
            self.output.weight = table.weight
        else:
            nn.init.normal_(self.output.weight, std=config.d_model**-0.5)

    def forward(self, src_ids: Tensor, tgt_in_ids: Tensor, src_mask: Tensor, tgt_mask: Tensor) -> Tensor:
        """Compute the logits of every next token.

        Args:
            src_ids: [B, S], EOS last, padded at the end.
            tgt_in_ids: [B, T], BOS first, padded at the end.
            src_mask: [B, S] bool, True = real token.
            tgt_mask: [B, T] bool, True = real token.

        Returns:
            [B, T, V]; row t predicts token t + 1 of the target.
        """
        return self.project(self.decode(tgt_in_ids, tgt_mask, self.encode(src_ids, src_mask), src_mask))

    def encode(self, src_ids: Tensor, src_mask: Tensor) -> Tensor:
        """Compute the memory [B, S, M] of sources [B, S]."""
        x, attn_mask = self.src_embedding(src_ids), source_attn_mask(src_mask)  # [B, S, M], [B, 1, 1, S]
        x = run_layers(self.encoder_layers, x, attn_mask, drop=self.layer_drop, training=self.training)
        return self.encoder_norm(x)  # type: ignore[no-any-return]

    def decode(self, tgt_in_ids: Tensor, tgt_mask: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:
        """Compute hidden states [B, T, M] of whole targets [B, T]; `project` turns them into logits."""
        x = self.tgt_embedding(tgt_in_ids)  # [B, T, M]
        context = causal_attn_mask(tgt_mask), memory, source_attn_mask(src_mask)
        x = run_layers(self.decoder_layers, x, *context, drop=self.layer_drop, training=self.training)
        return self.decoder_norm(x)  # type: ignore[no-any-return]

    def project(self, hidden: Tensor) -> Tensor:
        """Project hidden states [..., M] to logits [..., V]."""
        return self.output(hidden)  # type: ignore[no-any-return]

    def start(self, memory: Tensor, src_mask: Tensor) -> DecoderState:
        """Return the state before the first token; it holds the keys and values of cross-attention, computed here."""
        caches = [attention.project_memory(memory) for attention in self._cross_attentions()]
        return DecoderState(caches, source_attn_mask(src_mask))

    def step(self, last_ids: Tensor, state: DecoderState) -> Tensor:
        """Compute the logits [B * N, V] of the next token of each row, and append the newest one to the state.

        Args:
            last_ids: Newest token of each row, [B * N]; BOS at first.
            state: From `start`, with `repeat` called if N > 1.
        """
        x, attn_mask = self.tgt_embedding(last_ids[:, None], offset=state.length), state.advance()  # x [B * N, 1, M]
        for layer, cache, memory in zip(self.decoder_layers, state.self_caches, state.memory_caches, strict=True):
            x = layer(x, attn_mask, memory, state.memory_mask, cache=cache)
        return self.project(self.decoder_norm(x)).squeeze(1)  # [B * N, 1, V] -> [B * N, V]

    def cross_attention(self, src_ids: Tensor, tgt_in_ids: Tensor, src_mask: Tensor, tgt_mask: Tensor) -> list[Tensor]:
        """Compute where each target position attends in the source: weights [B, H, T, S], one per decoder layer."""
        attentions = [copy.copy(attention) for attention in self._cross_attentions()]
        pairs = zip(self.decoder_layers, attentions, strict=True)
        layers = nn.ModuleList(_with_parts(layer, cross_attention=attention) for layer, attention in pairs)
        with record_attention(attentions) as recorded:
            _with_parts(self, decoder_layers=layers)(src_ids, tgt_in_ids, src_mask, tgt_mask)
        return [weights for (weights,) in recorded]

    def _cross_attentions(self) -> list[Attention]:
        return [cast(Attention, cast(DecoderLayer, layer).cross_attention) for layer in self.decoder_layers]


def make_last_norm(config: ModelConfig) -> nn.Module:
    """Make the norm after a stack of layers, which it needs only where each layer begins with its norm."""
    return make_norm(config) if config.norm_first else nn.Identity()


@contextmanager
def record_attention(attentions: list[Attention]) -> Iterator[list[list[Tensor]]]:
    """Let the given attentions, within the block, use the explicit core and keep the weights of each call.

    Those of other threads, too: what several threads run must be copied first, as `Transformer.cross_attention` does.
    """
    recorded: list[list[Tensor]] = [[] for _ in attentions]
    for attention, weights in zip(attentions, recorded, strict=True):
        attention.recorded = weights
    try:
        yield recorded
    finally:
        for attention in attentions:
            attention.recorded = None


def _with_parts(module: nn.Module, **parts: nn.Module) -> nn.Module:
    """Return a module with the same weights and other parts; the module itself, which another thread may run, stays."""
    changed = copy.copy(module)
    changed._modules = {**module._modules, **parts}
    return changed


def build_model(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int, *, pad_id: int = 0) -> Transformer:
    """Build the Transformer that the settings describe, initialized from torch's global generator.

    Raises:
        ValueError: If the two vocabularies differ in size and `share_embeddings` is on.
    """
    if config.share_embeddings and src_vocab_size != tgt_vocab_size:
        raise ValueError(
            f"model.share_embeddings needs one vocabulary, not {src_vocab_size} source and {tgt_vocab_size} target "
            "tokens; set model.share_embeddings=false"
        )
    src_embedding = Embedding(config, src_vocab_size, pad_id)
    tgt_embedding = src_embedding if config.share_embeddings else Embedding(config, tgt_vocab_size, pad_id)
    return Transformer(config, src_embedding, tgt_embedding)


def build_outline(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> Transformer:
    """Build the Transformer that the settings describe on the meta device: shapes alone, whatever their size.

    Raises:
        ValueError: As `build_model`, or if no tensor can have one of the shapes.
    """
    try:
        with torch.device("meta"), _NoInitialization():
            return build_model(config, src_vocab_size, tgt_vocab_size)
    except (RuntimeError, OverflowError, TypeError) as error:
        raise ValueError(f"the settings describe no possible network: {str(error).splitlines()[0]}") from error


class _NoInitialization(TorchFunctionMode):
    """Leave out the initializations for which torch would first load its decompositions, for over a second."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return None if func.__name__ in ("normal_", "eye") else func(*args, **(kwargs or {}))
