"""What an older version wrote still opens: a stopped training, a model directory and both kinds of exports."""

import csv
import shutil
from pathlib import Path

import pytest
from commands import run_command

from translate import Translator

OLDER = Path(__file__).parent / "fixtures" / "older_version"
TEXTS = ["ba di ko lu", "ti su ra", "mi na po ra su ti ba di"]
TRANSLATIONS = {  # by that version
    "model": ["di di ko ko di di", "ra ra ti ti", "ra ra ko ko di di"],
    "ctranslate2": ["di di ko ko ko di di di", "ra ra ra ti ti", "ra ra ra ko ko ko"],
    "onnx": ["di di ko ko di di ko ko di di ko di di ko ko mi mi ko ko", "ra ra ti ti", "ra ra ko ko di di"],
}


@pytest.mark.parametrize("kind", TRANSLATIONS)
def test_models_and_exports_translate_as_they_did(kind: str) -> None:
    found = Translator.load(OLDER / kind, device="cpu", precision="32").translate(TEXTS)
    assert [one.text for one in found] == TRANSLATIONS[kind]


@pytest.mark.slow
def test_a_stopped_training_goes_on_to_the_model_that_it_became(tmp_path: Path) -> None:
    shutil.copytree(OLDER, tmp_path, dirs_exist_ok=True)
    done = run_command("translate.train", f"resume={tmp_path / 'stopped_run'}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "stopped_run" / "metrics.csv").open(encoding="utf-8") as file:
        last = list(csv.DictReader(file))[-1]
    assert int(last["step"]) == 200
    assert float(last["valid_loss"]) == pytest.approx(3.0418, abs=0.05)
    assert Translator.load(tmp_path / "stopped_run").config.model == Translator.load(OLDER / "model").config.model
