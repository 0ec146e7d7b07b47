"""The fields of the settings, and the places where people read them."""

from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest

from translate.config.data import DataConfig
from translate.config.decode import DecodeChanges, DecodeConfig
from translate.config.describe import REFERENCE, SCHEMAS, reference_page, with_comment
from translate.config.fields import check_settings
from translate.config.model import ModelConfig
from translate.config.optim import OptimConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.trainer import TrainerConfig
from translate.infer.arguments import make_parser

ROOT = Path(__file__).resolve().parents[2]
REWRITE = "run python -m translate.config.describe"


@pytest.mark.parametrize("name", SCHEMAS)
def test_comments_in_conf_say_what_the_fields_say(name: str) -> None:
    text = (ROOT / "conf" / f"{name}.yaml").read_text(encoding="utf-8")
    assert text == with_comment(text, SCHEMAS[name]), REWRITE


def test_the_reference_says_what_the_fields_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert (ROOT / REFERENCE).read_text(encoding="utf-8") == reference_page(), REWRITE


@pytest.mark.parametrize("schema", SCHEMAS.values())
def test_every_setting_is_declared_with_help(schema: type) -> None:
    groups = {"model", "data", "tokenizer", "optim", "trainer", "decode"}
    for one in fields(schema):
        if one.name in groups and not one.metadata:
            continue
        assert one.metadata["help"].endswith((".", "it.")), one.name


def test_keyword_arguments_of_translate_are_the_settings_of_the_search() -> None:
    declared = dict(get_type_hints(DecodeConfig).items())
    assert {name: kind | None for name, kind in declared.items()} == get_type_hints(DecodeChanges)


def test_infer_has_a_flag_for_every_setting_of_the_search() -> None:
    options = {action.dest for action in make_parser()._actions}
    assert {one.name for one in fields(DecodeConfig)} <= options


LIMITS = [
    (schema, one.name, words, limit)
    for schema in (ModelConfig, DataConfig, TokenizerConfig, OptimConfig, TrainerConfig, DecodeConfig)
    for one in fields(schema)
    for words, limit in one.metadata["limits"].items()
    if limit is not None
]


@pytest.mark.parametrize(("schema", "name", "words", "limit"), LIMITS)
def test_a_value_beyond_each_limit_is_refused_and_the_limit_itself_is_as_it_says(
    schema: type, name: str, words: str, limit: float
) -> None:
    settings = schema()
    beyond = {"at least": limit - 1, "above": limit, "at most": limit + 1, "below": limit}[words]
    setattr(settings, name, beyond)
    with pytest.raises(ValueError, match=rf"group\.{name} \(.*\) must be .*{words} {limit:,}"):
        check_settings("group", settings)
    if words in ("at least", "at most"):
        setattr(settings, name, limit)
        check_settings("group", settings)
