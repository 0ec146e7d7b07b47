"""Models in 8-bit integers: the linear map, the layers in C, and what translations lose by it."""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from sacrebleu.metrics import BLEU
from torch import nn

from translate.common.resources import everyday_dir
from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.kernels import library
from translate.model.int8 import Int8Linear, linear_rows, to_int8
from translate.model.int8_transformer import Int8Transformer, runs_natively
from translate.model.transformer import Transformer, build_model
from translate.search.beam import BeamSearch
from translate.translator.translator import Translator

MODEL = Path(__file__).parents[1] / "fixtures" / "everyday_model"


def byte_products() -> bool:
    found = library()
    return found is not None and bool(found.has_byte_products())


needs_byte_products = pytest.mark.skipif(not byte_products(), reason="needs AVX-512 VNNI and a C compiler")


def int8_model(**settings: object) -> Transformer:
    torch.manual_seed(5)
    sizes = {"d_model": 64, "d_ff": 96, "num_heads": 4, "num_encoder_layers": 2, "num_decoder_layers": 2}
    model = build_model(ModelConfig(**(sizes | settings)), 203, 203).eval()  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.02 * torch.randn_like(parameter)  # biases and norms of their own
    to_int8(model)
    return model


@torch.inference_mode()
def test_int8_linear_is_close_and_takes_rows() -> None:
    torch.manual_seed(1)
    linear, x = nn.Linear(64, 24), torch.randn(3, 5, 64)
    small = Int8Linear(linear)
    torch.testing.assert_close(small(x), linear(x), atol=0.03, rtol=0)  # steps of 1/127 of the largest, 64 of them
    torch.testing.assert_close(linear_rows(small, x, slice(8, None)), small(x)[..., 8:], atol=0, rtol=0)
    torch.testing.assert_close(linear_rows(linear, x, slice(8)), linear(x)[..., :8])


def test_processors_that_overflow_get_smaller_weights() -> None:
    code = (
        "import torch; from translate.model.int8 import Int8Linear\n"
        "torch.manual_seed(1); torch.set_grad_enabled(False)\n"
        "linear, x = torch.nn.Linear(256, 64), torch.randn(32, 256); off = Int8Linear(linear)(x) - linear(x)\n"
        "print(float(off.norm() / linear(x).norm()))"
    )
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.03


@pytest.mark.parametrize("place", ["src_embedding.tokens.weight", "decoder_layers.0.ff_norm.weight"])
def test_what_is_not_a_number_is_not_hidden(place: str) -> None:
    translator = Translator.load(MODEL, device="cpu", precision="int8")
    with torch.no_grad():
        translator.engine.model.get_parameter(place).fill_(torch.nan)
    with pytest.raises(ValueError, match="not a number"):
        translator.translate(["Good morning."])


@torch.inference_mode()
def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    torch.manual_seed(2)
    small, x = Int8Linear(nn.Linear(64, 24)), torch.randn(9, 64)
    assert torch.equal(small(x)[3], small(x[3:4])[0])


