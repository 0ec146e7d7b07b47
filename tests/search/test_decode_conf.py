"""The decode settings: every key explained, every file valid."""

from dataclasses import fields

import pytest
from omegaconf import OmegaConf

from translate.common.resources import conf_dir
from translate.config.decode import DecodeConfig


@pytest.mark.parametrize(("name", "beam_size"), [("beam", DecodeConfig().beam_size), ("greedy", 1)])
def test_each_file_makes_valid_settings(name: str, beam_size: int) -> None:
    values = OmegaConf.load(conf_dir() / "decode" / f"{name}.yaml")
    config = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(DecodeConfig), values))
    assert config == DecodeConfig(beam_size=beam_size)


def test_every_key_is_explained() -> None:
    lines = (conf_dir() / "decode" / "beam.yaml").read_text(encoding="utf-8").splitlines()
    explained = {line.split()[1] for line in lines if line.startswith("# ") and len(line.split()) > 1}
    assert {field.name for field in fields(DecodeConfig)} <= explained
