"""A decoder-only language model: the decoder's layers without cross-attention, for text that continues itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from translate.model.cache import KVCache
from translate.model.dropout import run_layers
from translate.model.layers import DecoderLayer
from translate.model.masks import causal_attn_mask
from translate.model.transformer import Embedding, make_last_norm

if TYPE_CHECKING:
    from translate.config.model import ModelConfig


class LanguageModel(nn.Module):
    """Ids in, logits of every next id out; or, for sampling, `start` and `step`.

    Args:
        config: Settings of a decoder; those of the encoder and of cross-attention are not used.
        embedding: Embeds ids; its table is the output projection too.

    Source: Radford et al. 2018, "Improving Language Understanding by Generative Pre-Training".
    """

    def __init__(self, config: ModelConfig, embedding: Embedding) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(DecoderLayer(config, cross=False) for _ in range(config.num_decoder_layers))
        self.norm = make_last_norm(config)
        self.layer_drop = config.layer_drop

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute logits [B, T, V] of the id after each of `ids` [B, T]; `mask` [B, T] bool, None = all are real."""
        return self._project(self._run(ids, mask))

    def loss(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute the mean cross-entropy, in nats per id, of ids 1 … T - 1 of `ids` [B, T] given those before.

        Raises:
            ValueError: If there is nothing to predict: T is below 2, or the mask hides all ids but the first.
        """
        if ids.size(1) < 2:
            raise ValueError(f"a loss needs at least 2 ids in a row, not {ids.size(1)}")
        if mask is not None and not mask[:, 1:].any():
            raise ValueError("the mask leaves no id to predict: no row has a second real one")
        logits = self(ids[:, :-1], None if mask is None else mask[:, :-1])
        real = torch.ones_like(ids[:, 1:], dtype=torch.bool) if mask is None else mask[:, 1:]
        return F.cross_entropy(logits[real].float(), ids[:, 1:][real])

    def start(self) -> list[KVCache]:
        """Return empty caches of all layers, which `step` fills."""
        return [KVCache() for _ in self.layers]

    def step(self, ids: Tensor, caches: list[KVCache]) -> Tensor:
        """Compute logits [B, V] after the newest ids [B, T] of each row, and append these to the caches.

        Args:
            ids: The first ones of a text (any T), later the newest (T = 1).
            caches: From `start`.

        Raises:
            ValueError: If T is above 1 although ids came before.
        """
        if ids.size(1) > 1 and caches[0].length:
            raise ValueError(f"after the first ids of a text they come one by one, not {ids.size(1)} at once")
        return self._project(self._run(ids, caches=caches)[:, -1])

    @torch.inference_mode()
    def sample(
        self,
        prompt_ids: Tensor,
        num_tokens: int,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Continue each row of a prompt by ids drawn from the model, which should be in eval mode.

        Args:
            prompt_ids: [B, T], T at least 1, no padding.
            num_tokens: How many ids to draw.
            temperature: Logits are divided by it; 0 always takes the most probable id.
            top_k: Draw among the k most probable ids; None means all.
            generator: Makes the draws repeatable.

        Returns:
            [B, T + num_tokens], the prompt included.

        Raises:
            ValueError: If a setting is out of its range or the prompt is empty.
        """
        if not prompt_ids.size(1):
            raise ValueError("the prompt is empty; give at least one id to go on from")
        if temperature < 0 or (top_k is not None and top_k < 1):
            raise ValueError(f"temperature ({temperature}) must be at least 0 and top_k ({top_k}) at least 1")
        caches, ids, newest = self.start(), [prompt_ids], prompt_ids
        for _ in range(num_tokens):
            newest = draw(self.step(newest, caches), temperature, top_k, generator)[:, None]
            ids.append(newest)
        return torch.cat(ids, dim=1)

    def _run(self, ids: Tensor, mask: Tensor | None = None, caches: list[KVCache] | None = None) -> Tensor:
        """Compute the hidden states [B, T, M]."""
        x = self.embedding(ids, offset=caches[0].length if caches else 0)
        attn_mask = None  # the newest id may look at all cached ones
        if caches is None or not caches[0].length:
            attn_mask = causal_attn_mask(torch.ones_like(ids, dtype=torch.bool) if mask is None else mask)
        if caches is None:
            x = run_layers(self.layers, x, attn_mask, drop=self.layer_drop, training=self.training)
        else:
            for layer, cache in zip(self.layers, caches, strict=True):
                x = layer(x, attn_mask, cache=cache)
        return self.norm(x)  # type: ignore[no-any-return]

    def _project(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.embedding.tokens.weight)


def draw(logits: Tensor, temperature: float, top_k: int | None, generator: torch.Generator | None = None) -> Tensor:
    """Draw one id per row [B] of logits [B, V]; arguments as in `LanguageModel.sample`."""
    if temperature == 0:
        return logits.argmax(dim=-1)
    logits = logits.float() / temperature
    if top_k is not None and top_k < logits.size(-1):
        logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], float("-inf"))
    return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator).squeeze(1)


def build_language_model(config: ModelConfig, vocab_size: int, *, pad_id: int | None = None) -> LanguageModel:
    """Build the language model that the settings of a decoder describe, initialized from torch's global generator.

    It has `num_decoder_layers` layers with the attention of the decoder. `pad_id` is None where no id means padding.
    """
    return LanguageModel(config, Embedding(config, vocab_size, pad_id))
