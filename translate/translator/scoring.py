"""Pairs to be scored or aligned, and the scores that come out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from translate.data.cleaning import clean_text
from translate.search.hypothesis import normalized_score
from translate.translator.engines.engine import EncodedPair

if TYPE_CHECKING:
    from translate.data.tokenizer import Tokenizer

Pair = tuple[str, str | Sequence[int]]


class TokenScore(NamedTuple):
    """One token of a target.

    Attributes:
        piece: As SentencePiece writes it.
        log_prob: Natural log of its probability after the tokens before it.
    """

    piece: str
    log_prob: float


class Score(NamedTuple):
    """Log-probability that a model gives to the target of a pair.

    Attributes:
        log_prob: Sum of the tokens' log-probabilities, natural log, <= 0.
        score: log_prob / len(tokens) ** length_penalty; higher is better.
        tokens: Of the target, EOS last.
    """

    log_prob: float
    score: float
    tokens: tuple[TokenScore, ...]


def encode_pairs(tokenizer: Tokenizer, pairs: Sequence[Pair], max_positions: int | None) -> list[EncodedPair]:
    """Return the token ids of pairs: texts are cleaned as in training and end in EOS; ids are taken as they are.

    Raises:
        ValueError: If a side is no text or holds no ids or foreign ones, or is longer than `max_positions`.
    """
    for number, pair in enumerate(pairs, 1):
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"pair {number} must be (source, target), not {pair!r}")
        if not isinstance(pair[0], str):
            raise ValueError(f"pair {number}: the source must be a text, not {pair[0]!r}")
    sources = tokenizer.encode_src_batch([clean_text(src) for src, _ in pairs])
    encoded: list[EncodedPair] = []
    for number, (src_ids, (src, tgt)) in enumerate(zip(sources, pairs, strict=True), 1):
        tgt_ids = tokenizer.encode_tgt(clean_text(tgt)) if isinstance(tgt, str) else tgt
        if not len(tgt_ids) or not all(0 <= token < tokenizer.tgt_vocab_size for token in tgt_ids):
            raise ValueError(f"pair {number}: target ids must be one or more of 0 to {tokenizer.tgt_vocab_size - 1}")
        if max_positions is not None and max(len(src_ids), len(tgt_ids)) > max_positions:
            raise ValueError(
                f"pair {number} ({src[:40]!r} …) has {len(src_ids)} source and {len(tgt_ids)} target "
                f"tokens; this model's learned positions (model.max_positions) end at {max_positions}: shorten it"
            )
        encoded.append((src_ids, tgt_ids))
    return encoded


def make_score(
    tokenizer: Tokenizer, tgt_ids: Sequence[int], log_probs: Sequence[float], length_penalty: float
) -> Score:
    """Return the score of a target from the log-probabilities of its tokens, natural log."""
    tokens = tuple(map(TokenScore, tokenizer.pieces_tgt(list(tgt_ids)), log_probs))
    log_prob = sum(log_probs)
    return Score(log_prob, normalized_score(log_prob, len(tokens), length_penalty), tokens)
