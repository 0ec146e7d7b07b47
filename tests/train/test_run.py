"""Whole runs: when they end, what they leave behind, and how they fail."""

import csv
import inspect
import json
import math
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from lightning.pytorch.loggers import CSVLogger, MLFlowLogger, WandbLogger
from safetensors.torch import load_file

from translate import Translator
from translate.config.files import load_config
from translate.config.optim import OptimConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.train import TrainConfig
from translate.config.trainer import LOGGERS, TrainerConfig
from translate.data.glossary import Entry, Glossary
from translate.train import setup
from translate.train.module import TranslationModule
from translate.train.optim.schedule import lr_share
from translate.train.run import Fitted, final_weights, point_latest
from translate.train.setup import make_checkpoints
from translate.train.start import make_directory, new_run, train
from translate.train.weights.averaging import average_weights, load_weights
from translate.translator.memory import Memory


def rows(run_dir: Path, column: str) -> dict[int, float]:
    with (run_dir / "metrics.csv").open(newline="") as file:
        return {int(row["step"]): float(row[column]) for row in csv.DictReader(file) if row[column]}


def kept(run_dir: Path, prefix: str) -> list[str]:
    return sorted(path.name for path in (run_dir / "checkpoints").glob(f"{prefix}-*.ckpt"))


def bundle(run_dir: Path) -> dict[str, torch.Tensor]:
    return load_file(run_dir / "model/model.safetensors")


def assert_weights(run_dir: Path, expected: dict[str, torch.Tensor]) -> None:
    for name, tensor in bundle(run_dir).items():
        assert torch.equal(tensor, expected[name]), name


def test_a_run_directory_holds_settings_metrics_checkpoints_and_bundle(make_config) -> None:
    config = make_config(tensorboard=True, monitor="bleu", valid_bleu_sentences=4)
    run_dir = train(config)
    assert {path.name for path in run_dir.iterdir()} == {
        "config.yaml",
        "cleaning.json",
        "metrics.csv",
        "checkpoints",
        "model",
        "tensorboard",
    }
    assert load_config(run_dir / "config.yaml", TrainConfig) == config
    assert json.loads((run_dir / "cleaning.json").read_text())["train"]["kept"] == 300
    assert (Path(config.runs_dir) / "latest").resolve() == run_dir.resolve()
    assert len(Translator.load(str(run_dir)).translate(["A dog.", ""], beam_size=1)) == 2
    assert list(rows(run_dir, "train_loss")) == list(range(1, 15))
    assert list(rows(run_dir, "valid_loss")) == list(rows(run_dir, "valid_bleu")) == [7, 14]
    for step, loss in rows(run_dir, "valid_loss").items():
        assert rows(run_dir, "valid_perplexity")[step] == pytest.approx(math.exp(loss), rel=1e-5)
    for step, lr in rows(run_dir, "lr").items():
        share = lr_share(step, OptimConfig(warmup_steps=4), total_steps=None)
        assert lr == pytest.approx(1e-2 * share)


@pytest.mark.slow
def test_the_finish_scores_the_test_set_and_writes_the_report(make_config, capsys) -> None:
    run_dir = train(make_config(max_epochs=1, changes={"evaluate": True}))
    assert {"report.json", "report.md", "report.html"} <= {path.name for path in run_dir.iterdir()}
    out = capsys.readouterr().out
    assert "BLEU" in out
    assert f"next: python -m translate.infer --model {run_dir} " in out


def test_a_glossary_that_sources_are_annotated_with_goes_with_the_model(make_config, tmp_path) -> None:
    (tmp_path / "terms.tsv").write_text("en\tfr\n=\tdog\tchien\n", encoding="utf-8")
    config = make_config(max_epochs=None, max_steps=1)
    assert Translator.load(train(config)).glossary is None
    glossed = train(replace(config, data=replace(config.data, glossary=str(tmp_path / "terms.tsv"), glossed=0.5)))
    glossary = Translator.load(glossed).glossary
    assert glossary is not None
    assert list(glossary.pairs()) == [("dog", "chien")]


