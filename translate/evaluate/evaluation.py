"""Score what the settings name: a model on test sets, or output that is already there."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from translate.config.evaluate import EvaluateConfig

if TYPE_CHECKING:
    from translate.evaluate.report import Report


def evaluate(config: EvaluateConfig) -> "Report":
    """Score what the settings name, write the report, print its table.

    Raises:
        ValueError: If settings do not fit each other, or files cannot be used.
    """
    _check(config)
    from translate.evaluate.report_markdown import summary

    protocols = ("cased", "literature") if config.protocol == "both" else (config.protocol,)
    report, output = (_evaluate_file if config.hyp else _evaluate_model)(config, protocols)
    print(summary(report))
    print(f"report: {output / 'report.html'} (and report.md, report.json, hyp.*.txt)")
    return report


def _check(config: EvaluateConfig) -> None:
    """Refuse settings that contradict each other before any work."""
    for key in ("model", "tgt_lang"):
        if config.hyp and getattr(config, key):
            raise ValueError(f"hyp=FILE scores existing output without a model; leave out hyp or {key}")
    for key in ("device", "precision", "decode"):
        if config.hyp and not config.baseline and getattr(config, key) != getattr(EvaluateConfig(), key):
            raise ValueError(f"hyp=FILE translates nothing, where {key} would change nothing; leave out hyp or {key}")
    for key in ("hyp", "src"):
        if getattr(config, key) and not config.ref:
            raise ValueError(f"{key}={getattr(config, key)} needs ref=FILE, the references to score against")
    if config.ref and not (config.src or config.hyp):
        raise ValueError(f"ref={config.ref} needs src=FILE to translate, or hyp=FILE with existing output")
    if config.ref and config.data_root:
        raise ValueError("data_root is where the run's own test sets lie; with ref=FILE leave it out")
    if config.name and not re.fullmatch(r"[\w.-]+", config.name):
        raise ValueError(f"name ({config.name}) becomes part of a file name: use letters, digits and . _ - only")
    if config.bootstrap == 1 or (config.baseline and not config.bootstrap):
        raise ValueError(f"bootstrap ({config.bootstrap}) must be 0 (off) or at least 2; baseline needs it above 0")


def _check_languages(config: EvaluateConfig, src_lang: str, tgt_lang: str) -> None:
    """Raise ValueError where the names of the files say that they are in the model's languages, the other way round."""
    from translate.evaluate.inputs import suffix_lang

    for key, lang, other in (("src", src_lang, tgt_lang), ("ref", tgt_lang, src_lang)):
        path = getattr(config, key)
        if suffix_lang(path) == other:
            raise ValueError(
                f"{key} ({path}) seems to be in {other}, and the model translates {src_lang} to {tgt_lang}: set "
                f"tgt_lang={src_lang} if it knows both directions, or give the file in {lang}"
            )


def _evaluate_file(config: EvaluateConfig, protocols: tuple[str, ...]) -> tuple["Report", Path]:
    """Score existing output."""
    from translate.evaluate.inputs import find_baseline, name_from_file, read_pairs, suffix_lang
    from translate.evaluate.report import Output
    from translate.evaluate.test_sets import report_outputs

    assert config.hyp is not None
    assert config.ref is not None
    lang = suffix_lang(config.ref) or suffix_lang(config.hyp)
    if lang is None and "literature" in protocols:
        raise ValueError(
            f"protocol={config.protocol} tokenizes by language, which the name {config.ref} does not tell; "
            "let it end in the language code, like ref.fr, or set protocol=cased"
        )
    name, pairs = config.name or name_from_file(config.ref), read_pairs(config.hyp, config.ref)
    src = [pair.src for pair in read_pairs(config.src, config.ref)] if config.src else None
    baseline = find_baseline(config, {name: src})
    output = Path(config.output or Path("evaluation", name))
    entry = Output(
        name=name,
        src=src,
        ref=[pair.tgt for pair in pairs],
        hyp=[pair.src for pair in pairs],
        baseline=list(baseline.hypotheses[name]) if baseline else None,
    )
    report = report_outputs(
        [entry],
        src_lang=suffix_lang(config.src),
        tgt_lang=lang or "unknown",
        system=config.hyp,
        baseline=baseline.label if baseline else None,
        protocols=protocols,
        bootstrap=config.bootstrap,
        seed=config.seed,
        run_dir=None,
        settings={"hyp": config.hyp, "ref": config.ref, "src": config.src},
        output=output,
    )
    return report, output


def _evaluate_model(config: EvaluateConfig, protocols: tuple[str, ...]) -> tuple["Report", Path]:
    """Translate with a model, then score."""
    from translate.evaluate.inputs import find_baseline, find_test_sets, load_translator
    from translate.evaluate.test_sets import evaluate_test_sets
    from translate.translator.bundle import find_model
    from translate.translator.engines.directory import exported_format

    exported = Path(config.model) if config.model and exported_format(config.model) else None
    model = exported or find_model(config.model)
    run_dir = model.parent if (model.parent / "config.yaml").is_file() else None
    translator = load_translator(config, model)
    _check_languages(config, translator.config.src_lang, translator.config.tgt_lang)
    test_sets = find_test_sets(config, run_dir, translator.config.src_lang, translator.config.tgt_lang)
    baseline = find_baseline(config, {name: [pair.src for pair in pairs] for name, pairs in test_sets.items()})
    folder = run_dir / "evaluation" / (exported.name if exported else "") if run_dir else Path("evaluation")
    if config.tgt_lang:
        folder /= f"into-{config.tgt_lang}"
    output = Path(config.output) if config.output else folder / (next(iter(test_sets)) if config.ref else "")
    output.mkdir(parents=True, exist_ok=True)  # before all that takes time
    report = evaluate_test_sets(
        translator,
        test_sets,
        decode=translator.config.decode.changed(vars(config.decode)),
        protocols=protocols,
        bootstrap=config.bootstrap,
        seed=config.seed,
        run_dir=run_dir,
        output=output,
        system=os.path.relpath((exported or run_dir or model).resolve()),  # what runs/latest points at
        baseline=baseline,
    )
    return report, output
