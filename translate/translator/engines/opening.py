"""Open a model: choose the engine that runs a directory, and give it its tokenizer and settings."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from translate.common.cores import limit_threads
from translate.common.errors import first_line
from translate.common.extras import INSTALL_TRAIN
from translate.common.memory import limit_kernel_caches
from translate.config.decode import PRECISIONS
from translate.data.tokenizer import Tokenizer
from translate.translator.beside import Beside
from translate.translator.bundle import BundleConfig, find_model, load_bundle, load_native
from translate.translator.engines.directory import exported_format, load_settings
from translate.translator.engines.engine import Engine

if TYPE_CHECKING:
    import torch


Runs = tuple[Engine, Tokenizer, BundleConfig]
Opened = tuple[Engine, Tokenizer, BundleConfig, Beside]


def open_engine(path: Path | str, *, device: str, precision: str) -> Opened:
    """Open a model directory, or one that `translate.export` wrote; arguments and errors as in `Translator.load`."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision ({precision}) must be one of {', '.join(PRECISIONS)}")
    written_for = exported_format(path)
    if written_for is None:
        directory = find_model(path)
        opened = _open_bundle(directory, device, precision)
    else:
        directory = Path(path)
        opened = _open_exported(directory, written_for, device, precision)
    return *opened, Beside.load(directory)


def _open_exported(directory: Path, written_for: str, device: str, precision: str) -> Runs:
    if precision == "int8":
        raise ValueError(
            "precision=int8 is not for exported models: what they were exported with is in them; leave it out"
        )
    config, tokenizer = load_settings(directory), Tokenizer.load(directory)
    precision = "32" if precision == "auto" else precision
    if written_for == "onnx":
        from translate.translator.engines.onnx import OnnxEngine  # loads onnxruntime

        return OnnxEngine(directory, tokenizer, device=device, precision=precision), tokenizer, config
    from translate.translator.engines.ctranslate2 import CTranslate2Engine  # loads ctranslate2

    return CTranslate2Engine(directory, tokenizer, config, device=device, precision=precision), tokenizer, config


def _open_bundle(directory: Path, device: str, precision: str) -> Runs:
    on_cpu = device == "cpu" or (device == "auto" and not may_have_gpu())
    if on_cpu and precision in ("auto", "int8") and (native := load_native(directory)):
        from translate.native.shortlist import Shortlist
        from translate.translator.engines.native import NativeEngine

        network, tokenizer, config = native
        shortlist = Shortlist.load(directory, config.src_vocab_size, config.tgt_vocab_size)
        return NativeEngine(network, tokenizer, shortlist), tokenizer, config
    if find_spec("torch") is None:
        given = f"device={device}, precision={precision}"
        what = "this model, which the C kernels cannot run here," if on_cpu and precision in ("auto", "int8") else given
        raise ValueError(f"{what} needs torch, which is not installed: {INSTALL_TRAIN}")
    return _open_in_torch(directory, device, precision)


def _open_in_torch(directory: Path, device: str, precision: str) -> Runs:
    from translate.model.attention import keep_cudnn_out
    from translate.translator.engines.torch import DTYPES, Int8Engine, TorchEngine

    keep_cudnn_out()
    place = find_device(device)
    if place.type == "cpu":
        limit_threads()
    if precision == "16" and place.type != "cuda":
        raise ValueError(f"precision=16 needs a GPU, not device {place}; use bf16 or 32")
    if precision == "int8" and place.type != "cpu":
        raise ValueError(f"precision=int8 is for CPUs, not device {place}; use bf16, 16 or 32")
    model, tokenizer, config = load_bundle(directory, place)
    if precision == "auto":
        precision = "16" if place.type == "cuda" else "32"
    if place.type == "cpu" and precision != "32":
        limit_kernel_caches()
    if precision == "int8":
        return Int8Engine(model, tokenizer), tokenizer, config
    return TorchEngine(model.to(DTYPES[precision]), tokenizer), tokenizer, config


def may_have_gpu() -> bool:
    """Return whether torch, if it is installed, may find a GPU; without a sign of one it need not be loaded to look."""
    signs = (Path("/proc/driver/nvidia"), Path("/dev/nvidiactl"), Path("/dev/dxg"), Path("/dev/kfd"))
    return find_spec("torch") is not None and (sys.platform == "win32" or any(sign.exists() for sign in signs))


def find_device(name: str) -> torch.device:
    """Return the device that `Translator.load` means by a name."""
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        if device.type not in ("cpu", "cuda"):
            raise ValueError(f"device ({name}) is not supported; give cpu, cuda, cuda:N or auto")
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device ({name}) cannot be used here: {first_line(error)}") from error
    return device
