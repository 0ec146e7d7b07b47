"""What goes to C is what C takes it for, or is refused."""

import ctypes
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from translate.config.model import ModelConfig
from translate.kernels import attend, best_continuations, build, library, round_rows, widen_rows
from translate.kernels.pointers import pointer, token_array
from translate.kernels.structures import check_layout
from translate.model.int8 import Int8Linear, to_int8
from translate.model.int8_transformer import Int8Transformer
from translate.model.transformer import build_model

VOCAB = 50
needs_compiler = pytest.mark.skipif(library() is None, reason="there is no C compiler (cc)")


def test_a_tensor_that_fits_has_its_own_address() -> None:
    x = torch.zeros(3, 4)
    assert pointer("x", x, torch.float32, 3, 4) == x.data_ptr()
    assert pointer("x", x[1:], torch.float32, 2, 4) == x.data_ptr() + 4 * x.element_size()
    assert pointer("x", x[:, :2], torch.float32, 3, 2, strided=True) == x.data_ptr()
    assert pointer("x", x[:, ::4], torch.float32, 3, 1, strided=True) == x.data_ptr()  # one column has no stride


@pytest.mark.parametrize(
    ("x", "strided"),
    [
        (torch.zeros(3, 4).double(), False),
        (torch.zeros(3, 4, device="meta"), False),
        (torch.zeros(3, 5), False),
        (torch.zeros(12), False),
        (torch.zeros(4, 3).t(), False),
        (torch.zeros(3, 8)[:, :4], False),
        (torch.zeros(3, 8)[:, ::2], True),
        (torch.zeros(1).expand(3, 4), True),
    ],
    ids=["dtype", "device", "size", "dimensions", "transposed", "rows apart", "columns apart", "expanded"],
)
def test_a_tensor_that_does_not_fit_is_refused(x: Tensor, strided: bool) -> None:
    with pytest.raises(ValueError, match=r"weights: the kernels take a contiguous torch\.float32 .* \[3, 4\]"):
        pointer("weights", x, torch.float32, 3, 4, strided=strided)


@pytest.mark.parametrize("token", [-1, 5])
def test_a_token_outside_the_vocabulary_is_refused(token: int) -> None:
    assert list(token_array("banned", [0, 4], 5)) == [0, 4]
    with pytest.raises(ValueError, match=rf"banned \[3, {token}\] must lie in 0 to 4"):
        token_array("banned", [3, token], 5)


@needs_compiler
def test_the_kernels_refuse_what_does_not_fit() -> None:
    x, whole = torch.zeros(2, 32), torch.zeros(2, 32, dtype=torch.int32)
    with pytest.raises(ValueError, match=r"x: .*float64"):
        round_rows(x.double())
    with pytest.raises(ValueError, match=r"sums: .*int64"):
        widen_rows(whole.long(), x[:, :1].contiguous(), x[0], None)
    with pytest.raises(ValueError, match=r"col_scale: .*strides \[2\]"):
        widen_rows(whole, x[:, :1].contiguous(), torch.zeros(64)[::2], None)
    with pytest.raises(ValueError, match=r"sums: .*float64"):
        best_continuations(x, torch.zeros(2, 1).double(), (), 3)
    with pytest.raises(ValueError, match=r"logits: .*\[4, 32\]"):
        best_continuations(x, torch.zeros(2, 2), (), 3)
    with pytest.raises(ValueError, match=r"banned \[32\]"):
        best_continuations(x, torch.zeros(2, 1), (32,), 3)
    q, kv = torch.zeros(2, 4, 3, 16), torch.zeros(2, 2, 7, 16)
    with pytest.raises(ValueError, match=r"k: .*\[2, 2, 7, 16\].*\[2, 2, 5, 16\]"):
        attend(q, kv[:, :, :5], kv, None, 1.0)
    with pytest.raises(ValueError, match=r"v: .*float64"):
        attend(q, kv, kv.double(), None, 1.0)
    with pytest.raises(ValueError, match=r"attn_mask: .*float32"):
        attend(q, kv, kv, torch.zeros(2, 1, 1, 7), 1.0)
    with pytest.raises(ValueError, match="4 heads"):
        attend(q, torch.zeros(2, 3, 7, 16), torch.zeros(2, 3, 7, 16), None, 1.0)


