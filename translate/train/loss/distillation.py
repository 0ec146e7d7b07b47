"""Distillation word by word: a network learns from what others expect of each next token, besides the token itself."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from translate.config.train import TrainConfig
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import Transformer
from translate.train.loss.cross_entropy import log_sum_exp_, product_dtype, projected_cross_entropy
from translate.translator.bundle import find_model, load_bundle, load_bundle_config


class Lesson(NamedTuple):
    """What a teacher knows of the tokens of a batch.

    Attributes:
        hidden: Its hidden states, [tokens, its M].
        weight: Its output projection, [V, its M].
    """

    hidden: Tensor
    weight: Tensor


def check_teachers(config: TrainConfig, tokenizer: Tokenizer) -> None:
    """Whether the models that `optim.teachers` names read and write what the run does.

    Raises:
        ValueError: If one is missing, or has another tokenizer, other languages or too few positions.
    """
    data = config.data
    for path in config.optim.teachers:
        directory = find_model(path)
        its = load_bundle_config(directory)
        if Tokenizer.load(directory).fingerprint != tokenizer.fingerprint:
            raise ValueError(
                f"optim.teachers ({path}) has another tokenizer, so that its tokens mean something else; set "
                f"tokenizer.path={directory}"
            )
        if (its.src_lang, its.tgt_lang, its.tgt_langs) != (data.src_lang, data.tgt_lang, data.tgt_langs):
            tags, its_tags = (", ".join(tags) or "no tags" for tags in (data.tgt_langs, its.tgt_langs))
            raise ValueError(
                f"optim.teachers ({path}) translates {its.src_lang} to {its.tgt_lang} ({its_tags}) and this run "
                f"{data.src_lang} to {data.tgt_lang} ({tags}); a teacher must do the same"
            )
        if its.model.positions == "learned" and its.model.max_positions < data.max_len:
            raise ValueError(
                f"optim.teachers ({path}) reads no more than {its.model.max_positions} tokens (model.max_positions); "
                f"lower data.max_len ({data.max_len}) to that"
            )


def load_teachers(paths: Sequence[str]) -> list[Transformer]:
    """The networks of model or run directories, in eval mode on the CPU, for no gradients."""
    return [load_bundle(find_model(path))[0].requires_grad_(False) for path in paths]


def projected_distillation(
    hidden: Tensor,
    weight: Tensor,
    labels: Tensor,
    lessons: Sequence[Lesson],
    share: float,
    smoothing: float = 0.0,
    chunk_tokens: int = 128,
) -> Tensor:
    """Sum over tokens of (1 - share) * CE(label) + share * CE(teachers), without ever holding all logits.

    CE(label) is the label-smoothed cross-entropy, CE(teachers) that against the mean of the teachers' predictions.

    Args:
        hidden: [tokens, M].
        weight: Output projection [V, M].
        labels: Token ids [tokens].
        lessons: Of each teacher, at least one.
        share: Of the teachers, 0 to below 1.
        smoothing: Of the labels, as in `smoothed_cross_entropy`.
        chunk_tokens: Tokens per chunk.

    Returns:
        A scalar, in nats; differentiable once, in `hidden` and `weight`.

    Source: Hinton et al. 2015 (arXiv:1503.02531), with a temperature of 1; for translation Kim and Rush 2016
    (arXiv:1606.07947), section 3.1.
    """
    normalizer = partial(_normalizer_, expected=_expected(lessons, chunk_tokens, product_dtype(hidden)), share=share)
    loss = projected_cross_entropy(hidden, weight, labels, smoothing, chunk_tokens, normalizer)
    return (1 - share) * loss


def _expected(lessons: Sequence[Lesson], chunk_tokens: int, dtype: torch.dtype) -> Iterator[Tensor]:
    """The mean of the teachers' probabilities [tokens, V], chunk after chunk, as the loss takes them.

    They are float32, from logits of `dtype`.
    """
    cast = [(torch.split(lesson.hidden.to(dtype), chunk_tokens), lesson.weight.to(dtype)) for lesson in lessons]
    for chunks in zip(*(chunks for chunks, _ in cast), strict=True):
        total: Tensor | float = 0.0
        for chunk, (_, weight) in zip(chunks, cast, strict=True):
            total = torch.mm(chunk, weight.T).float().softmax(dim=1) + total
        assert isinstance(total, Tensor)
        yield total / len(lessons)


def _normalizer_(logits: Tensor, expected: Iterator[Tensor], share: float) -> Tensor:
    """A `Normalizer`: (log-sum-exp - share * expected logit) / (1 - share), which the loss multiplies by 1 - share."""
    probabilities = next(expected)
    expectation = torch.dot(probabilities.flatten(), logits.flatten())
    loss = log_sum_exp_(logits)
    logits.sub_(probabilities, alpha=share).div_(1 - share)
    return (loss - share * expectation) / (1 - share)
