"""Every setting of the project: its default, its range and its check, once.

Hydra composes `conf/` over these dataclasses, so an unknown key or a wrong type is refused while the command line is
read; `__post_init__` checks ranges and pairs. YAML holds the values that differ from here and explains every key.
Nothing here imports torch, lightning or hydra at import time, so that `--help` answers at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from translate.files import write_text

Config = TypeVar("Config")

PRECISIONS = ("32", "bf16", "16", "int8", "auto")  # that a trained model can be opened in


def _choice(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} ({value}) must be one of {', '.join(allowed)}")


def _at_least(name: str, value: float | None, low: float) -> None:
    if value is not None and value < low:
        raise ValueError(f"{name} ({value}) must be at least {low}")


def _share(name: str, value: float) -> None:
    if not 0.0 <= value < 1.0:
        raise ValueError(f"{name} ({value}) must be at least 0 and below 1")


# what two passes through the network draw differently; of `layer_drop` both see the same draws
_DROPOUTS = ("dropout", "attention_dropout", "activation_dropout", "embedding_dropout", "word_dropout")


@dataclass
class ModelConfig:
    """The network; keys are explained in conf/model/small.yaml."""

    d_model: int = 256
    d_ff: int = 1024
    num_heads: int = 4
    head_dim: int | None = None
    attention: str | None = None
    encoder_attention: str | None = None
    decoder_attention: str | None = None
    cross_attention: str | None = None
    num_kv_heads: int | None = None
    kv_latent_dim: int | None = None
    num_encoder_layers: int = 3
    num_decoder_layers: int = 3
    norm_first: bool = True
    norm: str = "layernorm"
    activation: str = "relu"
    positions: str = "sinusoidal"
    max_positions: int = 1024
    share_embeddings: bool = True
    tie_output: bool = True
    bias: bool = True
    dropout: float = 0.1
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0
    embedding_dropout: float = 0.1
    word_dropout: float = 0.0
    layer_drop: float = 0.0

    def __post_init__(self) -> None:
        for name in ("d_model", "d_ff", "num_heads", "num_encoder_layers", "num_decoder_layers", "max_positions"):
            _at_least(f"model.{name}", getattr(self, name), 1)
        for name in ("head_dim", "num_kv_heads", "kv_latent_dim"):
            _at_least(f"model.{name}", getattr(self, name), 1)
        if self.head_dim is None and self.d_model % self.num_heads:
            raise ValueError(
                f"model.d_model ({self.d_model}) must be divisible by model.num_heads ({self.num_heads}); "
                "set model.head_dim to choose another width"
            )
        self._check_attention()
        _choice("model.norm", self.norm, ("layernorm", "rmsnorm"))
        _choice("model.activation", self.activation, ("relu", "gelu", "swiglu"))
        _choice("model.positions", self.positions, ("sinusoidal", "learned", "rotary"))
        for name in (*_DROPOUTS, "layer_drop"):
            _share(f"model.{name}", getattr(self, name))
        head_dim = self.head_dim or self.d_model // self.num_heads
        divisor = 4 if "mla" in self.attention_kinds[:2] else 2  # a latent's rotary key is half as wide as a head
        if self.positions == "rotary" and head_dim % divisor:
            raise ValueError(
                f"model.positions=rotary needs a head_dim that {divisor} divides, not {head_dim}; "
                "change model.num_heads or model.head_dim"
            )

    @property
    def shared_attention(self) -> str:
        """The kind that `attention` names, also where it is left out."""
        return self.attention or ("mha" if self.num_kv_heads is None else "gqa")

    @property
    def attention_kinds(self) -> tuple[str, str, str]:
        """Kind of the encoder's self-attention, of the decoder's, and of cross-attention."""
        shared = self.shared_attention
        return self.encoder_attention or shared, self.decoder_attention or shared, self.cross_attention or shared

    def _check_attention(self) -> None:
        for name in ("attention", "encoder_attention", "decoder_attention", "cross_attention"):
            if getattr(self, name) is not None:
                _choice(f"model.{name}", getattr(self, name), ("mha", "gqa", "mqa", "mla", "talking_heads"))
        kinds = self.attention_kinds
        if self.num_kv_heads is not None and "gqa" not in kinds:
            raise ValueError(f"model.num_kv_heads ({self.num_kv_heads}) needs model.attention=gqa; mqa always has 1")
        if self.kv_latent_dim is not None and "mla" not in kinds:
            raise ValueError(f"model.kv_latent_dim ({self.kv_latent_dim}) needs model.attention=mla")
        if self.num_kv_heads is not None and self.num_heads % self.num_kv_heads:
            raise ValueError(f"model.num_kv_heads ({self.num_kv_heads}) must divide model.num_heads ({self.num_heads})")
        if "gqa" in kinds and self.num_kv_heads is None and self.num_heads % 2:
            raise ValueError(
                f"model.attention=gqa pairs query heads, and model.num_heads ({self.num_heads}) is odd; "
                "set model.num_kv_heads to a divisor of it"
            )


_USED_BY = {  # settings of some data sources only
    "root": ("multi30k", "hub", "files"),
    "train": ("files",),
    "valid": ("files",),
    "test": ("files",),
    "hub_id": ("hub",),
    "hub_config": ("hub",),
    "streaming": ("hub",),
    "src_column": ("hub", "files"),
    "tgt_column": ("hub", "files"),
}


@dataclass
class DataConfig:
    """Where pairs come from, how they are cleaned and batched; keys are explained in conf/data/everyday.yaml."""

    source: str = "everyday"
    src_lang: str = "en"
    tgt_lang: str = "fr"
    root: str | None = None
    hub_id: str | None = None
    hub_config: str | None = None
    streaming: bool = False
    train: list[str] = field(default_factory=list)
    valid: list[str] = field(default_factory=list)
    test: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    copies: int = 1
    both_directions: bool = False
    language_tags: bool = False
    src_column: str | None = None
    tgt_column: str | None = None
    holdout: int = 1000
    max_pairs: int | None = None
    normalize_unicode: bool = True
    remove_control_chars: bool = True
    drop_empty: bool = True
    max_chars: int = 1000
    max_ratio: float = 4.0
    drop_duplicates: bool = True
    drop_overlap: bool = True
    batch_tokens: int = 4096
    max_len: int = 256
    cache_dir: str = ".cache"

    def __post_init__(self) -> None:
        _choice("data.source", self.source, ("everyday", "multi30k", "hub", "files"))
        if self.src_lang == self.tgt_lang == "fr":  # src_lang=fr alone turns the direction around
            self.tgt_lang = "en"
        for name, sources in _USED_BY.items():
            if getattr(self, name) and self.source not in sources:
                raise ValueError(
                    f"data.{name} does nothing with data={self.source}; it needs data={' or '.join(sources)}"
                )
        if self.src_lang == self.tgt_lang:
            raise ValueError(f"data.src_lang and data.tgt_lang are both {self.src_lang}; they must differ")
        if self.source == "files" and not self.train:
            raise ValueError("data=files needs data.train, for example data.train=[train.en,train.fr] or [pairs.tsv]")
        if self.source == "hub" and not self.hub_id:
            raise ValueError("data.source=hub needs data.hub_id, the name of a dataset on the hub")
        for name in ("train", "valid", "test"):
            if len(getattr(self, name)) > 2:
                raise ValueError(f"data.{name} takes one file with both sides or two line-aligned files")
        _at_least("data.copies", self.copies, 1)
        if self.copies > 1 and not self.extra:
            raise ValueError(
                f"data.copies ({self.copies}) weighs the source's own pairs against those of data.extra, and there are "
                "none; leave it out or train for more epochs"
            )
        _at_least("data.holdout", self.holdout, 1)
        _at_least("data.max_pairs", self.max_pairs, 1)
        _at_least("data.max_chars", self.max_chars, 0)
        if self.max_ratio != 0:
            _at_least("data.max_ratio", self.max_ratio, 1.0)
        _at_least("data.max_len", self.max_len, 2)
        if self.batch_tokens < self.max_len:
            raise ValueError(
                f"data.batch_tokens ({self.batch_tokens}) must be at least data.max_len ({self.max_len}), "
                "or the longest sentence fits no batch"
            )

    @property
    def own(self) -> DataConfig:
        """The same without extra pairs: what validation and the tests are, whatever was trained on."""
        return replace(self, extra=[], copies=1)

    @property
    def tgt_langs(self) -> list[str]:
        """Languages that sources ask for by their tags; none without tags."""
        languages = [self.tgt_lang, self.src_lang] if self.both_directions else [self.tgt_lang]
        return languages if self.language_tags else []


@dataclass
class TokenizerConfig:
    """SentencePiece; keys are explained in conf/tokenizer/bpe.yaml."""

    kind: str = "bpe"
    vocab_size: int = 8000
    joint: bool = True
    sampling: float = 0.0
    character_coverage: float = 1.0
    user_symbols: list[str] = field(default_factory=list)
    path: str | None = None

    def __post_init__(self) -> None:
        _choice("tokenizer.kind", self.kind, ("bpe", "unigram"))
        _at_least("tokenizer.vocab_size", self.vocab_size, 300)
        _share("tokenizer.sampling", self.sampling)
        if not 0.9 <= self.character_coverage <= 1.0:
            raise ValueError(f"tokenizer.character_coverage ({self.character_coverage}) must lie in 0.9 to 1")


@dataclass
class OptimConfig:
    """The optimizer, its schedule and the loss; keys are explained in conf/optim/inverse_sqrt.yaml."""

    algorithm: str = "adamw"
    lr: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.98
    eps: float = 1e-9
    weight_decay: float = 0.0
    schedule: str = "inverse_sqrt"
    warmup_steps: int = 1000
    min_lr_ratio: float = 0.0
    label_smoothing: float = 0.1
    r_drop: float = 0.0
    teachers: list[str] = field(default_factory=list)
    teacher_share: float = 0.5
    clip_norm: float = 1.0

    def __post_init__(self) -> None:
        _choice("optim.algorithm", self.algorithm, ("adamw", "muon"))
        if self.lr <= 0:
            raise ValueError(f"optim.lr ({self.lr}) must be above 0")
        for name in ("beta1", "beta2", "min_lr_ratio", "label_smoothing"):
            _share(f"optim.{name}", getattr(self, name))
        _choice("optim.schedule", self.schedule, ("inverse_sqrt", "cosine", "linear", "constant"))
        _at_least("optim.eps", self.eps, 0)
        _at_least("optim.weight_decay", self.weight_decay, 0)
        _at_least("optim.warmup_steps", self.warmup_steps, 0)
        _at_least("optim.r_drop", self.r_drop, 0)
        if not 0 < self.teacher_share < 1:
            raise ValueError(f"optim.teacher_share ({self.teacher_share}) must be above 0 and below 1")
        if self.teachers and self.r_drop:
            raise ValueError(f"optim.r_drop ({self.r_drop}) and optim.teachers are two losses; choose one of them")
        if not self.teachers and self.teacher_share != OptimConfig.teacher_share:
            raise ValueError(f"optim.teacher_share ({self.teacher_share}) does nothing without optim.teachers")
        _at_least("optim.clip_norm", self.clip_norm, 0)


LOGGERS = {  # settings of each; a run names its loggers by these words and never by a class
    "wandb": ("project", "name", "entity", "group", "save_dir", "offline"),
    "mlflow": ("experiment_name", "run_name", "tracking_uri"),
}


@dataclass
class TrainerConfig:
    """How long, where and how often; keys are explained in conf/trainer/default.yaml."""

    max_epochs: int | None = 20
    max_steps: int | None = None
    max_time: str | None = None
    accelerator: str = "auto"
    devices: int = 1
    num_nodes: int = 1
    strategy: str = "auto"
    threads: int | None = None
    workers: int | None = 1
    precision: str = "32"
    compile: bool = False
    accumulate: int = 1
    validate_every: int | None = None
    valid_bleu_sentences: int = 500
    monitor: str = "bleu"
    patience: int | None = None
    checkpoint_every: int = 500
    keep_best: int = 1
    average: str = "none"
    average_count: int = 5
    ema_decay: float = 0.0
    csv: bool = True
    tensorboard: bool = True
    loggers: dict[str, Any] = field(default_factory=dict)
    log_every: int = 10

    def __post_init__(self) -> None:
        if self.max_epochs is None and self.max_steps is None and self.max_time is None:
            raise ValueError(
                "set one of trainer.max_epochs, trainer.max_steps, trainer.max_time, or training never ends"
            )
        for name in (
            "max_epochs",
            "max_steps",
            "devices",
            "num_nodes",
            "threads",
            "workers",
            "accumulate",
            "validate_every",
            "patience",
        ):
            _at_least(f"trainer.{name}", getattr(self, name), 1)
        for name in ("checkpoint_every", "keep_best", "average_count", "log_every"):
            _at_least(f"trainer.{name}", getattr(self, name), 1)
        _at_least("trainer.valid_bleu_sentences", self.valid_bleu_sentences, 0)
        _choice("trainer.accelerator", self.accelerator, ("auto", "cpu", "gpu"))
        _choice("trainer.precision", self.precision, ("auto", "32", "bf16-mixed", "16-mixed"))
        _choice("trainer.strategy", self.strategy, ("auto", "ddp", "fsdp"))
        if self.strategy == "fsdp":
            self._check_fsdp()
        _choice("trainer.monitor", self.monitor, ("bleu", "loss"))
        _choice("trainer.average", self.average, ("none", "last", "best"))
        _share("trainer.ema_decay", self.ema_decay)
        self._check_loggers()
        if self.monitor == "bleu" and not self.valid_bleu_sentences:
            raise ValueError("trainer.monitor=bleu needs trainer.valid_bleu_sentences above 0; or choose monitor=loss")
        if self.max_time is not None and not re.fullmatch(r"\d+:\d\d:\d\d:\d\d", self.max_time):
            raise ValueError(
                f"trainer.max_time ({self.max_time}) must read days:hours:minutes:seconds, like 00:00:45:00"
            )

    @property
    def processes(self) -> int:
        """How many train together."""
        return self.devices * self.num_nodes

    def _check_loggers(self) -> None:
        for name, settings in self.loggers.items():
            _choice("a name in trainer.loggers", name, list(LOGGERS))
            if not isinstance(settings, dict):
                raise ValueError(f"trainer.loggers.{name} ({settings}) must be a mapping; choose it with logger={name}")
            if "_target_" in settings:
                raise ValueError(
                    f"trainer.loggers.{name}._target_ ({settings['_target_']}) names a class, but a logger is chosen "
                    f"by its name, {name}, alone; leave _target_ out"
                )
            for key, value in settings.items():
                _choice(f"a setting of trainer.loggers.{name}", key, LOGGERS[name])
                if not isinstance(value, str | bool | None):
                    raise ValueError(f"trainer.loggers.{name}.{key} ({value}) must be text, true, false or null")

    def _check_fsdp(self) -> None:
        if self.ema_decay:
            raise ValueError(
                f"trainer.ema_decay ({self.ema_decay}) averages whole networks, which trainer.strategy=fsdp has not; "
                "set trainer.strategy=ddp, or trainer.average=last"
            )
        if self.precision == "16-mixed":
            raise ValueError("trainer.precision=16-mixed is not for trainer.strategy=fsdp; use bf16-mixed or 32")
        if self.workers is not None and self.workers > 1:
            raise ValueError(
                f"trainer.workers ({self.workers}) share a network, which trainer.strategy=fsdp spreads; set workers=1"
            )
        if self.compile:
            raise ValueError("trainer.compile=true is not for trainer.strategy=fsdp; set trainer.strategy=ddp")


@dataclass
class DecodeConfig:
    """The search; keys are explained in conf/decode/beam.yaml."""

    search: str = "beam"
    beam_size: int = 5
    beam_groups: int = 1
    diversity_penalty: float = 0.5
    length_penalty: float = 1.0
    num_hypotheses: int = 1
    min_output_len: int = 1
    max_output_len: int = 256
    min_output_ratio: float = 0.0
    max_output_ratio: float = 3.0
    repetition_guard: bool = True
    length_guard: bool = True
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 1
    mbr: str = "none"
    batch_tokens: int = 2048

    def __post_init__(self) -> None:
        _choice("decode.search", self.search, ("beam", "sample", "sample_distinct"))
        _choice("decode.mbr", self.mbr, ("none", "chrf", "bleu"))
        for name in ("beam_size", "beam_groups", "num_hypotheses", "min_output_len", "max_output_len", "batch_tokens"):
            _at_least(f"decode.{name}", getattr(self, name), 1)
        for name in ("length_penalty", "min_output_ratio", "max_output_ratio"):
            _at_least(f"decode.{name}", getattr(self, name), 0)
        if self.temperature <= 0:
            raise ValueError(f"decode.temperature ({self.temperature}) must be above 0")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"decode.top_p ({self.top_p}) must be above 0 and at most 1, which is off")
        for name in ("top_k", "seed"):
            _at_least(f"decode.{name}", getattr(self, name), 0)
        if self.search == "beam" and self.num_hypotheses > self.beam_size:
            raise ValueError(
                f"decode.num_hypotheses ({self.num_hypotheses}) must be at most decode.beam_size ({self.beam_size})"
            )
        if self.search == "beam" and self.beam_size % self.beam_groups:
            raise ValueError(f"decode.beam_groups ({self.beam_groups}) must divide decode.beam_size ({self.beam_size})")
        if self.diversity_penalty <= 0:
            raise ValueError(f"decode.diversity_penalty ({self.diversity_penalty}) must be above 0")
        for shortest, longest in (("min_output_len", "max_output_len"), ("min_output_ratio", "max_output_ratio")):
            low, high = getattr(self, shortest), getattr(self, longest)
            if low > high and not (longest == "max_output_ratio" and high == 0):  # 0 is off
                raise ValueError(f"decode.{shortest} ({low}) must be at most decode.{longest} ({high})")

    @property
    def width(self) -> int:
        """Hypotheses that are followed at once per sentence."""
        return self.beam_size if self.search == "beam" else self.num_hypotheses

    def changed(self, given: Mapping[str, Any]) -> DecodeConfig:
        """These settings with those of `given` that are not None.

        `beam_size` alone chooses search=beam, and a beam keeps no more hypotheses than it holds, and no groups that do
        not divide it.

        Raises:
            ValueError: If a setting is out of its range, or is given where it would do nothing.
        """
        changes = {name: value for name, value in given.items() if value is not None}
        if "beam_size" in changes:
            changes.setdefault("search", "beam")
        if changes.get("search", self.search) == "beam":
            beam_size = changes.get("beam_size", self.beam_size)
            changes.setdefault("num_hypotheses", min(self.num_hypotheses, beam_size))
            changes.setdefault("beam_groups", 1 if beam_size % self.beam_groups else self.beam_groups)
            for name in ("temperature", "top_k", "top_p", "seed"):
                if name in changes and changes[name] != getattr(DecodeConfig, name):
                    raise ValueError(f"{name} ({changes[name]}) does nothing with search=beam; choose search=sample")
        elif changes.get("beam_groups", 1) > 1:
            raise ValueError(f"beam_groups ({changes['beam_groups']}) does nothing without search=beam")
        result = replace(self, **changes)
        penalty = changes.get("diversity_penalty", DecodeConfig.diversity_penalty)
        if result.beam_groups == 1 and penalty != DecodeConfig.diversity_penalty:
            raise ValueError(f"diversity_penalty ({penalty}) does nothing with beam_groups=1; ask for more of them")
        if changes.get("mbr", "none") != "none" and result.num_hypotheses == 1:
            raise ValueError(f"mbr ({result.mbr}) chooses among num_hypotheses, which is 1; ask for more of them")
        return result


@dataclass
class TrainConfig:
    """One training run; keys are explained in conf/train.yaml."""

    name: str = "default"
    seed: int = 1
    resume: str | None = None
    init_from: str | None = None
    run_dir: str | None = None
    runs_dir: str = "runs"
    evaluate: bool = True
    stages: dict[str, Any] = field(default_factory=dict)
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    decode: DecodeConfig = field(default_factory=DecodeConfig)

    def __post_init__(self) -> None:
        _at_least("seed", self.seed, 0)
        if not self.tokenizer.joint and self.model.share_embeddings:
            raise ValueError(
                "tokenizer.joint=false gives two vocabularies, which cannot share one embedding; "
                "set model.share_embeddings=false"
            )
        if self.data.both_directions and not self.tokenizer.joint:
            raise ValueError(
                "data.both_directions=true needs one vocabulary for both languages; set tokenizer.joint=true"
            )
        if self.model.positions == "learned" and self.data.max_len > self.model.max_positions:
            raise ValueError(
                f"data.max_len ({self.data.max_len}) must be at most model.max_positions ({self.model.max_positions}) "
                "with model.positions=learned"
            )
        if self.model.positions == "learned" and self.decode.max_output_len > self.model.max_positions:
            raise ValueError(
                f"decode.max_output_len ({self.decode.max_output_len}) must be at most model.max_positions "
                f"({self.model.max_positions}) with model.positions=learned"
            )
        if self.optim.schedule in ("cosine", "linear") and not (self.trainer.max_epochs or self.trainer.max_steps):
            raise ValueError(
                f"optim.schedule={self.optim.schedule} needs to know the end: "
                "set trainer.max_epochs or trainer.max_steps"
            )
        if self.optim.r_drop and not any(getattr(self.model, name) for name in _DROPOUTS):
            raise ValueError(
                f"optim.r_drop ({self.optim.r_drop}) compares two passes with different dropout masks, and there are "
                f"none; set one of {', '.join(f'model.{name}' for name in _DROPOUTS)} above 0"
            )
        if self.optim.algorithm == "muon" and self.trainer.strategy == "fsdp":
            raise ValueError(
                "optim.algorithm=muon needs whole matrices, not parts as with trainer.strategy=fsdp; use ddp"
            )
        if self.model.layer_drop and self.trainer.strategy == "fsdp":
            raise ValueError(
                f"model.layer_drop ({self.model.layer_drop}) skips other layers in each process, which wait for each "
                "other's part of every layer with trainer.strategy=fsdp; set trainer.strategy=ddp"
            )


@dataclass
class EvaluateConfig:
    """One evaluation; keys are explained in conf/evaluate.yaml."""

    model: str | None = None
    src: str | None = None
    ref: str | None = None
    hyp: str | None = None
    name: str | None = None
    tgt_lang: str | None = None
    baseline: str | None = None
    output: str | None = None
    data_root: str | None = None
    protocol: str = "both"
    bootstrap: int = 1000
    seed: int = 12345
    device: str = "auto"
    precision: str = "32"
    decode: DecodeConfig = field(default_factory=DecodeConfig)

    def __post_init__(self) -> None:
        _choice("protocol", self.protocol, ("cased", "literature", "both"))
        _choice("device", self.device, ("auto", "cpu", "cuda"))
        _choice("precision", self.precision, PRECISIONS)
        _at_least("bootstrap", self.bootstrap, 0)


QUANTIZATIONS = ("float32", "float16", "bfloat16", "int16", "int8", "int8_float16", "int8_bfloat16")


@dataclass
class ExportConfig:
    """One export; keys are explained in conf/export.yaml."""

    model: str | None = None
    output: str | None = None
    format: str = "ctranslate2"
    quantization: str = "float32"
    overwrite: bool = False

    def __post_init__(self) -> None:
        _choice("format", self.format, ("ctranslate2", "onnx"))
        _choice("quantization", self.quantization, QUANTIZATIONS)
        if self.format == "onnx" and self.quantization != "float32":
            raise ValueError(f"quantization ({self.quantization}) must be float32 with format=onnx; leave it out")


@dataclass
class BenchmarkTrainConfig(TrainConfig):
    """A measurement of training; keys are explained in conf/benchmark_train.yaml."""

    rounds: int = 5
    steps: int = 20
    warmup: int = 1
    peers: bool = False
    profile: bool = False
    output: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("rounds", "steps", "warmup"):
            _at_least(name, getattr(self, name), 1)
        for name in ("resume", "init_from", "run_dir"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} ({getattr(self, name)}) does nothing in a benchmark; leave it out")
        for name, value in (("optim.r_drop", self.optim.r_drop), ("model.layer_drop", self.model.layer_drop)):
            if value:
                raise ValueError(f"{name} ({value}) changes how much a step computes; a benchmark needs {name}=0")
        if self.optim.teachers:
            raise ValueError("optim.teachers change how much a step computes; a benchmark measures without them")
        if self.peers and self.optim.algorithm != "adamw":
            raise ValueError(f"optim.algorithm={self.optim.algorithm}: peers train with adamw; set it, or peers=false")
        if self.stages:
            raise ValueError(f"stages ({', '.join(self.stages)}): a benchmark measures one training; leave them out")
        for name in ("devices", "num_nodes"):
            if getattr(self.trainer, name) > 1:
                raise ValueError(
                    f"trainer.{name} ({getattr(self.trainer, name)}) must be 1: a benchmark measures one device"
                )


@dataclass
class BenchmarkGrowthConfig(BenchmarkTrainConfig):
    """A measurement of how cost grows; keys are explained in conf/benchmark_growth.yaml."""

    rounds: int = 3
    steps: int = 3
    copies: list[int] = field(default_factory=lambda: [1, 10, 100])
    models: list[str] = field(default_factory=lambda: ["tiny", "small", "base"])
    lengths: list[int] = field(default_factory=lambda: [16, 64, 256, 512])

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("peers", "profile"):
            if getattr(self, name):
                raise ValueError(f"{name}=true is for benchmark train; growth measures this implementation alone")
        if self.optim.algorithm != "adamw":
            raise ValueError(f"optim.algorithm={self.optim.algorithm}: growth counts the memory of adamw; set that")
        for name in ("extra", "both_directions", "language_tags"):
            if getattr(self.data, name):
                raise ValueError(f"data.{name} is for training; growth writes copies of one corpus: leave it out")
        for name in ("copies", "models", "lengths"):
            if not getattr(self, name):
                raise ValueError(f"{name} must name at least one")
        for copies in self.copies:
            _at_least("copies", copies, 1)
        for length in self.lengths:
            _at_least("lengths", length, 2)
            if self.data.batch_tokens % length:
                raise ValueError(
                    f"lengths ({length}) must divide data.batch_tokens ({self.data.batch_tokens}), "
                    "so that all batches have equally many tokens"
                )
            if self.model.positions == "learned" and length > self.model.max_positions:
                raise ValueError(
                    f"lengths ({length}) must be at most model.max_positions ({self.model.max_positions}) "
                    "with model.positions=learned"
                )


@dataclass
class BenchmarkDecodeConfig:
    """A measurement of decoding; keys are explained in conf/benchmark_decode.yaml."""

    model: str | None = None
    against: str | None = None
    src: str | None = None
    ref: str | None = None
    data_root: str | None = None
    split: str = "valid"
    sentences: int | None = None
    precisions: list[str] = field(default_factory=lambda: ["32", "bf16", "int8", "auto"])
    peers: bool = True
    rounds: int = 5
    latency_sentences: int = 100
    sizes: list[int] = field(default_factory=list)
    output: str | None = None
    decode: DecodeConfig = field(default_factory=DecodeConfig)

    def __post_init__(self) -> None:
        for name in ("sentences", "rounds", "latency_sentences"):
            _at_least(name, getattr(self, name), 1)
        for size in self.sizes:
            _at_least("sizes", size, 1)
        if not self.precisions:
            raise ValueError("precisions must name at least one")
        if (self.src is None) != (self.ref is None):
            raise ValueError("src=FILE and ref=FILE belong together: sentences and their references")
        if self.src and (self.data_root or self.split != "valid"):
            raise ValueError("data_root and split are of the run's own data; with src=FILE ref=FILE leave them out")
        measured = ("beam_size", "length_penalty", "max_output_len", "max_output_ratio")
        for name, value in vars(self.decode).items():
            if name not in measured and value != getattr(DecodeConfig, name):
                raise ValueError(f"decode.{name} ({value}) must be {getattr(DecodeConfig, name)} in this benchmark")


def load_config(path: Path, schema: type[Config], changes: Mapping[str, Any] | None = None) -> Config:
    """Read the settings of a run or a model back, with changes by dotted key on top.

    The file may come from elsewhere: it is read as plain values, see `read_plain_yaml`.

    Raises:
        ValueError: If the file is missing or damaged, or a key or a value is not allowed; in one line that names the
            file and the changes.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    from translate.plain_yaml import read_plain_yaml

    if not path.is_file():
        raise ValueError(f"{path} does not exist; give a run directory that `python -m translate.train` has made")
    values = read_plain_yaml(path)
    try:
        merged = OmegaConf.merge(OmegaConf.structured(schema), values)
        for key, value in (changes or {}).items():
            OmegaConf.update(merged, key, value)
        return OmegaConf.to_object(merged)  # type: ignore[return-value]
    except (OmegaConfBaseException, ValueError) as error:
        changed = f" with {', '.join(f'{key}={value}' for key, value in changes.items())}" if changes else ""
        raise ValueError(f"{path}{changed}: {str(error).splitlines()[0]}") from error


def save_config(config: Any, path: Path) -> None:
    """Write a config dataclass as YAML, every key with its value."""
    from omegaconf import OmegaConf

    # in one rename, as other processes of a resumed run may be reading the old one
    write_text(path, OmegaConf.to_yaml(OmegaConf.structured(config)))


def unknown_setting(key: str, schema: type) -> str:
    """What to say of a key that a schema has not, with the nearest names that it has."""
    import difflib

    from omegaconf import OmegaConf

    names = _keys(OmegaConf.structured(schema))
    if key in names:
        return f"{key} has no such key yet; add it with +{key}=…"  # one of the mappings that take any
    near = difflib.get_close_matches(key, names, n=3, cutoff=0.6)
    hint = f"did you mean {', '.join(near)}?" if near else "see --help for the keys there are"
    return f"unknown setting {key}; {hint}"


def _keys(config: Any, prefix: str = "") -> list[str]:
    from omegaconf import OmegaConf

    keys: list[str] = []
    for key in config:
        name = f"{prefix}{key}"
        keys.append(name)
        if not OmegaConf.is_missing(config, key) and OmegaConf.is_dict(config[key]):
            keys += _keys(config[key], f"{name}.")
    return keys
