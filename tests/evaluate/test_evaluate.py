import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from commands import run_command

from translate.config.data import DataConfig
from translate.config.evaluate import DecodeOverrides, EvaluateConfig
from translate.config.files import save_config
from translate.config.model import ModelConfig
from translate.config.train import TrainConfig
from translate.data.tokenizer import Tokenizer
from translate.evaluate.evaluation import evaluate
from translate.evaluate.report import Report
from translate.evaluate.scores import score
from translate.export.writer import save_exported
from translate.model.transformer import build_model
from translate.translator.bundle import BundleConfig, load_bundle, save_bundle
from translate.translator.translator import Translator

REF = ["Un homme traverse la rue.", "Deux chiens jouent dans la neige.", "Elle lit un livre à l'ombre."]
HYP = ["Un homme traverse une rue.", "Deux chiens jouent dans la neige.", "Elle lit."]
SRC = ["A man crosses the street.", "Two dogs play in the snow.", "She reads a book in the shade."]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lines in (("t.ref.fr", REF), ("t.hyp", HYP), ("t.en", SRC), ("other", REF), ("short", HYP[:2])):
        Path(name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    with gzip.open("t.fr.gz", "wt", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in REF))
    return tmp_path


def run_evaluate(*arguments, cwd):
    return run_command("translate.evaluate", *arguments, cwd=cwd)


def test_existing_output_is_scored_without_a_model(files, capsys):
    report = evaluate(EvaluateConfig(hyp="t.hyp", ref="t.fr.gz", src="t.en", baseline="other", bootstrap=20))
    assert [s.name for s in report.test_sets] == ["t"]
    assert (report.src_lang, report.tgt_lang, report.baseline) == ("en", "fr", "other")
    expected = score(HYP, REF, protocol="cased", tgt_lang="fr", bootstrap=20, baseline=REF)
    assert report.test_sets[0].scores["cased"] == expected
    assert Report.load("evaluation/t/report.json") == report
    printed = capsys.readouterr().out
    assert f"{expected[0].value:.2f} [{expected[0].low:.2f}, {expected[0].high:.2f}]" in printed
    assert str(Path("evaluation/t/report.html")) in printed


