"""The layers of `layers.c` as Python sees them: packed weights, and its two functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from translate.native import empty_continuations, library, loaded, token_array

_PANEL = 64  # outputs that are computed together
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
        descent: Bool [B, N, entries + N], which entries of the cache each hypothesis may look at; None = all.
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


class Packed:
    """Weights in the layout that `layers.c` reads; holds the memory that its structures point to.

    Args:
        shape: Of each layer.
        layers: The weights of each by the names of `_Layer`; an encoder's have no cross-attention.
        last_norm: After the layers, if any.
        output: The projection to logits, if any.
        table: The embeddings [V, M], if any, for a decoder.
    """

    def __init__(
        self,
        shape: Shape,
        layers: Sequence[Mapping[str, Int8Weights | NormWeights | None]],
        last_norm: NormWeights | None = None,
        output: Int8Weights | None = None,
        table: Tensor | None = None,
    ) -> None:
        self._held: list[Tensor] = []
        packed = [
            _Layer(**{name: self._pack(part) for name, part in layer.items() if part is not None}) for layer in layers
        ]
        self._layers = (_Layer * len(packed))(*packed)
        *sizes, norm_first, activation = shape
        self._stack = _Stack(len(packed), *sizes, norm_first, ACTIVATIONS.index(activation), self._layers)
        if last_norm is not None:
            self._stack.last_norm = self._pack(last_norm)
        self._output: Any = None if output is None else self._pack(output)
        self._num_outputs = 0 if output is None else len(output.weight)
        self._table = self._hold(table)

    def encode(self, x: Tensor, src_mask: Tensor) -> Tensor:
        """The memory [B, S, M] of embeddings [B, S, M], in their place; src_mask [B, S] bool, True = real token."""
        src_mask = src_mask.contiguous()
        if x.numel():
            _call("encode", ctypes.byref(self._stack), x.data_ptr(), src_mask.data_ptr(), *x.shape[:2])
        return x

    def step(self, newest: Newest) -> Tensor:
        """Logits [B * N, V] of the next token."""
        logits = torch.empty(len(newest.ids), self._num_outputs)
        self._step(newest, _Wanted(logits=logits.data_ptr()))
        return logits

    def best_step(
        self, newest: Newest, sums: Tensor, banned: Sequence[int], count: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The best continuations, as `translate.native.best_continuations` finds them in the logits."""
        sums, held = sums.contiguous(), token_array(banned)
        found = empty_continuations(len(sums), count)
        places = (part.data_ptr() for part in found)
        self._step(newest, _Wanted(None, sums.data_ptr(), ctypes.addressof(held), len(banned), count, *places))
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
        """The most probable token after the most probable token, until EOS or a limit.

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
        """
        sentences, room = len(limits), max(limits)
        numbers, ids = torch.arange(sentences), torch.full((sentences,), bos_id)
        sums, lengths = torch.zeros(sentences), torch.zeros(sentences, dtype=torch.long)
        outputs, output_sums = torch.empty(sentences, room, dtype=torch.long), torch.empty(sentences, room)
        most, held = torch.tensor(limits), token_array(banned)
        src_mask = src_mask.clone(memory_format=torch.contiguous_format)  # rows of it move
        tensors = (part.data_ptr() for part in (numbers, ids, sums, most, lengths, outputs, output_sums))
        search = _Search(*tensors, ctypes.addressof(held), len(banned), room, eos_id)
        own: list[Tensor] = []
        going, entries = sentences, 0
        while going:
            capacity = min(room, max(2 * entries, expected))
            own = _grown(own, memories, going, entries, capacity)
            position = positions(capacity)
            embedding = self._embedding(position)
            states = _states(zip(own, memories, strict=True))
            parts = ctypes.byref(self._stack), ctypes.byref(self._output), ctypes.byref(embedding), states
            sizes = going, entries, capacity, src_mask.size(1)
            going = loaded().greedy(*parts, src_mask.data_ptr(), *sizes, ctypes.byref(search))
            entries = capacity
            if going < 0:
                raise MemoryError("no memory for greedy")
        longest = int(lengths.clamp_(min=0).max())
        found = outputs[:, :longest].tolist(), output_sums[:, :longest].tolist(), lengths.tolist()
        return [(tokens[:length], values[:length]) for tokens, values, length in zip(*found, strict=True)]

    def _step(self, newest: Newest, wanted: _Wanted) -> None:
        ids, position, descent, src_mask, entries, caches = newest
        states = _states(caches)
        src_mask = src_mask.contiguous()
        descent = None if descent is None else descent.contiguous()
        sizes = len(src_mask), len(ids) // len(src_mask), entries, caches[0][0].size(-2), src_mask.size(1)
        masks = None if descent is None else descent.data_ptr(), src_mask.data_ptr()
        embedding = self._embedding(position)
        parts = (ctypes.byref(part) for part in (self._stack, self._output, embedding))
        _call("decode_step", *parts, states, ids.data_ptr(), *masks, *sizes, ctypes.byref(wanted))

    def _embedding(self, position: Tensor | None) -> _Embedding:
        return _Embedding(self._table, self._stack.width**0.5, None if position is None else position.data_ptr())

    def _pack(self, part: Int8Weights | NormWeights) -> _Linear | _Norm:
        if isinstance(part, NormWeights):
            return _Norm(self._hold(part.weight), self._hold(part.bias), part.epsilon)
        outputs, inputs = part.weight.shape
        fill = -outputs % _PANEL
        weight = F.pad(part.weight, (0, 0, 0, fill))
        panels = weight.view(-1, _PANEL, inputs // 4, 4).transpose(1, 2)
        bias = torch.zeros_like(part.scale) if part.bias is None else part.bias
        start = -128 * weight.sum(dim=1, dtype=torch.int32)
        held = (panels, F.pad(part.scale, (0, fill)), F.pad(bias, (0, fill)), start)
        return _Linear(*map(self._hold, held), inputs, outputs)

    def _hold(self, x: Tensor | None) -> int | None:
        if x is None:
            return None
        self._held.append(x.contiguous())
        return self._held[-1].data_ptr()


def _states(caches: Iterable[tuple[Tensor, Tensor]]) -> ctypes.Array[_LayerState]:
    states = [_LayerState(own.data_ptr(), memory.data_ptr(), memory.stride()[:4]) for own, memory in caches]
    return (_LayerState * len(states))(*states)


def _grown(own: list[Tensor], memories: Sequence[Tensor], rows: int, entries: int, capacity: int) -> list[Tensor]:
    """Caches [rows, 2, G, capacity, D] that begin with what is in `own`."""
    grown = [memory.new_empty(rows, *memory.shape[1:3], capacity, memory.size(-1)) for memory in memories]
    for old, new in zip(own, grown, strict=False):
        new[..., :entries, :] = old[:rows]
    return grown


def can_run(shape: Shape) -> bool:
    """Whether this processor, and `layers.c`, can compute layers of that shape."""
    found = library()
    widths = shape.width, shape.head_dim, shape.ff_width
    return found is not None and bool(found.has_byte_products()) and not any(width % 16 for width in widths)


def _call(name: str, *arguments: object) -> None:
    if getattr(loaded(), name)(*arguments):
        raise MemoryError(f"no memory for {name}")
