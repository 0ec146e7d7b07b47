"""Make a settings dataclass of plain values, as a file holds them, and refuse what does not fit its types."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Config = TypeVar("Config")


def build_config(schema: type[Config], values: Mapping[Any, Any], place: str = "") -> Config:
    """Make a settings dataclass; what `values` leaves out has its default.

    Args:
        schema: The dataclass. Its fields are numbers, strings, booleans, lists, mappings, other dataclasses, any of
            them or None, or Any.
        values: By the names of its fields.
        place: The key of these settings among those around them, with a dot at its end; for messages.

    Raises:
        ValueError: For a key that is none of its fields, a value of another type, or one that the dataclass refuses.
    """
    types_of = get_type_hints(schema)
    known = [one for one in fields(schema) if one.init]  # type: ignore[arg-type]
    if unknown := [name for name in values if name not in {one.name for one in known}]:
        raise ValueError(f"there is no setting {place}{unknown[0]}")
    needed = [one.name for one in known if one.default is one.default_factory is MISSING]
    if missing := [name for name in needed if name not in values]:
        raise ValueError(f"{place}{missing[0]} is missing")
    return schema(**{name: _convert(types_of[name], value, f"{place}{name}") for name, value in values.items()})


def _convert(wanted: Any, value: Any, place: str) -> Any:
    """Return a value as a field of that type has it."""
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin in (types.UnionType, Union):  # None and one other type
        (other,) = (one for one in arguments if one is not type(None))
        return None if value is None else _convert(other, value, place)
    if wanted is Any:
        return value
    if is_dataclass(wanted) and isinstance(value, Mapping):
        return build_config(wanted, value, f"{place}.")  # type: ignore[arg-type]
    if origin is list and isinstance(value, list):
        return [_convert(arguments[0], one, place) for one in value]
    if origin is dict and isinstance(value, Mapping):
        return {str(name): _convert(arguments[1], one, f"{place}.{name}") for name, one in value.items()}
    if wanted is str and isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return str(value)
    if wanted is float and isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return _number(value, place)
    if wanted in (bool, int) and type(value) is wanted:
        return value
    name = getattr(origin or wanted, "__name__", str(wanted))
    raise ValueError(f"{place} ({value}) must be of type {name}, not {type(value).__name__}")


def _number(value: str | float, place: str) -> float:
    """Return a float; YAML takes 1e-5, which has no point, for a string."""
    try:
        return float(value)
    except ValueError as error:
        raise ValueError(f"{place} ({value}) must be a number") from error
