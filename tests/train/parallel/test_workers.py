"""Threads that share a batch: the same loss and gradients as in one piece, repeatable, each with its own masks."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from translate.config.model import ModelConfig
from translate.data.batch import Batch, Example, collate
from translate.model.dropout import apply_dropout
from translate.model.transformer import build_model
from translate.train.parallel.workers import Workers, split_batch


def make_batch(sentences: int = 9, seed: int = 0) -> Batch:
    generator = torch.Generator().manual_seed(seed)

    def ids() -> list[int]:
        length = int(torch.randint(1, 9, (), generator=generator))
        return [*torch.randint(4, 30, (length,), generator=generator).tolist(), 3]

    return collate([Example(ids(), ids()) for _ in range(sentences)], pad_id=0, bos_id=2)


def make_loss(dropout: float, layer_drop: float = 0.0) -> tuple[Callable[[Batch], Tensor], list[torch.nn.Parameter]]:
    torch.manual_seed(1)
    shares = {"dropout": dropout, "embedding_dropout": dropout, "attention_dropout": dropout, "layer_drop": layer_drop}
    config = ModelConfig(d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1, num_decoder_layers=1, **shares)
    model = build_model(config, 30, 30).train()

    def loss_sum(batch: Batch) -> Tensor:
        logits = model(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.labels.flatten(), reduction="sum")

    return loss_sum, list(model.parameters())


def gradients(loss: Tensor, parameters: list[torch.nn.Parameter]) -> tuple[Tensor, list[Tensor]]:
    (loss / 7).backward()
    grads = [parameter.grad.clone() for parameter in parameters if parameter.grad is not None]
    assert len(grads) == len(parameters)
    for parameter in parameters:
        parameter.grad = None
    return loss.detach(), grads


@pytest.mark.parametrize("parts", [2, 3, 20])
def test_parts_add_up_to_the_whole(parts: int) -> None:
    loss_sum, parameters = make_loss(dropout=0.0)
    batch = make_batch()
    whole = gradients(loss_sum(batch), parameters)
    shared = gradients(Workers(parts, threads=1).loss_sum(loss_sum, batch, parameters), parameters)
    assert_close(shared, whole, atol=1e-5, rtol=1e-4)  # float32 sums in another order


def test_a_seed_decides_the_result_bit_for_bit() -> None:
    loss_sum, parameters = make_loss(dropout=0.3)
    workers, batch = Workers(3, threads=1), make_batch()

    def run(seed: int) -> tuple[Tensor, list[Tensor]]:
        torch.manual_seed(seed)
        return gradients(workers.loss_sum(loss_sum, batch, parameters), parameters)

    first = run(5)
    for _ in range(20):
        assert_close(run(5), first, atol=0, rtol=0)
    assert run(6)[0] != first[0]


def test_skipped_layers_leave_a_gradient_for_every_parameter() -> None:
    loss_sum, parameters = make_loss(dropout=0.0, layer_drop=0.9)
    batch = make_batch()
    for seed in range(5):
        torch.manual_seed(seed)
        gradients(Workers(2, threads=1).loss_sum(loss_sum, batch, parameters), parameters)
        gradients(loss_sum(batch), parameters)


def test_parts_draw_different_masks_and_new_ones_each_time() -> None:
    weight = torch.ones(64, requires_grad=True)
    masks: list[Tensor] = []

    def loss_sum(_: Batch) -> Tensor:
        kept = apply_dropout(weight, 0.5, training=True)
        masks.append(kept.detach())
        return kept.sum()

    workers = Workers(2, threads=1)
    for _ in range(2):
        workers.loss_sum(loss_sum, make_batch(), [weight]).backward()
    assert len({tuple(mask.tolist()) for mask in masks}) == 4


def test_autocast_reaches_all_threads_and_the_caller_keeps_its_threads() -> None:
    weight, seen = torch.ones(4, 4, requires_grad=True), []

    def loss_sum(_: Batch) -> Tensor:
        product = weight @ weight
        seen.append((product.dtype, torch.get_num_threads()))
        return product.sum()

    torch.set_num_threads(2)
    with torch.autocast("cpu", torch.bfloat16):
        Workers(2, threads=1).loss_sum(loss_sum, make_batch(), [weight]).backward()
    assert seen == [(torch.bfloat16, 1)] * 2
    assert torch.get_num_threads() == 2


def test_an_error_in_another_thread_is_raised() -> None:
    weight = torch.ones(1, requires_grad=True)

    def loss_sum(batch: Batch, whole: int) -> Tensor:
        if int(batch.src_ids[0, 0]) != whole:
            raise ValueError("the second part is bad")
        return weight.sum()

    batch = make_batch()
    with pytest.raises(ValueError, match="the second part is bad"):
        Workers(2, threads=1).loss_sum(partial(loss_sum, whole=int(batch.src_ids[0, 0])), batch, [weight])


@pytest.mark.parametrize("parts", [1, 2, 4, 50])
def test_a_split_keeps_every_sentence_in_order_and_pads_no_more_than_needed(parts: int) -> None:
    batch = make_batch(sentences=12)
    found = split_batch(batch, parts)
    assert len(found) <= parts
    assert len(found) >= min(parts, 2)

    def sentences(of: Batch) -> list[Any]:
        rows = zip(of.src_ids, of.src_mask, of.tgt_in_ids, of.labels, of.tgt_mask, strict=True)
        return [(s[m].tolist(), t[k].tolist(), y[k].tolist()) for s, m, t, y, k in rows]

    assert [row for part in found for row in sentences(part)] == sentences(batch)
    for part in found:
        assert part.src_mask.any(dim=0).all()
        assert part.tgt_mask.any(dim=0).all()
        assert torch.equal(part.labels.flatten()[part.tgt_positions], part.labels[part.tgt_mask])
    assert sum(part.num_tokens for part in found) == batch.num_tokens


def test_parts_have_about_equal_work() -> None:
    batch = make_batch(sentences=200)
    tokens = [int(part.src_mask.sum()) + 2 * part.num_tokens for part in split_batch(batch, 4)]
    assert max(tokens) <= 1.05 * sum(tokens) / 4