def test_the_words_with_capitals_of_its_text_go_with_the_model(make_config, tmp_path) -> None:
    lines = [f"{word} Julie\tJulie {word}\n" for word in ("with", "for", "to")]
    (tmp_path / "more.tsv").write_text("en\tfr\n" + "".join(lines), encoding="utf-8")
    config = make_config(max_epochs=None, max_steps=1)
    first = train(replace(config, data=replace(config.data, extra=[str(tmp_path / "more.tsv")])))
    assert capitals_of(first) == {"en": {"julie": "Julie"}}
    assert capitals_of(train(config)) == {}
    second = train(replace(config, init_from=str(first), tokenizer=TokenizerConfig()))
    assert capitals_of(second) == {"en": {"julie": "Julie"}}  # and of what it starts from
    first.rename(tmp_path / "elsewhere")
    longer = replace(config.trainer, max_steps=2)
    train(replace(config, init_from=str(first), tokenizer=TokenizerConfig(), trainer=longer, resume=str(second)))
    assert capitals_of(second) == {"en": {"julie": "Julie"}}


def test_what_its_start_has_beside_the_network_goes_with_a_model_that_is_trained_on(make_config, tmp_path) -> None:
    config = make_config(max_epochs=None, max_steps=1)
    own = config.data.src_lang, config.data.tgt_lang
    first = train(replace(config, data=replace(config.data, both_directions=True, language_tags=True)))
    Memory(own, [("hi there", "salut"), ("Zut", "Zut")]).save(first / "model")
    Glossary(own, [Entry("=", "dog", "chien")]).save(first / "model")
    (tmp_path / "own.tsv").write_text("en\tfr\nHi there!\tBonjour !\n", encoding="utf-8")
    start = replace(config, init_from=str(first), tokenizer=TokenizerConfig())
    both = replace(start.data, both_directions=True, extra=[str(tmp_path / "own.tsv")])
    found = Translator.load(train(replace(start, data=both)))
    assert found.recognizer is not None
    assert found.memory is not None
    assert found.memory.pairs == [("hi there", "salut", "en"), ("Zut", "Zut")]
    assert found.glossary is not None
    turned = Translator.load(train(replace(start, data=replace(config.data, src_lang="fr", tgt_lang="en"))))
    assert turned.recognizer is None
    assert turned.memory is not None
    Memory(("en", "de"), [("hi there", "hallo")]).save(first / "model")
    assert Translator.load(train(start)).memory is None


def capitals_of(run_dir: Path) -> dict[str, dict[str, str]]:
    truecaser = Translator.load(run_dir).truecaser
    assert truecaser is not None
    return {lang: dict(words) for lang, words in truecaser.words.items()}


def test_max_steps_may_end_amid_an_epoch_and_still_validates(make_config) -> None:
    run_dir = train(make_config(max_epochs=None, max_steps=5))
    assert list(rows(run_dir, "train_loss")) == [1, 2, 3, 4, 5]
    assert list(rows(run_dir, "valid_loss")) == [5]
    assert kept(run_dir, "best") == ["best-5.ckpt"]
    assert (run_dir / "model").is_dir()


def test_validations_come_every_so_many_steps_and_at_the_end(make_config) -> None:
    assert list(rows(train(make_config(validate_every=4)), "valid_loss")) == [4, 8, 12, 14]


def test_the_first_of_two_limits_ends_the_run(make_config) -> None:
    assert max(rows(train(make_config(max_epochs=1, max_steps=100)), "train_loss")) == 7


def test_max_time_ends_a_run_with_a_validation(make_config, monkeypatch) -> None:
    hours = count()  # by the clock of Lightning's Timer, which looks at it once a batch
    monkeypatch.setattr(
        "lightning.pytorch.callbacks.timer.time", SimpleNamespace(monotonic=lambda: 3600.0 * next(hours))
    )
    config = make_config(max_epochs=None, max_time="00:04:30:00", accumulate=2)
    run_dir = train(config)
    assert list(rows(run_dir, "valid_loss")) == [2]  # after the fifth batch, amid the third step
    assert kept(run_dir, "best") == ["best-2.ckpt"]
    train(replace(config, resume=str(run_dir), trainer=replace(config.trainer, max_time="01:00:00:00")))
    ends = list(rows(run_dir, "valid_loss"))
    assert ends[0] == 2
    assert 2 < ends[-1] < 16  # hours of the first part count


