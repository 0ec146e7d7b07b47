"""Which part may import which: the arrows of the layout, read from the source and tried in a bare interpreter."""

import ast
import functools
import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from translate.common.command import importing

PACKAGE = Path(__file__).resolve().parents[1] / "translate"
ALLOWED = {  # package -> packages of ours that it may import; TYPE_CHECKING and imports within functions count
    "common": set(),
    "kernels": set(),
    "config": {"common"},
    "model": {"config", "kernels"},  # config for annotations alone: see the test of what the packages need
    "search": {"config", "kernels"},
    "native": {"config", "kernels"},
    "data": {"common", "config"},
    "markup": {"data", "translator"},
    "translator": {"common", "config", "data", "markup", "model", "native", "search"},
    "infer": {"common", "config", "data", "markup", "translator"},
    "serve": {"common", "config", "translator"},
    "evaluate": {"common", "config", "data", "translator"},
    "export": {"common", "config", "convert", "data", "model", "native", "translator"},
    "convert": {"common", "config", "data", "model", "translator"},
    "train": {"common", "config", "data", "evaluate", "infer", "model", "native", "search", "translator"},
    "compare": {"common", "config", "data", "evaluate", "model", "train", "translator"},
    "benchmark": {
        *("common", "compare", "config", "convert", "data", "evaluate", "export", "infer", "model", "train"),
        "translator",
    },
}


def modules() -> dict[str, Path]:
    """Every module by its dotted name."""
    names = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


MODULES = modules()


def imported(path: Path) -> Iterator[str]:
    """The modules of ours that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "translate":
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in MODULES else str(node.module)


@functools.cache
def graph() -> dict[str, set[str]]:
    """The modules of ours that each one imports."""
    return {name: set(imported(path)) for name, path in MODULES.items()}


def test_nothing_is_loose_and_every_package_has_its_arrows() -> None:
    assert {path.name for path in PACKAGE.iterdir() if path.is_file()} == {"__init__.py"}
    assert {name.split(".")[1] for name in MODULES if "." in name} == set(ALLOWED)


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_point_one_way(package: str) -> None:
    inside = (name for name in MODULES if name.split(".")[1:2] == [package])
    parts = {found.split(".")[1] for name in inside for found in graph()[name] if "." in found}
    assert parts - {package} <= ALLOWED[package]


def test_nothing_imports_an_entry_point() -> None:
    entries = {name for name in MODULES if name.endswith(".__main__")}
    assert len(entries) == 8
    assert {found for name in MODULES for found in graph()[name]} & entries <= {"translate.infer.__main__"}
    importers = {name for name in MODULES if "translate.infer.__main__" in graph()[name]}
    assert importers <= {"translate.benchmark.decode_stream"}  # which measures that command


def reachable(start: str) -> set[str]:
    found, waiting = set(), list(graph()[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph()[name]
    return found


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert [name for name in MODULES if name in reachable(name)] == []


def run(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "packages", [("model", "kernels"), ("search", "kernels"), ("native", "kernels")], ids=" and ".join
)
@pytest.mark.slow
def test_model_needs_torch_alone_and_search_and_native_need_numpy_alone(packages: tuple[str, ...]) -> None:
    blocked = [
        *("lightning", "hydra", "omegaconf", "datasets", "sentencepiece", "sacrebleu", "sacremoses", "matplotlib"),
        *("safetensors", *(["torch"] if packages[0] != "model" else [])),
    ]
    names = sorted(f"translate.{packages[0]}.{file.stem}" for file in (PACKAGE / packages[0]).glob("[!_]*.py"))
    run(
        f"import sys\nfor name in {blocked}: sys.modules[name] = None\n"
        f"import importlib\nfor name in {names}: importlib.import_module(name)\n"
        "ours = {name.split('.')[1] for name in sys.modules if name.startswith('translate.')}\n"
        f"assert ours <= {set(packages) | (set() if packages[0] == 'model' else {'config', 'common'})}, ours"
    )


def test_importing_the_package_loads_nothing_heavy() -> None:
    run(
        "import sys, translate, translate.config\n"
        "heavy = {'torch', 'lightning', 'hydra', 'omegaconf', 'datasets', 'sacrebleu', 'numpy', 'matplotlib'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )


def test_a_command_composes_its_settings_before_it_loads_anything_heavy() -> None:
    run(
        "import sys\nfrom translate.config.train import TrainConfig\nfrom translate.config.compose import hydra_main\n"
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
        "import translate.data.datamodule, translate.train.parallel.layout, translate.train.run\n"
        "assert not any(name.startswith('translate.evaluate') for name in sys.modules)"
    )


def test_garbage_is_not_searched_for_while_importing() -> None:
    with importing():
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.unfreeze()


def test_the_command_to_translation_is_at_the_top() -> None:
    run(
        "import sys\nfrom translate import Translator, Translation\nassert Translator.load and Translation\n"
        "heavy = {'torch', 'lightning', 'ctranslate2', 'omegaconf', 'numpy', 'sacrebleu'}  # until a model is opened\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )


def test_an_unknown_name_is_an_attribute_error() -> None:
    import translate

    with pytest.raises(AttributeError, match="no attribute 'Translater'"):
        translate.Translater  # noqa: B018
