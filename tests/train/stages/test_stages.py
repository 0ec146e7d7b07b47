"""Runs of several stages: what is refused before the first, and that a stopped one goes on."""

import json
import signal
from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf
from safetensors.torch import load_file

from translate import Translator
from translate.common.resources import conf_dir
from translate.config.benchmark import BenchmarkTrainConfig
from translate.config.files import load_config, save_config
from translate.config.model import ModelConfig
from translate.config.train import TrainConfig
from translate.data.corpus import open_corpus
from translate.data.readers import read_table
from translate.search.mbr import closest
from translate.train.module import TranslationModule
from translate.train.stages.kinds import Average, Stage, Translation
from translate.train.stages.plan import plan_stages
from translate.train.start import train

BACK = {"data.src_lang": "fr", "seed": 2}
FOUR = {"beam_size": 4, "num_hypotheses": 4, "max_output_len": 12}


def plan(stages: dict[str, Any], **changes: Any) -> list[Stage]:
    return plan_stages(TrainConfig(stages=stages, **changes), Path("run"))


def test_a_stage_has_the_settings_of_the_run_and_its_own_on_top() -> None:
    back, pairs, final = plan(
        {
            "back": BACK,
            "pairs": {"translate": ["back"], "decode": {"beam_size": 3}},
            "final": {"data": {"source": "files", "train": ["{pairs}"]}, "tokenizer.path": "{back}/model"},
        },
        seed=7,
        resume="run",
    )
    assert (back.languages, back.config.seed, back.config.decode.beam_size) == (("fr", "en"), 2, 5)
    assert (pairs.languages, pairs.config.seed, pairs.config.decode.beam_size) == (("en", "fr"), 7, 3)
    assert isinstance(pairs, Translation)
    assert (pairs.members, pairs.side) == ((back,), "tgt")
    assert final.config.data.train == ["run/pairs/pairs.tsv"]
    assert final.config.tokenizer.path == "run/back/model"
    assert [stage.config.evaluate for stage in (back, pairs, final)] == [False, False, True]
    assert (final.config.stages, final.config.resume) == ({}, None)


def test_a_model_of_both_directions_translates_either_side() -> None:
    both = {"data": {"both_directions": True, "language_tags": True}}
    into_fr, into_en = {"translate": ["both"]}, {"translate": ["both"], "into": "en"}
    stages = plan({"both": both, "fr": into_fr, "en": into_en, "final": {"data.extra": ["{fr}", "{en}"]}})
    assert [stage.side for stage in stages if isinstance(stage, Translation)] == ["src", "tgt"]
    assert stages[3].config.data.extra == ["run/fr/pairs.tsv", "run/en/pairs.tsv"]