@needs_compiler
@pytest.mark.parametrize(
    ("declared", "changed", "named"),
    [
        ("num_banned, room, eos;", "num_banned, eos, room;", "Search.eos, Search.room"),  # of the same size
        ("} Search;", "    int64_t more;\n} Search;", "Search"),
        ("    float epsilon;\n", "    double epsilon;\n", "Norm.epsilon"),
    ],
    ids=["order", "length", "type"],
)
def test_a_structure_that_c_declares_otherwise_is_named_at_load(
    declared: str, changed: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (layers,) = (source for source in build.SOURCES if source.name == "layers.c")
    code = layers.read_text(encoding="utf-8")
    assert code.count(declared) == 1
    (tmp_path / "layers.c").write_text(code.replace(declared, changed), encoding="utf-8")
    monkeypatch.setattr(build, "SOURCES", [tmp_path / "layers.c"])
    monkeypatch.setattr(build, "FLAGS", ("-O0", "-w", "-shared", "-fPIC"))
    compiled = ctypes.CDLL(str(build.compile_kernels(["cc"], tmp_path)))
    with pytest.raises(RuntimeError, match=rf"^layers\.c and structures\.py differ in {named};"):
        check_layout(compiled)


@pytest.fixture
def stepping() -> Int8Transformer:
    """A model whose layers run in C."""
    found = library()
    if found is None or not found.has_byte_products():
        pytest.skip("needs AVX-512 VNNI and a C compiler")
    torch.manual_seed(5)
    model = build_model(ModelConfig(d_model=32, d_ff=64, num_heads=2), VOCAB, VOCAB).eval()
    to_int8(model)
    return Int8Transformer(model)


@torch.inference_mode()
def test_the_newest_tokens_may_lie_apart(stepping: Int8Transformer) -> None:
    src_ids = torch.tensor([[5, 6, 7], [8, 9, 0]])
    past = torch.tensor([[[4, 11], [5, 12]], [[6, 13], [7, 14]]])  # [B, N, t], as searches that draw keep it
    last_ids, found = past[:, :, -1].flatten(), []
    assert not last_ids.is_contiguous()
    for ids in (last_ids, last_ids.contiguous()):
        state = stepping.start(stepping.encode(src_ids, src_ids != 0), src_ids != 0)
        stepping.step(torch.tensor([2, 2]), state)
        state.repeat(2)
        found.append(stepping.step(ids, state))
    assert torch.equal(*found)


@torch.inference_mode()
def test_steps_in_c_refuse_what_does_not_fit(stepping: Int8Transformer) -> None:
    src_ids = torch.tensor([[5, 6, 7], [8, 9, 0]])
    memory = stepping.encode(src_ids, src_ids != 0)

    def step(ids: Tensor, sums: Tensor) -> object:
        return stepping.best_step(ids, stepping.start(memory, src_ids != 0), sums, (), 3)

    ids, sums = torch.tensor([4, 5]), torch.zeros(2, 1)
    step(ids, sums)
    for bad in (ids.int(), ids.double(), torch.tensor([4, 5, 6])):
        with pytest.raises(ValueError, match="ids: the kernels take"):
            step(bad, sums)
    for token in (-1, VOCAB):
        with pytest.raises(ValueError, match="must lie in the vocabulary"):
            step(torch.tensor([4, token]), sums)
    with pytest.raises(ValueError, match=r"sums: .*float64"):
        step(ids, sums.double())
    with pytest.raises(ValueError, match=r"src_mask: .*\[2, 3\]"):
        stepping.encode(src_ids, torch.ones(2, 4, dtype=torch.bool))
    with pytest.raises(ValueError, match=rf"bos_id \[{VOCAB}\]"):
        stepping.greedy(memory, src_ids != 0, [4, 4], (), VOCAB, 3)
    with pytest.raises(ValueError, match="limits"):
        stepping.greedy(memory, src_ids != 0, [4, 0], (), 2, 3)


def test_weights_of_another_type_are_refused(stepping: Int8Transformer) -> None:
    model = stepping._model
    model.encoder_layers[0].ff_norm.bfloat16()  # type: ignore[union-attr]
    with pytest.raises(ValueError, match=r"ff_norm: .*bfloat16"):
        Int8Transformer(model)
    with pytest.raises(ValueError, match=r"float32 weights on the CPU, not torch\.bfloat16"):
        Int8Linear(nn.Linear(16, 16).bfloat16())
