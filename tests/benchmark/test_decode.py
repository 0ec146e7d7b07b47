"""The benchmark of decoding: parity of the peer, the arithmetic of the tables, one small run of everything."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from translate.benchmark import decode_commands, decode_stream, decode_worker
from translate.benchmark.decode_commands import measure_commands
from translate.benchmark.decode_engines import CTRANSLATE2, HUGGING_FACE, OTHER, OURS, EngineSpec, OurEngine
from translate.benchmark.decode_huggingface import generate, load_peer, logits_difference, save_peer, unfit_peer
from translate.benchmark.decode_process import RefusedError
from translate.benchmark.decode_report import CommandResult, DecodeBenchmark, EngineResult, StreamResult, WidthResult
from translate.benchmark.decode_rows import find_rows
from translate.benchmark.decode_stream import joined_lines, measure_stream
from translate.benchmark.decode_worker import Job, Worker
from translate.benchmark.decoding import benchmark_decoding, measure, read_sentences
from translate.config.benchmark import BenchmarkDecodeConfig
from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.data.corpus import Pair
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import build_model
from translate.translator.bundle import BundleConfig
from translate.translator.engines.torch import TorchEngine
from translate.translator.translator import Translator

TINY = Path(__file__).resolve().parents[1] / "fixtures" / "tiny_model"
MODEL = ModelConfig(d_model=16, d_ff=24, num_heads=2, num_encoder_layers=2, num_decoder_layers=1)
DECODE = DecodeConfig(beam_size=2, max_output_len=6)


@pytest.fixture
def config(tmp_path: Path) -> BenchmarkDecodeConfig:
    """A measurement of a moment, of a model that no peer of Hugging Face's can be."""
    src = ["The cat sleeps.", "My uncle comes from Spain.", " ", "The cider was not sweet.", "The cat sleeps."]
    for name, lines in (("a.en", src), ("a.fr", ["Le chat dort."] * 5)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return BenchmarkDecodeConfig(
        model=str(TINY),
        src=str(tmp_path / "a.en"),
        ref=str(tmp_path / "a.fr"),
        precisions=["32"],
        rounds=1,
        latency_sentences=2,
        decode=DECODE,
    )


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"norm_first": False, "share_embeddings": False, "activation": "gelu"}])
def test_hugging_face_holds_the_same_model(tmp_path: Path, changes: dict) -> None:
    pytest.importorskip("transformers")
    tokenizer, network = Tokenizer.load(TINY), replace(MODEL, **changes)
    torch.manual_seed(0)
    model = build_model(network, tokenizer.src_vocab_size, tokenizer.tgt_vocab_size).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # so that none is what it starts as
            parameter.add_(0.2 * torch.randn_like(parameter))
    assert unfit_peer(network) == []
    save_peer(tmp_path, model, tokenizer, network, positions=41)
    peer = load_peer(tmp_path)
    assert logits_difference(peer, model, tokenizer) < 1e-5
    decode = DecodeConfig(beam_size=1, max_output_len=9, max_output_ratio=0, repetition_guard=False, length_guard=False)
    sources = tokenizer.encode_src_batch(["The cat sleeps.", "No."])
    translator = Translator(
        TorchEngine(model, tokenizer),
        tokenizer,
        BundleConfig("en", "fr", tokenizer.src_vocab_size, tokenizer.tgt_vocab_size, "", model=network),
    )
    ours = translator.translate(["The cat sleeps.", "No."], decode)
    assert generate(peer, sources, decode, 1) == [list(one.hypotheses[0].token_ids) for one in ours]
    model.encoder_layers[0].self_attention.qkv.weight.data[0] += 0.1
    assert logits_difference(peer, model, tokenizer) > 1e-4  # and it would show


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"attention": "mqa", "positions": "rotary"}, "has no attention mqa"),
        ({"positions": "learned"}, "has no positions=learned"),
        ({"share_embeddings": False}, "has no share_embeddings=false or tie_output=false"),
    ],
)
def test_what_hugging_face_cannot_hold_says_why(changes: dict, reason: str) -> None:
    assert reason in "; ".join(unfit_peer(replace(MODEL, **changes)))


class SlowEngine:
    """Takes a second for each text, by a clock of its own."""

    description = ""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int, int]] = []

    def translate(self, texts: list[str], beam_size: int, batch_size: int) -> tuple[list[str], int]:
        self.calls.append((len(texts), beam_size, batch_size))
        time.sleep(0.01 * len(texts))
        return [text.upper() for text in texts], 4 * len(texts)


