"""How cost grows: the arithmetic of memory, the enlarged corpora, the tables, the refusals."""

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from omegaconf import OmegaConf

from translate.benchmark import flops, growth, growth_memory, growth_probe
from translate.benchmark.flops import Work, training_flops
from translate.benchmark.growth import benchmark_growth, write_copies
from translate.benchmark.growth_memory import formula_holds, training_bytes
from translate.benchmark.growth_report import CorpusRow, GrowthBenchmark, Preparation, Start, Step, StepRow
from translate.common.resources import conf_dir
from translate.config.benchmark import BenchmarkGrowthConfig
from translate.config.model import ModelConfig
from translate.data.batch import Example, collate
from translate.model.transformer import Transformer, build_model
from translate.train.loss import projected_cross_entropy

ROOT = Path(__file__).resolve().parents[2]
MODEL = ModelConfig(d_model=128, d_ff=256, num_heads=4, num_encoder_layers=2, num_decoder_layers=2)


def kept_bytes(model: Transformer, sentences: int, src_len: int, tgt_len: int) -> int:
    """Bytes of all tensors but parameters that autograd keeps for backward."""
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept: dict[int, torch.Tensor] = {}
    batch = collate([Example([5] * src_len, [6] * tgt_len)] * sentences, pad_id=0, bos_id=2)

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in weights:
            kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        memory = model.encode(batch.src_ids, batch.src_mask)
        hidden = model.decode(batch.tgt_in_ids, batch.tgt_mask, memory, batch.src_mask).flatten(0, 1)
        projected_cross_entropy(hidden, model.output.weight, batch.labels.flatten(), 0.1)
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


@pytest.mark.parametrize("shape", [(16, 16, 16), (2, 256, 128)])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm_first": False},
        {"dropout": 0.0, "embedding_dropout": 0.0},
        {"activation": "gelu"},
        {"activation": "gelu", "activation_dropout": 0.1},
        {"activation_dropout": 0.1},
        {"activation": "swiglu", "positions": "learned", "num_decoder_layers": 1},
        {"d_ff": 512, "tie_output": False, "share_embeddings": False},
    ],
    ids=lambda changes: " ".join(changes) or "default",
)
def test_memory_by_the_formula_is_what_autograd_keeps(changes: dict, shape: tuple[int, int, int]) -> None:
    model = build_model(replace(MODEL, **changes), 200, 200).train()
    assert formula_holds(model, "32")
    state = 16 * sum(parameter.numel() for parameter in model.parameters())
    measured = kept_bytes(model, *shape)
    assert training_bytes(model, *shape) - state == pytest.approx(measured, rel=0.01)  # ids, bool masks, row statistics


@pytest.mark.parametrize(
    "changes",
    [{"attention": kind} for kind in ("gqa", "mqa", "mla", "talking_heads")]
    + [{"positions": "rotary"}, {"norm": "rmsnorm"}, {"attention_dropout": 0.1}],
    ids=str,
)
def test_the_formula_of_memory_says_where_it_does_not_hold(changes: dict) -> None:
    assert not formula_holds(build_model(replace(MODEL, **changes), 50, 50), "32")
    assert not formula_holds(build_model(MODEL, 50, 50), "bf16-mixed")


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def test_copies_have_the_same_words_in_another_order(data, tmp_path) -> None:
    paths = (tmp_path / "a.en", tmp_path / "a.fr")
    write_copies(data.corpus, 3, paths)
    pairs = list(data.corpus.train())
    for path, texts in zip(paths, zip(*pairs, strict=True), strict=True):
        written = lines(path)
        assert len(written) == 3 * len(pairs)
        assert written[: len(pairs)] == list(texts)
        for number in (1, 2):
            copy = written[number * len(pairs) : (number + 1) * len(pairs)]
            assert [sorted(line.split()) for line in copy] == [sorted(line.split()) for line in texts]
    assert len(set(zip(*map(lines, paths), strict=True))) > 2.95 * len(pairs)
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def step(seconds: float, flop: int, peak: int, formula: int | None) -> Step:
    return Step(seconds, 1000, flop, peak * 2**20, None if formula is None else formula * 2**20, 2_000_000)


def found(**changes) -> GrowthBenchmark:
    once = Preparation(500_000, 8_000_000, 2.0, 3.0, 2**20, 16_000_000)
    starts = [Start(0.5, 0.1, 2**21, 2**20, rate, 0.25, 2**22, 3 * 2**20) for rate in (90.0, 110.0, 100.0)]
    values = {
        "corpus": [CorpusRow(1, once, starts)],
        "models": [
            StepRow("tiny", 16, [step(1.0, 10**9, 30, 20), step(3.0, 10**9, 30, 20), step(2.0, 10**9, 30, 20)]),
            StepRow("small", 16, [step(6.0, 2 * 10**9, 60, 40)]),
        ],
        "lengths": [StepRow("", 16, [step(1.0, 10**9, 30, None)]), StepRow("", 64, [step(1.0, 10**9, 30, None)])],
        "memory_kind": "a kind",
        "config": {"rounds": 3, "steps": 2, "warmup": 1, "seed": 1},
        "machine": {"torch": "2.x"},
        "command": "the command",
        "date": "today",
    }
    return GrowthBenchmark(**values | changes)


