"""What a search asks of a model: encode once, then one step per token. Any class with these methods will do."""

from collections.abc import Sequence
from typing import Protocol, TypeVar, runtime_checkable

from translate.search.arrays import Array


class StepState(Protocol):
    """What a model remembers of the hypotheses it is decoding.

    Rows are sentence-major: row = sentence * N + hypothesis, with B sentences of N rows each.
    """

    def repeat(self, beam_size: int) -> None:
        """Give every sentence `beam_size` rows, copies of its one row so far."""
        ...

    def reorder(self, row_indices: Array) -> None:
        """Let row i go on from row `row_indices[i]`, [B * N], always one of the same sentence."""
        ...

    def keep(self, sentence_indices: Array) -> None:
        """Drop all sentences but these [B'], in this order, each with its N rows."""
        ...


StateT = TypeVar("StateT", bound=StepState)


class StepModel(Protocol[StateT]):
    """A model that can be searched; `translate.model.transformer.Transformer` is one."""

    def encode(self, src_ids: Array, src_mask: Array) -> Array:
        """Compute the memory of the sources: [B, S] ids and bool mask (True = real token) to [B, S, M]."""
        ...

    def start(self, memory: Array, src_mask: Array) -> StateT:
        """Return the state before the first token, one row per sentence."""
        ...

    def step(self, last_ids: Array, state: StateT) -> Array:
        """Compute logits [B * N, V] of the next token, given each row's newest one [B * N] (BOS at first)."""
        ...


@runtime_checkable
class BestStepModel(StepModel[StateT], Protocol[StateT]):
    """A `StepModel` that finds the best continuations itself, which is faster than to hand out all logits."""

    def best_step(
        self, last_ids: Array, state: StateT, sums: Array, banned: Sequence[int], count: int
    ) -> tuple[Array, Array, Array]:
        """Find the best continuations after a `step`, as `translate.kernels.best_continuations` gives them.

        Args:
            last_ids: As for `step`.
            state: As for `step`.
            sums: Log-probabilities of the hypotheses so far, [B, N].
            banned: Tokens that may not come.
            count: How many continuations of each sentence.
        """
        ...


@runtime_checkable
class GreedyModel(StepModel[StateT], Protocol[StateT]):
    """A `StepModel` that can do a whole greedy search itself, which is faster than step by step."""

    def greedy(
        self,
        memory: Array,
        src_mask: Array,
        limits: Sequence[int],
        banned: Sequence[int],
        bos_id: int,
        eos_id: int,
    ) -> list[tuple[list[int], list[float]]]:
        """Search greedily: the most probable token after the most probable token, until EOS or a limit.

        Args:
            memory: Of the sources, from `encode`, [B, S, M].
            src_mask: [B, S] bool.
            limits: Most tokens of each output, EOS counted.
            banned: Tokens that may not come.
            bos_id: Comes before the first token.
            eos_id: Ends an output, as its last token.

        Returns:
            Of each source its tokens and the log-probability of each beginning; nothing where no token is possible.
        """
        ...
