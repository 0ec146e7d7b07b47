"""`precision=auto`: the fastest precision that says what float32 says, tried on the machine at hand."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from translate.translator.scoring import Pair
    from translate.translator.translation import Translation
    from translate.translator.translator import Translator

SENTENCES, PIECES, ROUNDS = 16, 12, 3  # of the trial
MOST_DIFFERENCE = 0.1  # in nats, from what float32 gives to a token, on average over the trial

logger = logging.getLogger("translate.translator.precision")


def fastest(load: Callable[[str], Translator]) -> Translator:
    """The model in the precision that is fastest here: float32, or another that gives almost the same probabilities.

    Each translates the same sources of random pieces, and scores what float32 makes of them. Takes a second or two.

    Args:
        load: Opens the model in a precision.
    """
    plain = load("32")
    texts = _random_texts(plain)
    pairs = [(text, one.hypotheses[0].token_ids) for text, one in zip(texts, _trial(plain, texts), strict=True)]
    expected = _log_probs(plain, pairs)
    best, shortest, words = plain, math.inf, []
    for kind in ("32", "int8", "bf16") if plain.device.type == "cpu" else ("32", "bf16", "16"):
        model = plain if kind == "32" else load(kind)
        try:
            difference = fmean(abs(own - other) for own, other in zip(_log_probs(model, pairs), expected, strict=True))
            took = min(_seconds(model, texts) for _ in range(ROUNDS))
        except ValueError as error:  # numbers too large for it
            words.append(f"{kind}: {error}")
            continue
        words.append(f"{kind} {1000 * took:.0f} ms, {difference:.3f} nats off")
        if took < shortest and difference <= MOST_DIFFERENCE:
            best, shortest = model, took
    logger.info("precision=auto takes %s (a trial: %s)", best.precision, "; ".join(words))
    return best


def _random_texts(model: Translator) -> list[str]:
    import torch

    tokenizer = model.tokenizer
    shape, generator = (SENTENCES, PIECES), torch.Generator().manual_seed(1)
    ids = torch.randint(tokenizer.eos_id + 1, tokenizer.src_vocab_size, shape, generator=generator).tolist()
    return ["".join(tokenizer.pieces_src(own)).replace("▁", " ") for own in ids]


def _trial(model: Translator, texts: list[str]) -> list[Translation]:
    return model.translate(
        texts,
        beam_size=5,
        min_output_len=PIECES,
        max_output_len=PIECES,
        repetition_guard=False,
        length_guard=False,
    )


def _seconds(model: Translator, texts: list[str]) -> float:
    start = perf_counter()
    _trial(model, texts)
    return perf_counter() - start


def _log_probs(model: Translator, pairs: Sequence[Pair]) -> list[float]:
    return [token.log_prob for score in model.score(pairs) for token in score.tokens]
