"""Our Transformer as two ONNX graphs, which torch.onnx traces from its own modules.

encoder.onnx   src_ids [B, S] int64, src_mask [B, S] bool (True = real token)
               -> memory_0 …, one per decoder layer
decoder.onnx   last_ids [B] int64, src_mask, memory_0 …, past_0 …
               -> log_probs [B, V], present_0 …

The decoder takes one step. Of each layer `memory_i` is what cross-attention needs of the source, `past_i` what
self-attention remembers of the T tokens before (T is 0 at first), and `present_i` is that with the newest one, the next
step's `past_i`: a step computes nothing twice. B, S and T are free.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx  # noqa: F401 - torch.onnx needs it,
import onnxscript  # noqa: F401 - and this
import torch
from torch import Tensor, nn
from torch.export import Dim

from translate.model.cache import DecoderState, KVCache, MemoryCache
from translate.model.masks import source_attn_mask
from translate.model.positions import RotaryPositions, SinusoidalPositions

if TYPE_CHECKING:
    from translate.model.transformer import Transformer

_OPTIONS: dict[str, Any] = {
    "dynamo": True,
    "opset_version": 18,  # the oldest that this exporter writes
    "external_data": False,  # weights lie in the graph's own file, up to what protobuf can hold
    "verbose": False,
}


def export_graphs(directory: Path | str, model: Transformer, num_positions: int) -> None:
    """Write encoder.onnx and decoder.onnx.

    Args:
        directory: Where to, and it is there.
        model: The network, float32, on the CPU.
        num_positions: Longest source and output, in tokens; their positions are stored.
    """
    _reach(model, num_positions)
    encoder, decoder, layers = _Encoder(model).eval(), _Decoder(model).eval(), range(len(model.decoder_layers))
    src_mask = torch.ones(2, 3, dtype=torch.bool)  # an example: sizes of 0 and 1 would be taken for constants
    last_ids, src_ids = src_mask[:, 0].long(), src_mask.long()
    with torch.no_grad(), _quiet():
        memories: tuple[Tensor, ...] = encoder(src_ids, src_mask)
        pasts: tuple[Any, ...] = (None,) * len(layers)
        for _ in range(4):
            _, pasts = decoder(last_ids, src_mask, memories, pasts)
        batch, src, past = Dim("batch"), Dim("src", max=num_positions), Dim("past", max=num_positions - 1)
        memory_names = [f"memory_{layer}" for layer in layers]
        torch.onnx.export(
            encoder,
            (src_ids, src_mask),
            str(Path(directory, "encoder.onnx")),
            input_names=["src_ids", "src_mask"],
            output_names=memory_names,
            dynamic_shapes=({0: batch, 1: src}, {0: batch, 1: src}),
            **_OPTIONS,
        )
        torch.onnx.export(
            decoder,
            (last_ids, src_mask, memories, pasts),
            str(Path(directory, "decoder.onnx")),
            input_names=["last_ids", "src_mask", *memory_names, *(f"past_{layer}" for layer in layers)],
            output_names=["log_probs", *(f"present_{layer}" for layer in layers)],
            dynamic_shapes=({0: batch}, {0: batch, 1: src}, _axes(memories, batch, src), _axes(pasts, batch, past)),
            **_OPTIONS,
        )


class _Encoder(nn.Module):
    """Sources to what each decoder layer needs of them."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, src_ids: Tensor, src_mask: Tensor) -> tuple[Tensor, ...]:
        state = self.model.start(self.model.encode(src_ids, src_mask), src_mask)
        return tuple(cache.kv for cache in state.memory_caches)


class _Decoder(nn.Module):
    """One step, with the state as inputs and outputs."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, last_ids: Tensor, src_mask: Tensor, memories: Sequence[Tensor], pasts: Sequence[Tensor | None]
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        state = DecoderState([MemoryCache(memory) for memory in memories], source_attn_mask(src_mask))
        caches = [_ValueCache(past) for past in pasts]
        state.self_caches = [*caches]
        log_probs = self.model.step(last_ids, state).log_softmax(1)
        return log_probs, tuple(cache.held for cache in caches)


class _ValueCache(KVCache):
    """A `KVCache` without a buffer: what it holds comes in and goes out as a tensor, None if it is empty."""

    def __init__(self, held: Tensor | None) -> None:
        super().__init__()
        self.held: Any = held
        self.length = 0 if held is None else held.size(-2)

    def append(self, kv: Tensor) -> Tensor:
        """Append as in `KVCache`, for one hypothesis per sentence."""
        self.held = kv if self.held is None else torch.cat((self.held, kv), dim=-2)
        return self.held  # type: ignore[no-any-return]


def _axes(tensors: Sequence[Tensor], batch: Any, length: Any) -> tuple[dict[int, Any], ...]:
    """Return the free axes of caches [B, …, length, W]."""
    return tuple({0: batch, tensor.dim() - 2: length} for tensor in tensors)


def _reach(model: Transformer, num_positions: int) -> None:
    """Let the tables of positions grow that far: a graph cannot continue them."""
    for module in model.modules():
        if isinstance(module, SinusoidalPositions):
            module(torch.zeros(1, num_positions, module.d_model))
        elif isinstance(module, RotaryPositions):
            module(torch.zeros(1, 1, num_positions, module.head_dim))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter's remarks, which do not concern a user."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
