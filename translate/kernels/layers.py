"""The layers of `layers.c` as Python calls them: encode, one step of the decoder, or a whole search."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from translate.kernels import continuation_pointers, empty_continuations, library, loaded
from translate.kernels.pointers import Array, pointer, strides, token_array
from translate.kernels.structures import Embedding, Layer, LayerState, Linear, Norm, Output, Search, Stack, StepResult

_PANEL = 64  # outputs that are computed together
_SAMPLED = 256  # tokens, about, that stand for those that cannot come
_NO_TOKEN = 2  # what `decode_step` returns for a token outside the vocabulary
ACTIVATIONS = ("relu", "gelu", "swiglu", "swish")  # by the numbers that C gives them


class Int8Weights(NamedTuple):
    """A linear map in 8-bit integers.

    Attributes:
        weight: [out, in] int8.
        scale: [out], of the rows of the weight, for inputs that are scaled to ±127 by their largest entry.
        bias: [out], or None.
    """

    weight: Array
    scale: Array
    bias: Array | None


class Rounded(NamedTuple):
    """A matrix in 8-bit integers.

    Attributes:
        weight: [out, in] int8.
        scale: [out], by which its rows are multiplied.
    """

    weight: Array
    scale: Array


class NormWeights(NamedTuple):
    """A norm over the width: layer norm, or by the root mean square if there is no bias."""

    weight: Array
    bias: Array | None
    epsilon: float


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


class Searched(NamedTuple):
    """What a search in C did for a sentence, N hypotheses in each of its steps.

    Attributes:
        token_ids: Newest tokens, N of each step.
        beams: Which hypothesis of the step before each continues.
        log_probs: Log-probability of each with all before it.
        endings: Finished hypotheses in the order found: tokens, EOS counted; which hypothesis of the step before EOS
            each continues; log-probability.
    """

    token_ids: list[int]
    beams: list[int]
    log_probs: list[float]
    endings: list[tuple[int, int, float]]


class _SearchArrays:
    """The arrays that a search in C reads and writes, named as the fields of `Search`."""

    def __init__(self, limits: Sequence[int], beam_size: int, bos_id: int) -> None:
        if min(limits) < 1:
            raise ValueError(f"limits {list(limits)} must be at least 1")
        sentences, room = len(limits), max(limits)
        rows, steps, endings = (sentences, beam_size), (sentences, room, beam_size), (sentences, 2 * beam_size)
        self.numbers, self.limits = np.arange(sentences), np.array(limits)
        self.ids, self.sums = np.full(rows, bos_id), np.zeros(rows, np.float32)
        self.lengths, self.num_endings = np.zeros(sentences, np.int64), np.zeros(sentences, np.int64)
        self.token_ids, self.beams = np.empty(steps, np.int64), np.empty(steps, np.int64)
        self.log_probs = np.empty(steps, np.float32)
        self.end_lengths, self.end_beams = np.empty(endings, np.int64), np.empty(endings, np.int64)
        self.end_log_probs = np.empty(endings, np.float32)

    def addresses(self) -> dict[str, int]:
        """Return the address of each array, by its field."""
        return {name: pointer(name, array, array.dtype, *array.shape) for name, array in vars(self).items()}

    def results(self) -> list[Searched]:
        """Return what was done for each sentence."""
        sentences, size = self.ids.shape
        steps: list[Array] = [self.token_ids, self.beams, self.log_probs]
        endings: list[Array] = [self.end_lengths, self.end_beams, self.end_log_probs]
        token_ids, beams, log_probs = (x[:, : self.lengths.max()].reshape(sentences, -1).tolist() for x in steps)
        ends = [list(zip(*own, strict=True)) for own in zip(*(x.tolist() for x in endings), strict=True)]
        found = []
        for number, (length, count) in enumerate(zip(self.lengths.tolist(), self.num_endings.tolist(), strict=True)):
            own = slice(length * size)
            columns = token_ids[number][own], beams[number][own], log_probs[number][own]
            found.append(Searched(*columns, ends[number][:count]))
        return found


class _Packed:
    """Holds the memory that structures of C point to."""

    def __init__(self) -> None:
        self._held: list[Array] = []

    def hold(self, name: str, x: Array, dtype: npt.DTypeLike, *shape: int) -> int:
        """Return the address of an array, or of a contiguous copy, and keep it alive as long as this object."""
        self._held.append(np.ascontiguousarray(x))
        return pointer(name, self._held[-1], dtype, *shape)

    def linear(self, name: str, linear: Int8Weights, outputs: int, inputs: int, chosen: Array | None = None) -> Linear:
        """Pack a linear map, or so many of its outputs, which `chosen` [outputs] int64 names."""
        filled, weight = outputs + -outputs % _PANEL, np.ascontiguousarray(linear.weight)
        panels = np.zeros((filled // _PANEL, inputs // 4, _PANEL, 4), np.int8)
        start = np.zeros(filled, np.int32)
        loaded().pack(
            pointer(name, weight, np.int8, outputs if chosen is None else len(weight), inputs),
            None if chosen is None else pointer("chosen", chosen, np.int64, outputs),
            *(outputs, inputs),
            *(pointer("panels", panels, np.int8, *panels.shape), pointer("start", start, np.int32, *start.shape)),
        )
        scale, bias = np.zeros(filled, np.float32), np.zeros(filled, np.float32)
        which = slice(None) if chosen is None else chosen
        scale[:outputs] = linear.scale[which]
        if linear.bias is not None:
            bias[:outputs] = linear.bias[which]
        return Linear(
            self.hold(f"{name} panels", panels, np.int8, *panels.shape),
            self.hold(f"{name} scale", scale, np.float32, filled),
            self.hold(f"{name} bias", bias, np.float32, filled),
            self.hold(f"{name} start", start, np.int32, filled),
            *(inputs, outputs),
        )


class PackedLinear(_Packed):
    """A linear map as `layers.c` reads it.

    Args:
        linear: Its weights.

    Raises:
        ValueError: If the number of inputs is no multiple of 16.
    """

    def __init__(self, linear: Int8Weights) -> None:
        super().__init__()
        self._outputs, self._inputs = linear.weight.shape
        if self._inputs % 16:
            raise ValueError(f"the kernels cannot map {self._inputs} inputs: 16 does not divide them")
        self._linear = self.linear("weight", linear, self._outputs, self._inputs)

    def __call__(self, x: Array) -> Array:
        """Map x [..., in] to [..., out]."""
        x = np.ascontiguousarray(x)
        rows, out = x.size // self._inputs, np.empty((*x.shape[:-1], self._outputs), np.float32)
        _call(
            "project",
            ctypes.byref(self._linear),
            pointer("x", x, np.float32, *x.shape[:-1], self._inputs),
            rows,
            pointer("out", out, np.float32, *out.shape),
        )
        return out


class PackedOutput(_Packed):
    """The map to logits as `layers.c` reads it, to all tokens or to some.

    With some of them a sample of the others, evenly spread over the vocabulary, tells how much probability those have
    together, so that what is left for the chosen ones is about what it would be among all.

    Args:
        weights: Of the map, [V, M].
        tokens: Those that may come, int64 [K]; None = all.

    Raises:
        ValueError: If there is no such token, or none is given.
    """

    def __init__(self, weights: Int8Weights, tokens: Array | None = None) -> None:
        super().__init__()
        self.vocab_size, inputs = weights.weight.shape
        self._tokens: Array | None = None
        if tokens is None:
            self.struct = Output(self.linear("output", weights, self.vocab_size, inputs), vocab_size=self.vocab_size)
            return
        if not tokens.size:
            raise ValueError("a search needs tokens to choose among, and there are none")
        token_array("tokens", [int(tokens.min()), int(tokens.max())], self.vocab_size)
        is_chosen = np.zeros(self.vocab_size, bool)
        is_chosen[tokens] = True
        self._tokens, others = np.flatnonzero(is_chosen), np.flatnonzero(~is_chosen)
        sample = others[:: max(1, len(others) // _SAMPLED)]
        rows = np.concatenate((self._tokens, sample))
        self.struct = Output(
            self.linear("output", weights, len(rows), inputs, rows),
            self.hold("tokens", self._tokens, np.int64, len(self._tokens)),
            *(self.vocab_size, len(sample), len(others) / max(1, len(sample))),
        )

    def places(self, tokens: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
        """Return which outputs stand for tokens; those that may not come at all are left out."""
        checked = token_array("banned", tokens, self.vocab_size)
        if self._tokens is None:
            return checked
        places = [int(np.searchsorted(self._tokens, token)) for token in tokens]
        last = len(self._tokens) - 1
        found = [place for place, token in zip(places, tokens, strict=True) if self._tokens[min(place, last)] == token]
        return token_array("banned", found, last + 1)


class PackedStack(_Packed):
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
            _call(
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
        self._step(inputs, StepResult(logits=pointer("logits", logits, np.float32, *sizes)), self._to_all)
        return logits

    def best_step(
        self,
        inputs: StepInputs,
        sums: Array,
        banned: Sequence[int],
        count: int,
        output: PackedOutput | None = None,
    ) -> tuple[Array, Array, Array]:
        """Find the best continuations of a step, as `translate.kernels.best_continuations` would in the logits.

        Args:
            inputs: What `step` takes.
            sums: Log-probabilities of the hypotheses so far, [B, N].
            banned: Tokens that may not come.
            count: How many continuations of each sentence.
            output: The map to the tokens that may come; None = all of the vocabulary.
        """
        output = output or self._to_all
        sums, banned_places = np.ascontiguousarray(sums), output.places(banned)
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
        self._step(inputs, result, output)
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
    ) -> list[Searched]:
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

        Raises:
            ValueError: If the arrays do not fit each other or the weights, a limit is below 1, or a token is outside
                the vocabulary.
        """
        token_array("bos_id", [bos_id], self._vocab_size)
        output = output or self._to_all
        arrays, banned_places = _SearchArrays(limits, beam_size, bos_id), output.places(banned)
        search = Search(
            **arrays.addresses(),
            banned=ctypes.addressof(banned_places),
            num_banned=len(banned_places),
            room=max(limits),
            eos=eos_id,
            beam_size=beam_size,
            wanted=wanted,
            length_penalty=length_penalty,
        )
        src_mask = np.array(src_mask, order="C")  # C moves the rows that go on to the front
        caches, descent = list[Array](), np.empty((len(src_mask), beam_size, 0), bool)
        rows, entries, tokens = len(src_mask), 0, 0
        while rows:
            tokens = min(max(limits), max(2 * tokens, expected))
            capacity = 1 + beam_size * (tokens - 1)
            caches = _grow_caches(caches, memories, rows, entries, capacity)
            if beam_size > 1:
                descent = _grow(descent, rows, entries, capacity)
                search.descent = pointer("descent", descent, np.bool_, rows, beam_size, capacity)
            added = positions(tokens)  # held here, as another thread may replace the table
            embedding = self._make_embedding(added, tokens)
            states = self._layer_states(caches, memories, rows, capacity, src_mask.shape[1])
            rows = self._search_on(embedding, states, src_mask, rows, entries, capacity, output, search)
            entries = capacity
        return arrays.results()

    def _search_on(
        self,
        embedding: Embedding,
        states: ctypes.Array[LayerState],
        src_mask: Array,
        rows: int,
        entries: int,
        capacity: int,
        output: PackedOutput,
        search: Search,
    ) -> int:
        """Search until all sentences are done or the caches are full; return how many rows go on."""
        found: int = loaded().beam_search(
            *map(ctypes.byref, (self._stack, output.struct, embedding)),
            *(states, pointer("src_mask", src_mask, np.bool_, *src_mask.shape)),
            *(rows, entries, capacity, src_mask.shape[1], ctypes.byref(search)),
        )
        if found < 0:
            raise MemoryError("no memory for beam_search")
        return found

    @property
    def _to_all(self) -> PackedOutput:
        assert self._all_tokens is not None  # a decoder has it
        return self._all_tokens

    def _step(self, inputs: StepInputs, result: StepResult, output: PackedOutput) -> None:
        ids, src_mask = np.ascontiguousarray(inputs.ids), np.ascontiguousarray(inputs.src_mask)
        descent = None if inputs.descent is None else np.ascontiguousarray(inputs.descent)
        (sentences, src_len), entries = src_mask.shape, inputs.entries
        hypotheses, capacity = len(ids) // sentences, inputs.caches[0][0].shape[-2]
        keys = entries + hypotheses
        if keys > capacity:
            raise ValueError(f"caches of {capacity} entries have no room for {keys}")
        caches, memories = zip(*inputs.caches, strict=True)
        embedding = self._make_embedding(None if inputs.position is None else inputs.position[None], 1)
        states = self._layer_states(caches, memories, sentences, capacity, src_len)
        for state, weights in zip(states, () if inputs.cross_weights is None else inputs.cross_weights, strict=False):
            sizes = sentences, hypotheses, self.shape.heads, src_len
            state.cross_weights = pointer("cross_weights", weights, np.float32, *sizes)
        _call(
            "decode_step",
            *map(ctypes.byref, (self._stack, output.struct, embedding)),
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


def _grow_caches(caches: list[Array], memories: Sequence[Array], rows: int, entries: int, capacity: int) -> list[Array]:
    """Return caches [rows, 2, G, capacity, D] that begin with the entries of `caches`."""
    grown = [np.empty((rows, *memory.shape[1:3], capacity, memory.shape[-1]), np.float32) for memory in memories]
    for old, new in zip(caches, grown, strict=False):
        new[..., :entries, :] = old[:rows]
    return grown


def _grow(descent: Array, rows: int, entries: int, capacity: int) -> Array:
    """Return an array [rows, N, capacity] that begins with the entries of `descent`."""
    grown = np.zeros((rows, descent.shape[1], capacity), bool)
    grown[..., :entries] = descent[:rows, :, :entries]
    return grown


def can_run(shape: LayerShape) -> bool:
    """Return whether `layers.c` can compute layers of that shape on this machine."""
    return library() is not None and not any(width % 16 for width in (shape.width, shape.head_dim, shape.ff_width))


def _call(name: str, *arguments: object) -> None:
    failed = getattr(loaded(), name)(*arguments)
    if failed == _NO_TOKEN:
        raise ValueError("the newest token ids must lie in the vocabulary")
    if failed:
        raise MemoryError(f"no memory for {name}")
