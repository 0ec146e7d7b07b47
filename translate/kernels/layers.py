"""What `layers.c` and `search.c` compute, as Python calls it: encode, one step of the decoder, or a whole search."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from translate.kernels import call, check_code, continuation_pointers, empty_continuations, library, loaded
from translate.kernels.packed import Int8Weights, NormWeights, Packed, PackedOutput, Rounded
from translate.kernels.pointers import Array, pointer, strides, token_array
from translate.kernels.search_state import Searched, SearchState
from translate.kernels.structures import Embedding, Layer, LayerState, Norm, Stack, StepResult

ACTIVATIONS = ("relu", "gelu", "swiglu", "swish")  # by the numbers that C gives them


class LayerShape(NamedTuple):
    """The sizes and choices that all layers of a stack have in common."""

    width: int
    heads: int
    groups: int
    head_dim: int
    ff_width: int
    norm_first: bool
    activation: str


class StepInputs(NamedTuple):
    """The newest token of every hypothesis, and the caches of what came before.

    Attributes:
        ids: [B * N].
        position: Added to the embeddings, [M]; None = nothing.
        descent: Bool [B, 1, N, entries + N], which entries of the cache each hypothesis may attend to; None = all.
        src_mask: Bool [B, S], True = real token.
        entries: How many entries a sentence has in the caches before this step.
        caches: For each layer a buffer [B, 2, G, C, D], into which C writes the newest keys and values, and the keys
            and values of the memory [B, 2, G, S, D].
        cross_weights: Where C writes the weights of cross-attention, [layers, B, N, H, S], zeros; None = nowhere.
    """

    ids: Array
    position: Array | None
    descent: Array | None
    src_mask: Array
    entries: int
    caches: Sequence[tuple[Array, Array]]
    cross_weights: Array | None = None


class PackedStack(Packed):
    """The weights of a stack of layers as `layers.c` reads them; holds the memory that its structures point to.

    Args:
        shape: Sizes of every layer.
        layers: The weights of each layer by the fields of `Layer`; an encoder's have no cross-attention.
        last_norm: After the layers, if any.
        output: The projection to logits, for a decoder.
        table: The embeddings [V, M] in float32, or rounded, for a decoder.
        scale: By which embeddings are multiplied.

    Raises:
        ValueError: If a weight has another dtype or other sizes than the shape asks for, or `can_run` refuses it.
    """

    def __init__(
        self,
        shape: LayerShape,
        layers: Sequence[Mapping[str, Int8Weights | NormWeights | None]],
        last_norm: NormWeights | None = None,
        output: Int8Weights | None = None,
        table: Array | Rounded | None = None,
        scale: float = 1.0,
    ) -> None:
        if not can_run(shape):
            raise ValueError(f"the kernels cannot run layers of {shape} on this machine")
        super().__init__()
        self.shape = shape
        self._layers = (Layer * len(layers))(*map(self._pack_layer, layers))
        *sizes, norm_first, activation = shape
        self._stack = Stack(len(layers), *sizes, norm_first, ACTIVATIONS.index(activation), self._layers)
        if last_norm is not None:
            self._stack.last_norm = self._pack_norm("last_norm", last_norm)
        self._all_tokens = None if output is None else PackedOutput(output)
        self._vocab_size = 0 if output is None else len(output.weight)
        sizes = [self._vocab_size, shape.width]
        self._embedding = Embedding(scale=scale)
        if isinstance(table, Rounded):
            self._embedding.rounded = self.hold("table", table.weight, np.int8, *sizes)
            self._embedding.scales = self.hold("table scales", table.scale, np.float32, sizes[0])
        elif table is not None:
            self._embedding.table = self.hold("table", table, np.float32, *sizes)

    def encode(self, x: Array, src_mask: Array) -> Array:
        """Compute the memory [B, S, M] of embeddings [B, S, M], in place; src_mask [B, S] bool, True = real token.

        Raises:
            ValueError: If they do not fit each other or the weights.
        """
        src_mask, (sentences, src_len) = np.ascontiguousarray(src_mask), x.shape[:2]
        if x.size:
            call(
                "encode",
                ctypes.byref(self._stack),
                pointer("x", x, np.float32, sentences, src_len, self.shape.width),
                pointer("src_mask", src_mask, np.bool_, sentences, src_len),
                *(sentences, src_len),
            )
        return x

    def step(self, inputs: StepInputs) -> Array:
        """Compute the logits [B * N, V] of the next token.

        Raises:
            ValueError: If the arrays do not fit each other or the weights, or an id is outside the vocabulary.
        """
        sizes = len(inputs.ids), self._vocab_size
        logits = np.empty(sizes, np.float32)
        self._step(inputs, StepResult(logits=pointer("logits", logits, np.float32, *sizes)))
        return logits

    def step_states(self, inputs: StepInputs, states: Array) -> None:
        """Compute what logits of the next token are made of, into states [B * N, M]; errors as of `step`."""
        sizes = len(inputs.ids), self.shape.width
        self._step(inputs, StepResult(states=pointer("states", states, np.float32, *sizes)))

    def best_step(
        self, inputs: StepInputs, sums: Array, banned: Sequence[int], count: int
    ) -> tuple[Array, Array, Array]:
        """Find the best continuations of a step, as `translate.kernels.best_continuations` would in the logits.

        Args:
            inputs: What `step` takes.
            sums: Log-probabilities of the hypotheses so far, [B, N].
            banned: Tokens that may not come.
            count: How many continuations of each sentence.
        """
        sums, banned_places = np.ascontiguousarray(sums), self._to_all.places(banned)
        sentences = len(inputs.src_mask)
        found = empty_continuations(sentences, count)
        log_probs, beams, columns = continuation_pointers(found, sentences, count)
        result = StepResult(
            sums=pointer("sums", sums, np.float32, sentences, len(inputs.ids) // sentences),
            banned=ctypes.addressof(banned_places),
            num_banned=len(banned_places),
            count=count,
            log_probs=log_probs,
            beams=beams,
            columns=columns,
        )
        self._step(inputs, result)
        return found

    def beam_search(
        self,
        memories: Sequence[Array],
        src_mask: Array,
        positions: Callable[[int], Array | None],
        limits: Sequence[int],
        expected: int,
        *,
        beam_size: int,
        wanted: int,
        length_penalty: float,
        banned: Sequence[int],
        bos_id: int,
        eos_id: int,
        output: PackedOutput | None = None,
        keep_states: bool = False,
    ) -> tuple[list[Searched], Array]:
        """Run a whole beam search as `search.beam.BeamSearch` describes it.

        C returns when the caches are full; they then get twice the room for the sentences that are not done.

        Args:
            memories: Keys and values of the sources in each layer [B, 2, G, S, D]; overwritten.
            src_mask: [B, S] bool, True = real token.
            positions: Gives what is added to the first so many embeddings, [P, M]; None = nothing.
            limits: Most tokens of each output, EOS counted.
            expected: A length, in tokens, that few outputs exceed.
            beam_size: Hypotheses of a sentence that go on; 1 = greedy search.
            wanted: Finished hypotheses of a sentence that suffice.
            length_penalty: As of `normalized_score`.
            banned: Tokens that may not come.
            bos_id: Comes before the first token.
            eos_id: Ends an output, as its last token.
            output: The map to the tokens that may come; None = all of the vocabulary.
            keep_states: Whether the decoder's outputs are wanted.

        Returns:
            What was done for each sentence, and from which outputs of the decoder each step chose, those of N
            hypotheses, [B, most steps, N, M], M = 0 if they are not wanted.

        Raises:
            ValueError: If the arrays do not fit each other or the weights, a limit is below 1, or a token is outside
                the vocabulary.
        """
        token_array("bos_id", [bos_id], self._vocab_size)
        output = output or self._to_all
        state = SearchState(
            memories,
            src_mask,
            limits,
            output.places(banned),
            bos_id=bos_id,
            eos_id=eos_id,
            beam_size=beam_size,
            wanted=wanted,
            length_penalty=length_penalty,
            states_width=self.shape.width if keep_states else 0,
        )
        while state.rows:
            state.grow(expected)
            self._search_on(state, positions(state.tokens), output)
        return state.results(), state.states

    def score_tokens(self, states: Array, tokens: Array, banned: Sequence[int] = ()) -> tuple[Array, Array]:
        """Score tokens by what the decoder gave before them.

        Args:
            states: The decoder's outputs, [R, M].
            tokens: What followed each, [R] int64.
            banned: Tokens that may not come.

        Returns:
            The log-probability of each token [R], and the most probable token but the banned ones [R].

        Raises:
            ValueError: If the arrays do not fit each other or the weights, or a token is outside the vocabulary.
        """
        states, tokens = np.ascontiguousarray(states), np.ascontiguousarray(tokens)
        rows, banned_places = len(states), self._to_all.places(banned)
        log_probs, best = np.empty(rows, np.float32), np.empty(rows, np.int64)
        call(
            "score_tokens",
            ctypes.byref(self._to_all.struct.map),
            pointer("states", states, np.float32, rows, self.shape.width),
            *(pointer("tokens", tokens, np.int64, rows), rows, banned_places, len(banned_places)),
            *(pointer("log_probs", log_probs, np.float32, rows), pointer("best", best, np.int64, rows)),
        )
        return log_probs, best

    def _search_on(self, state: SearchState, positions: Array | None, output: PackedOutput) -> None:
        """Search until all sentences are done or the caches are full."""
        src_mask, embedding = state.src_mask, self._make_embedding(positions, state.tokens)
        src_len = src_mask.shape[1]
        state.rows = loaded().beam_search(
            *map(ctypes.byref, (self._stack, output.struct, embedding)),
            self._layer_states(state.caches, state.memories, state.rows, state.capacity, src_len),
            pointer("src_mask", src_mask, np.bool_, *src_mask.shape),
            *(state.rows, state.entries, state.capacity, src_len, ctypes.byref(state.struct)),
        )
        check_code("beam_search", -state.rows)

    @property
    def _to_all(self) -> PackedOutput:
        assert self._all_tokens is not None  # a decoder has it
        return self._all_tokens

    def _step(self, inputs: StepInputs, result: StepResult) -> None:
        ids, src_mask = np.ascontiguousarray(inputs.ids), np.ascontiguousarray(inputs.src_mask)
        descent = None if inputs.descent is None else np.ascontiguousarray(inputs.descent)
        (sentences, src_len), entries = src_mask.shape, inputs.entries
        hypotheses, capacity = len(ids) // sentences, inputs.caches[0][0].shape[-2]
        if not hypotheses or len(ids) % sentences:
            raise ValueError(f"ids ({len(ids)}) must be as many for each of {sentences} sentences")
        keys = entries + hypotheses
        if keys > capacity:
            raise ValueError(f"caches of {capacity} entries have no room for {keys}")
        caches, memories = zip(*inputs.caches, strict=True)
        embedding = self._make_embedding(None if inputs.position is None else inputs.position[None], 1)
        states = self._layer_states(caches, memories, sentences, capacity, src_len)
        for state, weights in zip(states, () if inputs.cross_weights is None else inputs.cross_weights, strict=False):
            sizes = sentences, hypotheses, self.shape.heads, src_len
            state.cross_weights = pointer("cross_weights", weights, np.float32, *sizes)
        call(
            "decode_step",
            *map(ctypes.byref, (self._stack, self._to_all.struct, embedding)),
            states,
            pointer("ids", ids, np.int64, sentences * hypotheses),
            None if descent is None else pointer("descent", descent, np.bool_, sentences, 1, hypotheses, keys),
            pointer("src_mask", src_mask, np.bool_, sentences, src_len),
            *(sentences, hypotheses, entries, capacity, src_len, keys, ctypes.byref(result)),
        )

    def _layer_states(
        self, caches: Sequence[Array], memories: Sequence[Array], sentences: int, capacity: int, src_len: int
    ) -> ctypes.Array[LayerState]:
        """Return the caches of each layer as C reads them; they hold at least `sentences` rows."""
        groups, dim, states = self.shape.groups, self.shape.head_dim, (LayerState * len(self._layers))()
        for state, cache, memory in zip(states, caches, memories, strict=True):
            rows, memory_rows = len(cache), len(memory)
            if min(rows, memory_rows) < sentences:
                raise ValueError(f"caches of {rows} and {memory_rows} sentences are too few for {sentences}")
            state.self_kv = pointer("cache", cache, np.float32, rows, 2, groups, capacity, dim)
            memory_sizes = memory_rows, 2, groups, src_len, dim
            state.memory_kv = pointer("memory", memory, np.float32, *memory_sizes, strided=True)
            state.memory_strides[:] = strides(memory)[:4]
        return states

    def _make_embedding(self, positions: Array | None, count: int) -> Embedding:
        """Return the embeddings with what is added to them at the next `count` positions, [P, M] with P >= count."""
        added = None
        if positions is not None:
            added = pointer("positions", positions[:count], np.float32, count, self.shape.width)
        known = self._embedding
        return Embedding(known.table, known.rounded, known.scales, known.scale, added)

    def _pack_layer(self, weights: Mapping[str, Int8Weights | NormWeights | None]) -> Layer:
        sizes, layer = _linear_sizes(self.shape), Layer()
        for name, part in weights.items():
            if isinstance(part, NormWeights):
                setattr(layer, name, self._pack_norm(name, part))
            elif part is not None:
                setattr(layer, name, self.linear(name, part, *sizes[name]))
        return layer

    def _pack_norm(self, name: str, norm: NormWeights) -> Norm:
        weight, bias = (
            None if x is None else self.hold(name, x, np.float32, self.shape.width) for x in (norm.weight, norm.bias)
        )
        return Norm(weight, bias, norm.epsilon)


def _linear_sizes(shape: LayerShape) -> dict[str, tuple[int, int]]:
    """Return the numbers of outputs and inputs of the linear maps of a layer."""
    heads, keys = shape.heads * shape.head_dim, shape.groups * shape.head_dim
    return {
        "qkv": (heads + 2 * keys, shape.width),
        "self_out": (shape.width, heads),
        "cross_q": (heads, shape.width),
        "cross_out": (shape.width, heads),
        "inner": (shape.ff_width * (2 if shape.activation == "swiglu" else 1), shape.width),
        "outer": (shape.width, shape.ff_width),
    }


def can_run(shape: LayerShape) -> bool:
    """Return whether `layers.c` can compute layers of that shape on this machine."""
    return library() is not None and not any(width % 16 for width in (shape.width, shape.head_dim, shape.ff_width))
