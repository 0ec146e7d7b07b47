"""The command `translate.export`."""

import shutil
import sys
from pathlib import Path

import ctranslate2
import pytest
import torch
from commands import run_command
from safetensors.torch import load_file

from translate.common.resources import models_dir
from translate.config.convert import ConvertConfig
from translate.config.export import QUANTIZATIONS, ExportConfig
from translate.config.model import ModelConfig
from translate.convert.reader import convert
from translate.export.writer import export, save_exported
from translate.model.transformer import build_model
from translate.translator.bundle import load_bundle, save_bundle
from translate.translator.translator import Translator

FIXTURE = Path(__file__).parents[1] / "fixtures" / "tiny_model"
FILES = {"model.bin", "config.json", "shared_vocabulary.json", "tokenizer.model", "translate.json", "README.md"}


def test_a_run_is_exported_beside_its_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_bundle(tmp_path / "run" / "model", *load_bundle(FIXTURE))
    output = export(ExportConfig(model=str(tmp_path / "run"), quantization="int8"))
    assert output == tmp_path / "run" / "ctranslate2-int8"
    assert {file.name for file in output.iterdir()} == FILES
    assert sorted(file.name for file in output.parent.iterdir()) == ["ctranslate2-int8", "model"]
    out = capsys.readouterr().out
    assert "exported: " in out
    assert f'next: python -m translate.infer --model {output} "Hello."' in out


def test_the_model_of_the_package_is_not_exported_into_it() -> None:
    with pytest.raises(ValueError, match=r"the model en-fr lies in the package, .*; give output=DIR"):
        export(ExportConfig(model="en-fr"))
    assert [path.name for path in models_dir().iterdir()] == ["en-fr"]


