"""The layers of `layers.c` as Python calls them: encode, one step of the decoder, or a whole greedy search."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from translate.kernels import continuation_pointers, empty_continuations, library, loaded
from translate.kernels.pointers import pointer, token_array
from translate.kernels.structures import Embedding, Layer, LayerState, Linear, Norm, Search, Stack, StepResult

_PANEL = 64  # outputs that are computed together
_NO_TOKEN = 2  # what `decode_step` returns for a token outside the vocabulary
ACTIVATIONS = ("relu", "gelu", "swiglu")  # by the numbers that C gives them


class Int8Weights(NamedTuple):
    """A linear map in 8-bit integers.

    Attributes:
        weight: [out, in] int8.
        scale: [out], of the rows of the weight, for inputs that are scaled to ±127 by their largest entry.
        bias: [out], or None.
    """

    weight: Tensor
    scale: Tensor
    bias: Tensor | None


class NormWeights(NamedTuple):
    """A norm over the width: layer norm, or by the root mean square if there is no bias."""

    weight: Tensor
    bias: Tensor | None
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
    """

    ids: Tensor
    position: Tensor | None
    descent: Tensor | None
    src_mask: Tensor
    entries: int
    caches: Sequence[tuple[Tensor, Tensor]]


class _GreedySearch:
    """The tensors that a greedy search in C reads and writes, named as the fields of `Search`."""

    def __init__(self, limits: Sequence[int], bos_id: int) -> None:
        if min(limits) < 1:
            raise ValueError(f"limits {list(limits)} must be at least 1")
        sentences, room = len(limits), max(limits)
        self.numbers, self.ids = torch.arange(sentences), torch.full((sentences,), bos_id)  # [B]
        self.sums, self.limits = torch.zeros(sentences), torch.tensor(limits)  # [B]
        self.lengths = torch.zeros(sentences, dtype=torch.long)  # [B]
        self.outputs = torch.empty(sentences, room, dtype=torch.long)  # [B, room]
        self.output_sums = torch.empty(sentences, room)  # [B, room]

    def addresses(self) -> dict[str, int]:
        """Return the address of each tensor, by its field."""
        return {name: pointer(name, tensor, tensor.dtype, *tensor.shape) for name, tensor in vars(self).items()}

    def results(self) -> list[tuple[list[int], list[float]]]:
        """Return the tokens of each sentence and the log-probability of each beginning."""
        longest = int(self.lengths.clamp_(min=0).max())
        columns = self.outputs[:, :longest].tolist(), self.output_sums[:, :longest].tolist(), self.lengths.tolist()
        return [(tokens[:length], sums[:length]) for tokens, sums, length in zip(*columns, strict=True)]


