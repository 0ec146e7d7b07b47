"""Write what the fields of the settings say where people read it: the comments in conf/, and the reference page.

Run `python -m translate.config.describe` from the root of a clone after a change to a field; a test compares.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from translate.common.files import write_text
from translate.config.benchmark import (
    BenchmarkDecodeConfig,
    BenchmarkGpuConfig,
    BenchmarkServeConfig,
    BenchmarkTrainConfig,
)
from translate.config.convert import ConvertConfig
from translate.config.data import DataConfig
from translate.config.decode import DecodeConfig
from translate.config.evaluate import EvaluateConfig
from translate.config.export import ExportConfig
from translate.config.fields import as_override, describe_limits
from translate.config.model import ModelConfig
from translate.config.optim import OptimConfig
from translate.config.parts import PartConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig

MARK = "# Settings; python -m translate.config.describe writes this list from translate/config/:"
REFERENCE = Path("docs/reference/settings.md")
SCHEMAS: dict[str, type] = {  # by the file of conf/ that explains its settings
    "train": TrainConfig,
    "model/small": ModelConfig,
    "data/everyday": DataConfig,
    "data/general": PartConfig,
    "tokenizer/bpe": TokenizerConfig,
    "optim/inverse_sqrt": OptimConfig,
    "trainer/default": TrainerConfig,
    "decode/beam": DecodeConfig,
    "evaluate": EvaluateConfig,
    "export": ExportConfig,
    "convert": ConvertConfig,
    "benchmark_train": BenchmarkTrainConfig,
    "benchmark_decode": BenchmarkDecodeConfig,
    "benchmark_serve": BenchmarkServeConfig,
    "benchmark_gpu": BenchmarkGpuConfig,
}


def described(schema: type) -> list[Field[Any]]:
    """Return the settings that a schema declares itself, without groups and those of its base class."""
    inherited = {one.name for base in schema.__bases__ if hasattr(base, "__dataclass_fields__") for one in fields(base)}
    return [one for one in fields(schema) if one.metadata and one.name not in inherited]


def yaml_comment(schema: type) -> str:
    """Return the settings of a schema as YAML comments, wrapped at 120 characters."""
    settings = described(schema)
    width = max(len(one.name) for one in settings) + 2
    lines = [MARK]
    for one in settings:
        lead = f"#   {one.name:{width}}"
        lines += textwrap.wrap(
            f"{one.metadata['help']} {_range(one)}".strip(),
            width=118,
            initial_indent=lead,
            subsequent_indent=f"#{' ' * (len(lead) - 1)}",
            break_on_hyphens=False,
            break_long_words=False,
        )
    return "\n".join(lines) + "\n"


def with_comment(text: str, schema: type) -> str:
    """Return a YAML file with its list of settings brought up to date.

    Raises:
        ValueError: If the file has no such list.
    """
    found = re.search(rf"^{re.escape(MARK)}\n(?:#.*\n)*", text, re.MULTILINE)
    if not found:
        raise ValueError(f"no line {MARK!r}; put it where the list of settings belongs")
    return text[: found.start()] + yaml_comment(schema) + text[found.end() :]


def reference_page() -> str:
    """Return the reference of all settings, as Markdown."""
    return "\n".join(_reference()) + "\n"


def _reference() -> Iterator[str]:
    yield "# Settings\n"
    yield (
        "<!-- Written by python -m translate.config.describe from translate/config/; change the fields there. -->\n\n"
        "Every setting with its type, default and range. Give one as `KEY=VALUE` on the command line, or as\n"
        "`GROUP.KEY=VALUE` for a setting of a group; `GROUP=NAME` chooses a file of `conf/GROUP/`. `null` means none."
    )
    for name, schema in SCHEMAS.items():
        group = name.split("/")[0]
        command = group.replace("_", " ")
        if schema is PartConfig:
            group = "data.parts.NAME"
            yield f"\n## data.parts\n\n{_first_line(schema)}\n"
        elif "/" in name:
            choices = sorted(file.stem for file in Path("conf", group).glob("*.yaml"))
            yield f"\n## {group}\n\n{_first_line(schema)} Files: {', '.join(f'`{group}={one}`' for one in choices)}.\n"
        else:
            yield f"\n## translate.{command}\n\n{_first_line(schema)}\n"
        for one in described(schema):
            key = f"{group}.{one.name}" if "/" in name else one.name
            kind = str(one.type).replace(" | None", " or null")
            facts = ", ".join(filter(None, [kind, f"default `{_default(one)}`", _range(one, brackets=False)]))
            meaning = one.metadata["help"].replace("<", "&lt;")
            yield f"- **`{key}`** ({facts}): {meaning}"


def _first_line(schema: type) -> str:
    return (schema.__doc__ or "").splitlines()[0]


def _range(one: Field[Any], brackets: bool = True) -> str:
    """Return the allowed values of a setting, "" where all are."""
    found = describe_limits(one) or (" | ".join(one.metadata["choices"]) if one.metadata["choices"] else "")
    return f"({found})" if found and brackets else found


def _default(one: Field[Any]) -> str:
    return as_override(one.default if one.default_factory is MISSING else one.default_factory())


def main() -> None:
    """Rewrite the comments in conf/ and the reference page, in the clone that is the working directory."""
    for name, schema in SCHEMAS.items():
        path = Path("conf", f"{name}.yaml")
        write_text(path, with_comment(path.read_text(encoding="utf-8"), schema))
    write_text(REFERENCE, reference_page())


if __name__ == "__main__":
    main()
