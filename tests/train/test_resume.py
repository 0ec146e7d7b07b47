"""A run that was stopped and resumed is the run that was not."""

import csv
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from translate.config.model import ModelConfig
from translate.config.train import TrainConfig
from translate.train import console
from translate.train.module import TranslationModule
from translate.train.start import train

ROWS = ("step", "epoch", "train_loss", "lr", "valid_loss", "valid_perplexity", "valid_bleu")  # all but the speed


def rows(run_dir: Path) -> list[list[str]]:
    with (run_dir / "metrics.csv").open(newline="") as file:
        return [[row[name] for name in ROWS] for row in csv.DictReader(file)]


def last(run_dir: Path) -> dict[str, Any]:
    return torch.load(run_dir / "checkpoints" / "last.ckpt", weights_only=True)


def state(run_dir: Path) -> dict[str, Any]:
    """Return the end of a run: weights, their average, moments, learning rate, place in the data, kept files."""
    checkpoint = last(run_dir)
    kept = [dict(s) for name, s in checkpoint["callbacks"].items() if name.startswith("KeptCheckpoints")]
    for callback in kept:
        callback["best_k_models"] = {Path(path).name: score for path, score in callback["best_k_models"].items()}
        for name in ("dirpath", "best_model_path", "kth_best_model_path"):
            callback[name] = Path(callback[name]).name
    names = (
        "state_dict",
        "current_model_state",
        "optimizer_states",
        "lr_schedulers",
        "TranslationDataModule",
        "global_step",
    )
    return {name: checkpoint.get(name) for name in names} | {"kept": kept, "rng": checkpoint["rng_states"]}


