"""What README shows is what its commands give."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from translate.infer.__main__ import main

ROOT = Path(__file__).resolve().parents[1]
BLOCKS = re.findall(r"^```(bash|python)\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
# the smaller of the models of the embedded corpus that its examples are shown for, in the place of README's first run
MODEL = ROOT / "tests" / "fixtures" / "everyday_model"


@pytest.fixture
def newest_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory whose newest run has a model of the embedded corpus."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "latest").symlink_to(MODEL, target_is_directory=True)
    monkeypatch.chdir(tmp_path)


def shown(language: str) -> list[tuple[str, str]]:
    """Code of README's blocks and the output that stands beside its last line."""
    found = []
    for kind, block in BLOCKS:
        lines = [re.split(r"\s+# -> ", line) for line in block.splitlines()]
        for number, (_, *output) in enumerate(lines):
            if kind == language and output:
                first = 0 if kind == "python" else number
                found.append(("\n".join(line[0] for line in lines[first : number + 1]), output[0]))
    return found


@pytest.mark.parametrize(("command", "output"), shown("bash"))
@pytest.mark.usefixtures("newest_run")
def test_a_command_gives_the_output_beside_it(command: str, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = shlex.split(command.removeprefix("python -m "))
    assert program == "translate.infer"
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"{output}\n"


@pytest.mark.parametrize(("code", "output"), shown("python"))
@pytest.mark.usefixtures("newest_run")
def test_a_block_of_python_prints_the_output_beside_it(code: str, output: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == f"{output}\n"


def test_outputs_are_shown_for_commands_and_for_python() -> None:
    assert len(shown("bash")) >= 2
    assert len(shown("python")) >= 1
