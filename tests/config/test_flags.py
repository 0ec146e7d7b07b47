"""Flags that are made from settings: their names, and what their help says."""

import argparse

from translate.config.flags import add_flags
from translate.config.serve import ServeConfig


def test_help_says_the_defaults_if_asked_to() -> None:
    with_defaults, without = argparse.ArgumentParser(), argparse.ArgumentParser()
    add_flags(with_defaults, ServeConfig, defaults=True)
    add_flags(without, ServeConfig)
    text = " ".join(with_defaults.format_help().split())
    assert "Default: 127.0.0.1." in text
    assert "Must be at least 1. Default: 200." in text
    assert "Let web pages of other sites use the server. Default: on." in text
    assert "Default: None" not in text
    assert "Default: ." not in text
    assert "Default:" not in without.format_help()
    assert with_defaults.parse_args([]).port is None
