"""Command-line flags made from the fields of a settings dataclass."""

from __future__ import annotations

import argparse
from collections.abc import Container
from dataclasses import Field, fields
from typing import Any, Protocol

from translate.config.fields import describe_limits

_TYPES = {"int": (int, "N"), "float": (float, "X"), "str": (str, "TEXT")}  # by annotation: what reads it, its name


class FlagAdder(Protocol):
    """An `argparse.ArgumentParser` or one of its groups."""

    def add_argument(self, *names: str, **options: Any) -> Any: ...  # noqa: D102


def add_flags(parser: FlagAdder, schema: type, *, leave_out: Container[str] = (), defaults: bool = False) -> None:
    """Add a flag for each setting, whose value is None where it is not given.

    Args:
        parser: Gets the flags.
        schema: Dataclass whose fields `setting` made.
        leave_out: Names of settings without a flag.
        defaults: Say in the help what holds where a flag is not given.
    """
    for one in fields(schema):
        if one.name not in leave_out:
            add_flag(parser, one, defaults=defaults)


def add_flag(parser: FlagAdder, one: Field[Any], *, defaults: bool = False) -> None:
    """Add the flag of one setting: --beam-size for beam_size, --length-guard and --no-length-guard for a bool."""
    limits = describe_limits(one)
    default = _default(one) if defaults else ""
    text = (
        f"{one.metadata['help']}{f' Must be {limits}.' if limits else ''}{f' Default: {default}.' if default else ''}"
    )
    options: dict[str, Any] = {"help": text.replace("%", "%%")}
    if one.type == "bool":
        options["action"] = argparse.BooleanOptionalAction
    elif one.metadata["choices"]:
        options["choices"] = one.metadata["choices"]
    else:
        options["type"], options["metavar"] = _TYPES[str(one.type).removesuffix(" | None")]
    parser.add_argument(f"--{one.name.replace('_', '-')}", **options)


def _default(one: Field[Any]) -> str:
    """Return the default of a setting as its flag takes it; nothing where its help says what no value means."""
    if isinstance(one.default, bool):
        return "on" if one.default else "off"
    return "" if one.default is None else str(one.default)
