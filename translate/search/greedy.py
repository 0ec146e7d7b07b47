"""Greedy search: the most probable token after the most probable token, without the bookkeeping of a beam."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from translate.search.candidates import best_candidates, compact
from translate.search.step_model import StateT, StepModel


def greedy(
    model: StepModel[StateT],
    memory: Tensor,
    src_mask: Tensor,
    limits: Sequence[int],
    banned: Sequence[int],
    bos_id: int,
    eos_id: int,
) -> list[tuple[list[int], list[float]]]:
    """Search greedily as `GreedyModel.greedy` does, by the steps of any model; finished sentences leave the batch."""
    state = model.start(memory, src_mask)
    outputs: list[tuple[list[int], list[float]]] = [([], []) for _ in limits]
    going, length = list(range(len(limits))), 0
    last_ids = torch.full((len(limits),), bos_id, device=memory.device)
    sums = torch.zeros(len(limits), 1, device=memory.device)
    while going:
        sums, _, found = best_candidates(model.step(last_ids, state), sums, banned, 1)
        last_ids, length = found[:, 0], length + 1
        stays = []
        for sentence, token, log_prob in zip(going, last_ids.tolist(), sums[:, 0].tolist(), strict=True):
            tokens, log_probs = outputs[sentence]
            tokens.append(token)
            log_probs.append(log_prob)
            stays.append(token != eos_id and length < limits[sentence] and log_prob != -math.inf)
        kept = compact(stays)
        if kept and len(kept) < len(stays):
            rows = torch.tensor(kept, device=last_ids.device)
            state.keep(rows)
            last_ids, sums = last_ids[rows], sums[rows]
        going = [going[row] for row in kept]
    return [one if one[1][-1] != -math.inf else ([], []) for one in outputs]
