"""Settings made of plain values: what fits, and what is refused."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from translate.config.build import build_config


@dataclass
class Inner:
    lr: float = 1.0
    steps: int | None = None


@dataclass
class Outer:
    name: str
    on: bool = False
    size: int = 3
    files: list[str] = field(default_factory=list)
    parts: dict[str, Inner] = field(default_factory=dict)
    anything: dict[str, Any] = field(default_factory=dict)
    inner: Inner = field(default_factory=Inner)

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size ({self.size}) must be at least 1")


def test_values_that_fit_become_settings_of_their_types() -> None:
    values = {
        "name": 7,
        "on": True,
        "files": ["a", 2],
        "parts": {"one": {"lr": "1e-5"}, "two": {}},
        "anything": {"x": [1, None]},
        "inner": {"lr": 2, "steps": None},
    }
    made = build_config(Outer, values)
    inner = {"one": Inner(lr=1e-5), "two": Inner()}
    assert made == Outer("7", True, 3, ["a", "2"], inner, {"x": [1, None]}, Inner(2.0))
    assert type(made.inner.lr) is float
    assert build_config(Outer, {"name": "x"}) == Outer("x")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "^name is missing$"),
        ({"name": "x", "nmae": 1}, "^there is no setting nmae$"),
        ({"name": "x", "inner": {"steps": 1, "rate": 2}}, r"^there is no setting inner\.rate$"),
        ({"name": "x", "size": 0}, r"^size \(0\) must be at least 1$"),
        ({"name": "x", "size": 2.5}, r"^size \(2\.5\) must be of type int, not float$"),
        ({"name": "x", "size": True}, r"^size \(True\) must be of type int, not bool$"),
        ({"name": "x", "size": None}, "type int, not NoneType"),
        ({"name": "x", "on": "yes"}, "type bool, not str"),
        ({"name": None}, "type str, not NoneType"),
        ({"name": True}, "type str, not bool"),
        ({"name": "x", "files": "a"}, "type list, not str"),
        ({"name": "x", "files": [["a"]]}, "type str, not list"),
        ({"name": "x", "inner": 3}, "type Inner, not int"),
        ({"name": "x", "inner": {"lr": "fast"}}, r"^inner\.lr \(fast\) must be a number$"),
        ({"name": "x", "inner": {"lr": True}}, "type float, not bool"),
        ({"name": "x", "parts": {"one": {"steps": "x"}}}, r"^parts\.one\.steps \(x\) must be of type int"),
        ({"name": "x", "parts": []}, "type dict, not list"),
    ],
    ids=str,
)
def test_values_that_do_not_fit_are_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_config(Outer, values)
