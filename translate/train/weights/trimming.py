"""Remove the target pieces that are rare in the training text from a model: a smaller output layer is faster."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, islice

import torch

from translate.config.model import ModelConfig
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import Transformer, build_model

_CHUNK = 10_000  # sentences at a time


def used_pieces(tokenizer: Tokenizer, texts: Iterable[str], least: int) -> set[int]:
    """Return the target ids that occur at least `least` times in texts."""
    counts: Counter[int] = Counter()
    lines = iter(texts)
    while chunk := list(islice(lines, _CHUNK)):
        counts.update(chain.from_iterable(tokenizer.encode_tgt_batch(chunk)))
    return {token for token, count in counts.items() if count >= least}


def trim_model(
    model: Transformer, tokenizer: Tokenizer, config: ModelConfig, used: set[int]
) -> tuple[Transformer, Tokenizer, ModelConfig]:
    """Keep the target pieces of a model that are used, and those that spell all others (`Tokenizer.trimmed`).

    Source and target no longer share their embeddings.

    Args:
        model: Float32, on the CPU.
        tokenizer: Its tokenizer.
        config: Its network.
        used: Target ids that stay.

    Source: Abdaoui et al. 2020 (arXiv:2010.05609).
    """
    smaller, kept = tokenizer.trimmed(used)
    network = replace(config, share_embeddings=False)
    result = build_model(network, smaller.src_vocab_size, smaller.tgt_vocab_size, pad_id=smaller.pad_id)
    weights, rows = model.state_dict(), torch.tensor(kept)
    for name in {"tgt_embedding.tokens.weight", "output.weight", "output.bias"} & set(weights):
        weights[name] = weights[name][rows]
    result.load_state_dict(weights)
    return result.eval(), smaller, network
