"""Make the objects of a run from its settings: module, loggers, callbacks, Trainer."""

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch.callbacks import EarlyStopping, EMAWeightAveraging
from lightning.pytorch.loggers import Logger, MLFlowLogger, TensorBoardLogger, WandbLogger
from torch import nn

from translate.common.errors import first_line
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.model.attention import keep_cudnn_out
from translate.model.transformer import Transformer
from translate.train.callbacks.checkpoints import KeptCheckpoints
from translate.train.callbacks.metrics_csv import MetricsCsv
from translate.train.console import say
from translate.train.loss.distillation import load_teachers
from translate.train.module import TranslationModule
from translate.train.parallel.distributed import launch_environment, make_strategy
from translate.train.parallel.sharded import ShardedModule
from translate.train.weights.checkpoint_io import SafeCheckpointIO
from translate.train.weights.low_rank import add_low_rank


def on_gpu(config: TrainerConfig) -> bool:
    """Return whether training runs on a GPU."""
    return config.accelerator != "cpu" and torch.cuda.is_available()


def training_device(config: TrainerConfig) -> torch.device:
    """Return where one process trains: on CUDA or on the CPU. Apple's GPU has no float64 and is not used.

    Raises:
        ValueError: If the settings ask for a GPU and there is none.
    """
    if config.accelerator == "gpu" and not torch.cuda.is_available():
        raise ValueError("trainer.accelerator=gpu needs a CUDA device, and there is none; use cpu")
    return torch.device("cuda" if on_gpu(config) else "cpu")


def pick_precision(config: TrainerConfig) -> str:
    """Return the precision; auto means 16-bit matmuls where the hardware of this machine has them, else float32."""
    if config.precision == "16-mixed" and not on_gpu(config):
        raise ValueError("trainer.precision=16-mixed needs a GPU; use bf16-mixed or 32")
    if config.workers is not None and config.workers > 1 and on_gpu(config):
        raise ValueError(f"trainer.workers ({config.workers}) share a CPU; set trainer.accelerator=cpu or workers=1")
    if config.precision != "auto":
        return config.precision
    if on_gpu(config):
        return "bf16-mixed" if torch.cuda.is_bf16_supported(including_emulation=False) else "16-mixed"
    in_hardware = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)()  # without it bfloat16 is slower
    return "bf16-mixed" if in_hardware else "32"


def make_module(model: Transformer, config: TrainConfig) -> TranslationModule:
    """Return the Lightning module that trains `model`; precision and workers are those of `with_layout`."""
    kind = ShardedModule if config.trainer.strategy == "fsdp" else TranslationModule
    return kind(model, config, load_teachers(config.optim.teachers))


def prepare_layers(model: nn.Module, config: TrainConfig) -> None:
    """Give a model changes of low rank, and compile its layers, where the settings ask for that."""
    if config.optim.lora_rank:
        add_low_rank(model, config.optim.lora_rank, config.optim.lora_alpha)
    if config.trainer.compile:
        compile_layers(model)


def compile_layers(model: nn.Module, backend: str = "inductor") -> None:
    """Compile every layer of the model's stacks; one compilation serves all layers of a kind.

    Lengths are variables in the compiled code, so that batches of other shapes need no new one.
    """
    for stack in model.modules():
        if isinstance(stack, nn.ModuleList):
            for layer in stack:
                layer.compile(dynamic=True, backend=backend)


def make_checkpoints(config: TrainerConfig, directory: Path) -> list[KeptCheckpoints]:
    """Make the callbacks that keep weights: the best of validation, and the latest if they are to be averaged."""
    keep = max(config.keep_best, config.average_count if config.average == "best" else 1)
    mode = "max" if config.monitor == "bleu" else "min"
    weights_only = not config.ema_decay
    best = KeptCheckpoints(
        directory, "best", f"valid_{config.monitor}", mode=mode, count=keep, weights_only=weights_only
    )
    if config.average != "last":
        return [best]
    count = config.average_count
    return [best, KeptCheckpoints(directory, "latest", "step", mode="max", count=count, weights_only=weights_only)]


def make_ema(config: TrainerConfig) -> list[L.Callback]:
    """Make the callback of the moving average of the weights, if `ema_decay` asks for one."""
    return [EMAWeightAveraging(decay=config.ema_decay, use_buffers=False)] if config.ema_decay else []


def make_loggers(config: TrainerConfig, run_dir: Path) -> list[Logger]:
    """Make the loggers that the settings choose.

    Raises:
        ValueError: If the package of a logger is not installed, or a logger refuses its settings.
    """
    loggers: list[Logger] = [MetricsCsv(run_dir / "metrics.csv")] if config.csv else []
    if config.tensorboard:
        loggers.append(TensorBoardLogger(str(run_dir), name="tensorboard", version=""))
    return loggers + [_make_logger(name, settings) for name, settings in config.loggers.items()]


def _make_logger(name: str, settings: Mapping[str, Any]) -> Logger:
    """Make a logger of `translate.config.trainer.LOGGERS`, whose package and extra have its name."""
    kinds: dict[str, Callable[..., Logger]] = {"wandb": WandbLogger, "mlflow": MLFlowLogger}
    if find_spec(name) is None:
        raise ValueError(f"logger={name} needs an extra: pip install -e '.[{name}]'")
    try:
        return kinds[name](**settings)
    except Exception as error:
        raise ValueError(f"trainer.loggers.{name} cannot be made: {first_line(error)}") from error


class Patience(EarlyStopping):
    """Stops early; after a resume with the patience of the settings."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore everything but the patience."""
        super().load_state_dict(state_dict | {"patience": self.patience})

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Train no more where the run had lost its patience, unless it is given more now."""
        if 0 < self.patience <= self.wait_count:
            trainer.should_stop = True


def make_trainer(config: TrainConfig, run_dir: Path, callbacks: Sequence[L.Callback]) -> L.Trainer:
    """Make Lightning's Trainer for these settings.

    Raises:
        ValueError: If this machine has no such device or precision, a logger cannot be made, or other processes were
            started than the settings name.
    """
    _quiet_lightning()
    keep_cudnn_out()
    trainer = config.trainer
    if trainer.accelerator == "auto" and torch.backends.mps.is_available():
        say("training on the CPU: this machine's GPU (MPS) is not supported")
    stop_early = Patience(
        f"valid_{trainer.monitor}",
        mode="max" if trainer.monitor == "bleu" else "min",
        patience=trainer.patience or 0,
        check_on_train_epoch_end=False,
    )
    every = trainer.validate_every
    try:
        return L.Trainer(
            accelerator=training_device(trainer).type,  # Lightning's "auto" would take Apple's GPU
            devices=trainer.devices,
            num_nodes=trainer.num_nodes,
            strategy=make_strategy(trainer),
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
            plugins=[SafeCheckpointIO(), launch_environment(trainer)],
            enable_progress_bar=False,
            enable_model_summary=False,
            inference_mode=trainer.strategy != "fsdp",  # its gathered weights serve training too
            default_root_dir=run_dir,
        )
    except MisconfigurationException as error:
        raise ValueError(f"trainer settings that this machine cannot follow: {first_line(error)}") from error


def _quiet_lightning() -> None:
    """Silence Lightning's advertisements, and its hints about loaders that we do not use."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    for text in ("not have many workers", "isinstance.treespec", "lr_scheduler.step", "LeafSpec", "is not empty"):
        warnings.filterwarnings("ignore", f".*{text}.*")