def test_a_worker_times_what_it_is_asked_for() -> None:
    engine = SlowEngine()
    worker = Worker(engine, Job(EngineSpec("", "", ""), DECODE, ["a", "b", "c"], ["b"]))
    assert worker.warm_up(2, 30) == ["A", "B", "C"]
    found = worker.batch(2, 30)
    assert found["tokens"] == 12
    assert found["seconds"] >= 0.03
    (seconds,) = worker.single(1, 50)
    assert seconds >= 0.01
    assert engine.calls[-3:] == [(1, 2, 30), (3, 2, 30), (1, 1, 50)]


def test_a_worker_says_why_it_cannot_open_an_engine(monkeypatch, capfd, tmp_path: Path) -> None:
    job = Job(EngineSpec("é", OURS, str(TINY), precision="no such"), DECODE, ["é"], [])
    assert Job.from_json(job.to_json()) == job
    (tmp_path / "job.json").write_text(job.to_json(), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["", str(tmp_path / "job.json")])
    decode_worker.main()
    assert json.loads(capfd.readouterr().out)["refused"].startswith("precision (no such) must be one of")


def test_our_engine_translates_as_the_settings_say() -> None:
    engine = OurEngine(EngineSpec("", OURS, str(TINY)), DECODE)
    texts = ["The cat sleeps.", "No."]
    expected = Translator.load(TINY).translate(texts, **vars(replace(DECODE, beam_size=1)))
    tokens = sum(len(one.hypotheses[0].token_ids) for one in expected)
    assert engine.translate(texts, 1, 100) == ([one.text for one in expected], tokens)


def test_joined_lines_are_different_and_begin_alike() -> None:
    lines = joined_lines(["a", "b", "c d", "a"], 4)
    assert len(set(lines)) == 4
    assert lines[:2] == joined_lines(["a", "b", "c d", "a"], 2)
    assert all(re.fullmatch("(a|b|c d) (a|b|c d)", line) for line in lines)
    with pytest.raises(
        ValueError, match="sizes, command_lines: 5 different lines cannot be made of 3 sentences, 4 can"
    ):
        joined_lines(["a", "b", "c d", "a"], 5)


def test_sentences_are_clean_and_not_empty(config: BenchmarkDecodeConfig) -> None:
    pairs = read_sentences(replace(config, sentences=3), TINY)
    assert [pair.src for pair in pairs] == ["The cat sleeps.", "My uncle comes from Spain.", "The cider was not sweet."]
    assert pairs[0] == Pair("The cat sleeps.", "Le chat dort.")
    with pytest.raises(ValueError, match="is in no run, whose data could be translated; give src=FILE ref=FILE"):
        read_sentences(replace(config, src=None, ref=None), TINY)


