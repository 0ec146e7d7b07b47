"""Which part may import which: the arrows of the layout, read from the source and tried in a bare interpreter."""

import ast
import gc
import subprocess
import sys
from pathlib import Path

import pytest

from translate.doors import importing

PACKAGE = Path(__file__).resolve().parents[1] / "translate"
ALLOWED = {  # part -> parts of ours it may import
    "files": set(),
    "plain_yaml": set(),
    "config": {"files", "plain_yaml"},
    "resources": set(),
    "cores": set(),
    "lines": set(),
    "memory": {"cores"},
    "resume": {"files"},
    "native": set(),
    "parallel": set(),
    "precision": {"pairs", "translation", "translator"},
    "translation": {"alignment", "config", "decoding"},
    "slots": set(),
    "model": {"config", "native"},  # for annotations only: see test_model_and_decoding_need_torch_alone
    "decoding": {"native"},
    "data": {"config", "files", "resources"},
    "guards": {"config", "decoding"},
    "training": {
        *("answers", "bundle", "config", "data", "decoding", "evaluation", "files", "lines", "model", "resume"),
        *("cores", "memory", "translator"),
    },
    "evaluation": {"bundle", "config", "cores", "data", "decoding", "doors", "files", "plain_yaml", "translator"},
    "exporting": {"bundle", "config", "data", "files", "model"},
    "exported": {
        *("alignment", "bundle", "config", "cores", "data", "exporting", "onnx_runtime", "pairs", "runtime"),
        *("translation", "translator"),
    },
    "runtime": {"alignment", "config", "cores", "data", "decoding", "exported", "guards", "translation"},
    "onnx_runtime": {"config", "cores", "decoding", "exported", "guards", "translation"},
    "comparison": {"bundle", "config", "data", "evaluation", "files", "model", "training", "translator"},
    "benchmarking": {
        *("bundle", "comparison", "config", "cores", "data", "evaluation", "export", "files", "infer", "model"),
        *("memory", "train", "training", "translator"),
    },
}


def imported_parts(part: str) -> set[str]:
    path = PACKAGE / part
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    parts = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            parts |= {name.split(".")[1] for name in names if name.startswith("translate.")}
    return parts - {part}


@pytest.mark.parametrize("part", ALLOWED)
def test_imports_point_one_way(part: str) -> None:
    assert imported_parts(part) <= ALLOWED[part]


def run(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("part", ["model", "decoding"])
def test_model_and_decoding_need_torch_alone(part: str) -> None:
    blocked = [
        "lightning",
        "hydra",
        "omegaconf",
        "datasets",
        "sentencepiece",
        "sacrebleu",
        "sacremoses",
        "matplotlib",
        "safetensors",
    ]
    modules = sorted(f"translate.{part}.{file.stem}" for file in (PACKAGE / part).glob("[!_]*.py"))
    run(
        f"import sys\nfor name in {blocked}: sys.modules[name] = None\n"
        f"import importlib\nfor name in {modules}: importlib.import_module(name)\n"
        "ours = {name.split('.')[1] for name in sys.modules if name.startswith('translate.')}\n"
        f"assert ours == {{{part!r}, 'native'}}, ours"
    )


def test_importing_the_package_loads_nothing_heavy() -> None:
    run(
        "import sys, translate, translate.config\n"
        "heavy = {'torch', 'lightning', 'hydra', 'omegaconf', 'datasets', 'sacrebleu', 'numpy', 'matplotlib'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )


def test_a_door_composes_its_settings_before_it_loads_anything_heavy() -> None:
    run(
        "import sys\nfrom translate.config import TrainConfig\nfrom translate.hydra_door import hydra_main\n"
        "import translate.train\nsys.argv[1:] = ['model=tiny']\nloaded = set()\n"
        "hydra_main('train', TrainConfig, lambda config: loaded.update(sys.modules))\n"
        "heavy = {'torch', 'lightning', 'datasets', 'sacrebleu', 'sacremoses', 'sentencepiece', 'matplotlib'}\n"
        "assert 'omegaconf' in loaded and not heavy & loaded, heavy & loaded"
    )


@pytest.mark.slow
def test_the_first_step_does_not_wait_for_what_comes_later() -> None:
    later = ["datasets", "sacrebleu", "sacremoses", "tensorboardX", "safetensors", "torch.distributed.checkpoint"]
    run(
        f"import sys\nfor name in {later}: sys.modules[name] = None\n"
        "import translate.data.datamodule, translate.training.layout, translate.training.run\n"
        "assert not any(name.startswith('translate.evaluation') for name in sys.modules)"
    )


def test_garbage_is_not_searched_for_while_importing() -> None:
    with importing():
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.unfreeze()


def test_the_door_to_translation_is_at_the_top() -> None:
    run(
        "import sys\nfrom translate import Translator, Translation\nassert Translator.load and Translation\n"
        "heavy = {'torch', 'lightning', 'ctranslate2', 'omegaconf', 'numpy', 'sacrebleu'}  # until a model is opened\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )


def test_an_unknown_name_is_an_attribute_error() -> None:
    import translate

    with pytest.raises(AttributeError, match="no attribute 'Translater'"):
        translate.Translater  # noqa: B018
