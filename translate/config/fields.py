"""Declare a setting once: its type, default, range and help stand in one dataclass field.

Command-line flags, checks, the comments of the YAML files and the reference page are made from these fields.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import Field, field, fields
from typing import Any


def setting(
    default: Any,
    help: str,
    *,
    choices: Sequence[str] = (),
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
) -> Any:
    """Return a dataclass field that carries the help and the allowed values of its setting.

    Args:
        default: Value where none is given; a list or a dictionary is copied for each object.
        help: What the setting does, in one or two sentences, with its unit and the value that turns it off.
        choices: The values allowed for a string; empty = any.
        at_least: Smallest value allowed; None = no such limit.
        above: Value that must be exceeded.
        at_most: Largest value allowed.
        below: Value that must not be reached.
    """
    metadata = {
        "help": help,
        "choices": tuple(choices),
        "limits": {"at least": at_least, "above": above, "at most": at_most, "below": below},
    }
    if isinstance(default, list | dict):
        return field(default_factory=lambda: copy(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def check_settings(section: str, settings: Any) -> None:
    """Check every value of a dataclass against the choices and limits of its field; None is always allowed.

    Args:
        section: Prefix of the names in messages, such as "decode"; "" = none.
        settings: Instance of a dataclass whose fields `setting` made.

    Raises:
        ValueError: At the first value that is not allowed; the message names the setting, the value and the range.
    """
    for one in fields(settings):
        value = getattr(settings, one.name)
        if value is None or not one.metadata:
            continue
        choices, name = one.metadata["choices"], f"{section}.{one.name}" if section else one.name
        if choices and value not in choices:
            raise ValueError(f"{name} ({value}) must be one of {', '.join(choices)}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name} ({value}) must be a finite number")
        low, above, high, below = one.metadata["limits"].values()
        if (
            (low is not None and value < low)
            or (above is not None and value <= above)
            or (high is not None and value > high)
            or (below is not None and value >= below)
        ):
            raise ValueError(f"{name} ({value}) must be {describe_limits(one)}")


def describe_limits(one: Field[Any]) -> str:
    """Return the range of a setting in words, such as "at least 0 and below 1"; "" where every value is allowed.

    >>> describe_limits(setting(0.5, "A share.", at_least=0, below=1))
    'at least 0 and below 1'
    """
    limits = one.metadata["limits"] if one.metadata else {}
    return " and ".join(f"{words} {value:,}" for words, value in limits.items() if value is not None)


def as_override(value: object) -> str:
    """Return a value as the command line takes it, and YAML: null, true, 0.5."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
