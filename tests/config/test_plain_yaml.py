"""Files from elsewhere are plain values: nothing in them reads this machine, calls code or grows without end."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from translate.config.data import DataConfig
from translate.config.files import load_config, save_config
from translate.config.optim import OptimConfig
from translate.config.plain_yaml import read_plain_yaml
from translate.config.train import TrainConfig
from translate.evaluate.test_sets import _run_settings
from translate.translator.bundle import load_bundle_config

SECRET = "the secret of this machine"
FIXTURE = Path(__file__).parents[1] / "fixtures" / "tiny_model"


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", SECRET)


@pytest.mark.parametrize(
    "value",
    [
        "${oc.env:A_SECRET}",
        "before ${oc.env:A_SECRET} after",
        "${oc.decode:${oc.env:A_SECRET}}",
        "${src_lang}",
        r"\${oc.env:A_SECRET}",
        r'"\x24{oc.env:A_SECRET}"',  # which is $ to YAML
        "[en, {deep: '${oc.env:A_SECRET}'}]",
        r'"two\nlines ${oc.env:A_SECRET}"',
    ],
)
def test_an_interpolation_is_refused_and_not_resolved(tmp_path: Path, value: str) -> None:
    path = tmp_path / "config.yaml"
    settings = yaml.safe_load((FIXTURE / "config.yaml").read_text())
    settings.pop("card", None)
    path.write_text(yaml.safe_dump(settings) + f"card:\n  corpus: {value}\n")
    for read in (lambda: load_bundle_config(tmp_path), lambda: _run_settings(tmp_path)):
        with pytest.raises(ValueError, match=r"config\.yaml: card\.corpus.* is an interpolation") as error:
            read()
        assert SECRET not in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["name", "runs_dir", "init_from"])
def test_a_run_is_read_without_this_machine_too(tmp_path: Path, key: str) -> None:
    (tmp_path / "config.yaml").write_text(f"{key}: ${{oc.env:A_SECRET}}\n")
    with pytest.raises(ValueError, match=rf"config\.yaml: {key} .*interpolation"):
        load_config(tmp_path / "config.yaml", TrainConfig)


def test_changes_of_the_command_line_go_on_top_and_are_named_where_they_are_wrong(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    save_config(TrainConfig(), path)
    changed = load_config(path, TrainConfig, {"optim.lr": 0.5, "name": "${oc.env:A_SECRET}"})
    assert (changed.optim.lr, changed.name) == (0.5, SECRET)  # the user's own words
    with pytest.raises(ValueError, match=r"config\.yaml with optim\.lr=-1: optim\.lr \(-1\.0\) must be above 0"):
        load_config(path, TrainConfig, {"optim.lr": -1})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "while parsing a flow sequence"),
        ("a: 1\nb: 2\na: 3\n", "the key a is repeated"),
        ("a: &x [1]\nb: *x\n", r"the alias \*x is not allowed"),
        ("a: !!python/object/apply:os.system [false]", "could not determine a constructor"),
        ("- a\n- b\n", "a list is no mapping"),
        ("[" * 5000, "nested too deeply"),
        ("a: \x00", "special characters"),
        ("{[a]: 1}", "unhashable"),
    ],
)
def test_what_this_project_does_not_write_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"config\.yaml: .*{message}") as error:
        read_plain_yaml(path)
    assert "\n" not in str(error.value)


def test_a_small_file_cannot_stand_for_a_huge_one(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(
        "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 4))])
    )
    with pytest.raises(ValueError, match="alias"):
        load_config(path, TrainConfig)


def test_what_is_saved_reads_back_whatever_its_strings_look_like(tmp_path: Path) -> None:
    words = [
        "1e-5",
        "2026-01-31",
        "yes",
        "null",
        "~",
        "0x10",
        "1:30",
        "a: b",
        "# c",
        "",
        " x ",
        "é\n\t",
        "*a",
        "&a",
        "$",
    ]
    config = replace(
        TrainConfig(),
        name="2026-01-31",
        data=DataConfig(source="files", train=["a", "b"], extra=words),
        optim=OptimConfig(eps=1e-9, lr=1e-5),
        stages={word or "empty": {"optim.lr": 1e-7, "name": word} for word in words},
    )
    save_config(config, tmp_path / "config.yaml")
    assert load_config(tmp_path / "config.yaml", TrainConfig) == config
