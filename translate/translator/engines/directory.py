"""The files of an exported directory and its settings; imports neither torch nor lightning.

DIR/model.bin, config.json, *_vocabulary.json    CTranslate2's, or
    encoder.onnx, decoder.onnx                   graphs for ONNX
    tokenizer*.model                             SentencePiece
    translate.json                               ExportedConfig
    README.md                                    the model card
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from translate.common.files import recover_directory, write_text
from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.translator.bundle import BundleConfig

_SETTINGS = "translate.json"
# what tells that a directory of weights was written by us: settings of a model directory, or files as on the hub
_OURS = ("config.yaml",), ("config.json", "tokenizer_config.json", "source.spm")
_WEIGHTS = {"ctranslate2": "model.bin", "onnx": "decoder.onnx"}  # by the format that has such a file


@dataclass
class ExportedConfig(BundleConfig):
    """Settings of an exported directory: those of the model directory, and two more.

    Attributes:
        quantization: Type of the stored weights, one of `translate.config.export.QUANTIZATIONS`.
        num_positions: Positions stored, which no source or output may exceed; None where they are computed (rotary).
    """

    quantization: str = "float32"
    num_positions: int | None = None

    @property
    def max_positions(self) -> int | None:
        """Most tokens that the model can read or write; None = any number."""
        return self.num_positions


def exported_format(path: Path | str) -> str | None:
    """Return the format of a directory that `translate.export` wrote; None for any other."""
    recover_directory(Path(path))
    if not Path(path, _SETTINGS).is_file():
        return None
    return next((name for name, file in _WEIGHTS.items() if Path(path, file).is_file()), None)


def save_settings(directory: Path, config: ExportedConfig) -> None:
    """Write the settings into an exported directory."""
    write_text(directory / _SETTINGS, json.dumps(asdict(config), indent=2) + "\n")


def load_settings(directory: Path | str) -> ExportedConfig:
    """Read the settings of an exported directory.

    Raises:
        ValueError: If they are damaged, or a key or value is not allowed; the message names the file.
    """
    path = Path(directory, _SETTINGS)
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        parts = {"model": _build(ModelConfig, values["model"]), "decode": _build(DecodeConfig, values["decode"])}
        return _build(ExportedConfig, {**values, **parts})  # type: ignore[no-any-return]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is damaged or from another version ({error}); export the model again") from error


def _build(schema: type, values: dict[str, Any]) -> Any:
    unknown = sorted(set(values) - {part.name for part in fields(schema)})
    if unknown:
        raise ValueError(f"unknown settings {', '.join(unknown)}")
    return schema(**values)


def check_output(output: Path, source: Path, *, overwrite: bool) -> None:
    """Refuse to replace what is there, unless it is an earlier export and the user wants it.

    Args:
        output: Where an export or a converted model goes.
        source: What it is made from, which is never replaced.
        overwrite: Whether the user wants it.

    Raises:
        ValueError: If it must stay; the message says why.
    """
    recover_directory(output)
    if not output.exists():
        return
    if not overwrite:
        raise ValueError(f"output ({output}) is there already; set overwrite=true to replace it, or another output")
    if source.resolve().is_relative_to(output.resolve()):
        raise ValueError(f"output ({output}) would replace the model that it is made from; choose another output")
    if output.resolve().name == "model" and (output.resolve().parent / "checkpoints").is_dir():
        raise ValueError(f"output ({output}) is the model of a run, which is kept; choose another output")
    weights = (output / "model.safetensors").is_file()
    ours = weights and any(all((output / name).is_file() for name in names) for names in _OURS)
    if exported_format(output) is None and not ours:
        raise ValueError(f"output ({output}) is no earlier export, and overwrite=true replaces nothing else")