def assert_same(one: Any, other: Any, where: str = "") -> None:
    assert type(one) is type(other), where
    if isinstance(one, dict):
        assert set(one) == set(other), where
        for key in one:
            assert_same(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for index, pair in enumerate(zip(one, other, strict=True)):
            assert_same(*pair, f"{where}.{index}")
    elif isinstance(one, torch.Tensor):
        assert torch.equal(one, other), where
    else:
        assert one == other, where


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Train, with a SIGTERM to ourselves in the given method when so many steps are done; returns the run directory."""

    def run(config: TrainConfig, step: int, method: str = "training_step") -> Path:
        original = getattr(TranslationModule, method)
        raised = []

        def signalled(self: TranslationModule, *arguments: Any) -> Any:
            if self.trainer.global_step == step and not raised:
                raised.append(signal.raise_signal(signal.SIGTERM))
            return original(self, *arguments)

        monkeypatch.setattr(TranslationModule, method, signalled)
        with pytest.raises(SystemExit) as stopped:
            train(config)
        monkeypatch.setattr(TranslationModule, method, original)
        assert stopped.value.code == 130
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        (run_dir,) = Path(config.runs_dir, config.name).iterdir()
        return run_dir

    return run


def assert_resumed_equals_unbroken(
    config: TrainConfig, interrupted: Callable[..., Path], stops: list[int], steps: int
) -> None:
    unbroken = train(replace(config, name="unbroken"))
    assert last(unbroken)["global_step"] == steps
    for stop in stops:
        run_dir = interrupted(replace(config, name=f"stopped-{stop}"), stop - 1)
        assert last(run_dir)["global_step"] == stop
        train(replace(config, resume=str(run_dir)))
        assert rows(run_dir) == rows(unbroken), f"stopped after step {stop}"
        assert_same(state(run_dir), state(unbroken))
        assert_same(*(load_file(path / "model/model.safetensors") for path in (run_dir, unbroken)))
        names = {path.name for path in (run_dir / "checkpoints").iterdir()}
        assert names == {path.name for path in (unbroken / "checkpoints").iterdir()}


TINY = {"d_model": 16, "d_ff": 32, "num_heads": 2, "num_encoder_layers": 1, "num_decoder_layers": 1}
VARIANTS = {
    # name: trainer settings, steps to stop after (mid-epoch, at an epoch's end, at a validation), steps in all
    "epochs": ({"max_epochs": 3}, [2, 7, 8], 21),
    "epochs, validations between": ({"max_epochs": 2, "validate_every": 3, "checkpoint_every": 2}, [3, 4, 7], 14),
    "steps": ({"max_epochs": None, "max_steps": 17, "validate_every": 5}, [5, 7, 16], 17),
    "both limits": ({"max_epochs": 5, "max_steps": 17}, [6, 7, 14], 17),
    "accumulated": ({"max_epochs": 3, "accumulate": 2, "validate_every": 3}, [2, 4, 6], 12),
    "averaged, workers, all that is random": (
        {
            **{"max_epochs": 2, "workers": 2, "ema_decay": 0.7, "average": "last", "average_count": 2},
            "optim": {"r_drop": 5.0},
            "changes": {"model": ModelConfig(**TINY, word_dropout=0.1, layer_drop=0.5)},
        },
        [3, 7],
        14,
    ),
    "muon": ({"max_epochs": 2, "optim": {"algorithm": "muon", "weight_decay": 0.1}}, [3], 14),
}


FAST = ("accumulated", "averaged, workers, all that is random", "muon")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in FAST else pytest.mark.slow) for n in VARIANTS])
@pytest.mark.slow
def test_stopped_and_resumed_equals_unbroken_to_the_last_bit(name, make_config, interrupted) -> None:
    settings, stops, steps = VARIANTS[name]
    assert_resumed_equals_unbroken(make_config(**settings), interrupted, stops, steps)


def test_a_schedule_that_ends_resumes_too(make_config, interrupted) -> None:
    config = make_config(optim={"schedule": "cosine"}, max_epochs=None, max_steps=6, validate_every=4, accumulate=2)
    assert_resumed_equals_unbroken(config, interrupted, [3], 6)


def test_a_signal_during_the_last_validation_leaves_only_the_finish_to_do(make_config, interrupted) -> None:
    config = make_config(max_epochs=1)
    run_dir = interrupted(config, 7, method="validation_step")
    assert not (run_dir / "model").exists()
    before = rows(run_dir)
    train(replace(config, resume=str(run_dir)))
    assert rows(run_dir) == before
    assert last(run_dir)["global_step"] == 7
    assert "best checkpoint" in (run_dir / "model/README.md").read_text()


@pytest.mark.parametrize(
    ("first", "more", "steps"),
    [({"max_epochs": 2}, {"max_epochs": 3}, 21), ({"max_epochs": None, "max_steps": 9}, {"max_steps": 12}, 12)],
    ids=["epochs", "steps"],
)
@pytest.mark.slow
def test_a_finished_run_goes_on_to_a_later_end_by_way_of_runs_latest(make_config, first, more, steps) -> None:
    unbroken = train(make_config(**first | more, changes={"name": "unbroken"}))
    config = make_config(**first)
    run_dir = train(config)
    latest = Path(config.runs_dir) / "latest"
    assert latest.resolve() == run_dir.resolve()
    assert train(make_config(**first | more, changes={"resume": str(latest)})) == run_dir.resolve()
    trained = [[row[:4] for row in rows(path) if row[2]] for path in (run_dir, unbroken)]
    assert trained[0] == trained[1]
    assert len(trained[0]) == steps
    assert_same(last(run_dir)["state_dict"], last(unbroken)["state_dict"])


def test_a_finished_run_that_is_resumed_unchanged_stays_as_it_is(make_config) -> None:
    for settings in ({"max_epochs": 1}, {"max_epochs": None, "max_steps": 3}):
        config = make_config(**settings)
        run_dir = train(config)
        before = rows(run_dir), load_file(run_dir / "model/model.safetensors")
        train(replace(config, resume=str(run_dir)))
        assert rows(run_dir) == before[0]
        assert_same(load_file(run_dir / "model/model.safetensors"), before[1])


def test_a_run_directory_may_be_moved_between_two_resumes(make_config, interrupted, tmp_path) -> None:
    config = make_config(max_epochs=2, average="best", average_count=3)
    unbroken = train(replace(config, name="unbroken"))
    moved = interrupted(config, 8).rename(tmp_path / "elsewhere")
    train(replace(config, resume=str(moved)))
    assert_same(*(load_file(path / "model/model.safetensors") for path in (moved, unbroken)))
    assert "mean of the best 2 checkpoints" in (moved / "model/README.md").read_text()


def test_patience_counts_on_after_resuming(make_config, interrupted) -> None:
    config = make_config(optim={"lr": 1e-9}, max_epochs=9, patience=2, validate_every=2)
    unbroken = train(replace(config, name="unbroken"))
    assert last(unbroken)["global_step"] < 63
    run_dir = interrupted(config, 3)
    train(replace(config, resume=str(run_dir)))
    assert rows(run_dir) == rows(unbroken)


def test_a_run_that_lost_its_patience_trains_on_only_with_more(make_config) -> None:
    config = make_config(optim={"lr": 1e-9}, max_epochs=9, patience=2, validate_every=2)
    run_dir = train(config)
    steps, model = last(run_dir)["global_step"], load_file(run_dir / "model/model.safetensors")
    resumed = train(replace(config, resume=str(run_dir)))
    assert last(resumed)["global_step"] == steps < 63
    assert_same(load_file(run_dir / "model/model.safetensors"), model)
    train(replace(config, resume=str(run_dir), trainer=replace(config.trainer, patience=4)))
    assert last(run_dir)["global_step"] > steps


def test_a_resume_that_fails_leaves_the_settings_as_they_were(make_config, tmp_path) -> None:
    config = make_config(max_epochs=1)
    run_dir = train(config)
    before = (run_dir / "config.yaml").read_bytes(), (run_dir / "cleaning.json").read_bytes()
    more = tmp_path / "more.tsv"
    more.write_text("en\tfr\n" + "".join(f"number {number}\tle {number}\n" for number in range(300)))
    changed = replace(config, resume=str(run_dir), data=replace(config.data, extra=[str(more)]))
    with pytest.raises(ValueError, match=r"^the checkpoint was trained on another text and another tokenizer; resume"):
        train(replace(changed, trainer=replace(config.trainer, max_epochs=2)))
    assert ((run_dir / "config.yaml").read_bytes(), (run_dir / "cleaning.json").read_bytes()) == before


def test_a_second_signal_stops_at_once_and_loses_the_steps_since_the_last_checkpoint(
    make_config, monkeypatch, capsys
) -> None:
    original = TranslationModule.training_step

    def signalled(self: TranslationModule, *arguments: Any) -> Any:
        if self.trainer.global_step == 5:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return original(self, *arguments)

    monkeypatch.setattr(TranslationModule, "training_step", signalled)
    config = make_config(checkpoint_every=3)
    with pytest.raises(SystemExit) as stopped:
        train(config)
    assert stopped.value.code == 130
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler
    (run_dir,) = Path(config.runs_dir, config.name).iterdir()
    assert last(run_dir)["global_step"] == 3
    assert f"resume={run_dir}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 130), (RuntimeError("[gloo/transport/tcp] closed by peer"), 1)]
)
def test_a_launcher_s_signal_does_not_take_the_last_word_from_a_run_that_ends(
    make_config, tmp_path, monkeypatch, capsys, error: BaseException, code: int
) -> None:
    def ending(config: TrainConfig, run_dir: Path, data: object) -> None:
        (run_dir / "checkpoints").mkdir()
        (run_dir / "checkpoints/last.ckpt").touch()
        raise error

    def signalled(message: str) -> None:
        signal.raise_signal(signal.SIGTERM)
        original(message)

    original = console.say
    monkeypatch.setattr("translate.train.run.fit", ending)
    monkeypatch.setattr(console, "say", signalled)
    with pytest.raises(SystemExit) as stopped:
        train(replace(make_config(), run_dir=str(tmp_path / "run")))
    assert stopped.value.code == code
    assert f"; go on with\n  python -m translate.train resume={tmp_path / 'run'}\n" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_resuming_what_holds_no_checkpoint_is_refused(make_config, tmp_path) -> None:
    with pytest.raises(ValueError, match=r"resume \(.*\) holds no checkpoints/last\.ckpt"):
        train(make_config(changes={"resume": str(tmp_path)}))


@pytest.mark.slow
def test_after_a_crash_amid_an_accumulated_step_the_steps_since_the_checkpoint_are_done_again(
    make_config, monkeypatch
) -> None:
    config = make_config(max_epochs=3, accumulate=2, validate_every=3, checkpoint_every=5)
    unbroken = train(replace(config, name="unbroken"))
    original = TranslationModule.training_step

    def crashing(self: TranslationModule, batch: Any, batch_idx: int) -> Any:
        if (self.trainer.global_step, batch_idx) == (6, 5):  # a validation came after the first half of step 7
            raise RuntimeError("power cut")
        return original(self, batch, batch_idx)

    monkeypatch.setattr(TranslationModule, "training_step", crashing)
    with pytest.raises(RuntimeError, match="power cut"):
        train(config)
    monkeypatch.setattr(TranslationModule, "training_step", original)
    (run_dir,) = Path(config.runs_dir, config.name).iterdir()
    assert last(run_dir)["global_step"] == 5
    assert [row[0] for row in rows(run_dir)][-2:] == ["6", "6"]
    train(replace(config, resume=str(run_dir)))
    assert rows(run_dir) == rows(unbroken)
    assert_same(state(run_dir), state(unbroken))
