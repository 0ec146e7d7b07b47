"""Which engines can be measured with a model, each with the directory that it opens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from translate.benchmark.decode_engines import CTRANSLATE2, HUGGING_FACE, OTHER, OURS, EngineSpec
from translate.benchmark.decode_huggingface import save_peer, unfit_peer
from translate.common.cores import available_cores
from translate.config.benchmark import BenchmarkDecodeConfig
from translate.config.trainer import TrainerConfig
from translate.data.tokenizer import Tokenizer
from translate.export.writer import save_exported
from translate.model.transformer import Transformer
from translate.train.setup import pick_precision
from translate.translator.bundle import BundleConfig, find_model, load_bundle

LeftOut = dict[str, str]  # names of rows, and why


def find_rows(
    config: BenchmarkDecodeConfig, bundle: Path, longest: str, folder: Path
) -> tuple[list[EngineSpec], LeftOut]:
    """Find the engines that can be measured, and why others cannot; a precision of ours is tried when it is opened.

    Args:
        config: Names our precisions and the other model, and says whether there are peers.
        bundle: Our model directory.
        longest: The longest of the sentences to come.
        folder: Takes the models of the peers.

    Raises:
        ValueError: If there is no other model where it is said to be.
    """
    left_out: LeftOut = {}
    specs = list(_ours(OURS, config, bundle, left_out))
    if config.against:
        specs += _ours(OTHER, config, find_model(config.against), left_out)
    if config.peers:
        model, tokenizer, settings = load_bundle(bundle)
        longest_src = max(settings.max_src_len, len(tokenizer.encode_src(longest)))
        settings = replace(settings, decode=config.decode, max_src_len=longest_src)
        if settings.tgt_langs:
            left_out[CTRANSLATE2] = left_out[HUGGING_FACE] = "its sources would lack the language tag of this model"
        else:
            specs += _ctranslate2(model, tokenizer, settings, folder, left_out, on_gpu=config.device == "cuda")
            specs += _huggingface(model, tokenizer, settings, folder, left_out)
    return [replace(spec, device=config.device) for spec in specs], left_out


def _ours(kind: str, config: BenchmarkDecodeConfig, bundle: Path, left_out: LeftOut) -> Iterator[EngineSpec]:
    slow = config.device == "cpu" and pick_precision(TrainerConfig(accelerator="cpu", precision="auto")) == "32"
    for precision in config.precisions:
        name = f"{kind} {precision}"
        if precision == "bf16" and slow:
            left_out[name] = "this processor has no bfloat16 instructions"
        else:
            yield EngineSpec(name, kind, str(bundle), precision)


def _ctranslate2(
    model: Transformer,
    tokenizer: Tokenizer,
    settings: BundleConfig,
    folder: Path,
    left_out: LeftOut,
    *,
    on_gpu: bool,
) -> Iterator[EngineSpec]:
    """Return float32 and int8, each as one worker with all cores and as a worker per core; on a GPU float16."""
    cores = available_cores()
    for quantization in ("float32",) if on_gpu else ("float32", "int8"):
        path = folder / f"ctranslate2-{quantization}"
        try:
            save_exported(path, model, tokenizer, settings, quantization)
        except ValueError as error:
            left_out[CTRANSLATE2] = str(error)
            return
        if on_gpu:
            yield EngineSpec(f"{CTRANSLATE2} float16", CTRANSLATE2, str(path), "float16")
            return
        for workers in sorted({1, cores}, reverse=True):
            threads = cores // workers
            name = f"{CTRANSLATE2} {quantization}, {workers} × {threads}"
            yield EngineSpec(name, CTRANSLATE2, str(path), workers=workers, threads=threads)


def _huggingface(
    model: Transformer, tokenizer: Tokenizer, settings: BundleConfig, folder: Path, left_out: LeftOut
) -> Iterator[EngineSpec]:
    path, name = folder / "huggingface", f"{HUGGING_FACE} generate"
    reasons = unfit_peer(settings.model)
    if not reasons:
        positions = max(settings.max_src_len, settings.decode.max_output_len + 1)  # BOS is one
        try:
            save_peer(path, model, tokenizer, settings.model, positions)
        except ValueError as error:
            reasons = [str(error)]
    if reasons:
        left_out[name] = "; ".join(reasons)
    else:
        yield EngineSpec(name, HUGGING_FACE, str(path), threads=available_cores())