def table(text: str, title: str) -> list[dict[str, str]]:
    after = text.split(f"## {title}")[1].split("\n\n")[1].splitlines()
    header, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in after)
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_the_tables_show_every_figure() -> None:
    text = found().to_markdown()
    (once,) = table(text, "With the corpus: prepared once")
    assert (once["pairs"], once["s per M pairs"], once["cleaning"], once["encoding"]) == (
        "500,000",
        "10.0",
        "4.0",
        "6.0",
    )
    assert (once["memory, MiB"], once["cache, bytes per token"]) == ("1", "2.00")
    (start,) = table(text, "With the corpus: started again")
    assert (start["first batch, s"], start["s per M pairs"], start["memory, MiB"]) == ("0.50", "1.00", "2")
    assert start["plan an epoch, s per M pairs"] == "0.20"
    assert (start["training, target tokens/s"], start["slowest to fastest round"]) == ("100", "90–110")
    assert (start["data wait"], start["memory of training, MiB"]) == ("25.0 %", "4")
    assert (start["of it mapped"], start["of that mapped"]) == ("1", "3")
    tiny, small = table(text, "With the size of the model")
    assert (tiny["ms per step"], tiny["ms per 1,000 tokens"], tiny["GFLOP by the formula"]) == (
        "2,000",
        "2,000.0",
        "1.00",
    )
    assert (tiny["time / formula"], tiny["memory / formula"]) == ("1.00", "1.00")
    assert (small["time / formula"], small["memory / formula"]) == (
        "1.50",
        "1.00",
    )  # 3 times as long for twice the FLOPs
    assert (small["memory, MiB"], small["by the formula"]) == ("60", "40")
    for row in table(text, "With the length of the sentences"):
        assert (row["time / formula"], row["by the formula"], row["memory / formula"]) == ("1.00", "–", "–")
    for fact in (flops.FORMULA, growth_memory.FORMULA, "a kind", "the command", "today", "torch: 2.x", "steps: 2"):
        assert fact in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"copies": [1, 0]}, r"copies \(0\) must be at least 1"),
        ({"lengths": [16, 24]}, r"lengths \(24\) must divide data.batch_tokens \(4096\)"),
        ({"lengths": [1]}, r"lengths \(1\) must be at least 2"),
        ({"models": []}, "models must name at least one"),
        ({"peers": True}, "peers=true is for benchmark train"),
        ({"rounds": 0}, r"rounds \(0\) must be at least 1"),
        (
            {"model": ModelConfig(positions="learned", max_positions=256), "lengths": [512]},
            r"lengths \(512\) must be at most model.max_positions \(256\)",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_measured_is_refused(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BenchmarkGrowthConfig(**changes)


def test_settings_are_composed_as_for_training() -> None:
    ours, train = (OmegaConf.load(conf_dir() / f"{name}.yaml") for name in ("benchmark_growth", "train"))
    assert ours.defaults[1:] == train.defaults[1:]


def door(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "translate.benchmark", "growth", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_an_unknown_model_is_one_line_and_status_2() -> None:
    done = door("models=[tiny,huge]")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: models (huge) must be among base, big, small, tiny\n"


def test_a_measurement_that_fails_ends_the_benchmark(monkeypatch, tmp_path) -> None:
    failed = subprocess.CompletedProcess([], 3)
    monkeypatch.setattr("translate.benchmark.growth.subprocess.run", lambda *_, **__: failed)
    with pytest.raises(ValueError, match="ended with status 3; see above"):
        growth._probe(Step, BenchmarkGrowthConfig(), tmp_path)


@pytest.fixture
def one_child(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Only the first measurement starts a process, which takes seconds; gives the kinds of the others."""
    start, here = subprocess.run, []

    def run(command: list[str], **options: bool) -> subprocess.CompletedProcess[str]:
        if not here:
            here.append("")
            return start(command, **options)
        here.append(command[3])
        monkeypatch.setattr(sys, "argv", command[2:])
        growth_probe.main()
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr("translate.benchmark.growth.subprocess.run", run)
    return here


@pytest.mark.slow
def test_growth_is_measured_from_the_corpus_to_the_files(config, data, tmp_path, one_child) -> None:
    settings = BenchmarkGrowthConfig(
        **{key: getattr(config, key) for key in ("model", "optim", "tokenizer", "trainer")},
        data=replace(config.data, batch_tokens=512),
        rounds=1,
        steps=1,
        copies=[2],
        models=["narrow"],
        lengths=[8],
        output=str(tmp_path / "out"),
    )
    result = benchmark_growth(settings, {"narrow": config.model}, command="the command")
    assert one_child[1:] == ["start", "step", "step"]
    (row,) = result.corpus
    pairs = data.num_train_pairs
    assert 1.9 * pairs < row.preparation.pairs <= 2 * pairs
    assert row.preparation.tokens > 1.8 * data.num_train_tokens * 2
    assert row.preparation.cache_bytes > 2 * row.preparation.tokens
    assert row.starts[0].tokens_per_s > 0
    assert row.starts[0].first_batch_seconds > 0
    (measured,) = result.models[0].steps
    model = build_model(config.model, data.tokenizer.src_vocab_size, data.tokenizer.tgt_vocab_size)
    work = Work.of([collate([Example([5] * 8, [6] * 8)] * 64, pad_id=0, bos_id=2)])
    assert (measured.tokens, measured.flops) == (512, training_flops(model, work))
    assert measured.formula_bytes == training_bytes(model, 64, 8, 8)
    stored = json.loads((tmp_path / "out/growth.json").read_text(encoding="utf-8"))
    assert stored == json.loads(result.to_json())
    assert (tmp_path / "out/growth.md").read_text(encoding="utf-8") == result.to_markdown()
    assert stored["config"] == json.loads(json.dumps(asdict(settings) | {"trainer": stored["config"]["trainer"]}))
    assert not list(Path(config.data.cache_dir).glob("growth-*"))