def test_an_average_is_of_networks_that_were_trained_on_from_the_same_weights() -> None:
    *_, last = plan(
        {
            "one": {"seed": 3},
            "two": {"init_from": "{one}", "model.dropout": 0.3},
            "three": {"init_from": "{two}/model"},
            "both": {"average": ["one", "two"]},
            "last": {"average": ["three", "both"]},
        }
    )
    assert isinstance(last, Average)
    assert [member.name for member in last.members] == ["three", "both"]
    assert (last.origin, last.output, last.config.evaluate) == ("one", Path("run/last"), True)
    assert last.config.seed == TrainConfig.seed


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ({"one": None}, r"stages\.one: None is no mapping of settings; write \{\}"),
        ({"model": {}}, r"stages\.model: name a stage by letters.* not model, checkpoints"),
        ({"a/b": {}}, r"stages\.a/b: name a stage"),
        (
            {"one": {}, "two": {"trainer": {"max_epoch": 3}}},
            r"stages\.two: unknown setting trainer\.max_epoch; did you",
        ),
        ({"one": {"optim.lr": -1}}, r"stages\.one: optim\.lr \(-1\.0\) must be above 0"),
        ({"one": {"model": {"d_model": "wide"}}}, r"stages\.one: model\.d_model: Value 'wide' of type 'str'"),
        ({"one": {"optim.lr": 1, "optim": {"lr": 2}}}, r"stages\.one: optim\.lr is given twice"),
        ({"one": {"run_dir": "x"}}, r"stages\.one: run_dir belongs to the whole run"),
        ({"one": {"trainer.devices": 2}}, r"stages\.one: stages train on one device, not 2"),
        (
            {"one": {"tokenizer.path": "{two}/model"}, "two": {}},
            r"stages\.one: tokenizer\.path .* called two; this one is",
        ),
        ({"one": {}, "two": {"tokenizer.path": "{two}"}}, r"stages\.two: tokenizer\.path .* called two; there are one"),
        ({"one": {}, "two": {"translate": ["three"]}}, r"stages\.two: translate \(three\): no earlier stage"),
        ({"one": {}, "two": {"translate": "one"}}, r"stages\.two: translate \(one\) must be a list .* like \[one\]"),
        ({"one": {}, "two": {"translate": ["one"]}}, r"stages\.two: the last stage must leave a model"),
        (
            {"one": {}, "two": {"translate": ["one"]}, "three": {"translate": ["two"]}},
            r"stages\.three: translate \(two\) is a translation",
        ),
        (
            {"one": {}, "two": {"translate": ["one"]}, "three": {"average": ["one", "two"]}},
            r"stages\.three: average \(two\) is a translation, which leaves no model",
        ),
        (
            {"one": {}, "two": {"trim": ["one"]}},
            r"stages\.two: trim \(\['one'\]\): no earlier stage is called",
        ),
        ({"one": {}, "two": {"trim": "one", "least": 0}}, r"stages\.two: least \(0\) must be a whole number from 1"),
        ({"one": {}, "two": {"trim": "one", "seed": 2}}, r"stages\.two: seed does nothing where models are made into"),
        ({"one": {}, "two": {"least": 2}}, r"stages\.two: unknown setting least"),
        (
            {"one": {"data": {"both_directions": True, "language_tags": True}}, "two": {"trim": "one"}},
            r"stages\.two: trim: a model of both directions needs the pieces of both languages",
        ),
        (
            {"one": {}, "two": {"trim": "one"}, "three": {"average": ["one", "two"]}},
            r"stages\.three: average: the weights of one come from one and those of two from two; only networks",
        ),
        (
            {"one": {}, "two": {"trim": "one"}, "three": {"translate": ["one", "two"]}, "four": {}},
            r"stages\.three: translate: one and two have other settings of .* or trim",
        ),
        ({"one": {}, "two": {"average": []}}, r"stages\.two: average \(\[\]\) must be a list .* like \[one\]"),
        (
            {"one": {}, "two": {"average": ["one"], "optim.lr": 1}},
            r"stages\.two: optim\.lr does nothing where models are",
        ),
        (
            {"one": {}, "two": {"average": ["one"], "translate": ["one"]}},
            r"stages\.two: average does nothing in a trans",
        ),
        (
            {"one": {}, "two": {"seed": 2}, "three": {"init_from": "{two}"}, "four": {"average": ["one", "three"]}},
            r"stages\.four: average: the weights of one come from one and those of three from two; only networks",
        ),
        ({"one": {"init_from": "no/such"}}, r"stages\.one: no model in no/such"),
        ({"one": {}, "two": {"optim.teachers": ["{one}", "no/such"]}}, r"stages\.two: no model in no/such"),
        (
            {"one": {"init_from": "en-fr", "model.d_model": 512}},
            r"stages\.one: model\.d_model \(512\) is 320 in init_from",
        ),
        ({"one": {}, "two": {"trainer.loggers": {}}}, r"stages\.two: trainer\.loggers=\{\} changes nothing"),
        (
            {"one": {}, "two": {"init_from": "{one}", "data.src_lang": "fr"}, "three": {"average": ["one", "two"]}},
            r"stages\.three: average: one and two have other languages or tags",
        ),
        (
            {
                "one": {"model.num_decoder_layers": 6},
                "two": {"init_from": "{one}", "model.num_decoder_layers": 2},
                "three": {"average": ["one", "two"]},
            },
            r"stages\.three: average: model\.num_decoder_layers is 6 in one and 2 in two; only networks of one shape",
        ),
        ({"one": {}, "two": {"translate": ["one"], "seed": 2}}, r"stages\.two: seed does nothing in a translation"),
        ({"one": {}, "two": BACK, "three": {"translate": ["one", "two"]}}, r"stages\.three: .* the same languages"),
        (
            {"one": {}, "two": {"translate": ["one"], "data.tgt_lang": "de"}},
            r"stages\.two: translate: one translates en to fr, and the training pairs are en and de",
        ),
        (
            {"one": {}, "two": {"translate": ["one"], "into": "en"}},
            r"stages\.two: into \(en\): one translates en to fr only",
        ),
        (
            {"one": {"tokenizer.vocab_size": 900}, "two": {}, "three": {"translate": ["two", "one"]}, "four": {}},
            r"stages\.three: translate: two and one have other settings of the tokenizer",
        ),
        (
            {"one": {}, "two": {"seed": 2}, "three": {"init_from": "{one}"}, "four": {"seed": 2}},
            r"stages\.four: it would repeat two, with the same settings and seed \(2\); change one",
        ),
        ({"one": {}, "two": {"seed": 2}}, r"stages\.two: the seed of the last stage is that of the run"),
        ({"one": {}, "two": {"into": "en"}}, r"stages\.two: unknown setting into"),
        ({"one": {}, "two": {"translate": ["one"], "decode.mbr": "chrf"}}, r"stages\.two: mbr \(chrf\) chooses among"),
        ({"one": {}, "two": {"translate": ["one"], "closest": "ter"}}, r"stages\.two: closest \(ter\) must be one of"),
        (
            {"one": {}, "two": {"translate": ["one"], "closest": "bleu"}},
            r"stages\.two: closest \(bleu\) takes one of several",
        ),
        (
            {"one": {}, "two": {"translate": ["one"], "closest": "bleu", "decode": {**FOUR, "mbr": "chrf"}}},
            r"stages\.two: closest \(bleu\) takes .* leave decode\.mbr out",
        ),
        (
            {"one": {}, "two": {"translate": ["one"], "workers": 0}},
            r"stages\.two: workers \(0\) must be a whole number",
        ),
        ({"one": {}, "two": {"closest": "bleu"}}, r"stages\.two: unknown setting closest"),
    ],
)
def test_a_stage_that_cannot_work_is_refused_before_the_first(stages: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}[^\n]*$"):
        plan(stages)


