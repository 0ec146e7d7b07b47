"""Every conf file composes and builds; what cannot work is refused by name and value; every key is explained."""

import re
import subprocess
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

import hydra
import pytest
from commands import run_command
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from translate.common.resources import conf_dir
from translate.config.benchmark import BenchmarkTrainConfig
from translate.config.data import DataConfig
from translate.config.decode import DecodeConfig
from translate.config.evaluate import EvaluateConfig
from translate.config.files import load_config, save_config
from translate.config.model import ModelConfig
from translate.config.optim import OptimConfig
from translate.config.parts import PartConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.train import TrainConfig
from translate.config.trainer import LOGGERS, TrainerConfig
from translate.model.transformer import build_model
from translate.train.stages.plan import plan_stages

GROUPS = ("model", "data", "tokenizer", "optim", "trainer", "decode", "logger", "experiment", "ablation")
NEEDED = {"files": ["data.train=[a.en,a.fr]"]}


def compose(*overrides: str) -> TrainConfig:
    ConfigStore.instance().store(name="train_schema", node=TrainConfig)
    with hydra.initialize_config_dir(str(conf_dir()), version_base="1.3"):
        return OmegaConf.to_object(hydra.compose("train", overrides=list(overrides)))  # type: ignore[return-value]


def choices() -> list[tuple[str, str]]:
    return [(group, file.stem) for group in GROUPS for file in sorted((conf_dir() / group).glob("*.yaml"))]


def test_defaults_compose() -> None:
    config = compose()
    assert (config.name, config.model.d_model, config.data.source) == ("everyday", 256, "everyday")


@pytest.mark.parametrize(("group", "choice"), choices())
def test_every_file_composes(group: str, choice: str) -> None:
    config = compose(f"{group}={choice}", *NEEDED.get(choice, []))
    assert isinstance(config, TrainConfig)
    assert not config.stages or plan_stages(config, Path("run"))
    if group == "logger":
        assert {name: tuple(settings) for name, settings in config.trainer.loggers.items()} == {choice: LOGGERS[choice]}


@pytest.mark.parametrize("choice", [choice for group, choice in choices() if group == "model" and choice != "big"])
def test_every_model_builds(choice: str) -> None:
    model = build_model(compose(f"model={choice}").model, 100, 100)
    assert len(model.encoder_layers) == compose(f"model={choice}").model.num_encoder_layers


@pytest.mark.parametrize("name", LOGGERS)
def test_every_setting_of_a_logger_is_explained(name: str) -> None:
    text = (conf_dir() / "logger" / f"{name}.yaml").read_text(encoding="utf-8")
    assert tuple(re.findall(r"^# (\w+)   +\w", text, re.MULTILINE)) == LOGGERS[name]


