"""A Transformer whose layers run in `translate/kernels/layers.c`: what searches in 8-bit integers step through."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from translate.config.model import ModelConfig
from translate.kernels.layers import LayerShape, PackedStack, StepInputs, can_run
from translate.kernels.packed import Int8Weights, NormWeights, PackedLinear, PackedOutput, Rounded
from translate.kernels.pointers import Array
from translate.kernels.search_state import Searched, expected_length
from translate.native.state import NativeState
from translate.native.weights import Weights


class NativeTransformer:
    """A `SearchModel` and `BestStepModel` that gives what `Transformer` does, in 8-bit integers and without torch.

    Args:
        config: Settings of the network, for which `runs_natively` holds.
        weights: By the names of the parameters of `Transformer`.
        src_vocab_size: Source ids.
        tgt_vocab_size: Target ids.

    Raises:
        ValueError: If a weight is missing, of another shape, or left over.
    """

    def __init__(self, config: ModelConfig, weights: Weights, src_vocab_size: int, tgt_vocab_size: int) -> None:
        self._config, width = config, config.d_model
        encoder, decoder, cross = config.attention_kinds
        names = _names(config)
        self._tables = {
            "src": weights.table(names["src"], src_vocab_size, width),
            "tgt": weights.table(names["tgt"], tgt_vocab_size, width),
        }
        self._learned = {
            side: weights.vector(
                f"{names[side][0].removesuffix('tokens.weight')}positions.weight", config.max_positions, width
            )
            for side in ("src", "tgt")
            if config.positions == "learned"
        }
        self._sinusoids = np.empty((0, width), np.float32)
        reader = _LayerReader(config, weights)
        output = weights.matrix(names["output"], tgt_vocab_size, width)
        bias = weights.vector("output.bias", tgt_vocab_size) if config.output_bias else None
        self._output = Int8Weights(output.weight, output.scale / 127, bias)
        self._encoder = PackedStack(
            layer_shape(config, encoder),
            [reader.layer(f"encoder_layers.{number}", encoder) for number in range(config.num_encoder_layers)],
            reader.norm("encoder_norm") if config.norm_first else None,
        )
        self._decoder = PackedStack(
            layer_shape(config, decoder),
            [reader.layer(f"decoder_layers.{number}", decoder, cross) for number in range(config.num_decoder_layers)],
            reader.norm("decoder_norm") if config.norm_first else None,
            self._output,
            self._tables["tgt"],
            config.embedding_scale,
        )
        self._memory_maps = [PackedLinear(one) for one in reader.memory_maps]
        weights.check_all_asked()
        self.num_parameters = weights.num_parameters

    def encode(self, src_ids: Array, src_mask: Array) -> Array:
        """Compute the memory of the sources, [B, S] to [B, S, M]."""
        table, factor = self._tables["src"], np.float32(self._config.embedding_scale)
        if isinstance(table, Rounded):
            x = table.weight[src_ids] * table.scale[src_ids][..., None] * factor
        else:
            x = table[src_ids] * factor
        added = self._positions("src", src_ids.shape[1])
        if added is not None:
            x += added[: src_ids.shape[1]]
        return self._encoder.encode(x, src_mask)

    def start(self, memory: Array, src_mask: Array) -> NativeState:
        """Return the state before the first token, one row per sentence."""
        return NativeState(self._memories(memory), src_mask, expected_length(src_mask.shape[1]))

    def step(self, last_ids: Array, state: NativeState, cross_weights: Array | None = None) -> Array:
        """Compute the logits [B * N, V] of the next token, given each row's newest one [B * N].

        Args:
            last_ids: BOS at first.
            state: From `start`, with `repeat` called if N > 1.
            cross_weights: Where the weights of cross-attention go, [layers, B, N, H, S], zeros; None = nowhere.
        """
        logits = self._decoder.step(self._step_inputs(last_ids, state, cross_weights))
        state.added()
        return logits

    def best_step(
        self, last_ids: Array, state: NativeState, sums: Array, banned: Sequence[int], count: int
    ) -> tuple[Array, Array, Array]:
        """Find the best continuations of a step in its logits."""
        found = self._decoder.best_step(self._step_inputs(last_ids, state), sums, banned, count)
        state.added()
        return found

    def beam_search(self, memory: Array, src_mask: Array, limits: Sequence[int], **settings: Any) -> list[Searched]:
        """Run a whole beam search; see `SearchModel`."""
        found, _ = self.search_states(memory, src_mask, limits, **settings)
        return found

    def search_states(
        self, memory: Array, src_mask: Array, limits: Sequence[int], **settings: Any
    ) -> tuple[list[Searched], Array]:
        """Run a whole beam search as `SearchModel` and `PackedStack.beam_search` describe it; give states too."""
        memories, expected = self._memories(memory), expected_length(src_mask.shape[1])
        positions = partial(self._positions, "tgt")
        return self._decoder.beam_search(memories, src_mask, positions, limits, expected, **settings)

    def score_tokens(self, states: Array, tokens: Array, banned: Sequence[int]) -> tuple[Array, Array]:
        """Score tokens by the states before them, as `PackedStack.score_tokens`."""
        return self._decoder.score_tokens(states, tokens, banned)

    def output_to(self, tokens: Array) -> PackedOutput:
        """Return the map to the logits of some tokens [K], as `search_states` takes it."""
        return PackedOutput(self._output, tokens)

    def read_targets(
        self, src_ids: Array, src_mask: Array, tgt_in_ids: Array, labels: Array, *, attention: bool
    ) -> tuple[Array, Array]:
        """Read whole targets, token after token.

        Args:
            src_ids: [B, S], padded at the end.
            src_mask: [B, S] bool, True = real token.
            tgt_in_ids: [B, T], BOS first, padded at the end.
            labels: What each position must predict, [B, T].
            attention: Whether the weights of cross-attention are wanted, which take as much memory as T * S.

        Returns:
            The log-probability of each label [B, T], float32, and the weights of cross-attention [layers, B, T, H, S];
            T is 0 there if they are not wanted.
        """
        state, shape = self.start(self.encode(src_ids, src_mask), src_mask), self._decoder.shape
        (sentences, length), src_len = labels.shape, src_ids.shape[1]
        states = np.empty((length, sentences, shape.width), np.float32)
        layers, kept = self._config.num_decoder_layers, length if attention else 0
        weights = np.zeros((layers, kept, sentences, 1, shape.heads, src_len), np.float32)
        for place in range(length):
            newest, own = np.ascontiguousarray(tgt_in_ids[:, place]), weights[:, place] if attention else None
            self._decoder.step_states(self._step_inputs(newest, state, own), states[place])
            state.added()
        log_probs, _ = self._decoder.score_tokens(states.reshape(-1, shape.width), labels.T.ravel())
        log_probs = log_probs.reshape(length, sentences).T
        return log_probs, weights[:, :, :, 0].swapaxes(1, 2)

    def _memories(self, memory: Array) -> list[Array]:
        """Project a memory [B, S, M] to keys and values of each layer, [B, 2, G, S, D]."""
        shape, (sentences, src_len, _) = self._decoder.shape, memory.shape
        sizes = sentences, src_len, 2, shape.groups, shape.head_dim
        return [project(memory).reshape(sizes).transpose(0, 2, 3, 1, 4) for project in self._memory_maps]

    def _step_inputs(self, last_ids: Array, state: NativeState, cross_weights: Array | None = None) -> StepInputs:
        positions, descent = self._positions("tgt", state.length + 1), state.advance()
        return StepInputs(
            last_ids,
            None if positions is None else positions[state.length],
            descent,
            state.src_mask,
            state.entries,
            list(zip(state.caches, state.memories, strict=True)),
            cross_weights,
        )

    def _positions(self, side: str, count: int) -> Array | None:
        """Return what is added to the embeddings of the first `count` tokens or more, [P, M].

        Raises:
            ValueError: If that is more than the network has learnt.
        """
        if self._learned:
            learned = self._learned[side]
            if count > len(learned):
                raise ValueError(f"position {count} lies beyond max_positions ({len(learned)}); use shorter sentences")
            return learned
        if self._config.positions != "sinusoidal":
            return None
        table = self._sinusoids  # which another thread may replace
        if len(table) < count:
            self._sinusoids = table = _sinusoids(max(256, 2 * count), self._config.d_model, self._config.sinusoids)
        return table


class _LayerReader:
    """Takes the weights of layers out of all weights."""

    def __init__(self, config: ModelConfig, weights: Weights) -> None:
        self._config, self._weights = config, weights
        self.memory_maps: list[Int8Weights] = []  # of each decoder layer read, from the memory to keys and values

    def layer(self, name: str, kind: str, cross: str | None = None) -> dict[str, Int8Weights | NormWeights | None]:
        """Return the weights of one layer, by the names of `layers.c`."""
        config = self._config
        heads, width = config.num_heads * config.width_of_heads, config.d_model
        keys = 2 * config.kv_heads(kind) * config.width_of_heads
        inner = config.d_ff * (2 if config.activation == "swiglu" else 1)
        found: dict[str, Int8Weights | NormWeights | None] = {
            "qkv": self._linear(f"{name}.self_attention.qkv", heads + keys, width),
            "self_out": self._linear(f"{name}.self_attention.out", width, heads),
            "inner": self._linear(f"{name}.feed_forward.inner", inner, width),
            "outer": self._linear(f"{name}.feed_forward.outer", width, config.d_ff),
            "self_norm": self.norm(f"{name}.self_norm"),
            "ff_norm": self.norm(f"{name}.ff_norm"),
        }
        if cross is not None:
            keys = 2 * config.kv_heads(cross) * config.width_of_heads
            qkv = self._linear(f"{name}.cross_attention.qkv", heads + keys, width)
            queries, memory = (_rows(qkv, rows) for rows in (slice(heads), slice(heads, None)))
            self.memory_maps.append(memory)
            found |= {
                "cross_q": queries,
                "cross_out": self._linear(f"{name}.cross_attention.out", width, heads),
                "cross_norm": self.norm(f"{name}.cross_norm"),
            }
        return found

    def norm(self, name: str) -> NormWeights:
        """Return the weights of a norm."""
        kind, width = self._config.norm, self._config.d_model
        bias = self._weights.vector(f"{name}.bias", width) if kind == "layernorm" else None
        return NormWeights(self._weights.vector(f"{name}.weight", width), bias, self._config.norm_epsilon)

    def _linear(self, name: str, outputs: int, inputs: int) -> Int8Weights:
        weight, scale = self._weights.matrix((f"{name}.weight",), outputs, inputs)
        bias = self._weights.vector(f"{name}.bias", outputs) if self._config.bias else None
        return Int8Weights(weight, scale / 127, bias)


def runs_natively(config: ModelConfig) -> bool:
    """Return whether the C kernels can run the network on this CPU: without latents, talking heads or rotation."""
    encoder, decoder, cross = kinds = config.attention_kinds
    if config.positions == "rotary" or not {"mha", "gqa", "mqa"}.issuperset(kinds):
        return False
    alike = config.kv_heads(decoder) == config.kv_heads(cross)
    return alike and all(can_run(layer_shape(config, kind)) for kind in (encoder, decoder))


def layer_shape(config: ModelConfig, kind: str) -> LayerShape:
    """Return the sizes of layers whose self-attention is of a kind that `model.attention` may name."""
    sizes = config.num_heads, config.kv_heads(kind), config.width_of_heads, config.d_ff
    return LayerShape(config.d_model, *sizes, config.norm_first, config.activation)


def _names(config: ModelConfig) -> dict[str, tuple[str, ...]]:
    """Return the names that the embeddings and the output may have: tied ones are stored under one of theirs."""
    src, tgt, output = "src_embedding.tokens.weight", "tgt_embedding.tokens.weight", "output.weight"
    tied = (src, tgt) if config.share_embeddings else (tgt,)
    target = (*tied, output) if config.tie_output else tied
    return {
        "src": target if config.share_embeddings else (src,),
        "tgt": target,
        "output": target if config.tie_output else (output,),
    }


def _rows(linear: Int8Weights, rows: slice) -> Int8Weights:
    return Int8Weights(linear.weight[rows], linear.scale[rows], None if linear.bias is None else linear.bias[rows])


def _sinusoids(length: int, width: int, layout: str) -> Array:
    """Compute the sinusoidal table, [length, width] float32, as `translate.model.positions.sinusoids`."""
    last = width - 2 if layout == "marian" else width
    frequency = np.exp(np.arange(0, width, 2, dtype=np.float32) * np.float32(-math.log(10000.0) / max(1, last)))
    angles = np.arange(length, dtype=np.float32)[:, None] * frequency
    if layout != "interleaved":
        return np.concatenate((np.sin(angles), np.cos(angles)), axis=1)
    table = np.empty((length, width), np.float32)
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table