def test_only_an_earlier_export_is_replaced_and_only_if_asked(tmp_path: Path) -> None:
    output, other = tmp_path / "out", tmp_path / "other"
    export(ExportConfig(model=str(FIXTURE), output=str(output)))
    with pytest.raises(ValueError, match=r"output \(.*out\) is there already; set overwrite=true"):
        export(ExportConfig(model=str(FIXTURE), output=str(output), quantization="int8"))
    size = (output / "model.bin").stat().st_size
    export(ExportConfig(model=str(FIXTURE), output=str(output), quantization="int8", overwrite=True))
    assert (output / "model.bin").stat().st_size < size
    other.mkdir()
    with pytest.raises(ValueError, match=r"output \(.*other\) is no earlier export"):
        export(ExportConfig(model=str(FIXTURE), output=str(other), overwrite=True))
    (other / "model.safetensors").touch()
    (other / "notes.txt").touch()
    with pytest.raises(ValueError, match=r"output \(.*other\) is no earlier export"):
        export(ExportConfig(model=str(FIXTURE), output=str(other), overwrite=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "out"]


def test_the_model_itself_is_never_replaced(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(FIXTURE, run / "model")
    (run / "checkpoints").mkdir()
    shutil.copytree(FIXTURE, tmp_path / "other")
    with pytest.raises(ValueError, match=r"would replace the model that it is made from"):
        export(ExportConfig(model=str(run), output=str(run / "model"), overwrite=True))
    with pytest.raises(ValueError, match=r"is the model of a run, which is kept"):
        export(ExportConfig(model=str(tmp_path / "other"), output=str(run / "model"), overwrite=True))
    source = tmp_path / "other"
    with pytest.raises(ValueError, match=r"would replace the model that it is made from"):
        convert(ConvertConfig(source=str(source), output=str(source), overwrite=True))


def test_a_model_directory_in_8_bit_integers_is_an_export_too(tmp_path: Path) -> None:
    small = {"format": "model", "quantization": "int8"}
    first = export(ExportConfig(model=str(FIXTURE), output=str(tmp_path / "first"), **small))
    again = export(ExportConfig(model=str(first), output=str(tmp_path / "again"), **small))
    weights, others = (load_file(path / "model.safetensors") for path in (first, again))
    assert weights.keys() == others.keys()
    for name, weight in weights.items():
        torch.testing.assert_close(others[name], weight, rtol=1e-6, atol=0)
    with pytest.raises(ValueError, match=r"output .* is there already"):
        export(ExportConfig(model=str(FIXTURE), output=str(first), **small))
    export(ExportConfig(model=str(FIXTURE), output=str(first), overwrite=True, **small))
    with pytest.raises(
        ValueError, match=r"quantization \(int16\) must be float32, int8, int6 or int4 with format=model"
    ):
        ExportConfig(format="model", quantization="int16")


def test_a_model_directory_in_6_bit_integers_translates_and_is_exported_again(tmp_path: Path) -> None:
    small = export(
        ExportConfig(model=str(FIXTURE), format="model", quantization="int6", output=str(tmp_path / "small"))
    )
    again = export(ExportConfig(model=str(small), output=str(tmp_path / "ctranslate2")))
    found, expected = (
        Translator.load(path, device="cpu").score([("Good morning.", "Bonjour.")])[0].log_prob
        for path in (small, FIXTURE)
    )
    assert found == pytest.approx(expected, abs=0.5)
    assert Translator.load(again, device="cpu").translate(["Good morning."])[0].text
    with pytest.raises(
        ValueError, match=r"^quantization=int4 is for format=model, not for format=ctranslate2; use int8"
    ):
        ExportConfig(quantization="int4")


@pytest.mark.parametrize("quantization", QUANTIZATIONS)
def test_every_quantization_is_written(tmp_path: Path, quantization: str) -> None:
    save_exported(tmp_path / "out", *load_bundle(FIXTURE), quantization)
    if quantization.endswith("float16"):
        size = {"int8": 1, "": 2}["int8" if quantization.startswith("int8") else ""]
    else:
        size = {"float32": 4, "int16": 2, "int8": 1}[quantization]
    table = 600 * 32  # the vocabulary, stored once
    assert (tmp_path / "out" / "model.bin").stat().st_size >= table * size
    if quantization == "int16" and "int16" not in ctranslate2.get_supported_compute_types("cpu"):  # as on AMD's
        with pytest.raises(ValueError, match=r"quantization=int16 \(int16\); CTranslate2 has float32, .* here"):
            Translator.load(tmp_path / "out", device="cpu")
    elif quantization in ("float32", "int16", "int8", "float16"):
        translator = Translator.load(tmp_path / "out", device="cpu")
        (expected,) = Translator.load(FIXTURE, device="cpu").translate(["Good morning."], beam_size=1)
        (found,) = translator.translate(["Good morning."], beam_size=1)
        assert found.score == pytest.approx(expected.score, abs=0.1)


@pytest.mark.parametrize("place", ["attention", "encoder_attention", "cross_attention"])
def test_talking_heads_are_refused_with_the_reason(tmp_path: Path, place: str) -> None:
    _, tokenizer, config = load_bundle(FIXTURE)
    config.model = ModelConfig(d_model=16, d_ff=16, num_heads=2, **{place: "talking_heads"})  # type: ignore[arg-type]
    model = build_model(config.model, config.src_vocab_size, config.tgt_vocab_size)
    save_bundle(tmp_path / "model", model, tokenizer, config)
    name = "encoder_attention" if place == "attention" else place
    with pytest.raises(ValueError, match=rf"cannot hold talking_heads \(model\.{name}.*\): its softmax"):
        export(ExportConfig(model=str(tmp_path / "model"), output=str(tmp_path / "out")))
    assert not (tmp_path / "out").exists()


def test_without_ctranslate2_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if "ctranslate2" in name.split(".")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(ValueError, match=r"needs an extra: pip install -e '\.\[runtime\]'"):
        save_exported(tmp_path / "out", *load_bundle(FIXTURE), "float32")


@pytest.mark.parametrize(
    ("setting", "message"),
    [({"format": "tflite"}, r"format \(tflite\) must be one of"), ({"quantization": "int3"}, r"quantization \(int3\)")],
)
def test_bad_settings_are_refused(setting: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ExportConfig(**setting)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_command_line_exports(tmp_path: Path) -> None:
    command = ["translate.export", f"model={FIXTURE}", f"output={tmp_path / 'out'}"]
    done = run_command(*command, "quantization=int8", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {file.name for file in (tmp_path / "out").iterdir()} == FILES
    done = run_command(*command, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("error: output (")


def test_an_export_that_does_not_fit_is_named_and_the_older_one_stays(tmp_path: Path, small_files) -> None:
    output = tmp_path / "out"
    save_exported(output, *load_bundle(FIXTURE), "int8")
    before = (output / "model.bin").stat().st_size
    small_files(before)
    with pytest.raises(OSError, match="File too large") as error:
        save_exported(output, *load_bundle(FIXTURE), "float32")
    assert error.value.filename == str(output)
    assert (output / "model.bin").stat().st_size == before
    assert Translator.load(output, device="cpu").translate(["A dog."], beam_size=1)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_export_whose_replacement_was_killed_midway_is_found(tmp_path: Path) -> None:
    save_exported(tmp_path / "out", *load_bundle(FIXTURE), "int8")
    (tmp_path / "out").rename(tmp_path / ".out.old")  # between the two renames
    assert Translator.load(tmp_path / "out", device="cpu").translate(["A dog."], beam_size=1)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
