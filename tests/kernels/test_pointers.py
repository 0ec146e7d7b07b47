"""What goes to C is what C takes it for, or is refused."""

import ctypes
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from translate.config.model import ModelConfig
from translate.kernels import attend, best_continuations, build, library, round_rows, widen_rows
from translate.kernels.packed import Int8Weights, PackedLinear
from translate.kernels.pointers import Array, pointer, token_array
from translate.kernels.structures import check_layout
from translate.model.int8 import Int8Linear
from translate.model.transformer import build_model
from translate.native.network import NativeTransformer
from translate.native.weights import Weights

VOCAB = 50
CONFIG = ModelConfig(d_model=32, d_ff=64, num_heads=2)
needs_compiler = pytest.mark.skipif(library() is None, reason="there is no C compiler (cc)")


def test_an_array_that_fits_has_its_own_address() -> None:
    x = np.zeros((3, 4), np.float32)
    assert pointer("x", x, np.float32, 3, 4) == x.ctypes.data
    assert pointer("x", x[1:], np.float32, 2, 4) == x.ctypes.data + 4 * x.itemsize
    assert pointer("x", x[:, :2], np.float32, 3, 2, strided=True) == x.ctypes.data
    assert pointer("x", x[:, ::4], np.float32, 3, 1, strided=True) == x.ctypes.data  # one column has no stride


ZEROS = np.zeros((3, 8), np.float32)


@pytest.mark.parametrize(
    ("x", "strided"),
    [
        (np.zeros((3, 4)), False),
        (ZEROS[:, :5], False),
        (ZEROS.reshape(24)[:12], False),
        (ZEROS[:, :3].T[:, :4].T[:3], False),
        (np.zeros((4, 3), np.float32).T, False),
        (ZEROS[:, :4], False),
        (ZEROS[:, ::2], True),
        (np.broadcast_to(np.float32(0), (3, 4)), True),
    ],
    ids=["dtype", "size", "dimensions", "columns", "transposed", "rows apart", "columns apart", "expanded"],
)
def test_an_array_that_does_not_fit_is_refused(x: Array, strided: bool) -> None:
    with pytest.raises(ValueError, match=r"weights: the kernels take a contiguous float32 .* \[3, 4\]"):
        pointer("weights", x, np.float32, 3, 4, strided=strided)


@pytest.mark.parametrize("token", [-1, 5])
def test_a_token_outside_the_vocabulary_is_refused(token: int) -> None:
    assert list(token_array("banned", [0, 4], 5)) == [0, 4]
    with pytest.raises(ValueError, match=rf"banned \[3, {token}\] must lie in 0 to 4"):
        token_array("banned", [3, token], 5)


@needs_compiler
def test_the_kernels_refuse_what_does_not_fit() -> None:
    x, whole = np.zeros((2, 32), np.float32), np.zeros((2, 32), np.int32)
    with pytest.raises(ValueError, match=r"x: .*float64"):
        round_rows(x.astype(float))
    with pytest.raises(ValueError, match=r"sums: .*int64"):
        widen_rows(whole.astype(np.int64), x[:, :1].copy(), x[0], None)
    with pytest.raises(ValueError, match=r"col_scale: .*strides \[2\]"):
        widen_rows(whole, x[:, :1].copy(), np.zeros(64, np.float32)[::2], None)
    one = np.zeros((2, 1), np.float32)
    with pytest.raises(ValueError, match=r"sums: .*float64"):
        best_continuations(x, one.astype(float), (), 3)
    with pytest.raises(ValueError, match=r"logits: .*\[4, 32\]"):
        best_continuations(x, np.zeros((2, 2), np.float32), (), 3)
    with pytest.raises(ValueError, match=r"banned \[32\]"):
        best_continuations(x, one, (32,), 3)
    for count in (0, -5):
        with pytest.raises(ValueError, match=rf"count \({count}\) must be at least 1"):
            best_continuations(x, one, (), count)
    q, kv = np.zeros((2, 4, 3, 16), np.float32), np.zeros((2, 2, 7, 16), np.float32)
    with pytest.raises(ValueError, match=r"k: .*\[2, 2, 7, 16\].*\[2, 2, 5, 16\]"):
        attend(q, kv[:, :, :5], kv, None, 1.0)
    with pytest.raises(ValueError, match=r"v: .*float64"):
        attend(q, kv, kv.astype(float), None, 1.0)
    with pytest.raises(ValueError, match=r"attn_mask: .*float32"):
        attend(q, kv, kv, np.zeros((2, 1, 1, 7), np.float32), 1.0)
    with pytest.raises(ValueError, match="4 heads"):
        attend(q, kv[:, :1].repeat(3, axis=1), kv[:, :1].repeat(3, axis=1), None, 1.0)


