"""The steps of a run: prepare the data, begin the directory, train, write the model, score the test sets."""

import json
import os
import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path

import lightning as L
import torch
from lightning.pytorch.callbacks import LambdaCallback

from translate import __version__
from translate.common.files import write_text
from translate.common.memory import high_water
from translate.config.files import save_config
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.data.corpus import Corpus
from translate.data.datamodule import TranslationDataModule
from translate.model.transformer import Transformer, build_model
from translate.train import LAST_CHECKPOINT
from translate.train.beside import learn_beside, learn_shortlist
from translate.train.callbacks.checkpoints import KeptCheckpoints, Resumable
from translate.train.callbacks.progress import Progress
from translate.train.callbacks.rounding import RoundedWeights
from translate.train.callbacks.validation import ValidationBleu
from translate.train.console import clock, say
from translate.train.loss.distillation import check_teachers
from translate.train.parallel.layout import with_layout
from translate.train.setup import make_checkpoints, make_ema, make_module, make_trainer, prepare_layers
from translate.train.weights.averaging import average_weights, load_weights
from translate.train.weights.kept_start import keep_start, kept_beside, kept_settings
from translate.train.weights.low_rank import merge_low_rank
from translate.train.weights.warm_start import inherit_settings, load_start, other_settings
from translate.translator.bundle import BundleConfig, save_bundle
from translate.translator.engines.torch import TorchEngine
from translate.translator.translator import Translator


@dataclass(frozen=True)
class Fitted:
    """The result of a training.

    Attributes:
        model: The network, with the weights of the last step.
        steps: Optimizer steps done.
        seconds: Wall time of training, validation included, also before it was resumed.
        best: Keeps the best checkpoints and their scores.
        latest: Keeps the most recent ones, if they are to be averaged.
    """

    model: Transformer
    steps: int
    seconds: float
    best: KeptCheckpoints
    latest: KeptCheckpoints | None


def prepare(config: TrainConfig, run_dir: Path) -> tuple[TrainConfig, TranslationDataModule]:
    """Return the settings, completed by `init_from` and the layout of this machine, and the data, cleaned and encoded.

    Also checks that the teachers fit. `run_dir` is only read, and only by a run that is resumed.
    """
    if config.init_from:
        config = kept_settings(config, run_dir) if config.resume else inherit_settings(config)
    data = TranslationDataModule(config.data, config.tokenizer, seed=config.seed)
    data.prepare()
    check_teachers(config, data.tokenizer)
    return with_layout(config, data), data


def begin(config: TrainConfig, run_dir: Path, data: TranslationDataModule) -> TrainConfig:
    """Write the settings and the cleaning report into the run directory, which exists, and return the settings.

    Those of a resumed run are written when it goes on, so that one that is refused stays as it is.
    """
    if config.init_from and not config.resume:
        if others := other_settings(config):
            say(f"{config.init_from} itself translates with {' '.join(others)}, and this run without")
        config = keep_start(config, run_dir, data.tokenizer)
    if not config.resume:
        _write_settings(config, run_dir, data)
    say(data.cleaning.table(), f"run directory {run_dir}")
    return config


def _write_settings(config: TrainConfig, run_dir: Path, data: TranslationDataModule) -> None:
    save_config(replace(config, resume=None, run_dir=None), run_dir / "config.yaml")
    write_text(run_dir / "cleaning.json", json.dumps(data.cleaning.to_dict(), indent=2) + "\n")


def fit(config: TrainConfig, run_dir: Path, data: TranslationDataModule) -> Fitted:
    """Build the network and train it to the end that the settings name, from `last.ckpt` if the run is resumed.

    Args:
        config: Settings with the layout filled in.
        run_dir: Directory of checkpoints and logs.
        data: Data of the run, prepared.

    Raises:
        Interrupted: If a signal asked to stop; at the first one the checkpoint is written.
        ValueError: If the settings suit neither this machine nor the checkpoint, or training diverges.
    """
    L.seed_everything(config.seed, verbose=False)
    tokenizer = data.tokenizer
    model = build_model(config.model, tokenizer.src_vocab_size, tokenizer.tgt_vocab_size, pad_id=tokenizer.pad_id)
    if config.init_from and not config.resume:
        load_start(model, config.init_from)
    prepare_layers(model, config)
    pairs = data.valid_pairs[: config.trainer.valid_bleu_sentences]
    last = run_dir / LAST_CHECKPOINT
    checkpoints = make_checkpoints(config.trainer, last.parent)
    resumable = Resumable(last, config.trainer.checkpoint_every)

    def write_settings(trainer: L.Trainer, module: L.LightningModule) -> None:
        if trainer.is_global_zero:
            _write_settings(config, run_dir, data)

    trainer = make_trainer(
        config,
        run_dir,
        [
            ValidationBleu(Translator(TorchEngine(model, tokenizer), tokenizer, bundle_config(config, data)), pairs),
            *([RoundedWeights(bits, config.optim.weight_bits_from)] if (bits := config.optim.weight_bits) else []),
            *make_ema(config.trainer),  # after ValidationBleu, which must see the averaged weights
            Progress(config.trainer.log_every),
            *checkpoints,
            resumable,
            *([LambdaCallback(on_train_start=write_settings)] if config.resume else []),
        ],
    )
    module = make_module(model, config)
    if trainer.is_global_zero:
        say(describe(config, data, model))
    trainer.fit(module, datamodule=data, ckpt_path=last if config.resume else None)
    return Fitted(
        model, trainer.global_step, resumable.seconds, checkpoints[0], checkpoints[1] if checkpoints[1:] else None
    )