@pytest.mark.parametrize(
    ("section", "values", "message"),
    [
        (ModelConfig, {"num_heads": 3}, r"model.d_model \(256\) must be divisible by model.num_heads \(3\)"),
        (
            ModelConfig,
            {"attention": "gqa", "num_kv_heads": 3},
            r"model.num_kv_heads \(3\) must divide model.num_heads \(4\)",
        ),
        (
            ModelConfig,
            {"attention": "lsh"},
            r"model.attention \(lsh\) must be one of mha, gqa, mqa, mla, talking_heads",
        ),
        (ModelConfig, {"cross_attention": "lsh"}, r"model.cross_attention \(lsh\)"),
        (ModelConfig, {"attention": "mha", "num_kv_heads": 2}, r"model.num_kv_heads \(2\) needs model.attention=gqa"),
        (ModelConfig, {"attention": "mqa", "num_kv_heads": 2}, r"model.num_kv_heads \(2\) needs model.attention=gqa"),
        (ModelConfig, {"attention": "gqa", "num_heads": 1}, r"model.num_heads \(1\) is odd"),
        (ModelConfig, {"kv_latent_dim": 64}, r"model.kv_latent_dim \(64\) needs model.attention=mla"),
        (ModelConfig, {"attention": "mla", "kv_latent_dim": 0}, r"model.kv_latent_dim \(0\) must be at least 1"),
        (ModelConfig, {"decoder_attention": "mla", "positions": "rotary", "head_dim": 6}, "that 4 divides, not 6"),
        (ModelConfig, {"norm": "batch"}, r"model.norm \(batch\) must be one of layernorm, rmsnorm"),
        (ModelConfig, {"dropout": 1.0}, r"model.dropout \(1.0\)"),
        (ModelConfig, {"positions": "rotary", "head_dim": 5}, r"a head_dim that 2 divides, not 5"),
        (DataConfig, {"source": "wmt"}, r"data.source \(wmt\) must be one of everyday"),
        (DataConfig, {"source": "files"}, "data.train="),
        (DataConfig, {"source": "hub"}, "data.hub_id"),
        (DataConfig, {"tgt_lang": "en"}, "both en"),
        (DataConfig, {"train": ["a.en", "a.fr"]}, "data.train does nothing with data=everyday; it needs data=files"),
        (
            DataConfig,
            {"root": "somewhere"},
            "data.root does nothing with data=everyday; it needs data=multi30k or hub or files",
        ),
        (DataConfig, {"glossary": "g.tsv"}, r"data.glossary \(g.tsv\) is for sources with terms, .* set data.glossed"),
        (
            DataConfig,
            {"source": "mix", "parts": {"own": PartConfig(train=["p.tsv"])}, "valid": ["v.tsv"], "glossary": "g.tsv"},
            r"data.glossary \(g.tsv\) is for sources with terms, .* set data.glossed",
        ),
        (DataConfig, {"copies": 2}, r"data.copies \(2\) weighs the source's own pairs against those of data.extra"),
        (DataConfig, {"max_ratio": 0.5}, r"data.max_ratio \(0.5\) must be at least 1, or 0 for no limit"),
        (DataConfig, {"batch_tokens": 100}, r"data.batch_tokens \(100\) must be at least data.max_len \(256\)"),
        (TokenizerConfig, {"kind": "word"}, r"tokenizer.kind \(word\)"),
        (TokenizerConfig, {"character_coverage": 0.5}, r"character_coverage \(0.5\)"),
        (OptimConfig, {"lr": float("inf")}, r"optim.lr \(inf\) must be a finite number"),
        (DecodeConfig, {"temperature": float("nan")}, r"decode.temperature \(nan\) must be a finite number"),
        (
            DecodeConfig,
            {"length_penalty": 1000.0},
            r"decode.length_penalty \(1000.0\) must be at least 0 and at most 10",
        ),
        (OptimConfig, {"lr": 0.0}, r"optim.lr \(0.0\) must be above 0"),
        (OptimConfig, {"algorithm": "sgd"}, r"optim.algorithm \(sgd\) must be one of adamw, muon"),
        (OptimConfig, {"schedule": "step"}, r"optim.schedule \(step\)"),
        (TrainerConfig, {"max_epochs": None}, "training never ends"),
        (TrainerConfig, {"max_epochs": 0}, r"trainer.max_epochs \(0\)"),
        (TrainerConfig, {"precision": "8"}, r"trainer.precision \(8\)"),
        (TrainerConfig, {"max_time": "45m"}, r"trainer.max_time \(45m\) must read days:hours:minutes:seconds"),
        (TrainerConfig, {"valid_bleu_sentences": 0}, "monitor=loss"),
        (TrainerConfig, {"num_nodes": 0}, r"trainer.num_nodes \(0\) must be at least 1"),
        (TrainerConfig, {"strategy": "tp"}, r"trainer.strategy \(tp\) must be one of auto, ddp, fsdp"),
        (
            TrainerConfig,
            {"strategy": "fsdp", "ema_decay": 0.9},
            r"trainer.ema_decay \(0.9\) .*; set trainer.strategy=ddp",
        ),
        (TrainerConfig, {"strategy": "fsdp", "workers": 2}, r"trainer.workers \(2\) .*; set workers=1"),
        (TrainerConfig, {"strategy": "fsdp", "compile": True}, "trainer.compile=true is not for trainer.strategy=fsdp"),
        (TrainerConfig, {"strategy": "fsdp", "precision": "16-mixed"}, "use bf16-mixed or 32"),
        (DecodeConfig, {"num_hypotheses": 6}, r"decode.num_hypotheses \(6\) must be at most decode.beam_size \(5\)"),
        (DecodeConfig, {"min_output_len": 300}, r"decode.min_output_len \(300\) must be at most"),
        (EvaluateConfig, {"protocol": "uncased"}, r"protocol \(uncased\)"),
        (ModelConfig, {"layer_drop": 1.0}, r"model.layer_drop \(1.0\)"),
        (ModelConfig, {"word_dropout": -0.1}, r"model.word_dropout \(-0.1\)"),
        (OptimConfig, {"r_drop": -1.0}, r"optim.r_drop \(-1.0\) must be at least 0"),
        (TrainConfig, {"seed": -1}, r"seed \(-1\)"),
        (TrainConfig, {"seed": 2**32}, r"seed \(4294967296\) must be at least 0 and at most 4,000,000,000"),
        (
            TrainConfig,
            {
                "model": ModelConfig(dropout=0.0, embedding_dropout=0.0, layer_drop=0.5),  # the same for both passes
                "optim": OptimConfig(r_drop=5.0),
            },
            r"optim.r_drop \(5.0\) .* none; set one of model.dropout, .*, model.word_dropout above 0",
        ),
        (
            TrainConfig,
            {"model": ModelConfig(layer_drop=0.1), "trainer": TrainerConfig(strategy="fsdp")},
            r"model.layer_drop \(0.1\) .*; set trainer.strategy=ddp",
        ),
        (
            TrainConfig,
            {"optim": OptimConfig(algorithm="muon"), "trainer": TrainerConfig(strategy="fsdp")},
            "optim.algorithm=muon needs whole matrices, .*; use ddp",
        ),
        (BenchmarkTrainConfig, {"optim": OptimConfig(algorithm="muon"), "peers": True}, "peers train with adamw"),
        (BenchmarkTrainConfig, {"optim": OptimConfig(r_drop=5.0)}, "a benchmark needs optim.r_drop=0"),
        (BenchmarkTrainConfig, {"init_from": "RUN"}, r"init_from \(RUN\) does nothing in a benchmark"),
        (TrainConfig, {"tokenizer": TokenizerConfig(joint=False)}, "model.share_embeddings=false"),
        (
            TrainConfig,
            {
                "tokenizer": TokenizerConfig(joint=False),
                "model": ModelConfig(share_embeddings=False),
                "data": DataConfig(both_directions=True),
            },
            "data.both_directions=true needs .* set tokenizer.joint=true",
        ),
        (TrainConfig, {"model": ModelConfig(positions="learned", max_positions=100)}, r"data.max_len \(256\)"),
    ],
)
def test_what_cannot_work_is_refused(section: type, values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        section(**values)


def test_the_other_direction_is_one_override() -> None:
    assert (DataConfig().src_lang, DataConfig().tgt_lang) == ("en", "fr")
    assert compose("data.src_lang=fr").data.tgt_lang == "en"
    assert compose("data.src_lang=de").data.tgt_lang == "fr"


def test_seed_zero_is_a_seed() -> None:
    assert compose("seed=0").seed == 0


def test_a_saved_config_reads_back_with_changes_on_top(tmp_path: Path) -> None:
    config = replace(compose("model=tiny", "data.train=[]"), resume="x")
    save_config(config, tmp_path / "config.yaml")
    again = load_config(tmp_path / "config.yaml", TrainConfig, {"trainer.max_epochs": 7})
    assert again == replace(config, trainer=replace(config.trainer, max_epochs=7))
    assert is_dataclass(again.model)


def test_a_damaged_saved_config_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    with pytest.raises(ValueError, match=r"config\.yaml does not exist"):
        load_config(path, TrainConfig)
    path.write_text("modle: 3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"config\.yaml.*modle"):
        load_config(path, TrainConfig)


@pytest.mark.parametrize(
    ("loggers", "message"),
    [
        ({"wandb": {"_target_": "builtins.open", "file": "FILE", "mode": "w"}}, "chosen by its name, wandb, alone"),
        ({"mine": {"_target_": "torch.load", "f": "FILE", "weights_only": False}}, "must be one of wandb, mlflow"),
        ({"wandb": {"project": {"_target_": "shutil.copyfile", "src": "FILE", "dst": "x"}}}, "project .* be text"),
        ({"wandb": {"experiment": "x"}}, r"a setting of trainer.loggers.wandb \(experiment\) must be one of project"),
        ({"wandb": "x"}, r"trainer.loggers.wandb \(x\) must be a mapping"),
    ],
)
def test_a_saved_config_names_no_class_to_call(tmp_path: Path, loggers: dict[str, Any], message: str) -> None:
    path = tmp_path / "config.yaml"
    OmegaConf.save({"trainer": {"loggers": loggers}}, path)
    with pytest.raises(ValueError, match=rf"config\.yaml: .*{message}") as error:
        load_config(path, TrainConfig)
    assert "\n" not in str(error.value)


def test_a_run_that_logs_elsewhere_reads_back(tmp_path: Path) -> None:
    config = compose("logger=wandb", "runs_dir=r", "trainer.loggers.wandb.entity=me")
    settings = config.trainer.loggers["wandb"]
    assert (settings["save_dir"], settings["entity"], settings["offline"]) == ("r", "me", False)
    save_config(config, tmp_path / "config.yaml")
    assert load_config(tmp_path / "config.yaml", TrainConfig) == config


def run_train(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_command("translate.train", *arguments, cwd=conf_dir().parent)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("model.d_modle=3", "unknown setting model.d_modle; did you mean model.d_model"),
        ("+trainer.foo=1", "unknown setting trainer.foo"),
        ("+foo=1", "unknown setting foo"),
        ("optim.lr=1,2", "optim.lr=1,2 holds several values: -m sweeps"),
        (
            "+data.parts.mine.train=[a,b]",
            "the part mine cannot be added here: write it into a file beside conf/data/gen",
        ),
        ("model=tny", "there is no model/tny; conf/model has base, big, small, tiny"),
        ("model.d_model=wide", "model.d_model: Value 'wide' of type 'str' could not be converted to Integer"),
        ("optim.lr=-1", "optim.lr (-1.0) must be above 0"),
        ("resume=nowhere", "resume (nowhere) holds no checkpoints/last.ckpt"),
    ],
)
@pytest.mark.slow
def test_the_command_explains_a_mistake_in_one_line(argument: str, message: str) -> None:
    done = run_train(argument)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: {message}")
    assert done.stderr.count("\n") == 1


def test_a_sweep_with_a_mistake_stops_before_its_first_run() -> None:
    done = run_train("-m", "optim.lr=1e-3,fast")
    assert done.returncode == 2
    assert "could not be converted to Float" in done.stderr


def test_help_shows_groups_and_examples() -> None:
    text = run_train("--help").stdout
    assert "model: base, big, small, tiny" in text
    assert "python -m translate.train data=files" in text
