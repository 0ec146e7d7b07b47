"""Reading and writing settings, and naming the setting that a wrong key may mean."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from translate.common.errors import first_line
from translate.common.files import write_text
from translate.config.build import build_config
from translate.config.plain_yaml import read_plain_yaml

Config = TypeVar("Config")


def load_config(path: Path, schema: type[Config], changes: Mapping[str, Any] | None = None) -> Config:
    """Read the settings of a run or a model back, with changes by dotted key on top.

    The file may come from elsewhere: it is read as plain values, see `read_plain_yaml`.

    Raises:
        ValueError: If the file is missing or damaged, or a key or a value is not allowed; in one line that names the
            file and the changes.
    """
    if not path.is_file():
        raise ValueError(f"{path} does not exist; give a run directory that `python -m translate.train` has made")
    values = read_plain_yaml(path)
    try:
        return build_config(schema, _changed(values, changes) if changes else values)
    except ValueError as error:
        changed = f" with {', '.join(f'{key}={value}' for key, value in changes.items())}" if changes else ""
        raise ValueError(f"{path}{changed}: {first_line(error)}") from error


def _changed(values: Mapping[Any, Any], changes: Mapping[str, Any]) -> Any:
    """Return plain values with those of the command line on top, which may hold interpolations."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    merged = OmegaConf.create(dict(values))
    try:
        for key, value in changes.items():
            OmegaConf.update(merged, key, value)
        return OmegaConf.to_container(merged, resolve=True)
    except OmegaConfBaseException as error:
        raise ValueError(str(error)) from error


def save_config(config: Any, path: Path) -> None:
    """Write a config dataclass as YAML, every key with its value."""
    from omegaconf import OmegaConf

    # in one rename, as other processes of a resumed run may be reading the old one
    write_text(path, OmegaConf.to_yaml(OmegaConf.structured(config)))


def unknown_setting(key: str, schema: type) -> str:
    """Return an error message for a key that a schema does not have, with the nearest names that it has."""
    import difflib

    from omegaconf import OmegaConf

    names = _keys(OmegaConf.structured(schema))
    if key in names:
        return f"{key} has no such key yet; add it with +{key}=…"  # one of the mappings that take any
    near = difflib.get_close_matches(key, names, n=3, cutoff=0.6)
    hint = f"did you mean {', '.join(near)}?" if near else "see --help for the keys there are"
    return f"unknown setting {key}; {hint}"


def _keys(config: Any, prefix: str = "") -> list[str]:
    from omegaconf import OmegaConf

    keys: list[str] = []
    for key in config:
        name = f"{prefix}{key}"
        keys.append(name)
        if not OmegaConf.is_missing(config, key) and OmegaConf.is_dict(config[key]):
            keys += _keys(config[key], f"{name}.")
    return keys