def test_the_learning_rate_falls_until_the_time_is_up_also_in_a_resumed_run(make_config, monkeypatch) -> None:
    seconds = count()  # the clock moves by one each time that somebody looks
    monkeypatch.setattr(
        "lightning.pytorch.callbacks.timer.time", SimpleNamespace(monotonic=lambda: float(next(seconds)))
    )
    optim = {"schedule": "linear", "lr": 1e-2, "warmup_steps": 2}
    config = make_config(optim=optim, max_epochs=None, max_time="00:00:01:00", log_every=1)
    run_dir = train(config)
    first = list(rows(run_dir, "lr").values())
    assert 9e-3 < first[0] < 1e-2
    assert first == sorted(first, reverse=True)
    assert first[-1] < 1e-3 < 5e-3 < first[3]
    train(replace(config, resume=str(run_dir), trainer=replace(config.trainer, max_time="00:00:02:00")))
    again = list(rows(run_dir, "lr").values())[len(first) :]
    assert again == sorted(again, reverse=True)
    assert again[-1] < 1e-3 < again[1] < 6e-3  # from the middle of twice the time


def test_patience_ends_a_run_that_no_longer_improves(make_config) -> None:
    run_dir = train(make_config(optim={"lr": 1e-12}, max_epochs=9, patience=2, validate_every=2))
    losses = list(rows(run_dir, "valid_loss").values())
    assert len(losses) < 30
    assert min(losses[-2:]) >= min(losses[:-2])


@pytest.mark.parametrize(
    ("average", "prefix", "steps"),
    [("none", "best", ["best-14.ckpt"]), ("last", "latest", ["latest-10.ckpt", "latest-14.ckpt"])],
)
def test_the_bundle_has_the_weights_that_the_settings_name(make_config, average, prefix, steps) -> None:
    run_dir = train(make_config(average=average, average_count=2, validate_every=5))
    assert kept(run_dir, prefix) == steps
    assert_weights(run_dir, average_weights([run_dir / "checkpoints" / name for name in steps]))


def test_averaging_takes_the_best_of_those_that_are_kept(make_config, tmp_path) -> None:
    run_dir = train(make_config(average="best", average_count=2, keep_best=4, validate_every=3))
    scores = sorted((loss, step) for step, loss in rows(run_dir, "valid_loss").items())
    assert kept(run_dir, "best") == sorted(f"best-{step}.ckpt" for _, step in scores[:4])
    assert_weights(run_dir, average_weights([run_dir / f"checkpoints/best-{step}.ckpt" for _, step in scores[:2]]))
    assert "mean of the best 2 checkpoints" in (run_dir / "model/README.md").read_text()


def test_without_a_checkpoint_the_last_weights_are_kept(tmp_path) -> None:
    config = TrainerConfig(average="last")
    fitted = Fitted(torch.nn.Linear(1, 1), 0, 0.0, *make_checkpoints(config, tmp_path))  # type: ignore[arg-type]
    assert final_weights(config, fitted) == (None, "last step")


def test_the_moving_average_is_what_is_validated_kept_and_bundled(make_config) -> None:
    plain = train(make_config(max_epochs=1, changes={"name": "plain"}))
    run_dir = train(make_config(max_epochs=1, ema_decay=0.8))
    assert rows(run_dir, "train_loss") == rows(plain, "train_loss")
    assert rows(run_dir, "valid_loss") != rows(plain, "valid_loss")
    last = torch.load(run_dir / "checkpoints/last.ckpt", weights_only=True)
    assert_weights(run_dir, {name.removeprefix("model."): x for name, x in last["state_dict"].items()})
    raw = {name.removeprefix("model."): x for name, x in last["current_model_state"].items()}
    assert_weights(plain, raw)
    assert any(not torch.equal(bundle(run_dir)[name], raw[name]) for name in bundle(run_dir))
    for directory in (plain, run_dir):
        assert validation_loss(directory, make_config) == pytest.approx(rows(directory, "valid_loss")[7], rel=1e-5)


