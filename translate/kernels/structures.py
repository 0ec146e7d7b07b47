"""The structures of `structures.h`, each declared once in Python, and the check that C lays them out alike.

`_Pointer` fields hold the address of an array whose dtype and sizes the comment gives; `pointer` checks them.
"""

from __future__ import annotations

import ctypes
from itertools import takewhile

_Pointer, _Integer, _Float = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float


class Linear(ctypes.Structure):
    """A linear map in 8-bit integers; P panels of 64 outputs, the last one filled up with zeros."""

    _fields_ = (
        ("weight", _Pointer),  # int8 [P, inputs / 4, 64, 4]
        ("scale", _Pointer),  # float32 [P * 64]
        ("bias", _Pointer),  # float32 [P * 64]
        ("start", _Pointer),  # int32 [P * 64], takes back that C moves the rounded inputs by 128
        ("inputs", _Integer),
        ("outputs", _Integer),
    )


class Norm(ctypes.Structure):
    """A norm over the width; without a weight there is none, without a bias it is by the root mean square."""

    _fields_ = (
        ("weight", _Pointer),  # float32 [width]
        ("bias", _Pointer),  # float32 [width]
        ("epsilon", _Float),
    )


class Layer(ctypes.Structure):
    """A layer of the encoder, or of the decoder with cross-attention."""

    _fields_ = (
        ("qkv", Linear),  # width -> (heads + 2 * groups) * head_dim
        ("self_out", Linear),  # heads * head_dim -> width
        ("cross_q", Linear),  # width -> heads * head_dim
        ("cross_out", Linear),  # heads * head_dim -> width
        ("inner", Linear),  # width -> ff_width, or twice that for swiglu
        ("outer", Linear),  # ff_width -> width
        ("self_norm", Norm),
        ("cross_norm", Norm),
        ("ff_norm", Norm),
    )


class Stack(ctypes.Structure):
    """All layers of the encoder or of the decoder."""

    _fields_ = (
        ("layers", _Integer),
        ("width", _Integer),
        ("heads", _Integer),
        ("groups", _Integer),
        ("head_dim", _Integer),
        ("ff_width", _Integer),
        ("norm_first", _Integer),  # 0 or 1
        ("activation", _Integer),  # index in `layers.ACTIVATIONS`
        ("layer", ctypes.POINTER(Layer)),  # [layers]
        ("last_norm", Norm),
    )


class LayerState(ctypes.Structure):
    """The caches of a decoder layer."""

    _fields_ = (
        ("self_kv", _Pointer),  # float32 [sentences, 2, groups, capacity, head_dim]
        ("memory_kv", _Pointer),  # float32 [sentences, 2, groups, src_len, head_dim]
        ("memory_strides", _Integer * 4),  # of the first four dimensions of memory_kv, in elements
        ("cross_weights", _Pointer),  # float32 [sentences, hypotheses, heads, src_len], zeros; null = not wanted
    )


class Embedding(ctypes.Structure):
    """The embeddings of the target's tokens."""

    _fields_ = (
        ("table", _Pointer),  # float32 [tokens, width]; null = the next two
        ("rounded", _Pointer),  # int8 [tokens, width]
        ("scales", _Pointer),  # float32 [tokens]
        ("scale", _Float),
        ("position", _Pointer),  # float32 [width]; for a whole search [capacity, width]; null = nothing is added
    )


class Output(ctypes.Structure):
    """The map to logits, and which tokens its outputs stand for."""

    _fields_ = (
        ("map", Linear),
        ("tokens", _Pointer),  # int64 [map.outputs - sampled]; null = all of the vocabulary, in order
        ("vocab_size", _Integer),
        ("sampled", _Integer),  # outputs at the end that cannot come, for the sum of probabilities alone
        ("weight", _Float),  # how many tokens each of them stands for
    )


class StepResult(ctypes.Structure):
    """Where a step writes what the layers give, and all logits or the best continuations of each sentence."""

    _fields_ = (
        ("states", _Pointer),  # float32 [sentences * hypotheses, width], after the last norm; null = not wanted
        ("logits", _Pointer),  # float32 [sentences * hypotheses, outputs]; null = the others, or nothing if count is 0
        ("sums", _Pointer),  # float32 [sentences, hypotheses]
        ("banned", _Pointer),  # int64 [num_banned], outputs of the map
        ("num_banned", _Integer),
        ("count", _Integer),
        ("log_probs", _Pointer),  # float32 [sentences, count]
        ("beams", _Pointer),  # int64 [sentences, count]
        ("columns", _Pointer),  # int64 [sentences, count]
    )


class Search(ctypes.Structure):
    """A beam search; a row is a sentence that is not done. With one hypothesis it is greedy."""

    _fields_ = (
        ("numbers", _Pointer),  # int64 [rows], which sentence a row is of
        ("ids", _Pointer),  # int64 [rows, beam_size], the newest tokens; in the first step [rows]
        ("sums", _Pointer),  # float32, as ids, log-probabilities of the hypotheses
        ("descent", _Pointer),  # bool [rows, beam_size, capacity], entries that each comes from; null if beam_size is 1
        ("limits", _Pointer),  # int64 [sentences], most tokens of each, EOS counted
        ("lengths", _Pointer),  # int64 [sentences], steps so far
        ("token_ids", _Pointer),  # int64 [sentences, room, beam_size], the newest tokens of each step
        ("beams", _Pointer),  # int64, the same sizes, which hypothesis of the step before each continues
        ("log_probs", _Pointer),  # float32, the same sizes, log-probability of each with all before it
        (
            "states",
            _Pointer,
        ),  # float32 [sentences, room, beam_size, width], from which each step chose; null = not wanted
        ("num_endings", _Pointer),  # int64 [sentences], finished hypotheses
        ("end_lengths", _Pointer),  # int64 [sentences, 2 * beam_size], tokens of each, EOS counted
        ("end_beams", _Pointer),  # int64, the same sizes, which hypothesis of the step before EOS each continues
        ("end_log_probs", _Pointer),  # float32, the same sizes
        ("banned", _Pointer),  # int64 [num_banned], outputs of the map
        ("num_banned", _Integer),
        ("room", _Integer),
        ("eos", _Integer),
        ("beam_size", _Integer),
        ("wanted", _Integer),  # finished hypotheses that suffice
        ("length_penalty", ctypes.c_double),
    )


class _Place(ctypes.Structure):
    """A row of C's table `struct_layout`: a structure, or a field of one."""

    _fields_ = (("name", ctypes.c_char_p), ("offset", _Integer), ("bytes", _Integer))


def check_layout(library: ctypes.CDLL) -> None:
    """Compare the size of every structure, and the offset and size of every field, with those that C has compiled.

    Raises:
        RuntimeError: If one differs; the message names the structures and the fields.
    """
    ours = {}
    for structure in (Linear, Norm, Layer, Stack, LayerState, Embedding, Output, StepResult, Search):
        ours[structure.__name__] = 0, ctypes.sizeof(structure)
        for name, _ in structure._fields_:
            field = getattr(structure, name)
            ours[f"{structure.__name__}.{name}"] = field.offset, field.size
    rows = (_Place * (len(ours) + 2)).in_dll(library, "struct_layout")  # a row of nulls ends it
    theirs = {row.name.decode(): (row.offset, row.bytes) for row in takewhile(lambda row: row.name, rows)}
    if differing := sorted(name for name in ours | theirs if ours.get(name) != theirs.get(name)):
        raise RuntimeError(f"structures.h and structures.py differ in {', '.join(differing)}; declare the fields alike")
