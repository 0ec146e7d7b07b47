"""Models in 8-bit integers: the linear map, the layers in C, and what translations lose by it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from sacrebleu.metrics import BLEU
from torch import nn

from translate.common.resources import everyday_dir
from translate.model.int8 import Int8Linear, linear_rows
from translate.translator.translator import Translator

MODEL = Path(__file__).parents[1] / "fixtures" / "everyday_model"


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


@torch.inference_mode()
def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    torch.manual_seed(2)
    small, x = Int8Linear(nn.Linear(64, 24)), torch.randn(9, 64)
    assert torch.equal(small(x)[3], small(x[3:4])[0])


@pytest.fixture(scope="module")
def real() -> tuple[list[str], list[str], list[str]]:
    """1,000 real sentences, their translations, and those of the model in float32."""
    sources, references = (
        (everyday_dir() / f"valid.{lang}").read_text(encoding="utf-8").splitlines() for lang in ("en", "fr")
    )
    outputs = [one.text for one in Translator.load(MODEL, device="cpu").translate(sources, beam_size=1)]
    return sources, references, outputs


@pytest.mark.parametrize("precision", ["int8", "bf16"])
@pytest.mark.slow
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
