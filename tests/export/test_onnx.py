"""Models for ONNX: the same log-probabilities from every layer, the same greedy outputs, and no torch to run them."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from translate.common.resources import everyday_dir
from translate.config.export import ExportConfig
from translate.config.model import ModelConfig
from translate.export.writer import export, save_exported
from translate.model.transformer import Transformer, build_model
from translate.translator.bundle import load_bundle
from translate.translator.translation import Translation
from translate.translator.translator import Translator

ort = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
pytest.importorskip("onnxscript", reason="needs the extra onnx")

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = Path(__file__).parents[1] / "fixtures" / "tiny_model"
VOCABULARY = 40
NETWORK = ModelConfig(
    d_model=16,
    d_ff=24,
    num_heads=4,
    num_encoder_layers=1,
    num_decoder_layers=1,
    share_embeddings=False,
    tie_output=False,
)
LAYERS: list[dict[str, Any]] = [  # one network of all of them costs one export; grouped heads are in FIXTURE, too
    {
        "encoder_attention": "talking_heads",
        "decoder_attention": "mha",
        "cross_attention": "mla",
        "positions": "rotary",
        "norm": "rmsnorm",
        "activation": "swiglu",
    },
    {
        "encoder_attention": "gqa",
        "decoder_attention": "mla",
        "cross_attention": "talking_heads",
        "positions": "rotary",
        "bias": False,
    },
    {
        "encoder_attention": "mla",
        "decoder_attention": "talking_heads",
        "cross_attention": "mha",
        "norm_first": False,
        "activation": "gelu",
        "head_dim": 6,
    },
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(ExportConfig(model=str(FIXTURE), format="onnx", output=str(tmp_path_factory.mktemp("run") / "onnx")))


def every_layer() -> Transformer:
    """A network with a layer of each kind, learned positions in the target and sinusoidal ones in the source."""
    torch.manual_seed(5)
    models = [build_model(replace(NETWORK, **changes), VOCABULARY, VOCABULARY) for changes in LAYERS]
    first, *others = models
    for model in others:
        first.encoder_layers.extend(model.encoder_layers)
        first.decoder_layers.extend(model.decoder_layers)
    learned = replace(NETWORK, positions="learned", max_positions=300)
    first.src_embedding = build_model(NETWORK, VOCABULARY, VOCABULARY).src_embedding
    first.tgt_embedding = build_model(learned, VOCABULARY, VOCABULARY).tgt_embedding
    with torch.no_grad():
        for parameter in first.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return first.eval()


def run(session: Any, *given: Any) -> list[np.ndarray[Any, Any]]:
    names = [one.name for one in session.get_inputs()]
    return session.run(None, dict(zip(names, map(np.asarray, given), strict=True)))  # type: ignore[no-any-return]


@pytest.mark.slow
@torch.inference_mode()
def test_every_layer_gives_the_same_log_probs_step_by_step(tmp_path: Path) -> None:
    from translate.export.onnx import export_graphs

    model = every_layer()
    export_graphs(tmp_path, model, 300)
    encoder, decoder = (ort.InferenceSession(str(tmp_path / f"{name}.onnx")) for name in ("encoder", "decoder"))
    for src_lens in ([1], [4], [5, 290, 2]):  # beyond the tables' first 256 positions, too
        src_mask = torch.arange(max(src_lens)) < torch.tensor(src_lens)[:, None]
        src_ids = torch.randint(4, VOCABULARY, src_mask.shape) * src_mask
        state = model.start(model.encode(src_ids, src_mask), src_mask)
        memories = run(encoder, src_ids, src_mask)
        pasts = [
            np.zeros((len(src_lens), *past.shape[1:-2], 0, past.shape[-1]), np.float32)
            for past in decoder.get_inputs()[2 + len(LAYERS) :]
        ]
        for last_ids in torch.randint(4, VOCABULARY, (9, len(src_lens))):
            expected = model.step(last_ids, state).log_softmax(1)
            found, *pasts = run(decoder, last_ids, src_mask, *memories, *pasts)
            torch.testing.assert_close(torch.from_numpy(found), expected, rtol=0, atol=1e-4)


def assert_same(found: list[Translation], expected: list[Translation]) -> None:
    for some, other in zip(found, expected, strict=True):
        assert some.text == other.text
        assert [h.token_ids for h in some.hypotheses] == [h.token_ids for h in other.hypotheses]
        for mine, his in zip(some.hypotheses, other.hypotheses, strict=True):
            assert mine.token_log_probs == pytest.approx(his.token_log_probs, abs=1e-4)


@pytest.mark.slow
def test_it_translates_greedily_as_the_model_it_was_made_from(directory: Path) -> None:
    ours, theirs = Translator.load(FIXTURE, device="cpu", precision="32"), Translator.load(directory)
    texts = Path(everyday_dir(), "valid.en").read_text(encoding="utf-8").splitlines()[:200]
    assert_same(theirs.translate(texts), ours.translate(texts, beam_size=1))
    few = ["Good morning.", "", "She will eat an apple tomorrow.", "The cat is black and the dog is black. " * 30]
    several: list[dict[str, Any]] = [
        {"min_output_len": 9, "repetition_guard": False, "length_guard": False},
        {"max_output_ratio": 0.1},
        {"length_penalty": 0.0, "batch_tokens": 1},
        {"prefixes": ["Il", "", "Elle", None]},
    ]
    for settings in several:
        assert_same(theirs.translate(few, **settings), ours.translate(few, beam_size=1, **settings))


@pytest.mark.slow
def test_what_it_cannot_do_is_refused(directory: Path) -> None:
    translator = Translator.load(directory)
    with pytest.raises(ValueError, match=r"beam_size \(5\): not possible with an exported ONNX model"):
        translator.translate([], beam_size=5)
    with pytest.raises(ValueError, match=r"search \(sample\): not possible with an exported ONNX model"):
        translator.translate([], search="sample")
    with pytest.raises(ValueError, match=r"max_output_len \(5000\) must be at most 1024"):
        translator.translate([], max_output_len=5000)
    with pytest.raises(ValueError, match=r"device \(cuda\) cannot be used"):
        Translator.load(directory, device="cuda")
    with pytest.raises(ValueError, match="precision=bf16 is not possible"):
        Translator.load(directory, precision="bf16")


@pytest.mark.slow
def test_a_server_needs_only_onnxruntime_numpy_and_sentencepiece(directory: Path) -> None:
    missing = [
        "torch",
        "lightning",
        "ctranslate2",
        "onnx",
        "onnxscript",
        "omegaconf",
        "safetensors",
        "sacrebleu",
        "tqdm",
    ]
    code = (
        f"import sys\nfor name in {missing}: sys.modules[name] = None\n"
        "from translate.infer.__main__ import main\n"
        f"main(['--model', {str(directory)!r}, 'Good morning.'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    (expected,) = Translator.load(FIXTURE, device="cpu", precision="32").translate(["Good morning."], beam_size=1)
    assert done.stdout == f"{expected.text}\n"


def test_integer_weights_are_refused() -> None:
    with pytest.raises(ValueError, match=r"quantization \(int8\) must be float32 with format=onnx"):
        ExportConfig(format="onnx", quantization="int8")


def test_without_onnxscript_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "translate.export.onnx", raising=False)
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(ValueError, match=r"format=onnx needs an extra: pip install -e '\.\[onnx\]'"):
        save_exported(tmp_path / "out", *load_bundle(FIXTURE), "float32", "onnx")
    assert not list(tmp_path.iterdir())


def test_a_damaged_graph_is_one_line_naming_the_file(tmp_path: Path) -> None:
    from translate.export.writer import _settings
    from translate.translator.engines.directory import save_settings

    _, tokenizer, config = load_bundle(FIXTURE)
    tokenizer.save(tmp_path)
    save_settings(tmp_path, _settings(config, "float32", "onnx"))
    for name in ("encoder.onnx", "decoder.onnx"):
        (tmp_path / name).write_bytes(b"no graph")
    with pytest.raises(ValueError, match=r"onnxruntime cannot open .*encoder\.onnx: [^\n]+$"):
        Translator.load(tmp_path)
