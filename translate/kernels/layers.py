"""The layers of `layers.c` as Python sees them: packed weights, and its two functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from translate.kernels import continuation_pointers, empty_continuations, library, loaded
from translate.kernels.pointers import pointer, token_array

_PANEL = 64  # outputs that are computed together
_NO_TOKEN = 2  # what `decode_step` returns for a token outside the vocabulary
ACTIVATIONS = ("relu", "gelu", "swiglu")


class _Linear(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("weight", "scale", "bias", "start")),
        *((name, ctypes.c_int64) for name in ("inputs", "outputs")),
    )


class _Norm(ctypes.Structure):
    _fields_ = (("weight", ctypes.c_void_p), ("bias", ctypes.c_void_p), ("epsilon", ctypes.c_float))


class _Layer(ctypes.Structure):
    _fields_ = (
        *((name, _Linear) for name in ("qkv", "self_out", "cross_q", "cross_out", "inner", "outer")),
        *((name, _Norm) for name in ("self_norm", "cross_norm", "ff_norm")),
    )


class _Stack(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("layers", "width", "heads", "groups", "head_dim", "ff_width")),
        *((name, ctypes.c_int64) for name in ("norm_first", "activation")),
        ("layer", ctypes.POINTER(_Layer)),
        ("last_norm", _Norm),
    )


class _LayerState(ctypes.Structure):
    _fields_ = (
        ("self_kv", ctypes.c_void_p),
        ("memory_kv", ctypes.c_void_p),
        ("memory_strides", ctypes.c_int64 * 4),
    )


class _Embedding(ctypes.Structure):
    _fields_ = (("table", ctypes.c_void_p), ("scale", ctypes.c_float), ("position", ctypes.c_void_p))


class _Wanted(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("logits", "sums", "banned")),
        *((name, ctypes.c_int64) for name in ("num_banned", "count")),
        *((name, ctypes.c_void_p) for name in ("log_probs", "beams", "columns")),
    )


class _Search(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("numbers", "ids", "sums", "limits", "lengths", "outputs")),
        *((name, ctypes.c_void_p) for name in ("output_sums", "banned")),
        *((name, ctypes.c_int64) for name in ("num_banned", "room", "eos")),
    )


_STRUCTURES = (_Linear, _Norm, _Layer, _Stack, _LayerState, _Embedding, _Wanted, _Search)


class Int8Weights(NamedTuple):
    """A linear map in 8-bit integers.

    Attributes:
        weight: [out, in] int8.
        scale: [out]; of its rows, for inputs that are scaled to ±127 by their largest entry.
        bias: [out] or None.
    """

    weight: Tensor
    scale: Tensor
    bias: Tensor | None


class NormWeights(NamedTuple):
    """A norm over the width: layer norm, or by the root mean square if there is no bias."""

    weight: Tensor
    bias: Tensor | None
    epsilon: float


class Newest(NamedTuple):
    """The newest token of every hypothesis, and what it needs besides the caches.

    Attributes:
        ids: [B * N].
        position: What is added to their embeddings, [M]; None = nothing.
        descent: Bool [B, 1, N, entries + N], which entries of the cache each hypothesis may look at; None = all.
        src_mask: [B, S] bool.
        entries: Of a sentence in the caches, before this step.
        caches: Of each layer the buffer [B, 2, G, C, D] that the newest keys and values are written into, and those
            of the memory [B, 2, G, S, D].
    """

    ids: Tensor
    position: Tensor | None
    descent: Tensor | None
    src_mask: Tensor
    entries: int
    caches: Sequence[tuple[Tensor, Tensor]]


class Shape(NamedTuple):
    """What all layers of a stack have in common."""

    width: int
    heads: int
    groups: int
    head_dim: int
    ff_width: int
    norm_first: bool
    activation: str


class _GreedyOutputs:
    """The tensors that a greedy search in C reads and writes, as `_Search` lists them."""

    def __init__(self, limits: Sequence[int], bos_id: int) -> None:
        if min(limits) < 1:
            raise ValueError(f"limits {list(limits)} must be at least 1")
        sentences, room = len(limits), max(limits)
        self.numbers, self.ids = torch.arange(sentences), torch.full((sentences,), bos_id)  # [B]
        self.sums, self.limits = torch.zeros(sentences), torch.tensor(limits)  # [B]
        self.lengths = torch.zeros(sentences, dtype=torch.long)  # [B]
        self.outputs = torch.empty(sentences, room, dtype=torch.long)  # [B, longest limit]
        self.output_sums = torch.empty(sentences, room)  # [B, longest limit]

    def pointers(self) -> list[int]:
        """Return the addresses of the tensors in the order of `_Search`."""
        return [pointer(name, tensor, tensor.dtype, *tensor.shape) for name, tensor in vars(self).items()]

    def found(self) -> list[tuple[list[int], list[float]]]:
        """Return the tokens of each sentence and the log-probability of each beginning."""
        longest = int(self.lengths.clamp_(min=0).max())
        found = self.outputs[:, :longest].tolist(), self.output_sums[:, :longest].tolist(), self.lengths.tolist()
        return [(tokens[:length], values[:length]) for tokens, values, length in zip(*found, strict=True)]


class Packed:
    """Weights in the layout that `layers.c` reads; holds the memory that its structures point to.

    Args:
        shape: Of each layer.
        layers: The weights of each by the names of `_Layer`; an encoder's have no cross-attention.
        last_norm: After the layers, if any.
        output: The projection to logits, if any.
        table: The embeddings [V, M], if any, for a decoder.

    Raises:
        ValueError: If a weight has another dtype or other sizes than the shape asks for, or `can_run` refuses it.
    """

    def __init__(
        self,
        shape: Shape,
        layers: Sequence[Mapping[str, Int8Weights | NormWeights | None]],
        last_norm: NormWeights | None = None,
        output: Int8Weights | None = None,
        table: Tensor | None = None,
    ) -> None:
        if not can_run(shape):
            raise ValueError(f"the kernels cannot run layers of {shape} on this machine")
        self._held: list[Tensor] = []
        self._shape, sizes_of = shape, _linear_sizes(shape)
        packed = [
            _Layer(**{name: self._pack(name, part, sizes_of) for name, part in layer.items() if part is not None})
            for layer in layers
        ]
        self._layers = (_Layer * len(packed))(*packed)
        *sizes, norm_first, activation = shape
        self._stack = _Stack(len(packed), *sizes, norm_first, ACTIVATIONS.index(activation), self._layers)
        if last_norm is not None:
            self._stack.last_norm = self._pack_norm("last_norm", last_norm)
        self._vocab_size = 0 if output is None else len(output.weight)
        vocabulary = self._vocab_size, shape.width
        self._output: Any = None if output is None else self._pack_linear("output", output, *vocabulary)
        self._table = None if table is None else self._hold("table", table, torch.float32, *vocabulary)

    def encode(self, x: Tensor, src_mask: Tensor) -> Tensor:
        """Compute the memory [B, S, M] of embeddings [B, S, M], in place; src_mask [B, S] bool, True = real token.

        Raises:
            ValueError: If they do not fit each other or the weights.
        """
        src_mask, sizes = src_mask.contiguous(), x.shape[:2]
        if x.numel():
            _call(
                "encode",
                ctypes.byref(self._stack),
                pointer("x", x, torch.float32, *sizes, self._shape.width),
                *(pointer("src_mask", src_mask, torch.bool, *sizes), *sizes),
            )
        return x

    def step(self, newest: Newest) -> Tensor:
        """Compute the logits [B * N, V] of the next token.

        Raises:
            ValueError: If the tensors do not fit each other or the weights, or an id is outside the vocabulary.
        """
        sizes = len(newest.ids), self._vocab_size
        logits = torch.empty(sizes)
        self._step(newest, _Wanted(logits=pointer("logits", logits, torch.float32, *sizes)))
        return logits

    def best_step(
        self, newest: Newest, sums: Tensor, banned: Sequence[int], count: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Find the best continuations of a step, as `translate.kernels.best_continuations` would in the logits."""
        sums, held = sums.contiguous(), token_array("banned", banned, self._vocab_size)
        sentences = len(newest.src_mask)
        found = empty_continuations(sentences, count)
        so_far = pointer("sums", sums, torch.float32, sentences, len(newest.ids) // sentences)
        places = continuation_pointers(found, sentences, count)
        self._step(newest, _Wanted(None, so_far, ctypes.addressof(held), len(banned), count, *places))
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

        Args:
            memories: Keys and values of the sources in each layer [B, 2, G, S, D]; overwritten.
            src_mask: [B, S] bool.
            positions: Gives what is added to the first so many embeddings, [P, M]; None = nothing.
            limits: Most tokens of each output, EOS counted.
            expected: Tokens that few outputs exceed.
            banned: Tokens that may not come.
            bos_id: Comes before the first token.
            eos_id: Ends an output, as its last token.

        Returns:
            Of each sentence its tokens and the log-probability of each beginning; nothing where no token is possible.

        Raises:
            ValueError: If the tensors do not fit each other or the weights, a limit is below 1, or a token is outside
                the vocabulary.
        """
        (sentences, src_len), room = src_mask.shape, max(limits)
        token_array("bos_id", [bos_id], self._vocab_size)
        outputs = _GreedyOutputs(limits, bos_id)
        held = token_array("banned", banned, self._vocab_size)
        search = _Search(*outputs.pointers(), ctypes.addressof(held), len(banned), room, eos_id)
        src_mask = src_mask.clone(memory_format=torch.contiguous_format)  # rows of it move
        caches: list[Tensor] = []
        rows, entries = sentences, 0
        while rows:  # until all have ended, each time with caches for twice as many tokens
            capacity = min(room, max(2 * entries, expected))
            caches = _grown(caches, memories, rows, entries, capacity)
            position = positions(capacity)
            embedding = self._embedding(position, capacity)
            rows = loaded().greedy(
                *map(ctypes.byref, (self._stack, self._output, embedding)),
                self._states(caches, memories, rows, capacity, src_len),
                pointer("src_mask", src_mask, torch.bool, sentences, src_len),
                *(rows, entries, capacity, src_len, ctypes.byref(search)),
            )
            if rows < 0:
                raise MemoryError("no memory for greedy")
            entries = capacity
        return outputs.found()

    def _step(self, newest: Newest, wanted: _Wanted) -> None:
        ids, src_mask = newest.ids.contiguous(), newest.src_mask.contiguous()
        descent = None if newest.descent is None else newest.descent.contiguous()
        (sentences, src_len), entries = src_mask.shape, newest.entries
        hypotheses, capacity = len(ids) // sentences, newest.caches[0][0].size(-2)
        keys = entries + hypotheses
        if keys > capacity:
            raise ValueError(f"caches of {capacity} entries have no room for {keys}")
        own, memories = zip(*newest.caches, strict=True)
        embedding = self._embedding(None if newest.position is None else newest.position[None], 1)
        _call(
            "decode_step",
            *map(ctypes.byref, (self._stack, self._output, embedding)),
            self._states(own, memories, sentences, capacity, src_len),
            pointer("ids", ids, torch.long, sentences * hypotheses),
            None if descent is None else pointer("descent", descent, torch.bool, sentences, 1, hypotheses, keys),
            pointer("src_mask", src_mask, torch.bool, sentences, src_len),
            *(sentences, hypotheses, entries, capacity, src_len, ctypes.byref(wanted)),
        )

    def _states(
        self, own: Sequence[Tensor], memories: Sequence[Tensor], sentences: int, capacity: int, src_len: int
    ) -> ctypes.Array[_LayerState]:
        """Return the caches of each layer as C reads them, with room for at least `sentences`; see `Newest.caches`."""
        groups, dim, found = self._shape.groups, self._shape.head_dim, (_LayerState * len(self._layers))()
        for state, cache, memory in zip(found, own, memories, strict=True):
            rows, memory_rows = len(cache), len(memory)
            if min(rows, memory_rows) < sentences:
                raise ValueError(f"caches of {rows} and {memory_rows} sentences are too few for {sentences}")
            state.self_kv = pointer("cache", cache, torch.float32, rows, 2, groups, capacity, dim)
            state.memory_kv = pointer(
                "memory", memory, torch.float32, memory_rows, 2, groups, src_len, dim, strided=True
            )
            state.memory_strides[:] = memory.stride()[:4]
        return found

    def _embedding(self, positions: Tensor | None, count: int) -> _Embedding:
        """Return the embeddings with what is added to them at the next `count` positions, [P, M] with P >= count."""
        added = None
        if positions is not None:
            added = pointer("positions", positions[:count], torch.float32, count, self._shape.width)
        return _Embedding(self._table, self._shape.width**0.5, added)

    def _pack(
        self, name: str, part: Int8Weights | NormWeights, sizes_of: Mapping[str, tuple[int, int]]
    ) -> _Linear | _Norm:
        if isinstance(part, NormWeights):
            return self._pack_norm(name, part)
        return self._pack_linear(name, part, *sizes_of[name])

    def _pack_norm(self, name: str, norm: NormWeights) -> _Norm:
        weight, bias = (
            None if x is None else self._hold(name, x, torch.float32, self._shape.width)
            for x in (norm.weight, norm.bias)
        )
        return _Norm(weight, bias, norm.epsilon)

    def _pack_linear(self, name: str, linear: Int8Weights, outputs: int, inputs: int) -> _Linear:
        pointer(name, linear.weight, torch.int8, outputs, inputs)
        fill = -outputs % _PANEL
        weight = F.pad(linear.weight, (0, 0, 0, fill))
        panels = weight.view(-1, _PANEL, inputs // 4, 4).transpose(1, 2)
        bias = torch.zeros_like(linear.scale) if linear.bias is None else linear.bias
        start = -128 * weight.sum(dim=1, dtype=torch.int32)
        return _Linear(
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


def _linear_sizes(shape: Shape) -> dict[str, tuple[int, int]]:
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


def _grown(own: list[Tensor], memories: Sequence[Tensor], rows: int, entries: int, capacity: int) -> list[Tensor]:
    """Return caches [rows, 2, G, capacity, D] that begin with the entries of `own`."""
    grown = [memory.new_empty(rows, *memory.shape[1:3], capacity, memory.size(-1)) for memory in memories]
    for old, new in zip(own, grown, strict=False):
        new[..., :entries, :] = old[:rows]
    return grown


def can_run(shape: Shape) -> bool:
    """Return whether this processor, and `layers.c`, can compute layers of that shape."""
    found = library()
    if found is None:
        return False
    _check_structures(found)
    widths = shape.width, shape.head_dim, shape.ff_width
    return bool(found.has_byte_products()) and not any(width % 16 for width in widths)


class _Place(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("bytes", ctypes.c_int64))


def _check_structures(found: ctypes.CDLL) -> None:
    """Compare the size and the offsets of every structure with those in `layers.c`."""
    ours = {cls.__name__.removeprefix("_"): ctypes.sizeof(cls) for cls in _STRUCTURES}
    for cls in _STRUCTURES:
        name = cls.__name__.removeprefix("_")
        ours |= {f"{name}.{field[0]}": getattr(cls, field[0]).offset for field in cls._fields_}
    places = (_Place * (len(ours) + 2)).in_dll(found, "struct_layout")
    theirs = {place.name.decode(): place.bytes for place in takewhile(lambda place: place.name, places)}
    differing = sorted(name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name))
    assert not differing, f"layers.c and layers.py differ in the size of a structure or the offset of {differing}"


def _call(name: str, *arguments: object) -> None:
    failed = getattr(loaded(), name)(*arguments)
    if failed == _NO_TOKEN:
        raise ValueError("the newest token ids must lie in the vocabulary")
    if failed:
        raise MemoryError(f"no memory for {name}")
