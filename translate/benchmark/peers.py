"""Other implementations of the same network: which are here, which can be of the same dimensions, what differs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from translate.config.model import ModelConfig
from translate.data.batch import Batch
from translate.model.transformer import Embedding


@dataclass(frozen=True)
class Sizes:
    """What a network must know of its data.

    Attributes:
        src_vocab: Source tokens.
        tgt_vocab: Target tokens.
        max_len: Longest sentence, in tokens.
        pad_id: Padding.
        bos_id: First decoder input.
        eos_id: End of a sentence.
    """

    src_vocab: int
    tgt_vocab: int
    max_len: int
    pad_id: int
    bos_id: int
    eos_id: int


@dataclass(frozen=True)
class Peer:
    """A network that takes our batches.

    Attributes:
        build: Makes it, freshly initialized; called with a `Batch` it gives logits [B, T, V].
        differences: What is not as in ours, in words.
        version: Of the package that it comes from.
    """

    build: Callable[[], nn.Module]
    differences: list[str]
    version: str


class TorchTransformer(nn.Module):
    """`nn.Transformer` between our embeddings and a (tied) output projection.

    Args:
        config: Dimensions and dropout.
        sizes: Of the data.
    """

    def __init__(self, config: ModelConfig, sizes: Sizes) -> None:
        super().__init__()
        self.src_embedding = Embedding(config, sizes.src_vocab, sizes.pad_id)
        shared = config.share_embeddings
        self.tgt_embedding = self.src_embedding if shared else Embedding(config, sizes.tgt_vocab, sizes.pad_id)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*enable_nested_tensor.*")
            self.transformer = nn.Transformer(
                config.d_model,
                config.num_heads,
                config.num_encoder_layers,
                config.num_decoder_layers,
                config.d_ff,
                config.dropout,
                config.activation,
                batch_first=True,
                norm_first=config.norm_first,
                bias=config.bias,
            )
        if not config.norm_first:
            self.transformer.encoder.norm = self.transformer.decoder.norm = None
        _spread_dropout(self.transformer, config)
        self.output = nn.Linear(config.d_model, sizes.tgt_vocab, bias=False)
        if config.tie_output:
            self.output.weight = self.tgt_embedding.tokens.weight

    def forward(self, batch: Batch) -> Tensor:
        """Compute logits [B, T, V]."""
        length = batch.tgt_in_ids.size(1)
        future = torch.ones(length, length, dtype=torch.bool, device=batch.tgt_in_ids.device).triu(1)
        hidden = self.transformer(
            self.src_embedding(batch.src_ids),
            self.tgt_embedding(batch.tgt_in_ids),
            tgt_mask=future,
            src_key_padding_mask=~batch.src_mask,
            tgt_key_padding_mask=~batch.tgt_mask,
            memory_key_padding_mask=~batch.src_mask,
            tgt_is_causal=True,
        )
        return self.output(hidden)  # type: ignore[no-any-return]


class Marian(nn.Module):
    """Hugging Face's `MarianMTModel` through torch's fused attention.

    Args:
        config: Dimensions and dropout.
        sizes: Of the data.
    """

    def __init__(self, config: ModelConfig, sizes: Sizes) -> None:
        super().__init__()
        transformers = import_module("transformers")
        settings = transformers.MarianConfig(
            vocab_size=sizes.src_vocab,
            decoder_vocab_size=sizes.tgt_vocab,
            max_position_embeddings=sizes.max_len,
            d_model=config.d_model,
            encoder_layers=config.num_encoder_layers,
            decoder_layers=config.num_decoder_layers,
            encoder_ffn_dim=config.d_ff,
            decoder_ffn_dim=config.d_ff,
            encoder_attention_heads=config.num_heads,
            decoder_attention_heads=config.num_heads,
            activation_function=config.activation,
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
            activation_dropout=config.activation_dropout,
            scale_embedding=True,
            share_encoder_decoder_embeddings=config.share_embeddings,
            tie_word_embeddings=config.tie_output,
            pad_token_id=sizes.pad_id,
            bos_token_id=sizes.bos_id,
            eos_token_id=sizes.eos_id,
            forced_eos_token_id=sizes.eos_id,
            decoder_start_token_id=sizes.bos_id,
            attn_implementation="sdpa",
        )
        self.marian = transformers.MarianMTModel(settings)

    def forward(self, batch: Batch) -> Tensor:
        """Compute logits [B, T, V]."""
        return self.marian(  # type: ignore[no-any-return]
            input_ids=batch.src_ids,
            attention_mask=batch.src_mask,
            decoder_input_ids=batch.tgt_in_ids,
            decoder_attention_mask=batch.tgt_mask,
            use_cache=False,
        ).logits


def peer_loss(model: nn.Module, batch: Batch, smoothing: float) -> Tensor:
    """Compute the mean label-smoothed cross-entropy of the real target tokens, from all logits, as such loops do."""
    logits = model(batch)
    return F.cross_entropy(logits.flatten(0, 1), batch.labels.flatten(), label_smoothing=smoothing)


def find_peers(config: ModelConfig, sizes: Sizes) -> tuple[dict[str, Peer], dict[str, str]]:
    """Find the peers that can run here with these dimensions, and why the others cannot."""
    peers: dict[str, Peer] = {}
    left_out: dict[str, str] = {}
    for name, package, build, unfit, differences in (
        ("nn.Transformer", "torch", TorchTransformer, _unfit(config), _torch_differences(config)),
        ("MarianMTModel", "transformers", Marian, unfit_marian(config), _marian_differences(config)),
    ):
        reasons = list(unfit) if find_spec(package) else [f"pip install {package}"]
        if reasons:
            left_out[name] = "; ".join(reasons)
        else:
            peers[name] = Peer(partial(build, config, sizes), list(differences), f"{package} {version(package)}")
    return peers, left_out


def _unfit(config: ModelConfig) -> Iterable[str]:
    """Return what no peer can hold."""
    if others := set(config.attention_kinds) - {"mha"}:
        yield f"has no attention {', '.join(sorted(others))}"
    if config.head_dim not in (None, config.d_model // config.num_heads):
        yield f"has no head_dim={config.head_dim}"
    if config.norm != "layernorm":
        yield f"has no norm={config.norm}"
    if config.activation == "swiglu":
        yield "has no activation=swiglu"
    if config.positions == "rotary":
        yield "has no positions=rotary"


def unfit_marian(config: ModelConfig) -> Iterable[str]:
    """Return why Hugging Face's Marian cannot have these settings; nothing if it can."""
    yield from _unfit(config)
    if config.positions == "learned":
        yield "has no positions=learned"
    if not config.bias:
        yield "has no bias=false"
    if config.share_embeddings and not config.tie_output:
        yield "has no tie_output=false with share_embeddings=true"


def _torch_differences(config: ModelConfig) -> Iterable[str]:
    if not config.bias:
        yield "norms without bias too"


def _marian_differences(config: ModelConfig) -> Iterable[str]:
    if config.norm_first:
        yield "norm after each sub-layer, so none after the last layers"
    if config.embedding_dropout != config.dropout:
        yield f"dropout of embeddings {config.dropout}, as elsewhere"
    if config.word_dropout:
        yield "no dropout of words"


def _spread_dropout(transformer: nn.Transformer, config: ModelConfig) -> None:
    """Give each place of an `nn.Transformer`, which has one dropout for everything, its dropout."""
    for module in transformer.modules():
        if isinstance(module, nn.MultiheadAttention):
            module.dropout = config.attention_dropout
        elif isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
            module.dropout.p = config.activation_dropout
