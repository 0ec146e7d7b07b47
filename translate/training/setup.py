"""From settings to the objects of a run: module, loggers, callbacks, Trainer. The only file of training that sees a config."""

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path

import lightning as L
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from lightning.pytorch.loggers import Logger, TensorBoardLogger

from translate.config import OptimConfig, TrainConfig, TrainerConfig
from translate.model.transformer import Transformer
from translate.training.checkpoint_io import SafeCheckpointIO
from translate.training.metrics_csv import MetricsCsv
from translate.training.module import TranslationModule


def make_module(model: Transformer, optim: OptimConfig, *, batch_tokens: int, precision: str) -> TranslationModule:
    """The Lightning module that trains `model`."""
    return TranslationModule(
        model,
        lr=optim.lr,
        betas=(optim.beta1, optim.beta2),
        eps=optim.eps,
        weight_decay=optim.weight_decay,
        schedule=optim.schedule,
        warmup_steps=optim.warmup_steps,
        min_lr_ratio=optim.min_lr_ratio,
        label_smoothing=optim.label_smoothing,
        clip_norm=optim.clip_norm,
        batch_tokens=batch_tokens,
        fused=precision != "16-mixed",  # a fused optimizer would see gradients before they are unscaled
    )


def make_checkpoints(config: TrainerConfig, directory: Path) -> list[ModelCheckpoint]:
    """The callbacks that keep weights: the best of validation, and the latest when they are to be averaged."""
    keep = max(config.keep_best, config.average_count if config.average == "best" else 1)
    best = ModelCheckpoint(
        directory,
        filename="best-{step}",
        auto_insert_metric_name=False,
        monitor=f"valid_{config.monitor}",
        mode="max" if config.monitor == "bleu" else "min",
        save_top_k=keep,
        save_weights_only=True,
    )
    if config.average != "last":
        return [best]
    latest = ModelCheckpoint(
        directory,
        filename="latest-{step}",
        auto_insert_metric_name=False,
        monitor="step",
        mode="max",
        save_top_k=config.average_count,
        save_weights_only=True,
    )
    return [best, latest]


def make_ema(config: TrainerConfig) -> list[L.Callback]:
    """The moving average of the weights, if `ema_decay` asks for one."""
    if not config.ema_decay:
        return []
    try:
        from lightning.pytorch.callbacks import EMAWeightAveraging
    except ImportError:
        raise ValueError("trainer.ema_decay needs lightning 2.6 or newer; set it to 0 or upgrade lightning") from None
    return [EMAWeightAveraging(decay=config.ema_decay, use_buffers=False)]


def make_loggers(config: TrainerConfig, run_dir: Path) -> list[Logger]:
    """CSV and TensorBoard as chosen, and whatever `trainer.loggers` names by `_target_`."""
    loggers: list[Logger] = [MetricsCsv(run_dir / "metrics.csv")] if config.csv else []
    if config.tensorboard:
        loggers.append(TensorBoardLogger(str(run_dir), name="tensorboard", version=""))
    for name, settings in config.loggers.items():
        from hydra.utils import instantiate

        try:
            loggers.append(instantiate(settings))
        except Exception as error:
            raise ValueError(f"trainer.loggers.{name} cannot be made: {str(error).splitlines()[0]}") from error
    return loggers


def make_trainer(config: TrainConfig, run_dir: Path, callbacks: Sequence[L.Callback]) -> L.Trainer:
    """Lightning's Trainer for these settings."""
    _quiet_lightning()
    trainer = config.trainer
    stop_early = EarlyStopping(
        f"valid_{trainer.monitor}",
        mode="max" if trainer.monitor == "bleu" else "min",
        patience=trainer.patience or 0,
        check_on_train_epoch_end=False,
    )
    every = trainer.validate_every
    return L.Trainer(
        accelerator=trainer.accelerator,
        devices=trainer.devices,
        strategy="ddp" if trainer.devices > 1 else "auto",
        precision=trainer.precision,  # type: ignore[arg-type]
        max_epochs=-1 if trainer.max_epochs is None else trainer.max_epochs,
        max_steps=-1 if trainer.max_steps is None else trainer.max_steps,
        max_time=trainer.max_time,
        accumulate_grad_batches=trainer.accumulate,
        val_check_interval=every * trainer.accumulate if every else None,
        check_val_every_n_epoch=None if every else 1,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
        log_every_n_steps=1,
        callbacks=[*callbacks, *([stop_early] if trainer.patience else [])],
        logger=make_loggers(trainer, run_dir) or False,
        plugins=[SafeCheckpointIO()],
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=run_dir,
    )


def _quiet_lightning() -> None:
    """Lightning's advertisements and hints about loaders that we do not use."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    for text in (".*does not have many workers.*", ".*isinstance.treespec.*", ".*lr_scheduler.step.*", ".*LeafSpec.*"):
        warnings.filterwarnings("ignore", text)