class PackedStack:
    """The weights of a stack of layers as `layers.c` reads them; holds the memory that its structures point to.

    Args:
        shape: Sizes of every layer.
        layers: The weights of each layer by the fields of `Layer`; an encoder's have no cross-attention.
        last_norm: After the layers, if any.
        output: The projection to logits, for a decoder.
        table: The embeddings [V, M], for a decoder.

    Raises:
        ValueError: If a weight has another dtype or other sizes than the shape asks for, or `can_run` refuses it.
    """

    def __init__(
        self,
        shape: LayerShape,
        layers: Sequence[Mapping[str, Int8Weights | NormWeights | None]],
        last_norm: NormWeights | None = None,
        output: Int8Weights | None = None,
        table: Tensor | None = None,
    ) -> None:
        if not can_run(shape):
            raise ValueError(f"the kernels cannot run layers of {shape} on this machine")
        self._held: list[Tensor] = []
        self._shape = shape
        self._layers = (Layer * len(layers))(*map(self._pack_layer, layers))
        *sizes, norm_first, activation = shape
        self._stack = Stack(len(layers), *sizes, norm_first, ACTIVATIONS.index(activation), self._layers)
        if last_norm is not None:
            self._stack.last_norm = self._pack_norm("last_norm", last_norm)
        self._vocab_size = 0 if output is None else len(output.weight)
        sizes = [self._vocab_size, shape.width]
        self._output = Linear() if output is None else self._pack_linear("output", output, *sizes)
        self._table = None if table is None else self._hold("table", table, torch.float32, *sizes)

    def encode(self, x: Tensor, src_mask: Tensor) -> Tensor:
        """Compute the memory [B, S, M] of embeddings [B, S, M], in place; src_mask [B, S] bool, True = real token.

        Raises:
            ValueError: If they do not fit each other or the weights.
        """
        src_mask, (sentences, src_len) = src_mask.contiguous(), x.shape[:2]
        if x.numel():
            _call(
                "encode",
                ctypes.byref(self._stack),
                pointer("x", x, torch.float32, sentences, src_len, self._shape.width),
                pointer("src_mask", src_mask, torch.bool, sentences, src_len),
                *(sentences, src_len),
            )
        return x

    def step(self, inputs: StepInputs) -> Tensor:
        """Compute the logits [B * N, V] of the next token.

        Raises:
            ValueError: If the tensors do not fit each other or the weights, or an id is outside the vocabulary.
        """
        sizes = len(inputs.ids), self._vocab_size
        logits = torch.empty(sizes)
        self._step(inputs, StepResult(logits=pointer("logits", logits, torch.float32, *sizes)))
        return logits

    def best_step(
        self, inputs: StepInputs, sums: Tensor, banned: Sequence[int], count: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Find the best continuations of a step, as `translate.kernels.best_continuations` would in the logits."""
        sums, banned_ids = sums.contiguous(), token_array("banned", banned, self._vocab_size)
        sentences = len(inputs.src_mask)
        found = empty_continuations(sentences, count)
        log_probs, beams, columns = continuation_pointers(found, sentences, count)
        result = StepResult(
            sums=pointer("sums", sums, torch.float32, sentences, len(inputs.ids) // sentences),
            banned=ctypes.addressof(banned_ids),
            num_banned=len(banned),
            count=count,
            log_probs=log_probs,
            beams=beams,
            columns=columns,
        )
        self._step(inputs, result)
        return found

    def greedy(
        self,
        memories: Sequence[Tensor],
        src_mask: Tensor,
        positions: Callable[[int], Tensor | None],
        limits: Sequence[int],
        expected: int,
        banned: Sequence[int],
        bos_id: int,
        eos_id: int,
    ) -> list[tuple[list[int], list[float]]]:
        """Search greedily: the most probable token after the most probable token, until EOS or a limit.

        C returns when the caches are full; they then get twice the room for the sentences that have not ended.

        Args:
            memories: Keys and values of the sources in each layer [B, 2, G, S, D]; overwritten.
            src_mask: [B, S] bool, True = real token.
            positions: Gives what is added to the first so many embeddings, [P, M]; None = nothing.
            limits: Most tokens of each output, EOS counted.
            expected: A length, in tokens, that few outputs exceed.
            banned: Tokens that may not come.
            bos_id: Comes before the first token.
            eos_id: Ends an output, as its last token.

        Returns:
            For each sentence its tokens and the log-probability of each beginning; empty where no token is possible.

        Raises:
            ValueError: If the tensors do not fit each other or the weights, a limit is below 1, or a token is outside
                the vocabulary.
        """
        token_array("bos_id", [bos_id], self._vocab_size)
        search, banned_ids = _GreedySearch(limits, bos_id), token_array("banned", banned, self._vocab_size)
        room = max(limits)
        arguments = Search(
            **search.addresses(),
            banned=ctypes.addressof(banned_ids),
            num_banned=len(banned),
            room=room,
            eos=eos_id,
        )
        src_mask = src_mask.clone(memory_format=torch.contiguous_format)  # C moves the rows that go on to the front
        caches, rows, entries = list[Tensor](), len(src_mask), 0
        while rows:
            capacity = min(room, max(2 * entries, expected))
            caches = _grow_caches(caches, memories, rows, entries, capacity)
            rows = self._continue_greedily(
                caches, memories, src_mask, positions(capacity), rows, entries, capacity, arguments
            )
            entries = capacity
        return search.results()

    def _continue_greedily(
        self,
        caches: Sequence[Tensor],
        memories: Sequence[Tensor],
        src_mask: Tensor,
        positions: Tensor | None,
        rows: int,
        entries: int,
        capacity: int,
        search: Search,
    ) -> int:
        """Search until all sentences have ended or the caches are full; return how many rows have not ended."""
        sentences, src_len = src_mask.shape
        embedding = self._make_embedding(positions, capacity)
        rows = loaded().greedy(
            *map(ctypes.byref, (self._stack, self._output, embedding)),
            self._layer_states(caches, memories, rows, capacity, src_len),
            pointer("src_mask", src_mask, torch.bool, sentences, src_len),
            *(rows, entries, capacity, src_len, ctypes.byref(search)),
        )
        if rows < 0:
            raise MemoryError("no memory for greedy")
        return rows

    def _step(self, inputs: StepInputs, result: StepResult) -> None:
        ids, src_mask = inputs.ids.contiguous(), inputs.src_mask.contiguous()
        descent = None if inputs.descent is None else inputs.descent.contiguous()
        (sentences, src_len), entries = src_mask.shape, inputs.entries
        hypotheses, capacity = len(ids) // sentences, inputs.caches[0][0].size(-2)
        keys = entries + hypotheses
        if keys > capacity:
            raise ValueError(f"caches of {capacity} entries have no room for {keys}")
        caches, memories = zip(*inputs.caches, strict=True)
        embedding = self._make_embedding(None if inputs.position is None else inputs.position[None], 1)
        _call(
            "decode_step",
            *map(ctypes.byref, (self._stack, self._output, embedding)),
            self._layer_states(caches, memories, sentences, capacity, src_len),
            pointer("ids", ids, torch.long, sentences * hypotheses),
            None if descent is None else pointer("descent", descent, torch.bool, sentences, 1, hypotheses, keys),
            pointer("src_mask", src_mask, torch.bool, sentences, src_len),
            *(sentences, hypotheses, entries, capacity, src_len, ctypes.byref(result)),
        )

    def _layer_states(
        self, caches: Sequence[Tensor], memories: Sequence[Tensor], sentences: int, capacity: int, src_len: int
    ) -> ctypes.Array[LayerState]:
        """Return the caches of each layer as C reads them; they hold at least `sentences` rows."""
        groups, dim, states = self._shape.groups, self._shape.head_dim, (LayerState * len(self._layers))()
        for state, cache, memory in zip(states, caches, memories, strict=True):
            rows, memory_rows = len(cache), len(memory)
            if min(rows, memory_rows) < sentences:
                raise ValueError(f"caches of {rows} and {memory_rows} sentences are too few for {sentences}")
            state.self_kv = pointer("cache", cache, torch.float32, rows, 2, groups, capacity, dim)
            memory_sizes = memory_rows, 2, groups, src_len, dim
            state.memory_kv = pointer("memory", memory, torch.float32, *memory_sizes, strided=True)
            state.memory_strides[:] = memory.stride()[:4]
        return states

    def _make_embedding(self, positions: Tensor | None, count: int) -> Embedding:
        """Return the embeddings with what is added to them at the next `count` positions, [P, M] with P >= count."""
        added = None
        if positions is not None:
            added = pointer("positions", positions[:count], torch.float32, count, self._shape.width)
        return Embedding(self._table, self._shape.width**0.5, added)

    def _pack_layer(self, weights: Mapping[str, Int8Weights | NormWeights | None]) -> Layer:
        sizes, layer = _linear_sizes(self._shape), Layer()
        for name, part in weights.items():
            if isinstance(part, NormWeights):
                setattr(layer, name, self._pack_norm(name, part))
            elif part is not None:
                setattr(layer, name, self._pack_linear(name, part, *sizes[name]))
        return layer

    def _pack_norm(self, name: str, norm: NormWeights) -> Norm:
        weight, bias = (
            None if x is None else self._hold(name, x, torch.float32, self._shape.width)
            for x in (norm.weight, norm.bias)
        )
        return Norm(weight, bias, norm.epsilon)

    def _pack_linear(self, name: str, linear: Int8Weights, outputs: int, inputs: int) -> Linear:
        pointer(name, linear.weight, torch.int8, outputs, inputs)
        fill = -outputs % _PANEL
        weight = F.pad(linear.weight, (0, 0, 0, fill))  # [out + fill, in]
        panels = weight.view(-1, _PANEL, inputs // 4, 4).transpose(1, 2)  # [P, in / 4, 64, 4]
        bias = torch.zeros_like(linear.scale) if linear.bias is None else linear.bias
        start = -128 * weight.sum(dim=1, dtype=torch.int32)
        return Linear(
            self._hold(name, panels, torch.int8, *panels.shape),
            self._hold(f"{name} scale", F.pad(linear.scale, (0, fill)), torch.float32, outputs + fill),
            self._hold(f"{name} bias", F.pad(bias, (0, fill)), torch.float32, outputs + fill),
            self._hold(f"{name} start", start, torch.int32, outputs + fill),
            *(inputs, outputs),
        )

    def _hold(self, name: str, x: Tensor, dtype: torch.dtype, *shape: int) -> int:
        """Return the address of a tensor, or of a contiguous copy, and keep it alive as long as this object."""
        self._held.append(x.contiguous())
        return pointer(name, self._held[-1], dtype, *shape)


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


def _grow_caches(
    caches: list[Tensor], memories: Sequence[Tensor], rows: int, entries: int, capacity: int
) -> list[Tensor]:
    """Return caches [rows, 2, G, capacity, D] that begin with the entries of `caches`."""
    grown = [memory.new_empty(rows, *memory.shape[1:3], capacity, memory.size(-1)) for memory in memories]
    for old, new in zip(caches, grown, strict=False):
        new[..., :entries, :] = old[:rows]
    return grown


def can_run(shape: LayerShape) -> bool:
    """Return whether `layers.c` can compute layers of that shape on this processor."""
    found, widths = library(), (shape.width, shape.head_dim, shape.ff_width)
    return found is not None and bool(found.has_byte_products()) and not any(width % 16 for width in widths)


def _call(name: str, *arguments: object) -> None:
    failed = getattr(loaded(), name)(*arguments)
    if failed == _NO_TOKEN:
        raise ValueError("the newest token ids must lie in the vocabulary")
    if failed:
        raise MemoryError(f"no memory for {name}")
