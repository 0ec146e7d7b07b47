"""Data parallelism within one process: threads that each train on a part of a batch."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from translate.data.batch import Batch
from translate.model.dropout import masks_from

LossSum = Callable[[Batch], Tensor]  # summed over target tokens


class Workers:
    """Threads that share the weights: each computes loss and gradients of a part of a batch, and these are added.

    On a CPU small matmuls gain little from a second thread, and everything between them gains less. Parts of a batch
    need not wait for each other. Unlike data-parallel processes the threads share one model, start at once and
    exchange gradients by adding them.

    The thread that calls takes the first part. Gradients are added in the order of the parts, and every part has its
    own random generator, seeded from torch's global one, so that a seed decides the result.

    Args:
        parts: Parts of a batch that are computed at the same time.
        threads: CPU threads of each part.
    """

    def __init__(self, parts: int, threads: int) -> None:
        self.parts, self.threads = parts, threads

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max_workers=self.parts - 1, thread_name_prefix="worker")

    def loss_sum(self, loss_sum: LossSum, batch: Batch, parameters: Sequence[Tensor]) -> Tensor:
        """Return `loss_sum(batch)`, with all gradients already computed.

        Args:
            loss_sum: Gives the summed loss of a batch.
            batch: On the CPU.
            parameters: All that the loss depends on and that is trained.

        Returns:
            A scalar; its backward hands out the gradients.
        """
        loss: Tensor = _Computed.apply(  # type: ignore[no-untyped-call]
            lambda: self._compute(loss_sum, batch, parameters), *parameters
        )
        return loss

    def _compute(self, loss_sum: LossSum, batch: Batch, parameters: Sequence[Tensor]) -> tuple[Tensor, list[Tensor]]:
        first, *others = split_batch(batch, self.parts)
        seeds = torch.randint(2**62, (self.parts,)).tolist()
        autocast = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
        before = torch.get_num_threads()

        def work(part: Batch, seed: int) -> tuple[Tensor, tuple[Tensor, ...]]:
            torch.get_num_threads()  # its first call in a thread sets the thread's number to the caller's
            torch.set_num_threads(self.threads)  # a setting of this thread alone, like the two below
            with (
                masks_from(torch.Generator().manual_seed(seed)),
                torch.enable_grad(),
                torch.autocast("cpu", enabled=autocast[0], dtype=autocast[1]),
            ):
                loss = loss_sum(part)
            return loss.detach(), torch.autograd.grad(loss, parameters)

        waiting: list[Future[Any]] = [self._pool.submit(work, *job) for job in zip(others, seeds[1:], strict=False)]
        try:
            loss, grads = work(first, seeds[0])
        finally:
            torch.set_num_threads(before)
        total = list(grads)
        for future in waiting:
            part_loss, part_grads = future.result()
            loss = loss + part_loss
            torch._foreach_add_(total, part_grads)
        return loss, total


class _Computed(torch.autograd.Function):
    """Hands out the gradients of a loss that have been computed already."""

    @staticmethod
    def forward(ctx, compute, *parameters):  # type: ignore[no-untyped-def]
        loss, ctx.grads = compute()
        return loss

    @staticmethod
    def backward(ctx, grad_output):  # type: ignore[no-untyped-def]
        grads, ctx.grads = ctx.grads, None
        torch._foreach_mul_(grads, grad_output.item())
        return None, *grads


def split_batch(batch: Batch, parts: int) -> list[Batch]:
    """Cut a batch into at most `parts` of neighbouring sentences and about equal work, without needless padding.

    Sentences of a batch are sorted by the difference of their sides, so that neighbours need less padding than the
    whole. A target token counts twice: it passes through one sub-layer more, and the output projection.

    Args:
        batch: On the CPU.
        parts: Largest number of parts.
    """
    work = (batch.src_mask.sum(dim=1) + 2 * batch.tgt_mask.sum(dim=1)).cumsum(dim=0)  # up to each sentence, [B]
    middles = work - work.diff(prepend=work.new_zeros(1)) / 2
    sizes = [size for size in (middles * parts / work[-1]).long().bincount().tolist() if size]
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    return [_rows(batch, start, start + size) for start, size in zip(starts, sizes, strict=True)]


def _rows(batch: Batch, start: int, end: int) -> Batch:
    rows = slice(start, end)
    src = rows, slice(int(batch.src_mask[rows].sum(dim=1).max()))
    tgt = rows, slice(int(batch.tgt_mask[rows].sum(dim=1).max()))
    tgt_mask = batch.tgt_mask[tgt]
    return Batch(
        src_ids=batch.src_ids[src],
        src_mask=batch.src_mask[src],
        tgt_in_ids=batch.tgt_in_ids[tgt],
        tgt_mask=tgt_mask,
        labels=batch.labels[tgt],
        tgt_positions=tgt_mask.flatten().nonzero().squeeze(1),
    )
