"""The command `translate.compare`, as a user meets it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import run_command

from translate.compare.__main__ import main

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_command("translate.compare", *arguments, cwd=ROOT)


def test_help_teaches_by_examples_and_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom translate.compare.__main__ import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'lightning', 'omegaconf', 'numpy', 'matplotlib'} & set(sys.modules)\nassert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "python -m translate.compare runs/heads/* --rounds 0" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: RUN"),
        (["run", "--rounds", "-1"], "-1 is not a whole number from 0 up"),
        (["run", "--steps", "0"], "0 is not a whole number from 1 up"),
        (["run", "--threads", "x"], "x is not a whole number from 1 up"),
    ],
)
def test_a_wrong_command_line_is_explained(arguments: list[str], message: str, capsys) -> None:
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_an_unfinished_run_is_one_line_and_status_2(config, fake, tmp_path) -> None:
    begun = fake("begun", config, model_steps=None)
    done = run(str(begun), "--output", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {begun} has no model/ yet: finish the run (translate.train resume={begun}) or leave it out\n"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_table_goes_to_stdout_and_the_command_into_the_files(trained, tmp_path) -> None:
    arguments = [*map(str, trained), "--output", str(tmp_path / "a b"), "--rounds", "1", "--steps", "1"]
    done = run(*arguments, "--sentences", "3", "--threads", "1", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    header, line, *rows = done.stdout.splitlines()
    assert header.startswith("| settings | seeds |")
    assert set(line) <= set("|- ")
    assert [row.split(" | ")[:2] for row in rows] == [
        ["| `model.attention=mha`", "1, 2"],
        ["| `model.attention=gqa`", "1"],
    ]
    assert "Warning" not in done.stderr
    assert "in eval mode" not in done.stderr
    stored = json.loads((tmp_path / "a b" / "compare.json").read_text(encoding="utf-8"))
    assert stored["command"].startswith("python -m translate.compare ")
    assert f"'{tmp_path / 'a b'}'" in stored["command"]
    assert stored["machine"]["threads"] == "1"
