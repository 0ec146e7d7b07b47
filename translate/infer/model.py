"""The translator that a command line asks for, its settings, and what identifies both when a job goes on later."""

from __future__ import annotations

import argparse
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from translate.common.resources import SHIPPED
from translate.config.decode import DecodeConfig
from translate.infer.answers import Settings
from translate.markup.terminology import Terminology, read_terms
from translate.translator.bundle import find_model, fingerprint, load_bundle_config
from translate.translator.engines.directory import exported_format, load_settings

if TYPE_CHECKING:
    from translate.translator.translator import Translator

_NOT_RECORDED = (  # options that may change when a job goes on
    *("input", "output", "output_dir", "resume", "sentences", "errors", "device", "batch_tokens", "verbose"),
    *("ray", "workers", "cpus_per_worker", "gpus_per_worker"),
)
_FILES = ("prefixes", "terms")  # options whose files are recorded with their checksum


def model_paths(args: argparse.Namespace) -> list[str]:
    """Return the models that a command line names; without any that is the one of the package."""
    return args.model or [SHIPPED]


def open_translator(args: argparse.Namespace) -> Translator:
    """Open the model, or the ensemble, that a command line names.

    Raises:
        ValueError: If there is none, or it cannot do what is asked.
    """
    from translate.translator.translator import Translator  # torch, after the command line proved right

    models = [Translator.load(path, device=args.device, precision=args.precision) for path in model_paths(args)]
    translator = Translator.ensemble(models) if len(models) > 1 else models[0]
    return translator if args.to is None else translator.into(args.to)


def translate_settings(args: argparse.Namespace, translator: Translator) -> Settings:
    """Return the keyword arguments of `Translator.translate` that a command line asks for."""
    settings: Settings = {field.name: getattr(args, field.name) for field in fields(DecodeConfig)}
    settings["alignments"], settings["protect"] = args.alignments, args.protect
    settings["terms"] = Terminology(read_terms(args.terms)) if args.terms else None
    if args.to is None and not (args.score or args.pairs) and len(translator.config.tgt_langs) > 1:
        settings["tgt_lang"] = "auto"
    return settings


def recorded_settings(args: argparse.Namespace) -> Settings:
    """Return everything in a command line that the output depends on, by name; JSON can hold the values."""
    settings = {name: value for name, value in vars(args).items() if name not in _NOT_RECORDED}
    settings["model"] = [_identity(path) for path in model_paths(args)]
    for name in _FILES:
        if settings[name] and Path(settings[name]).is_file():
            settings[name] = f"{settings[name]} (sha256 {sha256(Path(settings[name]).read_bytes()).hexdigest()[:16]})"
    return settings


def model_directory(path: Path | str) -> Path:
    """Return where a model is that a command line names."""
    return Path(path) if exported_format(path) else find_model(path)


def model_decode(args: argparse.Namespace) -> DecodeConfig:
    """Return the search settings of the model, or of the first one of an ensemble, without opening it.

    Raises:
        ValueError: If there is no model, or its settings are damaged.
    """
    directory = model_directory(model_paths(args)[0])
    load = load_settings if exported_format(directory) else load_bundle_config
    return load(directory).decode


def _identity(path: Path | str) -> str:
    """Return where a model is and a digest of it, which tells a new model in the same place from the old one."""
    directory = model_directory(path)
    return f"{directory.resolve()} (sha256 {fingerprint(directory)})"
