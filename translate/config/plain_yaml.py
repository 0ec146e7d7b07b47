"""Read YAML that came from elsewhere, with a model or a run, as plain values: nothing in it is followed or resolved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


class _PlainLoader(yaml.SafeLoader):  # type: ignore[misc]
    """Make mappings, lists and scalars; refuse aliases, which can make a small file huge, and repeated keys."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            raise yaml.composer.ComposerError(None, None, f"the alias *{event.anchor} is not allowed", event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        names: set[str] = set()
        for key, _ in node.value:
            if key.value in names:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key.value} is repeated", key.start_mark)
            names.add(key.value)
        return super().construct_mapping(node, deep)  # type: ignore[no-any-return]


def read_plain_yaml(path: Path) -> dict[Any, Any]:
    """Return the mapping that a YAML file holds, an empty one for an empty file.

    Raises:
        ValueError: If it is damaged or no mapping, or if it holds an interpolation such as ${oc.env:HOME}, which would
            bring values of this machine into it; in one line that names the file.
        OSError: If it cannot be read.
    """
    try:
        with path.open(encoding="utf-8") as file:
            values = yaml.load(file, _PlainLoader)
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise ValueError(f"{path}: it is nested too deeply") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ValueError(f"{path}: a {type(values).__name__} is no mapping of settings")
    _refuse_interpolations(values, path)
    return values


def _refuse_interpolations(value: Any, path: Path, key: str = "") -> None:
    """Raise if a string within `value`, which stands at `key`, would be resolved by OmegaConf."""
    if isinstance(value, dict):
        for name, part in value.items():
            _refuse_interpolations(part, path, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for part in value:
            _refuse_interpolations(part, path, key)
    elif isinstance(value, str) and "${" in value:
        place = " ".join(key.split())
        raise ValueError(
            f"{path}: {place} ({value[:80]!r}) is an interpolation, which the file of a model or a run must not "
            "have; write a plain value"
        )