def validation_loss(run_dir: Path, make_config) -> float:
    """The loss of the bundle, in nats per token."""
    from translate.data.datamodule import TranslationDataModule

    config = make_config()
    data = TranslationDataModule(config.data, config.tokenizer, seed=1)
    data.prepare()
    model = Translator.load(str(run_dir)).engine.model
    loss = tokens = 0.0
    with torch.no_grad():
        for batch in data.val_dataloader():
            logits = model(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask).flatten(0, 1)
            loss += float(torch.nn.functional.cross_entropy(logits, batch.labels.flatten(), reduction="sum"))
            tokens += batch.num_tokens
    return loss / tokens


def test_logs_can_be_turned_off_or_sent_elsewhere(make_config, tmp_path, monkeypatch) -> None:
    made: list[dict[str, object]] = []

    def wandb(**settings: object) -> CSVLogger:  # which is not installed everywhere, and would ask for an account
        made.append(settings)
        return CSVLogger(str(settings["save_dir"]), "n")

    monkeypatch.setattr(setup, "WandbLogger", wandb)
    monkeypatch.setattr(setup, "find_spec", lambda name: name)
    chosen = {"project": "p", "save_dir": str(tmp_path / "other")}
    run_dir = train(make_config(max_epochs=1, csv=False, loggers={"wandb": chosen}))
    assert {path.name for path in run_dir.iterdir()} == {"config.yaml", "cleaning.json", "checkpoints", "model"}
    (written,) = (tmp_path / "other").rglob("metrics.csv")
    assert "valid_loss" in written.read_text()
    assert made == [chosen]


@pytest.mark.parametrize(
    ("name", "kind", "passed_on"),
    [("wandb", WandbLogger, {"entity", "group"}), ("mlflow", MLFlowLogger, set())],  # the first to wandb.init
)
def test_the_settings_of_a_logger_are_arguments_of_its_class(name, kind, passed_on) -> None:
    assert set(LOGGERS[name]) <= inspect.signature(kind).parameters.keys() | passed_on


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_a_logger_without_its_package_says_what_to_install(make_config, monkeypatch, name) -> None:
    monkeypatch.setattr(setup, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=rf"^logger={name} needs an extra: pip install -e '\.\[{name}\]'$"):
        train(make_config(loggers={name: {}}))


def test_a_logger_that_cannot_be_made_is_named_in_one_line(make_config, monkeypatch) -> None:
    def refuse(**settings: object) -> CSVLogger:
        raise RuntimeError("no such server\nmore")

    monkeypatch.setattr(setup, "MLFlowLogger", refuse)
    monkeypatch.setattr(setup, "find_spec", lambda name: name)
    with pytest.raises(ValueError, match=r"^trainer\.loggers\.mlflow cannot be made: no such server$"):
        train(make_config(loggers={"mlflow": {}}))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_device_that_is_not_there_is_one_line(make_config) -> None:
    with pytest.raises(ValueError, match=r"^trainer\.accelerator=gpu needs a CUDA device, and there is none; use cpu$"):
        train(make_config(accelerator="gpu"))


def test_a_second_run_in_the_same_directory_is_refused(make_config, tmp_path) -> None:
    config = make_config(max_epochs=1, changes={"run_dir": str(tmp_path / "mine")})
    assert train(config) == tmp_path / "mine"
    with pytest.raises(ValueError, match=r"run_dir \(.*mine\) holds a run already"):
        train(config)


def test_a_file_where_the_run_is_to_be_is_refused(make_config, tmp_path) -> None:
    (tmp_path / "mine").write_text("a file")
    with pytest.raises(ValueError, match=r"run_dir \(.*mine\) is a file; give a directory"):
        train(make_config(changes={"run_dir": str(tmp_path / "mine")}))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("mine")] == ["mine"]


def test_runs_of_one_second_get_directories_of_their_own(make_config, tmp_path) -> None:
    _, run_dir = new_run(make_config())
    names = [make_directory(run_dir, exist_ok=False).name for _ in range(3)]
    assert names == [run_dir.name, run_dir.name + "+", run_dir.name + "++"]