def test_a_benchmark_has_no_stages() -> None:
    with pytest.raises(ValueError, match=r"stages \(one\): a benchmark measures one training"):
        BenchmarkTrainConfig(stages={"one": {}})


def test_stages_of_an_experiment_file_come_through_hydra_and_back_from_disk(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment/two.yaml").write_text(
        "# @package _global_\nstages:\n  one: {data.src_lang: fr, trainer: {max_epochs: 3}}\n"
        '  two: {translate: [one]}\n  three: {tokenizer.path: "{one}/model"}\n'
    )
    ConfigStore.instance().store(name="train_schema", node=TrainConfig)
    overrides = ["experiment=two", "stages.one.trainer.max_epochs=4", f"hydra.searchpath=[file://{tmp_path}]"]
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        config = OmegaConf.to_object(compose("train", overrides=overrides))
    save_config(config, tmp_path / "stages.yaml")
    assert load_config(tmp_path / "stages.yaml", TrainConfig) == config
    assert config.stages == {
        "one": {"data.src_lang": "fr", "trainer": {"max_epochs": 4}},
        "two": {"translate": ["one"]},
        "three": {"tokenizer.path": "{one}/model"},
    }


def nearest(model: Path, pairs: list[tuple[str, str]]) -> list[dict[str, str]]:
    """Return the translation of each source that is most like its reference, which is not always the best one."""
    found = Translator.load(model).translate([src for src, _ in pairs], **FOUR)
    texts = [[one.text for one in translation.hypotheses] for translation in found]
    places = [closest(some, reference, "chrf") for some, (_, reference) in zip(texts, pairs, strict=True)]
    assert any(places)
    return [{"src": src, "tgt": some[place]} for (src, _), some, place in zip(pairs, texts, places, strict=True)]


