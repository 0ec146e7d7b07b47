"""Word-level distillation: a network learns from the predictions of others, besides the tokens themselves."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from translate.config.train import TrainConfig
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import Transformer
from translate.train.loss.cross_entropy import chunk_size, log_sum_exp_, product_dtype, projected_cross_entropy
from translate.translator.bundle import find_model, load_bundle, load_bundle_config


class TeacherStates(NamedTuple):
    """Hidden states of a teacher for the tokens of a batch, and its output projection.

    Attributes:
        hidden: [tokens, M of the teacher].
        weight: [V, M of the teacher].
    """

    hidden: Tensor
    weight: Tensor


def check_teachers(config: TrainConfig, tokenizer: Tokenizer) -> None:
    """Check that the models that `optim.teachers` names read and write what the run does.

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
    """Load the networks of model or run directories, in eval mode on the CPU, without gradients."""
    return [load_bundle(find_model(path))[0].requires_grad_(False) for path in paths]


def projected_distillation(
    hidden: Tensor,
    weight: Tensor,
    labels: Tensor,
    teachers: Sequence[TeacherStates],
    share: float,
    smoothing: float = 0.0,
    chunk_tokens: int | None = None,
) -> Tensor:
    """Return the sum over tokens of (1 - share) * CE(label) + share * CE(teachers), without ever holding all logits.

    CE(label) is the label-smoothed cross-entropy, CE(teachers) that against the mean of the teachers' predictions.

    Args:
        hidden: [tokens, M].
        weight: Output projection [V, M].
        labels: Token ids [tokens].
        teachers: At least one.
        share: Share of the teachers in the loss, from 0, below 1.
        smoothing: Label smoothing, as in `smoothed_cross_entropy`.
        chunk_tokens: Tokens per chunk; None = as `chunk_size`.

    Returns:
        A scalar, in nats; differentiable once, in `hidden` and `weight`.

    Source: Hinton et al. 2015 (arXiv:1503.02531), with a temperature of 1; for translation Kim and Rush 2016
    (arXiv:1606.07947), section 3.1.
    """
    chunk_tokens = chunk_tokens or chunk_size(hidden, weight, on_cpu=128)
    normalizer = partial(_normalizer_, expected=_expected(teachers, chunk_tokens, product_dtype(hidden)), share=share)
    loss = projected_cross_entropy(hidden, weight, labels, smoothing, chunk_tokens, normalizer)
    return (1 - share) * loss


def _expected(teachers: Sequence[TeacherStates], chunk_tokens: int, dtype: torch.dtype) -> Iterator[Tensor]:
    """Yield the mean of the teachers' probabilities [tokens, V], chunk after chunk, in the order of the loss.

    They are float32, from logits of `dtype`.
    """
    cast = [(torch.split(teacher.hidden.to(dtype), chunk_tokens), teacher.weight.to(dtype)) for teacher in teachers]
    for chunks in zip(*(chunks for chunks, _ in cast), strict=True):
        total: Tensor | float = 0.0
        for chunk, (_, weight) in zip(chunks, cast, strict=True):
            total = torch.mm(chunk, weight.T).float().softmax(dim=1) + total
        assert isinstance(total, Tensor)
        yield total / len(teachers)


def _normalizer_(logits: Tensor, expected: Iterator[Tensor], share: float) -> Tensor:
    """Return (log-sum-exp - share * expected logit) / (1 - share), as a `Normalizer`; the loss scales it back."""
    probabilities = next(expected)
    expectation = torch.dot(probabilities.flatten(), logits.flatten())
    loss = log_sum_exp_(logits)
    logits.sub_(probabilities, alpha=share).div_(1 - share)
    return (loss - share * expectation) / (1 - share)
