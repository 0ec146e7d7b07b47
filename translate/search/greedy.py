"""Greedy search: the most probable token after the most probable token, without the bookkeeping of a beam."""

import math
from collections.abc import Sequence

from translate.search.arrays import Array, compact, namespace
from translate.search.candidates import best_candidates
from translate.search.step_model import StateT, StepModel


def greedy(
    model: StepModel[StateT],
    memory: Array,
    src_mask: Array,
    limits: Sequence[int],
    banned: Sequence[int],
    bos_id: int,
    eos_id: int,
) -> list[tuple[list[int], list[float]]]:
    """Search greedily, by the steps of any model; finished sentences leave the batch.

    Args:
        model: In eval mode.
        memory: Of the sources, from `encode`, [B, S, M].
        src_mask: [B, S] bool.
        limits: Most tokens of each output, EOS counted.
        banned: Tokens that may not come.
        bos_id: Comes before the first token.
        eos_id: Ends an output, as its last token.

    Returns:
        Of each source its tokens and the log-probability of each beginning; nothing where no token is possible.
    """
    state = model.start(memory, src_mask)
    outputs: list[tuple[list[int], list[float]]] = [([], []) for _ in limits]
    going, length = list(range(len(limits))), 0
    xp, device = namespace(memory), memory.device
    last_ids = xp.full((len(limits),), bos_id, dtype=xp.int64, device=device)
    sums = xp.zeros((len(limits), 1), dtype=xp.float32, device=device)
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
            rows = xp.asarray(kept, device=device)
            state.keep(rows)
            last_ids, sums = last_ids[rows], sums[rows]
        going = [going[row] for row in kept]
    return [one if one[1][-1] != -math.inf else ([], []) for one in outputs]