def stopped(config: TrainConfig) -> None:
    with pytest.raises(SystemExit) as end:
        train(config)
    assert end.value.code == 130


@pytest.mark.slow
def test_stopped_in_any_stage_a_run_goes_on_there_and_ends_as_the_last_stage_alone_would(
    make_config: Callable[..., TrainConfig], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = {
        "back": BACK,
        "pairs": {"translate": ["back"], "closest": "chrf", "data.max_pairs": 100, "decode": FOUR},
        "final": {"data": {"train": ["{pairs}"], "max_ratio": 0}, "tokenizer.path": "{back}/model"},
    }
    config = make_config(max_epochs=1, changes={"stages": stages})
    run_dir = Path(config.runs_dir) / "tiny/run"
    config = replace(config, run_dir=str(run_dir))
    step, translate = TranslationModule.training_step, Translator.translate
    translated: list[int] = []

    def signalled_step(self: TranslationModule, *arguments: Any) -> Any:
        if self.trainer.global_step == 1:
            signal.raise_signal(signal.SIGTERM)
        return step(self, *arguments)

    def signalled_translate(self: Translator, texts: list[str], **settings: Any) -> Any:
        translated.append(len(texts))
        if len(translated) == 2:
            signal.raise_signal(signal.SIGTERM)
        return translate(self, texts, **settings)

    monkeypatch.setattr("translate.train.stages.work.FILE_LINES", 40)
    monkeypatch.setattr(Translator, "translate", signalled_translate)
    stopped(config)
    assert f"stopped; go on with\n  python -m translate.train resume={run_dir}\n" in capsys.readouterr().err
    model = (run_dir / "back/model/model.safetensors").stat()
    resumed = replace(config, run_dir=None, resume=str(run_dir))
    settings = run_dir / "back/model/config.yaml"
    kept = settings.read_text()
    settings.write_text(f"{kept}# another model")
    with pytest.raises(ValueError, match=r"translated\) was begun with other settings: model .*back/model \(sha256 "):
        train(resumed)
    settings.write_text(kept)
    with monkeypatch.context() as patch:
        patch.setattr(TranslationModule, "training_step", signalled_step)
        stopped(resumed)
    assert translated == [40, 40, 40, 20]  # the second of them in vain
    assert torch.load(run_dir / "final/checkpoints/last.ckpt", weights_only=True)["global_step"] == 2
    assert not (run_dir / "model").exists()
    assert train(resumed) == run_dir.resolve()
    assert (run_dir / "back/model/model.safetensors").stat() == model
    err = capsys.readouterr().err
    assert "stage 1 of 3: back is finished\nstage 2 of 3: pairs is finished\nstage 3 of 3: final\n" in err

    own = list(islice(open_corpus(config.data).train(), 100))
    rows = list(read_table(str(run_dir / "pairs/pairs.tsv"), "fr", "en", True))
    assert rows == nearest(run_dir / "back", [(pair.tgt, pair.src) for pair in own])
    assert len(rows) == json.loads((run_dir / "pairs/translation.json").read_text())["pairs"] == 100
    assert {path.name for path in (run_dir / "pairs").iterdir()} == {"pairs.tsv", "translation.json"}

    final = load_config(run_dir / "final/config.yaml", TrainConfig)
    alone = train(replace(final, name="alone"))
    weights, expected = (load_file(path / "model/model.safetensors") for path in (run_dir, alone))
    assert all(torch.equal(weights[name], expected[name]) for name in expected)
    assert load_config(run_dir / "config.yaml", TrainConfig) == final
    assert train(resumed) == run_dir.resolve()  # nothing is left to do
    assert (Path(config.runs_dir) / "latest").resolve() == run_dir.resolve()


@pytest.mark.slow
def test_an_average_has_the_mean_of_the_weights_and_a_report(make_config: Callable[..., TrainConfig]) -> None:
    config = make_config(max_epochs=1)
    stages = {
        "one": {"model": asdict(config.model)},
        "two": {"init_from": "{one}", "seed": 2},
        "mean": {"average": ["one", "two"]},
        "pairs": {"translate": ["mean"], "data.max_pairs": 5},
        "last": {"average": ["two", "mean"]},
    }
    config = replace(config, model=ModelConfig(), stages=stages, evaluate=True, data=replace(config.data, glossed=0.1))
    run_dir = train(config)
    for name in ("one", "two", "mean", "."):
        files = {path.name for path in (run_dir / name / "model").iterdir()}
        assert {"glossary.tsv.gz", "capitals.tsv"} <= files
    one, two, mean, last = (
        load_file(run_dir / name / "model/model.safetensors") for name in ("one", "two", "mean", ".")
    )
    for name in one:
        assert not torch.equal(one[name], two[name])
        torch.testing.assert_close(mean[name], (one[name] + two[name]) / 2)
        torch.testing.assert_close(last[name], one[name] / 4 + 3 * two[name] / 4)
    assert "mean of two, mean" in (run_dir / "model/README.md").read_text()
    saved = load_config(run_dir / "config.yaml", TrainConfig)
    assert saved.stages == {"last": {"average": ["two", "mean"]}}
    assert saved.model.d_model == 16  # of the network that stage two took from one, not of the run's settings
    assert (run_dir / "report.html").is_file()

    assert train(replace(config, resume=str(run_dir))) == run_dir.resolve()  # nothing is left to do


@pytest.mark.slow
def test_a_student_learns_from_trimmed_teachers(make_config: Callable[..., TrainConfig]) -> None:
    config = make_config(max_epochs=1, optim={"lr": 1e-3})
    stages = {
        "teacher": {"model": asdict(config.model)},
        "small": {"trim": "teacher", "least": 2},
        "student": {"init_from": "{small}", "optim": {"teachers": ["{small}"], "teacher_share": 0.7}},
        "mean": {"average": ["student"]},
        "last": {"trim": "mean", "least": 60},
    }
    run_dir = train(replace(config, model=ModelConfig(), stages=stages, evaluate=True))
    sizes = []
    for name in ("teacher", "small", "mean", "."):
        translator = Translator.load(run_dir / name, device="cpu")
        assert translator.config.tgt_vocab_size == len(translator.engine.model.output.weight)
        sizes.append((translator.config.src_vocab_size, translator.config.tgt_vocab_size))
    assert {src for src, _ in sizes} == {sizes[0][0]}
    assert sizes[0][1] > sizes[1][1] == sizes[2][1] > sizes[3][1]
    assert f"{sizes[3][1]:,} of {sizes[2][1]:,} target pieces" in (run_dir / "model/README.md").read_text()
    saved = load_config(run_dir / "config.yaml", TrainConfig)
    assert (saved.tokenizer.joint, saved.model.share_embeddings) == (False, False)
    assert not load_config(run_dir / "mean/config.yaml", TrainConfig).tokenizer.joint
    again = train(replace(saved, optim=config.optim, stages={}, name="again", evaluate=False))  # with its tokenizer
    assert Translator.load(again, device="cpu").config.tgt_vocab_size == sizes[3][1]


@pytest.mark.slow
def test_workers_translate_what_one_process_does(make_config: Callable[..., TrainConfig]) -> None:
    config = make_config(max_epochs=1)
    pairs = {}
    for name, more in (("here", {}), ("workers", {"workers": 2})):
        stages = {
            "back": BACK,
            "pairs": {"translate": ["back"], "decode": FOUR | {"num_hypotheses": 2}, **more},
            "final": {"data.extra": ["{pairs}"]},
        }
        run_dir = train(replace(config, name=name, stages=stages))
        pairs[name] = (run_dir / "pairs/pairs.tsv").read_text(encoding="utf-8")
    assert pairs["here"] == pairs["workers"]
    assert pairs["here"].count("\n") == 1 + 2 * 300
