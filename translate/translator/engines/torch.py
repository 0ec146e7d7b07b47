"""The engine of a model directory: our search over our Transformer, in torch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from translate.common.cores import available_cores
from translate.config.decode import DecodeConfig
from translate.data.batch import Batch, Example, collate
from translate.data.tokenizer import Tokenizer
from translate.search.choose import make_search
from translate.search.ensemble import Ensemble
from translate.search.guards import Ids
from translate.search.hypothesis import Hypothesis
from translate.search.scoring import token_log_probs
from translate.translator.bundle import num_parameters
from translate.translator.engines.engine import EncodedPair, Engine, Found
from translate.translator.parallel import by_length, side_by_side

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from translate.model.transformer import Transformer

DTYPES = {"32": torch.float32, "bf16": torch.bfloat16, "16": torch.float16}  # by precision

# The last layer agrees best with IBM model 1: two models of 2 layers, 74 and 75 % of the links, the first 57 and 66 %.
ALIGNMENT_LAYER = -1
_ALIGNMENT_TOKENS = 2048  # of a batch, small because the weights of all heads are held, and the logits


class TorchEngine(Engine):
    """Run a `Transformer`, or anything that can take its steps.

    Args:
        model: In any mode, on any device and of any floating-point type; it is run in eval mode and left as it was.
        tokenizer: The one it was trained with.
    """

    name: ClassVar[str] = "a model directory"

    def __init__(self, model: Transformer, tokenizer: Tokenizer) -> None:
        self.model, self._special_ids = model, tokenizer
        self.step_model: Any = model  # what a search takes its steps with
        self.num_parameters, self._cores = num_parameters(model), available_cores()

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return next(self.model.parameters()).device

    @property
    def precision(self) -> str:
        """Type of the weights: "32", "bf16" or "16"."""
        dtype = next(self.model.parameters()).dtype
        return next(name for name, known in DTYPES.items() if dtype == known)

    @property
    def threads(self) -> int:
        """CPU threads that translate: those of torch, or fewer where there are fewer cores."""
        return min(torch.get_num_threads(), self._cores)

    @property
    def workers(self) -> int:
        """Batches that are translated side by side: on a CPU one for each core."""
        return self.threads if self.device.type == "cpu" else 1

    def describe(self) -> str:
        """Describe size, device, precision and threads in a line."""
        plan = f", {self.threads} threads, up to {self.workers} batches side by side" if self.workers > 1 else ""
        return f"{self.num_parameters} parameters, device {self.device}, precision {self.precision}{plan}"

    def search(self, sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig) -> Found:
        """Search batches of like length side by side; arguments and results as in `Engine.search`."""
        share = math.ceil(len(sources) / self.workers)  # so that no worker is left without a batch
        batches = by_length([decode.width * len(ids) for ids in sources], decode.batch_tokens, share)

        def search_batch(places: list[int]) -> list[list[Hypothesis]]:
            return self._search_batch(
                [sources[place] for place in places], [prefixes[place] for place in places], decode
            )

        with _eval_mode(self.model):
            yield from zip(batches, side_by_side(search_batch, batches, self.workers, self.threads), strict=True)

    def score(self, pairs: Sequence[EncodedPair], batch_tokens: int) -> Iterator[tuple[list[int], list[list[float]]]]:
        """Score targets by teacher forcing; arguments and results as in `Engine.score`."""
        with _eval_mode(self.model):
            for places in _pair_batches(pairs, batch_tokens):
                batch = self._collate([pairs[place] for place in places])
                masks = {"src_mask": batch.src_mask, "tgt_mask": batch.tgt_mask}
                yield (
                    places,
                    token_log_probs(
                        self.model, batch.src_ids, **masks, tgt_in_ids=batch.tgt_in_ids, labels=batch.labels
                    ),
                )

    def align(self, pairs: Sequence[EncodedPair]) -> list[ArrayLike]:
        """Return the mean over the heads of `ALIGNMENT_LAYER` for each pair, [T, S]."""
        weights: dict[int, ArrayLike] = {}
        with torch.inference_mode(), _eval_mode(self.model):
            for places in _pair_batches(pairs, _ALIGNMENT_TOKENS):
                batch = self._collate([pairs[place] for place in places])
                layers = self.model.cross_attention(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
                means = layers[ALIGNMENT_LAYER].float().mean(1).cpu()  # [B, T, S]
                for place, mean in zip(places, means, strict=True):
                    src_ids, tgt_ids = pairs[place]
                    weights[place] = mean[: len(tgt_ids), : len(src_ids)]
        return [weights[place] for place in range(len(pairs))]

    def cross_attention(self, src_ids: Sequence[int], tgt_ids: Sequence[int]) -> torch.Tensor:
        """Return the weights of all layers and heads, [decoder layers, H, T, S]."""
        batch = self._collate([(src_ids, tgt_ids)])
        with torch.inference_mode(), _eval_mode(self.model):
            return torch.cat(
                self.model.cross_attention(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
            )

    def _search_batch(
        self, sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig
    ) -> list[list[Hypothesis]]:
        special = self._special_ids
        search = make_search(
            decode,
            bos_id=special.bos_id,
            eos_id=special.eos_id,
            forbidden_ids=(special.pad_id, special.bos_id, special.unk_id),
        )
        longest = max(map(len, sources))
        src_ids = torch.tensor([[*ids, *[special.pad_id] * (longest - len(ids))] for ids in sources])  # [B, S]
        lengths = torch.tensor([len(ids) for ids in sources])
        src_mask = torch.arange(longest) < lengths[:, None]  # [B, S]
        return search.search(self.step_model, src_ids.to(self.device), src_mask.to(self.device), prefixes)

    def _collate(self, pairs: Sequence[EncodedPair]) -> Batch:
        examples = [Example(*pair) for pair in pairs]
        return collate(examples, pad_id=self._special_ids.pad_id, bos_id=self._special_ids.bos_id).to(self.device)


class EnsembleEngine(TorchEngine):
    """Run several models as one, whose probability of a token is the mean of theirs.

    Args:
        members: Engines of models with the same vocabulary.
        widths: d_model of each.
        tokenizer: The one they share.
    """

    def __init__(self, members: Sequence[TorchEngine], widths: Sequence[int], tokenizer: Tokenizer) -> None:
        model: Any = Ensemble([member.model for member in members], widths)
        super().__init__(model, tokenizer)
        self.num_parameters, self._precision = sum(one.num_parameters for one in members), members[0].precision

    @property
    def precision(self) -> str:
        """Type of the weights of the first member."""
        return self._precision


def _pair_batches(pairs: Sequence[EncodedPair], batch_tokens: int) -> list[list[int]]:
    return by_length([max(map(len, pair)) for pair in pairs], batch_tokens)


@contextmanager
def _eval_mode(model: Transformer) -> Iterator[None]:
    training = model.training
    if training:  # to walk through all its parts takes as long as a step
        model.eval()
    try:
        yield
    finally:
        if training:
            model.train()
