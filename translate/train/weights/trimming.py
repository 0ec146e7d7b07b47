"""Remove the pieces that are rare in the training text from a model: a smaller output layer is faster."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain, islice

import torch

from translate.config.model import ModelConfig
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import Transformer, build_model

_CHUNK = 10_000  # sentences at a time


def used_pieces(encode: Callable[[list[str]], list[list[int]]], texts: Iterable[str], least: int) -> set[int]:
    """Return the ids that occur at least `least` times in texts.

    Args:
        encode: `encode_src_batch` or `encode_tgt_batch` of a tokenizer.
        texts: Clean sentences.
        least: From 1.
    """
    counts: Counter[int] = Counter()
    lines = iter(texts)
    while chunk := list(islice(lines, _CHUNK)):
        counts.update(chain.from_iterable(encode(chunk)))
    return {token for token, count in counts.items() if count >= least}


def trim_model(
    model: Transformer, tokenizer: Tokenizer, config: ModelConfig, used_tgt: set[int], used_src: set[int] | None = None
) -> tuple[Transformer, Tokenizer, ModelConfig]:
    """Keep the pieces of a model that are used, and those that spell all others (`Tokenizer.trimmed`).

    Source and target no longer share their embeddings.

    Args:
        model: Float32, on the CPU.
        tokenizer: Its tokenizer.
        config: Its network.
        used_tgt: Target ids that stay.
        used_src: Source ids that stay; None means all.

    Source: Abdaoui et al. 2020 (arXiv:2010.05609).
    """
    smaller, kept_src, kept_tgt = tokenizer.trimmed(used_tgt, used_src)
    network = replace(config, share_embeddings=False)
    result = build_model(network, smaller.src_vocab_size, smaller.tgt_vocab_size, pad_id=smaller.pad_id)
    weights = model.state_dict()
    rows = {"src_embedding.tokens.weight": kept_src}
    rows |= dict.fromkeys(("tgt_embedding.tokens.weight", "output.weight", "output.bias"), kept_tgt)
    for name in rows.keys() & weights.keys():
        weights[name] = weights[name][torch.tensor(rows[name])]
    result.load_state_dict(weights)
    return result.eval(), smaller, network
