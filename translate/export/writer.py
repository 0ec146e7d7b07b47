"""Write a model for another runtime: the directory, its files and its card."""

from pathlib import Path
from typing import TYPE_CHECKING

from translate.common.files import new_directory, write_text
from translate.common.resources import models_dir
from translate.config.export import ExportConfig
from translate.native.shortlist import Shortlist
from translate.translator.beside import NOTHING, Beside
from translate.translator.engines.directory import check_output

if TYPE_CHECKING:
    from collections.abc import Callable

    from translate.data.tokenizer import Tokenizer
    from translate.model.transformer import Transformer
    from translate.translator.bundle import BundleConfig
    from translate.translator.engines.directory import ExportedConfig

_MIN_POSITIONS = 1024  # rows of a table of positions, at the least
_EXTRAS = {"ctranslate2": "runtime", "onnx": "onnx"}  # what each format is installed with


def export(config: ExportConfig) -> Path:
    """Write the model that the settings name for another runtime, and return its directory.

    Raises:
        ValueError: If there is no model, the format cannot hold it, or the output must not be replaced.
    """
    from translate.translator.bundle import find_model, load_bundle

    bundle = find_model(config.model)
    if config.output is None and bundle.parent.resolve() == models_dir().resolve():
        raise ValueError(f"the model {bundle.name} lies in the package, and nothing is written there; give output=DIR")
    output = Path(config.output or bundle.with_name(f"{config.format}-{config.quantization}"))
    check_output(output, bundle, overwrite=config.overwrite)
    if config.format == "model":
        copy_model(bundle, output, config.quantization)
    elif config.format == "marian-hf":
        _save_marian(output, *load_bundle(bundle), config.license)
    else:
        save_exported(output, *load_bundle(bundle), config.quantization, config.format, Beside.load(bundle))
    size = sum(file.stat().st_size for file in output.iterdir())
    print(f"exported: {output} ({size / 2**20:.1f} MiB, {config.quantization})")
    if config.format != "marian-hf":
        print(f'next: python -m translate.infer --model {output} "Hello."')
    return output


def copy_model(bundle: Path, output: Path, quantization: str) -> None:
    """Write a model directory anew, all that belongs to it included.

    Args:
        bundle: The model directory.
        output: Where to write.
        quantization: Type of the stored weights, one of `translate.config.export.MODEL_QUANTIZATIONS`.
    """
    from translate.translator.bundle import load_bundle, save_bundle

    model, tokenizer, settings = load_bundle(bundle)
    shortlist = Shortlist.load(bundle, settings.src_vocab_size, settings.tgt_vocab_size)
    save_bundle(output, model, tokenizer, settings, Beside.load(bundle), shortlist, quantization=quantization)


def _save_marian(
    directory: Path, model: "Transformer", tokenizer: "Tokenizer", config: "BundleConfig", license: str | None
) -> None:
    from translate.export.marian import check_marian, export_marian

    check_marian(config.model)
    with new_directory(directory) as parts:
        export_marian(parts, model, tokenizer, config, _num_positions(config, "marian-hf") or 0, license)


def save_exported(
    directory: Path | str,
    model: "Transformer",
    tokenizer: "Tokenizer",
    config: "BundleConfig",
    quantization: str,
    format: str = ExportConfig.format,
    beside: Beside = NOTHING,
) -> None:
    """Write a directory for another runtime; it appears, or replaces an older one, only when it is complete.

    Args:
        directory: Where to write.
        model: The network, float32.
        tokenizer: Its tokenizer.
        config: Its settings.
        quantization: Type of the stored weights, one of `translate.config.export.QUANTIZATIONS`.
        format: "ctranslate2" or "onnx".
        beside: What else belongs to it.

    Raises:
        ValueError: If what writes the format is not installed, or the format cannot hold the model.
        OSError: If it cannot be written; the message names the directory and what is full.
    """
    from translate.translator.engines.directory import save_settings

    write, settings = _writer(format), _settings(config, quantization, format)
    with new_directory(Path(directory)) as parts:
        write(parts, model, tokenizer, settings)
        tokenizer.save(parts)
        save_settings(parts, settings)
        beside.save(parts)
        write_text(parts / "README.md", _card(settings, format))


def _writer(format: str) -> "Callable[[Path, Transformer, Tokenizer, ExportedConfig], None]":
    """Return the function that fills a directory with a runtime's files."""
    try:
        if format == "onnx":
            from translate.export.onnx import export_graphs

            return lambda path, model, tokenizer, settings: export_graphs(path, model, settings.num_positions or 0)
        from translate.export.ctranslate2 import ModelConverter
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("ctranslate2", "onnx", "onnxscript"):
            raise
        raise ValueError(f"format={format} needs an extra: pip install -e '.[{_EXTRAS[format]}]'") from error

    def write(path: Path, model: "Transformer", tokenizer: "Tokenizer", settings: "ExportedConfig") -> None:
        converter = ModelConverter(model, tokenizer, settings.model, settings.num_positions or 0)
        converter.convert(str(path), quantization=settings.quantization, force=True)

    return write


def _settings(config: "BundleConfig", quantization: str, format: str) -> "ExportedConfig":
    from translate.translator.engines.directory import ExportedConfig

    positions = _num_positions(config, format)
    settings = ExportedConfig(**vars(config), quantization=quantization, num_positions=positions)
    if format == "onnx":
        settings.decode = config.decode.changed({"beam_size": 1, "mbr": "none", "formality": "any"})  # it is greedy
    return settings


def _num_positions(config: "BundleConfig", format: str) -> int | None:
    """Return how many positions the exported model knows; None where it computes them."""
    network = config.model
    if network.positions == "rotary" and format == "ctranslate2":
        return None
    if network.positions == "learned":
        return network.max_positions
    return max(_MIN_POSITIONS, config.max_src_len, config.decode.max_output_len)


def _card(config: "BundleConfig", format: str) -> str:
    rows = "\n".join(f"- {label}: {value}" for label, value in config.card.items())
    name, usage = _USAGE[format]
    return f"""# Translation model, {config.src_lang} to {config.tgt_lang}, for {name}

`translate.json` holds the settings. Translate with it (`DIR` is this directory):

    python -m translate.infer --model DIR "Hello."

or {usage}

{rows}
{_tags(config)}"""


def _tags(config: "BundleConfig") -> str:
    """Describe the language codes for other programs."""
    if not config.tgt_langs:
        return ""
    from translate.data.tokenizer import language_tag

    tags = " or ".join(f"`{language_tag(language)}`" for language in config.tgt_langs)
    return f"\nA source begins with the piece of the language to translate into: {tags}.\n"


_USAGE = {  # the runtime's name, and how other programs use the directory
    "ctranslate2": (
        "CTranslate2",
        'with `ctranslate2.Translator("DIR")`, whose tokens are the pieces of `tokenizer*.model`.',
    ),
    "onnx": (
        "ONNX",
        """with any runtime of ONNX; B sentences, S source tokens and T tokens so far are free, V is the vocabulary:

    encoder.onnx   src_ids [B, S], src_mask [B, S] (true = no padding) -> memory_0 ...
    decoder.onnx   last_ids [B], src_mask, memory_0 ..., past_0 ... -> log_probs [B, V], present_0 ...

Ids are those of `tokenizer*.model`: padding 0, unknown 1, BOS 2, EOS 3, which ends each source. Decoding starts with
`last_ids` of BOS and each `past` with T = 0; a step's choice among `log_probs` is the next one's `last_ids`, its
`present_0 ...` the next one's `past_0 ...`. `translate/translator/engines/onnx.py` does this in 25 lines of Python.""",
    ),
}
