"""Which runs are finished, which belong together, and what a row is called."""

from dataclasses import replace
from pathlib import Path

import pytest

from translate.compare.runs import Run, make_rows, open_data, open_run
from translate.config.data import DataConfig
from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig


def run(path: str, seed: int = 1, model: ModelConfig | None = None, **changes: object) -> Run:
    base = {"model": model or ModelConfig(), "seed": seed, **changes}
    return Run(Path(path), TrainConfig(**base), [])


def test_runs_that_differ_in_the_seed_are_a_row_sorted_by_it() -> None:
    rows = make_rows([run("b", 2), run("c", 1, ModelConfig(attention="mqa")), run("a", 1)])
    assert [[r.path.name for r in row.runs] for row in rows] == [["a", "b"], ["c"]]
    assert [row.label for row in rows] == ["model.attention=mha", "model.attention=mqa"]


def test_settings_that_change_no_result_make_no_rows() -> None:
    rows = make_rows(
        [
            run("a", 1),
            run("b", 2, name="other", runs_dir="elsewhere", evaluate=False),
            run("c", 3, data=DataConfig(cache_dir="d"), decode=DecodeConfig(batch_tokens=99)),
            run("d", 4, trainer=TrainerConfig(threads=1, loggers={"wandb": {"project": "x"}}, accelerator="cpu")),
        ]
    )
    assert [(row.label, len(row.runs)) for row in rows] == [("same settings", 4)]


@pytest.mark.parametrize(
    ("models", "labels"),
    [
        ([{}, {"d_model": 512, "bias": False}], ["d_model=256 bias=true", "d_model=512 bias=false"]),
        (  # a setting that is off goes without saying, unless there is nothing else to say
            [{}, {"attention": "gqa", "num_kv_heads": 1}, {"attention": "gqa"}],
            ["attention=mha", "attention=gqa num_kv_heads=1", "attention=gqa"],
        ),
        ([{}, {"head_dim": 32}], ["head_dim=null", "head_dim=32"]),
        (
            [{}, {"d_model": 512, "d_ff": 8, "bias": False, "dropout": 0.2}],
            ["d_model=256 d_ff=1024 bias=true dropout=0.1", "d_model=512 d_ff=8 bias=false dropout=0.2"],
        ),
        (  # of many changes each row tells its own, also that it leaves out what the first row has
            [{"head_dim": 32}, {"head_dim": 32, "d_ff": 8}, {"dropout": 0.2, "bias": False}],
            ["first", "d_ff=8", "head_dim=null bias=false dropout=0.2"],
        ),
    ],
)
def test_the_label_is_what_differs(models: list[dict], labels: list[str]) -> None:
    rows = make_rows([run(str(i), model=ModelConfig(**model)) for i, model in enumerate(models)])
    assert [row.label.replace("model.", "") for row in rows] == labels


def test_runs_from_one_model_are_a_row_wherever_each_keeps_its_tokenizer() -> None:
    finetuned = [run(str(i), i, init_from="RUN", tokenizer=TokenizerConfig(path=f"{i}/tokenizer")) for i in (1, 2)]
    rows = make_rows([*finetuned, run("3", 1)])
    assert [(row.label, len(row.runs)) for row in rows] == [("init_from=RUN", 2), ("init_from=null", 1)]


def test_runs_in_stages_are_a_row_though_each_names_stages_of_its_own() -> None:
    staged = [run(f"runs/x/{i}_at", i, init_from=f"/runs/x/{i}_at/one", **extra(f"runs/x/{i}_at")) for i in (1, 2)]
    (row,) = make_rows(staged)
    assert len(row.runs) == 2
    assert row.runs[0].settings["init_from"] == "one"


def test_the_mean_of_several_stages_is_no_row_with_the_first_of_them() -> None:
    mean = {"final": {"average": ["one", "two"]}}
    rows = make_rows([run("a", 1), run("b", 1, stages=mean), run("c", 2, stages=mean)])
    assert [len(row.runs) for row in rows] == [1, 2]
    assert rows[1].label == 'stages.final.average=["one", "two"]'


def extra(directory: str) -> dict[str, DataConfig]:
    return {"data": DataConfig(extra=[f"{directory}/two/pairs.tsv", f"{directory}/three/pairs.tsv"])}


def test_the_same_run_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="a and b have the same settings and seed 3: give one of them"):
        make_rows([run("a", 3), run("b", 3)])


def test_a_finished_run_brings_its_settings_and_its_learning_curve(config, fake) -> None:
    path = fake("run", config)
    assert open_run(path) == Run(path, config, [(7.0, 2.5), (14.0, 2.25)])
    assert open_run(path, "moved").config.data.root == "moved"


def test_what_is_no_finished_run_is_refused_in_one_line(config, fake, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    for path, message in (
        (tmp_path / "gone", "gone: there is no such directory"),
        (tmp_path / "empty", r"empty/config\.yaml does not exist; give a run directory"),
        (fake("whole", config) / "model", "whole/model is a model directory; give the run directory"),
        (fake("begun", config, model_steps=None), r"begun has no model/ yet: finish the run .*resume=.*begun"),
        (fake("resumed", config, last_step=21), "resumed has trained on to step 21 since .* written at step 14"),
    ):
        with pytest.raises(ValueError, match=message) as error:
            open_run(path)
        assert "\n" not in str(error.value)


@pytest.mark.slow
def test_runs_share_data_and_other_data_are_refused(trained, config, tmp_path) -> None:
    for name in ("train.en", "train.fr", "valid.en", "valid.fr"):
        text = Path(str(config.data.root), name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("o", "o\u0301") if name == "valid.fr" else text, encoding="utf-8")
    mine, there = open_run(trained[0]), open_run(trained[1])

    def other(**changes: object) -> Run:
        return replace(there, config=replace(config, data=replace(config.data, **changes)))

    data = open_data([mine, there])
    assert data[mine.path] is data[there.path]
    less = open_data([mine, other(max_pairs=200)])  # trained on less, scored on the same
    assert less[there.path].num_train_pairs < less[mine.path].num_train_pairs
    with pytest.raises(ValueError, match=r"have different corpora.*compare runs on the same data"):
        open_data([mine, other(root=str(tmp_path))])
    changed = other(root=str(tmp_path))
    with pytest.raises(ValueError, match="have different validation pairs"):
        open_data([replace(changed, path=mine.path), other(root=str(tmp_path), normalize_unicode=False)])