def test_name_output_and_protocol_are_what_the_settings_say(files):
    report = evaluate(
        EvaluateConfig(hyp="t.hyp", ref="other", name="mine", output="here", protocol="cased", bootstrap=0)
    )
    assert sorted(path.name for path in Path("here").iterdir()) == [
        "hyp.mine.txt",
        "report.html",
        "report.json",
        "report.md",
    ]
    assert list(report.test_sets[0].scores) == ["cased"]
    assert report.test_sets[0].scores["cased"][0].low is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hyp": "t.hyp"}, "hyp=t.hyp needs ref=FILE"),
        ({"src": "t.en"}, "src=t.en needs ref=FILE"),
        ({"ref": "t.ref.fr"}, "needs src=FILE to translate, or hyp=FILE"),
        ({"hyp": "t.hyp", "ref": "t.ref.fr", "model": "runs/x"}, "leave out hyp or model"),
        ({"hyp": "t.hyp", "ref": "t.ref.fr", "tgt_lang": "fr"}, "leave out hyp or tgt_lang"),
        ({"hyp": "t.hyp", "ref": "t.ref.fr", "data_root": "."}, "data_root"),
        ({"hyp": "t.hyp", "ref": "t.ref.fr", "name": "a/b"}, r"name \(a/b\)"),
        ({"hyp": "t.hyp", "ref": "t.ref.fr", "bootstrap": 1}, r"bootstrap \(1\)"),
        ({"hyp": "t.hyp", "ref": "t.ref.fr", "bootstrap": 0, "baseline": "other"}, r"bootstrap \(0\)"),
        ({"hyp": "t.hyp", "ref": "other"}, "name other does not tell"),
        ({"hyp": "short", "ref": "t.ref.fr"}, "short has 2 lines and t.ref.fr has 3"),
        ({"hyp": "t.hyp", "ref": "t.ref.fr", "src": "short"}, "short has 2 lines and t.ref.fr has 3"),
        ({"hyp": "t.hyp", "ref": "t.ref.fr", "baseline": "short"}, "2 baseline lines do not fit 3 references"),
        ({"hyp": "t.hyp", "ref": "t.ref.fr", "baseline": "gone"}, "gone: no such file"),
        ({"hyp": "t.hyp", "ref": "t.ref.fr", "baseline": "."}, "give src=FILE for it to translate"),
        ({"hyp": "gone", "ref": "t.ref.fr"}, "gone: no such file"),
        ({"model": "gone"}, "gone"),
        ({"hyp": "t.hyp", "ref": "t.ref.fr", "precision": "int8"}, "leave out hyp or precision"),
        ({"hyp": "t.hyp", "ref": "t.ref.fr", "decode": DecodeOverrides(beam_size=2)}, "leave out hyp or decode"),
        (
            {"model": "en-fr", "src": "t.ref.fr", "ref": "t.en"},
            r"src \(t.ref.fr\) seems to be in fr, .* set tgt_lang=en",
        ),
        (
            {"model": "en-fr", "src": "t.en", "ref": "t.en"},
            r"ref \(t.en\) seems to be in en, and the model translates en",
        ),
        (
            {"model": "en-fr", "src": "t.en", "ref": "t.ref.fr", "baseline": "short"},
            r"\(short\) has 2 lines and t.ref has 3",
        ),
        ({"model": "en-fr", "src": "t.en", "ref": "t.ref.fr", "output": "other"}, "other"),
    ],
)
def test_settings_that_do_not_fit_are_refused(files, settings, message):
    with pytest.raises((ValueError, OSError), match=message):
        evaluate(EvaluateConfig(**settings))
    assert not Path("evaluation").exists()


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    """A run of an untrained model on files, with its configuration."""
    folder = tmp_path_factory.mktemp("project")
    for name, lines in (("train.en", SRC * 5), ("train.fr", REF * 5), ("test_a.en", SRC), ("test_a.fr", REF)):
        (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    run, config = folder / "run", ModelConfig(d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1)
    tokenizer = Tokenizer.train(
        SRC * 5,
        REF * 5,
        kind="bpe",
        vocab_size=320,
        joint=True,
        character_coverage=1.0,
        user_symbols=[],
        directory=folder / "tokenizer",
    )
    torch.manual_seed(0)
    model = build_model(config, tokenizer.src_vocab_size, tokenizer.tgt_vocab_size)
    bundle = BundleConfig("en", "fr", tokenizer.src_vocab_size, tokenizer.tgt_vocab_size, "0", model=config)
    save_bundle(run / "model", model, tokenizer, bundle)
    train, test = ["train.en", "train.fr"], ["test_a.en", "test_a.fr"]
    data = DataConfig("files", root=str(folder), train=train, test=test, holdout=2, cache_dir=str(folder / "cache"))
    save_config(TrainConfig(model=config, data=data), run / "config.yaml")
    return run


FAST = {"bootstrap": 10, "decode": DecodeOverrides(beam_size=2, max_output_len=8)}


def test_a_report_that_does_not_fit_is_named_and_the_older_one_stays(files, run_dir, tmp_path, small_files):
    settings = {"model": str(run_dir), "output": str(tmp_path / "scores"), **FAST}
    evaluate(EvaluateConfig(**settings))
    before = {path.name: path.read_bytes() for path in (tmp_path / "scores").iterdir()}
    small_files(10)
    with pytest.raises(OSError, match="File too large") as error:
        evaluate(EvaluateConfig(**settings))
    assert Path(error.value.filename).parent == tmp_path / "scores"
    assert {path.name: path.read_bytes() for path in (tmp_path / "scores").iterdir()} == before


def test_a_run_alone_is_scored_on_its_own_test_sets(files, run_dir):
    Path("runs").mkdir()
    Path("runs/latest").symlink_to(run_dir)
    report = evaluate(EvaluateConfig(**FAST))
    assert [(s.name, s.sentences) for s in report.test_sets] == [("test_a", 3)]
    assert report.system == os.path.relpath(run_dir)
    assert (run_dir / "evaluation" / "report.html").is_file()
    assert report.settings["train"]["data"]["source"] == "files"
    assert len(report.test_sets[0].attention[0].weights) == 3  # decoder layers


def test_the_written_hypotheses_are_those_of_the_translator_and_score_the_same(files, run_dir):
    report = evaluate(EvaluateConfig(model=str(run_dir), src="t.en", ref="t.fr.gz", **FAST))
    folder = run_dir / "evaluation" / "t"
    lines = (folder / "hyp.t.txt").read_text(encoding="utf-8").split("\n")[:-1]
    again = Translator.load(run_dir).translate(SRC, beam_size=2, max_output_len=8)
    assert lines == [translation.text for translation in again]
    rescored = evaluate(EvaluateConfig(hyp=str(folder / "hyp.t.txt"), ref="t.fr.gz", bootstrap=10))
    assert rescored.test_sets[0].scores == report.test_sets[0].scores


@pytest.mark.slow
def test_a_model_of_both_directions_is_scored_in_the_one_asked_for(files, run_dir):
    with pytest.raises(ValueError, match=r"tgt_lang \(en\): this model translates en to fr only"):
        evaluate(EvaluateConfig(model=str(run_dir), tgt_lang="en", **FAST))
    shutil.copytree(run_dir, "both")
    tokenizer = Tokenizer.train(SRC * 5, REF * 5, vocab_size=320, languages=["fr", "en"])
    network = ModelConfig(d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1)
    model = build_model(network, tokenizer.src_vocab_size, tokenizer.tgt_vocab_size)
    bundle = BundleConfig("en", "fr", 320, 320, "0", tgt_langs=["fr", "en"], model=network)
    save_bundle(Path("both/model"), model, tokenizer, bundle)
    report = evaluate(EvaluateConfig(model="both", tgt_lang="en", baseline="both", **FAST))
    assert (report.src_lang, report.tgt_lang, report.test_sets[0].sentences) == ("fr", "en", 3)
    assert [entry.p_value for entry in report.test_sets[0].scores["cased"]] == [1.0, 1.0, 1.0]
    expected = Translator.load("both").translate(REF, tgt_lang="en", beam_size=2, max_output_len=8)
    lines = Path("both/evaluation/into-en/hyp.test_a.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert lines == [translation.text for translation in expected]
    assert report.test_sets[0].scores["cased"] == score(
        lines, SRC, protocol="cased", tgt_lang="en", bootstrap=10, baseline=lines
    )


def test_the_model_of_the_package_can_be_the_baseline(files):
    config = EvaluateConfig(
        model="en-fr", precision="int8", tgt_lang="fr", src="t.en", ref="t.fr.gz", baseline="en-fr", bootstrap=10
    )
    report = evaluate(config)
    assert report.baseline == "en-fr"


def test_a_model_can_be_its_own_baseline(files, run_dir):
    report = evaluate(EvaluateConfig(model=str(run_dir / "model"), baseline=str(run_dir), **FAST))
    assert [entry.p_value for entry in report.test_sets[0].scores["cased"]] == [1.0, 1.0, 1.0]


EXPORTED = """
import sys
sys.modules.update(dict.fromkeys(["torch", "lightning"]))  # cannot be imported
from translate.config.evaluate import DecodeOverrides
from translate.config.evaluate import EvaluateConfig
from translate.evaluate.evaluation import evaluate
decode = DecodeOverrides(beam_size=2, max_output_len=8)
evaluate(EvaluateConfig(model={path!r}, src="t.en", ref="t.fr.gz", bootstrap=10, decode=decode))
"""


def test_a_model_is_scored_with_its_own_settings_but_for_those_given(run_dir, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(run_dir / "model", "own")
    config = Path("own/config.yaml")
    own = {"beam_size": 3, "length_penalty": 0.5, "paragraph_len": 8}
    text = config.read_text(encoding="utf-8")
    for name, value in own.items():
        text, changes = re.subn(rf"(?m)^  {name}: .*$", f"  {name}: {value}", text)
        assert changes == 1
    config.write_text(text, encoding="utf-8")
    Path("a.en").write_text("A cat.\n", encoding="utf-8")
    Path("a.fr").write_text("Un chat.\n", encoding="utf-8")
    given = DecodeOverrides(length_penalty=1.5, max_output_len=4)
    report = evaluate(EvaluateConfig(model="own", src="a.en", ref="a.fr", baseline="own", bootstrap=2, decode=given))
    used = report.settings["evaluate"]["decode"]
    assert {name: used[name] for name in own} == own | {"length_penalty": 1.5}
    assert used["max_output_len"] == 4
    assert report.test_sets[0].scores["cased"][0].difference_low == 0  # the baseline translates alike


def test_an_exported_model_gives_the_same_report_but_for_attention_and_needs_no_torch(files, run_dir):
    exported = run_dir / "ctranslate2-float32"
    save_exported(exported, *load_bundle(run_dir / "model"), "float32")
    report = evaluate(EvaluateConfig(model=str(exported), baseline=str(exported), **FAST))
    folder, translator = run_dir / "evaluation" / exported.name, Translator.load(exported)
    (test_set,) = report.test_sets
    assert (test_set.name, report.system) == ("test_a", os.path.relpath(exported))
    assert [entry.p_value for entry in test_set.scores["cased"]] == [1.0, 1.0, 1.0]
    expected = [translation.text for translation in translator.translate(SRC, beam_size=2, max_output_len=8)]
    assert (folder / "hyp.test_a.txt").read_text(encoding="utf-8").split("\n")[:-1] == expected
    assert report.settings["evaluate"]["translator"] == translator.describe()
    assert report.settings["train"]["data"]["source"] == "files"
    assert test_set.speed.threads == translator.threads
    refused = "attention weights: not possible with an exported CTranslate2 model"
    assert (test_set.attention, test_set.no_attention.split(";")[0]) == ([], refused)
    assert f"None: {refused}" in (folder / "report.html").read_text(encoding="utf-8")
    code, root = EXPORTED.format(path=str(exported)), str(Path(__file__).resolve().parents[2])
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": root})
    versions = Report.load(folder / "t" / "report.json").versions
    assert "sacrebleu" in versions
    assert "torch" not in versions


@pytest.mark.slow
def test_data_root_is_a_folder_of_test_sets(files, run_dir):
    for name in ("test_x", "test_y"):
        Path(f"{name}.en").write_text("".join(line + "\n" for line in SRC), encoding="utf-8")
        shutil.copy("t.fr.gz", f"{name}.fr.gz")
    Path("test_z.en").write_text("no other side\n")
    settings = {"model": str(run_dir), "data_root": ".", "output": "out", **FAST}
    assert [s.name for s in evaluate(EvaluateConfig(**settings)).test_sets] == ["test_x", "test_y"]
    assert [s.name for s in evaluate(EvaluateConfig(name="test_y", **settings)).test_sets] == ["test_y"]
    with pytest.raises(ValueError, match=r"name \(test_q\) must be one of the test sets: test_x, test_y"):
        evaluate(EvaluateConfig(name="test_q", **settings))
    with pytest.raises(ValueError, match=r"other is one output for 2 test sets \(test_x, test_y\)"):
        evaluate(EvaluateConfig(baseline="other", **settings))


@pytest.mark.slow
def test_a_model_without_its_run_needs_files(files, run_dir):
    shutil.copytree(run_dir / "model", "alone")
    with pytest.raises(ValueError, match="no run to take test sets from; give src=FILE ref=FILE"):
        evaluate(EvaluateConfig(model="alone", **FAST))
    report = evaluate(EvaluateConfig(model="alone", src="t.en", ref="t.fr.gz", **FAST))
    assert Path("evaluation/t/report.md").is_file()
    assert (report.curves, "train" in report.settings) == ({}, False)


def test_invalid_utf8_is_reported_with_file_and_line(files):
    Path("bad").write_bytes(b"ok\nna\xefve\nok\n")
    with pytest.raises(ValueError, match="bad, line 2"):
        evaluate(EvaluateConfig(hyp="bad", ref="t.ref.fr"))


@pytest.mark.slow
def test_the_command_line_scores_and_explains_mistakes_in_one_line(files):
    done = run_evaluate("hyp=t.hyp", "ref=t.fr.gz", "bootstrap=10", "protocol=cased", cwd=files)
    assert done.returncode == 0, done.stderr
    assert "BLEU|nrefs:1|bs:10|" in done.stdout
    assert sorted(path.name for path in files.iterdir() if path.is_dir()) == ["evaluation"]
    wrong = run_evaluate("hyp=t.hyp", cwd=files)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert re.fullmatch("error: hyp=t.hyp needs ref=FILE.*\n", wrong.stderr)
    missing = run_evaluate("model=nowhere", cwd=files)
    assert re.fullmatch("error: no model in nowhere.*\n", missing.stderr), missing.stderr
    unknown = run_evaluate("hpy=t.hyp", cwd=files)
    assert unknown.returncode == 2
    assert "did you mean hyp" in unknown.stderr
