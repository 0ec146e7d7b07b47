"""The command-line door to export: `python -m translate.export model=RUN quantization=int8`."""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from translate.config import ExportConfig
from translate.doors import run_door
from translate.exporting.directory import is_exported
from translate.hydra_door import hydra_main

if TYPE_CHECKING:
    from translate.bundle import BundleConfig
    from translate.data.tokenizer import Tokenizer
    from translate.model.transformer import Transformer

_MIN_POSITIONS = 1024  # rows of a sinusoidal table, at the least


def export(config: ExportConfig) -> Path:
    """Write the model that the settings name for another runtime, and return its directory.

    Raises:
        ValueError: If there is no model, the format cannot hold it, or the output must not be replaced.
    """
    from translate.bundle import find_model, load_bundle

    bundle = find_model(config.model)
    output = Path(config.output or bundle.with_name(f"{config.format}-{config.quantization}"))
    _check_output(output, overwrite=config.overwrite)
    save_exported(output, *load_bundle(bundle), config.quantization)
    size = sum(file.stat().st_size for file in output.iterdir())
    print(f"exported: {output} ({size / 2**20:.1f} MiB, {config.quantization})")
    print(f'next: python -m translate.infer --model {output} "Hello."')
    return output


def save_exported(
    directory: Path | str, model: "Transformer", tokenizer: "Tokenizer", config: "BundleConfig", quantization: str
) -> None:
    """Write a directory of CTranslate2; it appears, or replaces an older one, only when it is complete.

    Args:
        directory: Where to write.
        model: The network, float32.
        tokenizer: Its tokenizer.
        config: Its settings.
        quantization: Type of the stored weights, one of `translate.config.QUANTIZATIONS`.

    Raises:
        ValueError: If CTranslate2 is not installed, or cannot hold the model.
    """
    from translate.bundle import replace_directory
    from translate.exporting.directory import ExportedConfig, save_settings

    try:
        from translate.exporting.ctranslate2 import ModelConverter
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "ctranslate2":
            raise
        raise ValueError("format=ctranslate2 needs an extra: pip install -e '.[runtime]'") from error
    positions = _num_positions(config)
    settings = ExportedConfig(**vars(config), quantization=quantization, num_positions=positions)
    target = Path(directory)
    parts = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    shutil.rmtree(parts, ignore_errors=True)
    parts.parent.mkdir(parents=True, exist_ok=True)
    try:
        ModelConverter(model, tokenizer, config.model, positions or 0).convert(str(parts), quantization=quantization)
        tokenizer.save(parts)
        save_settings(parts, settings)
        Path(parts, "README.md").write_text(_card(settings), encoding="utf-8")
        replace_directory(parts, target)
    finally:
        shutil.rmtree(parts, ignore_errors=True)


def _check_output(output: Path, *, overwrite: bool) -> None:
    """Refuse to replace what is there, unless it is an earlier export and the user wants it."""
    if not output.exists():
        return
    if not overwrite:
        raise ValueError(f"output ({output}) is there already; set overwrite=true to replace it, or another output")
    if not is_exported(output):
        raise ValueError(f"output ({output}) is no earlier export, and overwrite=true replaces nothing else")


def _num_positions(config: "BundleConfig") -> int | None:
    """How many positions the exported model knows; None where it computes them."""
    network = config.model
    if network.positions == "rotary":
        return None
    if network.positions == "learned":
        return network.max_positions
    return max(_MIN_POSITIONS, config.max_src_len, config.decode.max_output_len)


def _card(config: "BundleConfig") -> str:
    rows = "\n".join(f"- {label}: {value}" for label, value in config.card.items())
    return f"""# Translation model, {config.src_lang} to {config.tgt_lang}, for CTranslate2

`translate.json` holds the settings. Translate with it (`DIR` is this directory):

    python -m translate.infer --model DIR "Hello."

or with `ctranslate2.Translator("DIR")`, whose tokens are the pieces of `tokenizer*.model`.

{rows}
"""


def main() -> None:
    """The door."""
    hydra_main("export", ExportConfig, export, groups=False)


if __name__ == "__main__":
    run_door(main)