def finish(config: TrainConfig, run_dir: Path, data: TranslationDataModule, fitted: Fitted) -> None:
    """Write the model directory and score the test sets."""
    weights, origin = final_weights(config.trainer, fitted)
    model = fitted.model.to("cpu")
    merge_low_rank(model)
    if weights is not None:
        model.load_state_dict(weights)
    bundle = bundle_config(config, data)
    bundle.card.update(steps=fitted.steps, weights=origin, training=clock(fitted.seconds))
    if fitted.best.best_model_score is not None:
        bundle.card[f"best checkpoint's validation {config.trainer.monitor}"] = round(
            float(fitted.best.best_model_score), 4
        )
    both_directions = len(bundle.tgt_langs) > 1
    languages = config.data.src_lang, config.data.tgt_lang
    beside = learn_beside(data, languages, kept_beside(config), both_directions=both_directions)
    shortlist = learn_shortlist(data, both_directions=both_directions) if config.trainer.shortlist else None
    save_bundle(run_dir / "model", model.eval(), data.tokenizer, bundle, beside, shortlist)
    say(
        f"trained {fitted.steps:,} steps in {clock(fitted.seconds)}; model {run_dir / 'model'} ({origin})",
        f"most resident memory so far {high_water() / 2**20:,.0f} MiB",
    )
    if config.evaluate:
        evaluate(config, run_dir, data.corpus)


def conclude(config: TrainConfig, run_dir: Path, example: str) -> None:
    """Point runs/latest at the finished run and say how to translate an example sentence with it."""
    point_latest(Path(config.runs_dir), run_dir)
    print(f"next: python -m translate.infer --model {shlex.quote(str(run_dir))} {shlex.quote(example)}")


def evaluate(config: TrainConfig, run_dir: Path, corpus: Corpus) -> None:
    """Score every test set, if there are any, with the finished model directory and print the table."""
    from translate.evaluate.report_markdown import summary
    from translate.evaluate.test_sets import evaluate_test_sets

    if not corpus.test_names:
        return
    translator = Translator.load(str(run_dir / "model"), precision="32")
    tests = {name: corpus.test(name) for name in corpus.test_names}
    report = evaluate_test_sets(translator, tests, decode=config.decode, run_dir=run_dir, output=run_dir)
    print(summary(report))
    print(f"report: {run_dir / 'report.html'}")


def final_weights(config: TrainerConfig, fitted: Fitted) -> tuple[dict[str, torch.Tensor] | None, str]:
    """Return the weights to keep, or None for those of the last step, and a description of where they come from."""
    kept = fitted.latest if config.average == "last" else fitted.best
    paths = kept.ranked()[: config.average_count] if kept else []
    if config.average != "none" and paths:
        return average_weights(paths), f"mean of the {config.average} {len(paths)} checkpoints"
    if fitted.best.best_model_path:
        return load_weights(Path(fitted.best.best_model_path)), "best checkpoint on the validation split"
    return None, "last step"


def bundle_config(config: TrainConfig, data: TranslationDataModule) -> BundleConfig:
    """Return the settings and the card of the model directory."""
    origin = {"started from": config.init_from} if config.init_from else {}
    bits = config.optim.weight_bits
    rounding = {"trained with weights of": f"{bits} bits"} if bits else {}
    return BundleConfig(
        src_lang=config.data.src_lang,
        tgt_lang=config.data.tgt_lang,
        src_vocab_size=data.tokenizer.src_vocab_size,
        tgt_vocab_size=data.tokenizer.tgt_vocab_size,
        model=config.model,
        decode=config.decode,
        translate_version=__version__,
        max_src_len=config.data.max_len,
        tgt_langs=config.data.tgt_langs,
        card={
            "run": config.name,
            "corpus": config.data.hub_id or config.data.source,
            "pairs": data.num_train_pairs,
            **origin,
            **rounding,
        },
    )


def describe(config: TrainConfig, data: TranslationDataModule, model: Transformer) -> str:
    """Describe the network, the data and the batches in one line, which is shown before the first step."""
    parameters = sum(p.numel() for p in model.parameters())
    trainer = config.trainer
    steps = data.steps_per_epoch(trainer.accumulate, trainer.processes)
    shared = f" shared by {trainer.workers} workers" if (trainer.workers or 1) > 1 else ""
    return (
        f"{parameters / 1e6:.2f} M parameters; {data.num_train_pairs:,} pairs, {data.num_train_tokens:,} target tokens "
        f"and {steps:,} steps an epoch, {100 * data.padding_share():.1f} % padding; "
        f"precision {trainer.precision}, {torch.get_num_threads()} threads{shared}"
    )


def point_latest(runs_dir: Path, run_dir: Path) -> None:
    """Link <runs_dir>/latest to this run, in one rename; the link is relative, so that runs_dir may be moved."""
    runs_dir.mkdir(parents=True, exist_ok=True)
    link = runs_dir / "latest"
    temporary = runs_dir / f".latest.{time.time_ns()}"
    temporary.symlink_to(os.path.relpath(run_dir.resolve(), runs_dir.resolve()))
    temporary.replace(link)
