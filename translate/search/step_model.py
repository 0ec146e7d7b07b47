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
class SearchModel(StepModel[StateT], Protocol[StateT]):
    """A `StepModel` that can do a whole beam search itself, which is faster than step by step."""

    def beam_search(
        self,
        memory: Array,
        src_mask: Array,
        limits: Sequence[int],
        *,
        beam_size: int,
        wanted: int,
        length_penalty: float,
        banned: Sequence[int],
        bos_id: int,
        eos_id: int,
    ) -> Sequence[tuple[list[int], list[int], list[float], list[tuple[int, int, float]]]]:
        """Search as `BeamSearch` does where no rule but the limits of length restricts outputs.

        Args:
            memory: Of the sources, from `encode`, [B, S, M].
            src_mask: [B, S] bool.
            limits: Most tokens of each output, EOS counted.
            beam_size: N, hypotheses of a sentence that go on; 1 = greedy search.
            wanted: Finished hypotheses of a sentence that suffice.
            length_penalty: As of `normalized_score`.
            banned: Tokens that may not come.
            bos_id: Comes before the first token.
            eos_id: Ends an output, as its last token.

        Returns:
            Of each source, N of each step: the newest tokens, which hypothesis of the step before each continues, and
            the log-probability of each with all before it; and of each finished hypothesis the number of tokens, which
            hypothesis of the step before EOS it continues, and its log-probability.
        """
        ...
