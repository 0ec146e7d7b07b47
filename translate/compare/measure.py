"""Measure runs: loss and BLEU on the validation split, cache size, and speeds in turns."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import chain, islice, repeat
from pathlib import Path

import lightning as L
import torch
from torch.utils.data import DataLoader

from translate.config.train import TrainConfig
from translate.data.batch import Batch
from translate.data.datamodule import TranslationDataModule
from translate.evaluate.scores import Statistics
from translate.evaluate.test_sets import translate_timed
from translate.model.transformer import Transformer
from translate.train.callbacks.step_clock import StepClock
from translate.train.setup import make_module, make_trainer, pick_precision, prepare_layers
from translate.translator.engines.torch import TorchEngine
from translate.translator.translator import Translator

Rate = Callable[[], float]  # does a fixed piece of work, returns target tokens per second


def validation_loss(translator: Translator, config: TrainConfig, data: TranslationDataModule) -> float:
    """Compute nats per target token on the validation split as training does, in float32."""
    module, trainer = _make(translator, config, "32", StepClock())
    trainer.validate(module, dataloaders=data.val_dataloader(), verbose=False)
    return float(trainer.callback_metrics["valid_loss"])


def validation_bleu(translator: Translator, config: TrainConfig, data: TranslationDataModule) -> Statistics:
    """Translate the validation split with the run's search, ready to be scored in the cased protocol."""
    hypotheses, _ = translate_timed(translator, [pair.src for pair in data.valid_pairs], config.decode)
    references = [pair.tgt for pair in data.valid_pairs]
    return Statistics(hypotheses, references, protocol="cased", tgt_lang=config.data.tgt_lang)


@torch.inference_mode()
def cache_bytes(translator: Translator) -> tuple[int, int]:
    """Return the bytes that decoding takes per further target token of a hypothesis, and per source token."""
    model, tokenizer = torch_model(translator), translator.tokenizer
    src_ids = torch.tensor([tokenizer.encode_src("a")], device=translator.device)
    src_mask = torch.ones_like(src_ids, dtype=torch.bool)
    state = model.start(model.encode(src_ids, src_mask), src_mask)
    model.step(src_ids.new_tensor([tokenizer.bos_id]), state)
    return state.bytes_per_token, state.bytes_per_src_token


def training_rate(translator: Translator, config: TrainConfig, data: TranslationDataModule, *, steps: int) -> Rate:
    """Return a function that trains a copy of the model for `steps` optimizer steps on the corpus's first batches.

    Raises:
        ValueError: If this machine has no such precision.
    """
    precision = pick_precision(replace(config.trainer, accelerator=_accelerator(translator), workers=1))
    batches = list(islice(_endless(data), (steps + 1) * config.trainer.accumulate))  # one step more: see StepClock

    def rate() -> float:
        clock = StepClock()
        module, trainer = _make(translator, config, precision, clock)
        module.train()  # Lightning leaves it as it is, and a loaded model has its dropout off
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*no `val_dataloader`")
            trainer.fit(module, train_dataloaders=DataLoader(batches, batch_size=None))  # type: ignore[arg-type]
        return clock.tokens_per_s

    return rate


def decoding_rate(translator: Translator, config: TrainConfig, data: TranslationDataModule, *, sentences: int) -> Rate:
    """Return a function that translates the first validation sentences with the run's search, in float32."""
    src = [pair.src for pair in data.valid_pairs[:sentences]]
    return lambda: translate_timed(translator, src, config.decode)[1].target_tokens_per_s


def measure_in_turns(
    rates: Mapping[str, Rate], rounds: int, progress: Callable[[int, str, float], None]
) -> dict[str, list[float]]:
    """Measure every rate once a round, so that disturbances of the machine meet all of them alike.

    Args:
        rates: What to measure, by name.
        rounds: Measurements of each; one round more comes before them and is not counted.
        progress: Called with round (0 is the one that does not count), name and rate.
    """
    found: dict[str, list[float]] = {name: [] for name in rates}
    for number in range(rounds + 1):
        for name, rate in rates.items():
            value = rate()
            progress(number, name, value)
            if number:
                found[name].append(value)
    return found


def torch_model(translator: Translator) -> Transformer:
    """Return the network of a translator that runs in torch."""
    assert isinstance(translator.engine, TorchEngine)
    return translator.engine.model


def make_bare(
    model: Transformer,
    config: TrainConfig,
    callbacks: Sequence[L.Callback],
    *,
    accelerator: str,
    precision: str,
    max_steps: int | None = None,
) -> tuple[L.LightningModule, L.Trainer]:
    """Make the run's module around a copy of the model, and a trainer that writes nothing.

    It goes through its batches once, or until it has done `max_steps` optimizer steps.
    """
    trainer = replace(
        config.trainer,
        accelerator=accelerator,
        precision=precision,
        devices=1,
        workers=config.trainer.workers if accelerator == "cpu" else 1,
        max_epochs=None if max_steps else 1,
        max_steps=max_steps,
        max_time=None,
        validate_every=None,
        patience=None,
        csv=False,
        tensorboard=False,
        loggers={},
    )
    config, model = replace(config, trainer=trainer), deepcopy(model)
    prepare_layers(model, config)
    return make_module(model, config), make_trainer(config, Path(), callbacks)


def _make(
    translator: Translator, config: TrainConfig, precision: str, clock: StepClock
) -> tuple[L.LightningModule, L.Trainer]:
    return make_bare(
        torch_model(translator), config, [clock], accelerator=_accelerator(translator), precision=precision
    )


def _accelerator(translator: Translator) -> str:
    return "gpu" if translator.device.type == "cuda" else "cpu"


def _endless(data: TranslationDataModule) -> Iterator[Batch]:
    """Yield training batches, epoch after epoch."""
    return chain.from_iterable(repeat(data.train_dataloader()))