@needs_compiler
@pytest.mark.parametrize(
    ("declared", "changed", "named"),
    [
        ("num_banned, room, eos,", "num_banned, eos, room,", "Search.eos, Search.room"),  # of the same size
        ("} Search;", "    int64_t more;\n} Search;", "Search"),
        ("    float epsilon;\n", "    double epsilon;\n", "Norm.epsilon"),
    ],
    ids=["order", "length", "type"],
)
def test_a_structure_that_c_declares_otherwise_is_named_at_load(
    declared: str, changed: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in build.SOURCES + build.HEADERS:
        shutil.copy(path, tmp_path)
    structures = tmp_path / "structures.h"
    code = structures.read_text(encoding="utf-8")
    assert code.count(declared) == 1
    structures.write_text(code.replace(declared, changed), encoding="utf-8")
    monkeypatch.setattr(build, "SOURCES", [tmp_path / path.name for path in build.SOURCES])
    monkeypatch.setattr(build, "FLAGS", ("-O0", "-w", "-shared", "-fPIC"))
    compiled = ctypes.CDLL(str(build.compile_kernels(["cc"], tmp_path, "portable")))
    with pytest.raises(RuntimeError, match=rf"^structures\.h and structures\.py differ in {named};"):
        check_layout(compiled)


def make_weights() -> dict[str, Array]:
    torch.manual_seed(5)
    model = build_model(CONFIG, VOCAB, VOCAB)
    return {name: parameter.detach().numpy() for name, parameter in model.named_parameters()}


@pytest.fixture
def stepping() -> NativeTransformer:
    """A model whose layers run in C."""
    if library() is None:
        pytest.skip("there is no C compiler (cc)")
    return NativeTransformer(CONFIG, Weights(make_weights()), VOCAB, VOCAB)


SRC_IDS = np.array([[5, 6, 7], [8, 9, 0]])


def test_the_newest_tokens_may_lie_apart(stepping: NativeTransformer) -> None:
    past = np.array([[[4, 11], [5, 12]], [[6, 13], [7, 14]]])  # [B, N, t], as searches that draw keep it
    last_ids, found = past.reshape(4, 2)[:, 1], []
    assert not last_ids.flags.c_contiguous
    for ids in (last_ids, last_ids.copy()):
        state = stepping.start(stepping.encode(SRC_IDS, SRC_IDS != 0), SRC_IDS != 0)
        stepping.step(np.array([2, 2]), state)
        state.repeat(2)
        found.append(stepping.step(ids, state))
    np.testing.assert_array_equal(*found)


def test_steps_in_c_refuse_what_does_not_fit(stepping: NativeTransformer) -> None:
    mask = SRC_IDS != 0
    memory = stepping.encode(SRC_IDS, mask)

    def step(ids: Array, sums: Array) -> object:
        return stepping.best_step(ids, stepping.start(memory, mask), sums, (), 3)

    def search(limits: Sequence[int] = (4, 4), bos_id: int = 2, beam_size: int = 2) -> object:
        more: Any = {"beam_size": beam_size, "wanted": 1, "length_penalty": 1.0, "banned": ()}
        return stepping.beam_search(memory, mask, limits, **more, bos_id=bos_id, eos_id=3)

    search()
    ids, sums = np.array([4, 5]), np.zeros((2, 1), np.float32)
    step(ids, sums)
    for bad in (ids.astype(np.int32), ids.astype(float)):
        with pytest.raises(ValueError, match="ids: the kernels take"):
            step(bad, sums)
    for bad in (np.array([4, 5, 6]), np.array([4]), np.empty(0, np.int64)):
        with pytest.raises(ValueError, match=rf"ids \({len(bad)}\) must be as many for each of 2 sentences"):
            stepping.step(bad, stepping.start(memory, mask))
    for token in (-1, VOCAB):
        with pytest.raises(ValueError, match="must lie in the vocabulary"):
            step(np.array([4, token]), sums)
    with pytest.raises(ValueError, match=r"sums: .*float64"):
        step(ids, sums.astype(float))
    with pytest.raises(ValueError, match=r"src_mask: .*\[2, 3\]"):
        stepping.encode(SRC_IDS, np.ones((2, 4), dtype=bool))
    with pytest.raises(ValueError, match=rf"bos_id \[{VOCAB}\]"):
        search(bos_id=VOCAB)
    with pytest.raises(ValueError, match="limits"):
        search(limits=[4, 0])
    for limits in ([40], [4, 4, 4]):
        with pytest.raises(ValueError, match=rf"limits \({len(limits)}\) must be as many as sentences \(2\)"):
            search(limits=limits)
    with pytest.raises(ValueError, match=r"beam_size \(0\) must be at least 1"):
        search(beam_size=0)


@needs_compiler
def test_linear_maps_in_c_refuse_what_does_not_fit() -> None:
    rounded = Int8Weights(np.zeros((24, 32), np.int8), np.ones(24, np.float32), None)
    with pytest.raises(ValueError, match=r"x: .*float64"):
        PackedLinear(rounded)(np.zeros((2, 32)))
    with pytest.raises(ValueError, match=r"x: .*\[2, 32\].*\[2, 16\]"):
        PackedLinear(rounded)(np.zeros((2, 16), np.float32))
    with pytest.raises(ValueError, match="24 inputs: 16 does not divide them"):
        PackedLinear(Int8Weights(np.zeros((32, 24), np.int8), np.ones(32, np.float32), None))


def test_weights_of_another_type_are_refused() -> None:
    with pytest.raises(ValueError, match=r"float32 weights on the CPU, not torch\.bfloat16"):
        Int8Linear(nn.Linear(16, 16).bfloat16())
