"""The figures of a comparison, each against what it should be by another way."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from translate import Translator
from translate.compare.comparison import compare
from translate.compare.measure import make_bare, measure_in_turns
from translate.compare.picture import mean_curve, short_names
from translate.compare.report import Comparison, RowResult, RunResult
from translate.compare.runs import open_run
from translate.config.model import ModelConfig
from translate.config.optim import OptimConfig
from translate.config.train import TrainConfig
from translate.data.datamodule import TranslationDataModule
from translate.evaluate.scores import Statistics, interval, score
from translate.model.transformer import build_model


def contents(run: Path) -> dict[str, tuple[int, bytes]]:
    return {str(p): (p.stat().st_mtime_ns, p.read_bytes()) for p in run.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("comparison")


@pytest.fixture(scope="module")
def compared(trained: list[Path], output: Path) -> Comparison:
    before = [contents(run) for run in trained]
    found = compare(trained, output=output, command="the command", rounds=2, steps=2, sentences=5, device="cpu")
    assert [contents(run) for run in trained] == before, "a comparison only reads its runs"
    return found


@pytest.mark.slow
def test_rows_are_what_differs_and_their_figures_are_those_of_the_models(compared, trained) -> None:
    mha, gqa = compared.rows
    assert [(row.label, [run.seed for run in row.runs]) for row in compared.rows] == [
        ("model.attention=mha", [1, 2]),
        ("model.attention=gqa", [1]),
    ]
    assert (mha.bytes_per_token, mha.bytes_per_src_token) == (2 * 16 * 4, 2 * 16 * 4)  # keys and values, one layer
    assert (gqa.bytes_per_token, gqa.bytes_per_src_token) == (2 * 8 * 4, 2 * 8 * 4)  # one head for two
    model = Translator.load(trained[2]).engine.model
    assert gqa.parameters == sum(p.numel() for p in model.parameters()) < mha.parameters
    assert all(row.precision == "32" for row in compared.rows)


@pytest.mark.slow
def test_the_loss_is_the_one_that_training_saw_at_the_kept_weights(compared) -> None:
    for row in compared.rows:
        for run in row.runs:
            assert [epoch for epoch, _ in run.curve] == [1.0, 2.0]
            assert run.valid_loss == pytest.approx(min(loss for _, loss in run.curve), abs=1e-5)
    losses = [run.valid_loss for run in compared.rows[0].runs]
    assert losses[0] != losses[1]
    assert compared.rows[0].valid_loss == pytest.approx(sum(losses) / 2)
    assert compared.rows[0].valid_loss_std == pytest.approx(abs(losses[0] - losses[1]) / math.sqrt(2))
    assert compared.rows[1].valid_loss_std is None


@pytest.mark.slow
def test_bleu_is_that_of_an_evaluation_and_its_interval_draws_sentences_once_for_all_seeds(compared, trained) -> None:
    config = open_run(trained[0]).config
    data = TranslationDataModule(config.data, config.tokenizer, seed=1)
    data.prepare()
    src, ref = ([getattr(pair, side) for pair in data.valid_pairs] for side in ("src", "tgt"))
    outputs = [[t.text for t in Translator.load(run).translate(src)] for run in trained[:2]]
    for hyp, run in zip(outputs, compared.rows[0].runs, strict=True):
        bleu = score(hyp, ref, protocol="cased", tgt_lang="fr")[0]
        assert (run.bleu, run.bleu_low, run.bleu_high) == (bleu.value, bleu.low, bleu.high)
        assert compared.signature == bleu.signature
    assert compared.rows[0].bleu == pytest.approx(sum(run.bleu for run in compared.rows[0].runs) / 2)
    tables = [Statistics(hyp, ref, protocol="cased", tgt_lang="fr") for hyp in outputs]
    draws = np.random.default_rng(12345).choice(len(ref), size=(1000, len(ref)))
    means = [np.mean([table.value("BLEU", list(draw)) for table in tables]) for draw in draws]
    expected = interval(np.array(means))
    assert (compared.rows[0].bleu_low, compared.rows[0].bleu_high) == pytest.approx(expected, abs=1e-4)
    first, second = (run.bleu for run in compared.rows[0].runs)
    assert compared.rows[0].bleu_std == pytest.approx(abs(first - second) / math.sqrt(2))
    assert (compared.rows[0].p_value, compared.rows[1].bleu_std) == (None, None)
    assert 0 < compared.rows[1].p_value <= 1
    assert compared.rows[0].difference_low is None
    low, high = compared.rows[1].difference_low, compared.rows[1].difference_high
    assert low <= compared.rows[1].bleu - compared.rows[0].bleu <= high
    assert f" [{low:+.2f}, {high:+.2f}], p = {compared.rows[1].p_value:.3f}" in compared.table()


@pytest.mark.slow
def test_every_row_is_timed_and_the_median_is_shown(compared) -> None:
    for row in compared.rows:
        assert len(row.training_rounds) == len(row.decoding_rounds) == 2
        assert min(row.training_rounds + row.decoding_rounds) > 0
        assert row.training_tokens_per_s == pytest.approx(sum(row.training_rounds) / 2)
        assert row.decoding_tokens_per_s == pytest.approx(sum(row.decoding_rounds) / 2)


@pytest.mark.slow
def test_the_files_hold_every_figure_and_a_picture(compared, output) -> None:
    assert {path.name for path in output.iterdir()} == {"compare.md", "compare.json", "compare.png"}
    stored = json.loads((output / "compare.json").read_text(encoding="utf-8"))
    assert stored == json.loads(compared.to_json())
    assert [run["seed"] for row in stored["rows"] for run in row["runs"]] == [1, 2, 1]
    markdown = (output / "compare.md").read_text(encoding="utf-8")
    assert compared.table() in markdown
    for fact in ("the command", compared.signature, compared.machine["cpu"], compared.machine["torch"], compared.date):
        assert fact in markdown
    assert min(imread(output / "compare.png").shape[:2]) > 900


@pytest.mark.slow
def test_without_rounds_there_are_no_speeds(trained, tmp_path) -> None:
    found = compare(trained[:1], output=tmp_path, command="", rounds=0, device="cpu")
    assert found.rows[0].label == "same settings"
    assert found.rows[0].training_tokens_per_s is found.rows[0].decoding_tokens_per_s is None
    assert "tokens/s" not in found.table()
    assert (tmp_path / "compare.png").stat().st_size > 10_000


def test_measurements_take_turns_and_the_first_round_does_not_count() -> None:
    calls: list[str] = []
    seen: list[tuple[int, str]] = []

    def rate(name: str):
        def measure() -> float:
            calls.append(name)
            return float(len(calls))

        return measure

    found = measure_in_turns({"a": rate("a"), "b": rate("b")}, 2, lambda number, name, _: seen.append((number, name)))
    assert calls == ["a", "b"] * 3
    assert seen == [(0, "a"), (0, "b"), (1, "a"), (1, "b"), (2, "a"), (2, "b")]
    assert found == {"a": [3.0, 5.0], "b": [4.0, 6.0]}


def test_a_run_of_low_rank_changes_is_timed_with_such_changes() -> None:
    config = TrainConfig(
        init_from="run", optim=OptimConfig(lora_rank=2), model=ModelConfig(d_model=16, d_ff=16, num_heads=2)
    )
    model = build_model(config.model, 300, 300)
    module, _ = make_bare(model, config, [], accelerator="cpu", precision="32")
    trained = sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)
    assert 0 < trained < sum(parameter.numel() for parameter in model.parameters()) / 2


def row(differences: dict[str, str], *curves: list[tuple[float, float]]) -> RowResult:
    runs = [RunResult("run", seed, "last step", 1.5, 40.0, 39.0, 41.0, curve) for seed, curve in enumerate(curves)]
    label = " ".join(f"{name}={value}" for name, value in differences.items())
    speeds = (1000.0, [1000.0], 100.0, [100.0])
    return RowResult(
        label, differences, 10**6, 512, 1024, "32", *speeds, 1.5, None, 40.0, None, 39.0, 41.0, None, None, None, runs
    )


def test_the_mean_curve_covers_what_all_seeds_have() -> None:
    shown = mean_curve(row({}, [(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)], [(1.0, 5.0), (2.0, 3.0)]))
    assert shown == [(1.0, 4.0, 3.0, 5.0), (2.0, 2.5, 2.0, 3.0)]
    assert mean_curve(row({}, [(1.0, 3.0)], [])) == []


def test_rows_that_differ_in_one_setting_are_named_by_its_value_in_the_picture() -> None:
    assert short_names([row({"seed": "1"}, []), row({"seed": "2"}, [])]) == (["1", "2"], "seed")
    assert short_names([row({"a": "1", "b": "2"}, [])]) == (["a=1 b=2"], None)
    assert short_names([row({}, [])]) == ([""], None)
