"""An exported model behind the same interface: lines in, one line each out, and whatever it cannot do refused."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import ctranslate2
import pytest

from translate.export.writer import save_exported
from translate.translator.bundle import load_bundle
from translate.translator.engines.ctranslate2 import CTranslate2Engine
from translate.translator.translation import Translation
from translate.translator.translator import Translator

FIXTURE = Path(__file__).parents[1] / "fixtures" / "tiny_model"
ROOT = Path(__file__).resolve().parents[2]
TEXTS = ["Good morning.", "", "The cat is black.", "\x00\u200b", "She will eat an apple tomorrow.", "Good morning."]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "exported"
    save_exported(path, *load_bundle(FIXTURE), "float32")
    return path


@pytest.fixture(scope="module")
def theirs(directory: Path) -> Translator:
    return Translator.load(directory, device="cpu")


@pytest.fixture(scope="module")
def ours() -> Translator:
    return Translator.load(FIXTURE, device="cpu", precision="32")


def assert_same(found: list[Translation], expected: list[Translation], settings: dict[str, float]) -> None:
    length_penalty, forced = (
        settings.get("length_penalty", 1.0),
        settings.keys() & {"min_output_len", "min_output_ratio"},
    )
    for some, other in zip(found, expected, strict=True):
        assert some.text == other.text
        assert [h.token_ids for h in some.hypotheses] == [h.token_ids for h in other.hypotheses]
        for mine, his in zip(some.hypotheses, other.hypotheses, strict=True):
            assert mine.score == pytest.approx(mine.log_prob / len(mine.token_ids) ** length_penalty)
            assert forced or mine.log_prob == pytest.approx(his.log_prob, abs=2e-2)  # PAD, BOS and UNK have that much


@pytest.mark.parametrize(
    "settings",
    [
        {"beam_size": 1},
        {"beam_size": 4, "num_hypotheses": 3},
        {"beam_size": 3, "length_penalty": 0.0},
        {"beam_size": 1, "min_output_len": 9},
        {"beam_size": 2, "min_output_len": 4, "max_output_len": 4},
        {"beam_size": 1, "max_output_ratio": 0.1},
        {"beam_size": 5, "max_output_ratio": 0.1, "batch_tokens": 100_000},
        {"beam_size": 1, "min_output_ratio": 1.2},
        {"beam_size": 4, "prefixes": ["Au", "", "Le", "", None, "Au"], "num_hypotheses": 2},
    ],
)
def test_it_translates_as_the_model_it_was_made_from(
    ours: Translator, theirs: Translator, settings: dict[str, float]
) -> None:
    found = theirs.translate(TEXTS, **settings)  # type: ignore[arg-type]
    assert_same(found, ours.translate(TEXTS, **settings), settings)  # type: ignore[arg-type]
    assert found[1] == Translation("", 0.0, (), "fr")


def test_limits_are_those_of_each_sentence_whatever_the_batch(theirs: Translator) -> None:
    texts = ["cat", "The cat is black and the dog is black.", "She will eat an apple tomorrow morning."]
    settings = {"beam_size": 3, "max_output_ratio": 0.2, "num_hypotheses": 3}
    together = theirs.translate(texts, **settings)  # type: ignore[arg-type]
    assert_same(together, theirs.translate(texts, batch_tokens=1, **settings), settings)  # type: ignore[arg-type]
    for text, translation in zip(texts, together, strict=True):
        limit = 10 + int(0.2 * len(theirs.tokenizer.encode_src(text)))
        assert all(len(hypothesis.token_ids) <= limit for hypothesis in translation.hypotheses)


def test_long_lines_are_cut_and_joined_as_ours(ours: Translator, directory: Path) -> None:
    theirs = Translator.load(directory, device="cpu")
    theirs.config = replace(theirs.config, max_src_len=24)
    short = Translator(ours.engine, ours.tokenizer, replace(ours.config, max_src_len=24))
    text = "The cat is black. She will eat an apple tomorrow. Good morning. The dog is in the kitchen."
    assert len(ours.tokenizer.encode_src(text)) > 24
    assert_same(theirs.translate([text], beam_size=1), short.translate([text], beam_size=1), {})


def test_load_opens_it_and_says_how_it_computes(directory: Path, theirs: Translator) -> None:
    opened = Translator.load(directory, device="cpu")
    assert isinstance(opened.engine, CTranslate2Engine)
    assert opened.translate(TEXTS, beam_size=1) == theirs.translate(TEXTS, beam_size=1)
    assert "device cpu, precision float32" in opened.describe()


class Spy:
    """CTranslate2's translator, and the batches that it was given."""

    def __init__(self, runtime: ctranslate2.Translator) -> None:
        self.runtime, self.batches = runtime, []  # type: ignore[var-annotated]

    def __getattr__(self, name: str) -> object:
        return getattr(self.runtime, name)

    def translate_batch(self, sources: list[list[str]], *arguments: object, **settings: object) -> object:
        self.batches.append([len(pieces) + 1 for pieces in sources])
        return self.runtime.translate_batch(sources, *arguments, **settings)