def test_another_model_that_is_not_there_is_refused(config: BenchmarkDecodeConfig, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nowhere"):
        find_rows(replace(config, against="nowhere"), TINY, "", tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rounds": 0}, r"rounds \(0\) must be at least 1"),
        ({"sizes": [1, 0]}, r"sizes \(0\) must be at least 1"),
        ({"precisions": []}, "precisions must name at least one"),
        ({"src": "a"}, "src=FILE and ref=FILE belong together"),
        ({"src": "a", "ref": "b", "split": "test"}, "with src=FILE ref=FILE leave them out"),
        ({"decode": DecodeConfig(search="sample")}, r"decode.search \(sample\) must be beam in this benchmark"),
    ],
    ids=str,
)
def test_what_cannot_be_measured_is_refused(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BenchmarkDecodeConfig(**changes)


def engine(name: str, kind: str, seconds: list[float], ms: list[float], mib: int) -> EngineResult:
    widths = [WidthResult(size, 100, 50.0 + size, list(seconds), 40, list(ms), list(ms)) for size in (5, 1)]
    framework = 15 if kind == OURS else 1  # ours has the larger one, which a ratio may not leave out
    return EngineResult(name, kind, "words", framework * 2**20, widths, mib * 2**20)


def found(**changes) -> DecodeBenchmark:
    values = {
        "engines": [
            engine("translate 32", OURS, [2.0, 4.0, 1.0], [3.0, 1.0, 2.0], 30),
            engine("translate int8", OURS, [1.0], [8.0], 20),
            engine("other model int8", OTHER, [5.0], [2.0], 40),
            engine("CTranslate2 int8, 2 × 1", CTRANSLATE2, [0.5], [4.0], 10),
            engine("Hugging Face generate", HUGGING_FACE, [10.0], [16.0], 40),
        ],
        "left_out": {"translate bf16": "no such instructions"},
        "stream": [StreamResult(0, 0, 3.0, 2**20), StreamResult(1, 10, 5.0, 2**21), StreamResult(10, 100, 23.0, 2**21)],
        "stream_precision": "int8",
        "commands": [
            CommandResult("one", OURS, [1.0, 4.0, 2.0], [2**21] * 3),
            CommandResult("one", CTRANSLATE2, [4.0] * 3, [2**23] * 3),
            CommandResult("alone", OURS, [3.0], [2**20]),
        ],
        "sentences": 10,
        "distinct": 9,
        "singles": 3,
        "signature": "a signature",
        "config": {"rounds": 3, "device": "cpu", "decode": vars(DecodeConfig())},
        "machine": {"torch": "2.x"},
        "command": "the command",
        "date": "today",
    }
    return DecodeBenchmark(**values | changes)


def rows(text: str) -> dict[str, list[str]]:
    """Cells behind the first one of each row."""
    split = ([cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|"))
    return {first: rest for first, *rest in split}


def test_the_tables_show_every_figure() -> None:
    text = found().to_markdown()
    table = rows(text)
    speed, latency = ["5.0 (2.5–10.0)", "20"], ["2.0 (1.0–3.0)"] * 2
    assert table["translate 32"] == [*speed * 2, *latency * 2, "30", "15", "55.00", "51.00"]
    assert table["an empty file"] == ["0", "3.0", "–", "1"]
    assert table["10"] == ["100", "23.0", "5.0", "2"]
    assert "| one | translate | 2.00 (1.00–4.00) | 2 | 0.50 × its time, 0.25 × its memory |" in re.sub(" +", " ", text)
    assert table["alone"] == ["translate", "3.00 (3.00–3.00)", "1", ""]
    *_, other, ctranslate2, hugging_face = text.splitlines()
    assert "5.00 × its sentences/s, greedy (translate int8 / other model int8)" in other
    assert "0.50 × its sentences/s, beam 5 (translate int8 / CTranslate2 int8, 2 × 1)" in ctranslate2
    assert "0.50 × its median latency, greedy (translate 32 / CTranslate2 int8, 2 × 1)" in ctranslate2
    assert "2.00 × its memory in total (translate int8 / CTranslate2 int8, 2 × 1)" in ctranslate2
    assert "10.00 × its sentences/s, beam 5 (translate int8 / Hugging Face generate)" in hugging_face
    for fact in ("the command", "today", "torch: 2.x", "10, 9 of them different", "a signature", "100 (greedy)"):
        assert fact in text
    assert "- translate bf16 left out: no such instructions" in text


def test_without_peers_and_growth_there_are_no_lines_for_them() -> None:
    text = found(engines=found().engines[:2], stream=[], commands=[]).to_markdown()
    for word in ("CTranslate2", "Hugging Face", "ours to", "Growth", "start to exit"):
        assert word not in text


def test_the_fastest_batch_size_is_chosen_and_what_cannot_be_opened_left_out(monkeypatch, tmp_path: Path) -> None:
    class Process:
        framework_bytes, description = 1, "words"

        def __init__(self, job: Job, folder: Path) -> None:
            if job.spec.name.endswith("bad"):
                raise RefusedError("not here")

        def __enter__(self) -> "Process":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def ask(self, do: str, beam_size: int = 0, batch_size: int = 0) -> object:
            seconds = 2.0 if batch_size == 1024 * beam_size else 3.0
            answers = {"warm_up": ["x"], "batch": {"seconds": seconds, "tokens": 7}, "single": [0.5], "memory": 3}
            return answers[do]

    monkeypatch.setattr("translate.benchmark.decoding.EngineProcess", Process)
    monkeypatch.setattr("translate.benchmark.decoding._REST", 0.0)
    names = {"translate bad": OURS, "translate 32": OURS, "CTranslate2": CTRANSLATE2}
    jobs = [Job(EngineSpec(name, kind, ""), DECODE, ["x"], ["x"]) for name, kind in names.items()]
    left_out: dict[str, str] = {}
    ours, theirs = measure(jobs, ["x"], 2, tmp_path, left_out)
    assert left_out == {"translate bad": "not here"}
    assert [width.batch_size for width in ours.widths] == [width.batch_size for width in theirs.widths]
    assert [(width.batch_size, width.seconds) for width in theirs.widths] == [(2048, [2.0, 2.0]), (1024, [2.0, 2.0])]
    with pytest.raises(ValueError, match=r"precisions: none of them is possible here \(translate bad: not here\)"):
        measure(jobs[:1], ["x"], 1, tmp_path, {})


def test_infer_is_measured_from_file_to_file(monkeypatch, tmp_path: Path) -> None:
    def run(command: list[str], check: bool) -> SimpleNamespace:
        assert command[1:3] == ["-m", "translate.benchmark.decode_stream"]
        monkeypatch.setattr("sys.argv", list(map(str, command[2:])))
        decode_stream.main()
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr("translate.benchmark.decode_stream.subprocess.run", run)
    result = measure_stream(TINY, "32", DECODE, ["A cat.", "A dog."], size=1, folder=tmp_path)
    assert (result.size, result.lines) == (1, 2)
    assert result.seconds > 0
    assert result.peak_bytes > 2**20
    expected = Translator.load(TINY).translate(["A cat.", "A dog."], **vars(DECODE))
    assert (tmp_path / "translations").read_text(encoding="utf-8").splitlines() == [one.text for one in expected]


@pytest.mark.slow
def test_commands_are_measured_in_turns_and_a_failing_one_says_why(monkeypatch, tmp_path: Path) -> None:
    asked: list[list[str]] = []
    run = decode_commands._run

    def noted(options: list[str]) -> tuple[float, int]:
        asked.append(options)
        return run(options)

    monkeypatch.setattr(decode_commands, "_run", noted)
    found = measure_commands(TINY, ["A cat.", "A dog.", "No."], 4, DECODE, peer=True, rounds=1, folder=tmp_path)
    names = ["one sentence, beam 2", "4 lines, beam 2", "4 lines, greedy"]
    assert [(one.name, one.engine) for one in found] == [
        (name, engine) for name in names for engine in (OURS, CTRANSLATE2)
    ]
    assert all(len(one.seconds) == 1 and one.seconds[0] > 0.05 for one in found)
    assert all(10 * 2**20 < size < 300 * 2**20 for one in found for size in one.peak_bytes)  # no torch in either
    assert len(asked) == 12
    assert asked[:6] == asked[6:][::-1]
    assert [path.endswith("command-model") for _, path, *_ in asked[6:]] == [True, False] * 3
    assert len((tmp_path / "command_output").read_text(encoding="utf-8").splitlines()) == 4
    with pytest.raises(ValueError, match=r"ended with status 2: error: decode.beam_size"):
        run(["--model", str(TINY), "--beam-size=0", "Hello."])


@pytest.mark.slow
def test_a_benchmark_measures_and_writes_everything(config: BenchmarkDecodeConfig, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # one plan of threads
    monkeypatch.setattr("translate.benchmark.decoding._REST", 0.0)
    settings = replace(config, precisions=["32", "int8"], against=str(TINY), output=str(tmp_path / "out"))
    result = benchmark_decoding(settings, command="the command")
    stored = json.loads((tmp_path / "out/decode.json").read_text(encoding="utf-8"))
    assert stored == json.loads(result.to_json())
    assert (tmp_path / "out/decode.md").read_text(encoding="utf-8") == result.to_markdown()
    assert [one.name for one in result.engines] == [
        "translate 32",
        "translate int8",
        "other model 32",
        "other model int8",
        "CTranslate2 float32, 1 × 1",
        "CTranslate2 int8, 1 × 1",
    ]
    ours, int8, _, _, float32, _ = result.engines
    for width, other in zip(ours.widths, float32.widths, strict=True):
        assert (len(width.seconds), len(width.p50_ms), len(width.p95_ms)) == (1, 1, 1)
        assert 0 < width.p50_ms[0] <= width.p95_ms[0]
        assert 0 < width.tokens <= 4 * DECODE.max_output_len
        assert width.bleu == pytest.approx(other.bleu, abs=0.1)
    assert all(one.peak_bytes > one.framework_bytes > 2**20 for one in result.engines)
    for without_torch in (int8, float32):
        assert without_torch.framework_bytes < ours.framework_bytes / 2
    assert "has no attention gqa" in result.left_out["Hugging Face generate"]
