"""The engine of exported ONNX models: greedy search with onnxruntime, without torch and lightning.

`OnnxEngine._search_batch` is all that a program in another language has to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from translate.common.cores import available_cores
from translate.common.errors import first_line
from translate.config.decode import DecodeConfig
from translate.data.tokenizer import Tokenizer
from translate.search.guards import Ids
from translate.search.hypothesis import Hypothesis, normalized_score
from translate.search.rules import OutputRules, output_rules
from translate.translator.engines.engine import Engine, Found
from translate.translator.engines.local import padded
from translate.translator.parallel import by_length

try:
    import onnxruntime
except ModuleNotFoundError as error:
    if error.name != "onnxruntime":
        raise
    raise ValueError("an ONNX model needs onnxruntime: pip install 'onnxruntime>=1.20'") from error

Array = np.ndarray[Any, Any]


class OnnxEngine(Engine):
    """Run an exported model with onnxruntime.

    Args:
        path: An exported directory.
        tokenizer: The one in it.
        device: "cpu", or "auto", which is the same.
        precision: "32".

    Raises:
        ValueError: If the directory is damaged, or device and precision are others.
    """

    name: ClassVar[str] = "an exported ONNX model, whose search is greedy"
    fixed: ClassVar[Mapping[str, object]] = {"search": "beam", "beam_size": 1, "formality": "any"}

    def __init__(self, path: Path | str, tokenizer: Tokenizer, *, device: str, precision: str) -> None:
        if device not in ("auto", "cpu"):
            raise ValueError(f"device ({device}) cannot be used here: an ONNX model runs on cpu")
        if precision != "32":
            raise ValueError(f"precision={precision} is not possible: an ONNX model computes with precision=32")
        self.tokenizer = tokenizer
        self._encoder, self._decoder = (_session(Path(path, name)) for name in ("encoder.onnx", "decoder.onnx"))

    @property
    def device(self) -> str:
        """Where the model is: "cpu"."""
        return "cpu"

    @property
    def precision(self) -> str:
        """Type that onnxruntime computes in: "float32"."""
        return "float32"

    @property
    def threads(self) -> int:
        """CPU threads that translate: one for each core."""
        return available_cores()

    def describe(self) -> str:
        """Describe runtime, device and precision in a line."""
        return f"onnxruntime {onnxruntime.__version__}, device {self.device}, precision {self.precision}"

    def search(self, sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig) -> Found:
        """Search one batch after another, whose threads onnxruntime divides; as in `Engine.search`."""
        for places in by_length([len(ids) for ids in sources], decode.batch_tokens):
            some = [sources[place] for place in places], [prefixes[place] for place in places]
            yield places, self._search_batch(*some, decode)

    def _search_batch(
        self, sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig
    ) -> list[list[Hypothesis]]:
        """Return the one hypothesis of each source; sentences that are done leave the batch."""
        special = self.tokenizer
        forbidden, eos_id = list(special.forbidden_ids), special.eos_id
        src_ids, src_mask = padded(sources, special.pad_id)
        memories = self._encoder.run(None, {"src_ids": src_ids, "src_mask": src_mask})
        state = [np.full(len(sources), special.bos_id), src_mask, *memories, *self._no_past(len(sources))]
        names = [given.name for given in self._decoder.get_inputs()]  # of what `state` holds
        rules = [output_rules(*ids, decode) for ids in zip(sources, prefixes, strict=True)]
        limits = np.array([own.longest for own in rules])
        left = np.arange(len(sources))  # places of the sentences that are not done
        token_ids: list[list[int]] = [[] for _ in sources]
        token_log_probs: list[list[float]] = [[] for _ in sources]
        for length in range(1, limits.max() + 1):
            log_probs, *presents = self._decoder.run(None, dict(zip(names, state, strict=True)))  # [B, V]
            log_probs[:, forbidden] = -np.inf
            for place, row in zip(left, log_probs, strict=True):
                _restrict(row, rules[place], token_ids[place], eos_id)
            last_ids = log_probs.argmax(axis=1)
            for place, token_id, log_prob in zip(left, last_ids.tolist(), log_probs.max(axis=1).tolist(), strict=True):
                token_ids[place].append(token_id)
                token_log_probs[place].append(log_prob)
            state = [last_ids, *state[1 : -len(presents)], *presents]
            goes_on = (last_ids != eos_id) & (limits[left] > length)
            if not goes_on.all():
                left, state = left[goes_on], [part[goes_on] for part in state]
            if not len(left):
                break
        return [[_hypothesis(*found, decode)] for found in zip(token_ids, token_log_probs, strict=True)]

    def _no_past(self, batch: int) -> list[Array]:
        """Return the empty self-attention caches before the first step, [B, …, 0, W]."""
        pasts = [given for given in self._decoder.get_inputs() if given.name.startswith("past_")]
        return [np.zeros((batch, *past.shape[1:-2], 0, past.shape[-1]), np.float32) for past in pasts]


def _restrict(log_probs: Array, rules: OutputRules, token_ids: list[int], eos_id: int) -> None:
    """Set the log-probabilities [V] of what must not follow to -inf, in place."""
    forced = rules.forced(len(token_ids) + 1, eos_id)
    if forced is None:
        log_probs[list(rules.banned(token_ids, eos_id))] = -np.inf
    else:
        log_probs[:forced], log_probs[forced + 1 :] = -np.inf, -np.inf


def _hypothesis(token_ids: list[int], log_probs: list[float], decode: DecodeConfig) -> Hypothesis:
    log_prob = sum(log_probs)
    if np.isnan(log_prob):
        raise ValueError("the model's output is not a number (NaN): export it anew")
    score = normalized_score(log_prob, len(token_ids), decode.length_penalty)
    return Hypothesis(tuple(token_ids), log_prob, score, tuple(log_probs))


def _session(path: Path) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = available_cores()
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own have no common class
        raise ValueError(f"onnxruntime cannot open {path}: {first_line(error)}") from error