def test_each_core_is_a_worker_with_batches_of_its_own(
    directory: Path, theirs: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{'The cat is black. ' * (number % 4 + 1)}{number}" for number in range(20)]
    monkeypatch.setattr("translate.translator.engines.ctranslate2.available_cores", lambda: 3)
    three = Translator.load(directory, device="cpu")
    assert three.describe().endswith("3 workers of one thread")
    for batch_tokens, batches in ((8192, [7, 7, 6]), (120, None)):
        spy = Spy(three.engine.runtime)
        monkeypatch.setattr(three.engine, "runtime", spy)
        once = {"max_output_ratio": 0.0, "repetition_guard": False, "length_guard": False}  # no text is searched again
        once["paragraph_len"] = 0  # or cut
        found = three.translate(texts, batch_tokens=batch_tokens, **once)  # type: ignore[arg-type]
        assert_same(found, theirs.translate(texts, **once), once)  # type: ignore[arg-type]
        assert sum(map(len, spy.batches)) == len(texts)
        assert batches is None or [len(batch) for batch in spy.batches] == batches
        assert all(len(batch) == 1 or len(batch) * 5 * max(batch) <= batch_tokens for batch in spy.batches)


SERVER = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Absent())
from translate import Translator
print(Translator.load({path!r}).translate(["Good morning."], beam_size=1)[0].text)
from translate.infer.__main__ import main
main(["--model", {path!r}, "--greedy", "-v", "Good morning."])
loaded = {missing} & set(sys.modules)
assert not loaded, loaded
"""


def test_a_server_needs_only_ctranslate2_and_sentencepiece(directory: Path, ours: Translator) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = project["dependencies"] + project["optional-dependencies"]["train"]
    names = {line.split(">")[0].replace("-", "_") for line in listed}
    missing = (names | {"hydra", "omegaconf", "tensorboardX", "pytorch_lightning"}) - {"sentencepiece", "numpy"}
    assert {"torch", "lightning", "safetensors"} <= missing
    done = subprocess.run(
        [sys.executable, "-c", SERVER.format(missing=missing, path=str(directory))],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [ours.translate(["Good morning."], beam_size=1)[0].text] * 2


def test_what_it_cannot_do_is_refused(directory: Path, theirs: Translator) -> None:
    with pytest.raises(
        ValueError, match="attention weights: not possible with an exported CTranslate2 model; use the model directory"
    ):
        theirs.cross_attention("a", "b")
    with pytest.raises(ValueError, match="scoring pairs: not possible"):
        theirs.score([("a", "b")])
    with pytest.raises(ValueError, match=r"search \(sample\): not possible with an exported"):
        theirs.translate([], search="sample")
    with pytest.raises(ValueError, match=r"beam_groups \(5\): not possible with an exported"):
        theirs.translate([], beam_groups=5)
    with pytest.raises(ValueError, match=r"max_output_len \(5000\) must be at most 1024, the number of positions"):
        theirs.translate(["a"], max_output_len=5000)
    with pytest.raises(ValueError, match=r"precision=16 is not possible on cpu .*quantization=float32"):
        Translator.load(directory, device="cpu", precision="16")
    with pytest.raises(ValueError, match=r"precision \(8\) must be one of"):
        Translator.load(directory, precision="8")
    for device in ("abacus", "cuda:99", "cpu:1"):
        with pytest.raises(ValueError, match=rf"device \({device}\) cannot be used here"):
            Translator.load(directory, device=device)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: values.pop("src_lang"), "src_lang"),
        (lambda values: values.update(speed=1), "unknown settings speed"),
        (lambda values: values["decode"].update(beam_size=0), r"decode\.beam_size \(0\)"),
    ],
)
def test_damaged_settings_are_one_line_naming_the_file(
    directory: Path, tmp_path: Path, change: Callable[[dict[str, object]], object], message: str
) -> None:
    for file in directory.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    settings = tmp_path / "translate.json"
    values = json.loads(settings.read_text(encoding="utf-8"))
    change(values)
    settings.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"translate\.json is damaged .*{message}.*export the model again"):
        Translator.load(tmp_path)


@pytest.mark.gpu
@pytest.mark.skipif(not ctranslate2.get_cuda_device_count(), reason="needs a CUDA device")
@pytest.mark.parametrize("precision", ["32", "16"])
def test_it_runs_on_a_gpu(directory: Path, theirs: Translator, precision: str) -> None:
    found = Translator.load(directory, device="cuda", precision=precision).translate(TEXTS, beam_size=1)
    expected = theirs.translate(TEXTS, beam_size=1)
    assert [translation.text == "" for translation in found] == [translation.text == "" for translation in expected]
    if precision == "32":
        assert [translation.text for translation in found] == [translation.text for translation in expected]
