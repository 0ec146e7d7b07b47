"""What a model makes of given pairs: their log-probabilities, and which words of them belong together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from translate.data.batch import Example, collate
from translate.data.cleaning import clean_text
from translate.search.hypothesis import normalized_score
from translate.search.scoring import token_log_probs
from translate.translator.alignment import Links, word_links
from translate.translator.parallel import by_length

if TYPE_CHECKING:
    import torch

    from translate.data.tokenizer import Tokenizer
    from translate.model.transformer import Transformer
    from translate.search.scoring import TeacherForced

Pair = tuple[str, str | Sequence[int]]

ALIGNMENT_LAYER = (
    -1
)  # the last agrees best with IBM model 1 (two models of 2 layers: 74 and 75 %, the first 57 and 66 %)
_ALIGNMENT_TOKENS = 2048  # of a batch: the weights of all heads are held, and the logits


class TokenScore(NamedTuple):
    """One token of a target.

    Attributes:
        piece: As SentencePiece writes it.
        log_prob: Natural log of its probability after the tokens before it.
    """

    piece: str
    log_prob: float


class Score(NamedTuple):
    """What a model gives to one pair.

    Attributes:
        log_prob: Sum of the tokens' log-probabilities, natural log, <= 0.
        score: log_prob / len(tokens) ** length_penalty; higher is better.
        tokens: Of the target, EOS last.
    """

    log_prob: float
    score: float
    tokens: tuple[TokenScore, ...]


def encode_pairs(tokenizer: Tokenizer, pairs: Sequence[Pair], max_positions: int | None) -> list[Example]:
    """Token ids of pairs: texts are cleaned as in training and end in EOS; ids are taken as they are.

    Raises:
        ValueError: If a side is no text or holds no ids or foreign ones, or is longer than `max_positions`.
    """
    for number, pair in enumerate(pairs, 1):
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"pair {number} must be (source, target), not {pair!r}")
    src = tokenizer.encode_src_batch([clean_text(src) for src, _ in pairs])
    examples = [Example(ids, _target_ids(tokenizer, tgt)) for ids, (_, tgt) in zip(src, pairs, strict=True)]
    for number, (src_ids, tgt_ids) in enumerate(examples, 1):
        if not len(tgt_ids) or not all(0 <= token < tokenizer.tgt_vocab_size for token in tgt_ids):
            raise ValueError(f"pair {number}: target ids must be one or more of 0 to {tokenizer.tgt_vocab_size - 1}")
        if max_positions is not None and max(len(src_ids), len(tgt_ids)) > max_positions:
            raise ValueError(
                f"pair {number} ({pairs[number - 1][0][:40]!r} …) has {len(src_ids)} source and {len(tgt_ids)} target "
                f"tokens; this model's learned positions (model.max_positions) end at {max_positions}: shorten it"
            )
    return examples


def _target_ids(tokenizer: Tokenizer, tgt: str | Sequence[int]) -> Sequence[int]:
    return tokenizer.encode_tgt(clean_text(tgt)) if isinstance(tgt, str) else tgt


def align_examples(
    model: Transformer, tokenizer: Tokenizer, examples: Sequence[Example], device: torch.device
) -> list[Links]:
    """Word links of encoded pairs, in their order, from the mean over the heads of `ALIGNMENT_LAYER`."""
    links: dict[int, Links] = {}
    tags = len(tokenizer.tag_ids)  # which are no words
    for places in pair_batches(examples, _ALIGNMENT_TOKENS):
        some = [examples[place] for place in places]
        batch = collate(some, pad_id=tokenizer.pad_id, bos_id=tokenizer.bos_id).to(device)
        layers = model.cross_attention(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
        means = layers[ALIGNMENT_LAYER].float().mean(1).cpu()  # [B, T, S]
        for place, (src_ids, tgt_ids), weights in zip(places, some, means, strict=True):
            pieces = tokenizer.pieces_src(list(src_ids[tags:])), tokenizer.pieces_tgt(list(tgt_ids))
            links[place] = word_links(weights[: len(tgt_ids), tags : len(src_ids)], *pieces)
    return [links[place] for place in range(len(examples))]


def pair_batches(examples: Sequence[Example], batch_tokens: int) -> list[list[int]]:
    """Places of the examples, longest first, sentences * longest side within `batch_tokens`; one is always allowed."""
    return by_length([max(map(len, example)) for example in examples], batch_tokens)


def score_examples(
    model: TeacherForced,
    tokenizer: Tokenizer,
    examples: Sequence[Example],
    *,
    device: torch.device,
    batch_tokens: int,
    length_penalty: float,
    progress: Callable[[int], object],
) -> list[Score]:
    """Scores of encoded pairs, in their order; `progress` hears after each batch how many it had."""
    scores: dict[int, Score] = {}
    for places in pair_batches(examples, batch_tokens):
        some = [examples[place] for place in places]
        batch = collate(some, pad_id=tokenizer.pad_id, bos_id=tokenizer.bos_id).to(device)
        found = token_log_probs(model, batch.src_ids, batch.src_mask, batch.tgt_in_ids, batch.tgt_mask, batch.labels)
        for place, example, log_probs in zip(places, some, found, strict=True):
            pieces = tokenizer.pieces_tgt(list(example.tgt_ids))
            tokens = tuple(map(TokenScore, pieces, log_probs))
            log_prob = sum(log_probs)
            scores[place] = Score(log_prob, normalized_score(log_prob, len(tokens), length_penalty), tokens)
        progress(len(places))
    return [scores[place] for place in range(len(examples))]