@needs_byte_products
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"norm_first": False, "d_ff": 128},
        {"norm": "rmsnorm", "activation": "swiglu", "num_kv_heads": 2},
        {"activation": "gelu", "bias": False, "attention": "mqa", "positions": "learned"},
        {"tie_output": False, "head_dim": 32},
        {"decoder_attention": "mqa", "cross_attention": "mqa"},
    ],
    ids=str,
)
@torch.inference_mode()
def test_layers_in_c_equal_those_in_torch(settings: dict[str, object]) -> None:
    model = int8_model(**settings)
    assert runs_natively(model)
    native = Int8Transformer(model)
    src_ids = torch.randint(4, 203, (3, 9))
    src_mask = torch.arange(9) < torch.tensor([9, 5, 7])[:, None]
    memory = model.encode(src_ids, src_mask)
    close = {"atol": 0.1, "rtol": 0.0}  # a float may fall on the other side of a half, which is one step of 127
    torch.testing.assert_close(native.encode(src_ids, src_mask)[src_mask], memory[src_mask], **close)
    states = model.start(memory, src_mask), native.start(memory, src_mask)
    last_ids, off = torch.full((3,), 2), []
    for length in range(1, 20):  # over a growing cache, following beams, and with a sentence that leaves
        expected, found = model.step(last_ids, states[0]), native.step(last_ids, states[1])
        off.append((found - expected).abs().max().item())
        for state in states:
            if length == 1:
                state.repeat(5)
            elif length == 7:
                state.keep(torch.tensor([0, 2]))
        first = 5 * torch.arange(states[0].num_sentences)[:, None]
        rows = (first + torch.randint(0, 5, (len(first), 5))).flatten()
        for state in states:
            state.reorder(rows)
        last_ids = torch.randint(4, 203, (len(rows),))
    assert max(off) < 0.1
    assert sorted(off)[len(off) // 2] < 1e-4  # as a rule none does


class StepByStep:
    """An `Int8Transformer` without its greedy search."""

    def __init__(self, native: Int8Transformer) -> None:
        self.encode, self.start, self.step, self.best_step = native.encode, native.start, native.step, native.best_step


@needs_byte_products
@pytest.mark.parametrize("network", [{"num_kv_heads": 2}, {"norm_first": False, "positions": "learned"}], ids=str)
def test_greedy_search_in_c_is_the_search_step_by_step(network: dict[str, object]) -> None:
    native = Int8Transformer(int8_model(**network))
    src_ids = torch.randint(4, 203, (30, 12), generator=torch.Generator().manual_seed(1))
    src_mask = torch.arange(12) < 1 + torch.arange(30)[:, None] % 12
    settings = DecodeConfig(beam_size=1, max_output_len=40, repetition_guard=False, length_guard=False)
    search = BeamSearch(settings=settings, bos_id=2, eos_id=3, forbidden_ids=(0, 2))
    found = search.search(native, src_ids, src_mask)
    often = Counter(token for one in found for token in one[0].token_ids[5:]).most_common(1)[0][0]
    for ended in (search, replace(search, eos_id=often)):  # by limits of their own alone, and by EOS amid the output
        found = ended.search(native, src_ids, src_mask)
        assert found == ended.search(StepByStep(native), src_ids, src_mask)
        assert len({len(one[0].token_ids) for one in found}) > 4
    assert any(one[0].token_ids[-1] == often for one in found)


@needs_byte_products
def test_greedy_search_in_c_gives_nothing_where_nothing_is_possible() -> None:
    native, mask = Int8Transformer(int8_model()), torch.ones(1, 3, dtype=torch.bool)
    with torch.inference_mode():
        memory = native.encode(torch.tensor([[5, 6, 7]]), mask)
        assert native.greedy(memory, mask, [9], range(203), 2, 3) == [([], [])]


@pytest.mark.parametrize(
    "settings",
    [{"attention": "mla", "kv_latent_dim": 16}, {"attention": "talking_heads"}, {"cross_attention": "mqa"}],
    ids=str,
)
def test_what_the_layers_in_c_do_not_know_stays_in_torch(settings: dict[str, object]) -> None:
    assert not runs_natively(int8_model(**settings))


@pytest.fixture(scope="module")
def real() -> tuple[list[str], list[str], list[str]]:
    """1,000 real sentences, their translations, and those of the model in float32."""
    sources, references = (
        (everyday_dir() / f"valid.{lang}").read_text(encoding="utf-8").splitlines() for lang in ("en", "fr")
    )
    outputs = [one.text for one in Translator.load(MODEL, device="cpu").translate(sources, beam_size=1)]
    return sources, references, outputs


@pytest.mark.parametrize("precision", ["int8", "bf16"])
def test_a_precision_costs_no_quality(precision: str, real: tuple[list[str], list[str], list[str]]) -> None:
    sources, references, expected = real
    outputs = [
        one.text for one in Translator.load(MODEL, device="cpu", precision=precision).translate(sources, beam_size=1)
    ]
    scores = [BLEU().corpus_score(texts, [references]).score for texts in (outputs, expected)]
    assert scores[1] > 60  # the gate means something
    assert abs(scores[0] - scores[1]) <= 0.3
    assert sum(map(len, outputs)) == pytest.approx(sum(map(len, expected)), rel=0.02)  # none runs on, none breaks off


def test_int8_does_not_depend_on_the_batch(real: tuple[list[str], list[str], list[str]]) -> None:
    translator = Translator.load(MODEL, device="cpu", precision="int8")
    assert translator.precision == "int8"
    longest = max(len(translator.tokenizer.encode_src(text)) for text in real[0][:64])
    found = [
        [(one.text, one.score) for one in translator.translate(real[0][:64], batch_tokens=5 * longest * size)]
        for size in (1, 7, 64)
    ]
    for others in found[1:]:
        assert [text for text, _ in others] == [text for text, _ in found[0]]
        assert [score for _, score in others] == pytest.approx([score for _, score in found[0]], abs=1e-5)


def test_int8_needs_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("translate.translator.engines.opening.find_device", torch.device)
    with pytest.raises(ValueError, match="precision=int8 is for CPUs, not device cuda"):
        Translator.load(MODEL, device="cuda", precision="int8")


def test_processors_that_add_products_of_bytes_exactly_use_all_eight_bits() -> None:
    flags = Path("/proc/cpuinfo")
    if not flags.is_file() or not {"avx512_vnni", "avx_vnni"} & set(flags.read_text().split()):
        pytest.skip("this processor has no instructions for dot products of bytes")
    assert int(Int8Linear(torch.nn.Linear(64, 16)).weight.abs().max()) == 127


@torch.inference_mode()
def test_weights_and_inputs_on_the_grid_of_8_bits_lose_nothing() -> None:
    linear = nn.Linear(64, 16, bias=False)
    most = int(Int8Linear(linear).weight.abs().max())
    generator = torch.Generator().manual_seed(3)
    linear.weight.copy_(torch.randint(-most, most + 1, (16, 64), generator=generator) / 50)
    linear.weight[:, 0] = most / 50  # the largest of each row
    x = torch.randint(-127, 128, (5, 64), generator=generator) / 8
    x[:, 1] = 127 / 8
    torch.testing.assert_close(Int8Linear(linear)(x), linear(x), rtol=1e-5, atol=1e-3)
