"""The code that README and the documentation show: commands are read by their parsers, Python is run."""

import contextlib
import io
import re
import shlex
from itertools import takewhile
from pathlib import Path

import hydra
import pytest
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from translate.common.resources import conf_dir
from translate.compare.__main__ import parse as parse_compare
from translate.config.benchmark import (
    BenchmarkDecodeConfig,
    BenchmarkGpuConfig,
    BenchmarkServeConfig,
    BenchmarkTrainConfig,
)
from translate.config.convert import ConvertConfig
from translate.config.evaluate import EvaluateConfig
from translate.config.export import ExportConfig
from translate.config.train import TrainConfig
from translate.convert.__main__ import with_source
from translate.infer.__main__ import main as infer
from translate.infer.arguments import parse as parse_infer
from translate.serve.arguments import parse as parse_serve

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "tutorial.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
MODEL = ROOT / "tests" / "fixtures" / "everyday_model"  # in the place of the first run of a reader
COMPOSED = {"train": TrainConfig, "benchmark train": BenchmarkTrainConfig}  # with the groups of conf/
FLAT = {
    "evaluate": EvaluateConfig,
    "export": ExportConfig,
    "convert": ConvertConfig,
    "benchmark decode": BenchmarkDecodeConfig,
    "benchmark serve": BenchmarkServeConfig,
    "benchmark gpu": BenchmarkGpuConfig,
}


def blocks(language: str) -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for block in re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
            found.append((str(page.relative_to(ROOT)), block))
    return found


def commands() -> list[tuple[str, str]]:
    """Every `python -m translate.…` of a bash block, without what the shell does with it, and its page."""
    found = []
    for page, block in blocks("bash"):
        for line in block.replace("\\\n", " ").splitlines():
            _, started, command = line.partition("-m translate.")
            if started:
                found.append((page, command.removesuffix("'") if "--wrap" in line else command))
    return found


def words_of(command: str) -> list[str]:
    """The words of a command up to a comment, a pipe or a redirection."""
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    return list(takewhile(lambda word: word not in ("<", ">", "|", "&&"), words))


def one_value(override: str) -> str:
    """The first value of a sweep, `optim.lr=5e-4,1e-3`."""
    key, _, value = override.partition("=")
    return override if value.startswith(("[", "{")) else f"{key}={value.split(',')[0]}"


@pytest.mark.parametrize(("page", "command"), commands())
def test_every_command_shown_is_one_that_the_program_takes(page: str, command: str) -> None:
    program, *words = words_of(command)
    if program in ("infer", "compare", "serve"):
        {"infer": parse_infer, "compare": parse_compare, "serve": parse_serve}[program](words)
        return
    if program == "benchmark":
        program = f"benchmark {words.pop(0)}"
    words = with_source(words) if program == "convert" else words
    overrides = [word for word in words if word != "-m" and not word.startswith("hydra")]
    name = program.replace(" ", "_")
    if program in FLAT:
        merged = OmegaConf.merge(OmegaConf.structured(FLAT[program]), OmegaConf.from_dotlist(overrides))
        assert OmegaConf.to_object(merged)
        return
    ConfigStore.instance().store(name=f"{name}_schema", node=COMPOSED[program])
    with hydra.initialize_config_dir(str(conf_dir()), version_base="1.3"):
        assert OmegaConf.to_object(hydra.compose(name, overrides=[one_value(word) for word in overrides]))


@pytest.fixture
def newest_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory whose newest run has a model of the embedded corpus."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "latest").symlink_to(MODEL, target_is_directory=True)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("page", "code"), blocks("python"))
@pytest.mark.usefixtures("newest_run")
def test_every_block_of_python_runs_and_prints_the_output_beside_it(page: str, code: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page, "exec"), {})
    if expected := re.findall(r"# -> (.*)", code):
        assert printed.getvalue().splitlines() == expected


SHOWN = [re.split(r"\s+# -> ", line) for _, block in blocks("bash") for line in block.splitlines() if " # -> " in line]


@pytest.mark.parametrize(("command", "output"), SHOWN)
@pytest.mark.usefixtures("newest_run")
def test_a_command_gives_the_output_beside_it(command: str, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = shlex.split(command.removeprefix("python -m "))
    assert program == "translate.infer"
    assert infer(arguments) == 0
    assert capsys.readouterr().out == f"{output}\n"


def test_the_pages_show_commands_outputs_and_python() -> None:
    assert len(commands()) > 60
    assert len(SHOWN) >= 3
    assert len(blocks("python")) >= 4