def test_latest_moves_with_the_runs_and_points_at_the_newest(tmp_path) -> None:
    runs = tmp_path / "runs"
    for name in ("one", "two"):
        (runs / "tiny" / name).mkdir(parents=True)
        point_latest(runs, runs / "tiny" / name)
    moved = runs.rename(tmp_path / "moved")
    assert (moved / "latest").resolve() == (moved / "tiny" / "two").resolve()
    assert sorted(path.name for path in moved.iterdir()) == ["latest", "tiny"]


def test_a_run_that_diverges_stops_with_the_step_and_advice_and_keeps_no_such_weights(make_config) -> None:
    config = make_config(optim={"lr": 1e38, "warmup_steps": 0, "clip_norm": 0}, log_every=4, checkpoint_every=3)
    with pytest.raises(ValueError, match=r"not finite at step \d: training has diverged; .* lower optim\.lr"):
        train(config)
    (run_dir,) = Path(config.runs_dir, config.name).iterdir()
    for path in (run_dir / "checkpoints").glob("*.ckpt"):
        assert all(tensor.isfinite().all() for tensor in load_weights(path).values())


def test_a_run_directory_that_disappears_ends_the_run_with_an_error_that_names_it(make_config, monkeypatch) -> None:
    import shutil

    original = TranslationModule.training_step
    config = make_config()

    def vanish(self, *arguments):
        if self.trainer.global_step == 3:
            shutil.rmtree(config.runs_dir)
        return original(self, *arguments)

    monkeypatch.setattr(TranslationModule, "training_step", vanish)
    with pytest.raises(OSError, match=r"metrics\.csv"):
        train(config)


WORDS = ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va"]


def write_reversals(folder: Path) -> dict[str, list[str]]:
    """Sequences of words, each with its copy or its reversal, as its first word asks."""
    generator = torch.Generator().manual_seed(0)
    lines = set()
    while len(lines) < 4200:
        length = int(torch.randint(2, 6, (1,), generator=generator))
        lines.add(" ".join(WORDS[i] for i in torch.randint(len(WORDS), (length,), generator=generator)))
    back = {line: " ".join(reversed(line.split())) for line in lines}
    pairs = [(f"copy {line}", line) if i % 2 else (f"turn {line}", back[line]) for i, line in enumerate(sorted(lines))]
    order = torch.randperm(len(pairs), generator=generator).tolist()
    splits = {"train": order[:4000], "valid": order[4000:4100], "test": order[4100:]}
    for split, numbers in splits.items():
        for side, lang in enumerate(("en", "fr")):
            text = "".join(f"{pairs[i][side]}\n" for i in numbers)
            (folder / f"{split}.{lang}").write_text(text, encoding="utf-8")
    return {split: [str(folder / f"{split}.{lang}") for lang in ("en", "fr")] for split in splits}


@pytest.mark.slow
def test_copying_and_reversing_is_learnt(make_config, tmp_path) -> None:
    config = make_config(
        max_epochs=12,
        log_every=50,
        optim={"schedule": "linear", "lr": 4e-3, "warmup_steps": 100, "label_smoothing": 0.0},
    )
    files = write_reversals(tmp_path)
    sizes = {"d_model": 64, "d_ff": 128, "num_heads": 4, "num_encoder_layers": 2, "num_decoder_layers": 1}
    model = replace(config.model, **sizes, dropout=0.0, embedding_dropout=0.0)
    data = replace(config.data, **files, batch_tokens=512, cache_dir=str(tmp_path / "cache"), drop_overlap=False)
    tokenizer = replace(config.tokenizer, vocab_size=312)
    run_dir = train(replace(config, model=model, data=data, tokenizer=tokenizer))
    sources, targets = (Path(path).read_text().splitlines() for path in files["test"])
    outputs = [translation.text for translation in Translator.load(str(run_dir)).translate(sources)]
    right = sum(output == target for output, target in zip(outputs, targets, strict=True))
    assert right >= 95, right  # of 100 unseen ones; a short training leaves a slip, a broken mask or shift none right
