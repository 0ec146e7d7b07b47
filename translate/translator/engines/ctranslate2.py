"""The engine of exported models in CTranslate2's format, without torch and lightning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from translate.common.cores import available_cores
from translate.common.errors import first_line
from translate.config.decode import DecodeConfig
from translate.data.tokenizer import Tokenizer
from translate.search.guards import Ids
from translate.search.hypothesis import Hypothesis, normalized_score
from translate.search.rules import OutputRules, output_rules
from translate.translator.engines.directory import ExportedConfig
from translate.translator.engines.engine import EncodedPair, Engine, Found
from translate.translator.engines.local import ALIGNMENT_TOKENS
from translate.translator.parallel import by_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

try:
    import ctranslate2
except ModuleNotFoundError as error:
    if error.name != "ctranslate2":
        raise
    raise ValueError("an exported model needs CTranslate2: pip install 'ctranslate2>=4.5'") from error

_FLOATS = {"32": "float32", "bf16": "bfloat16", "16": "float16"}
_NO_REPEAT = 3  # tokens of an n-gram that may occur only once in an output that is searched again
_AHEAD = 4  # batches for each worker in one call, so that a worker that is done early has more to do


class CTranslate2Engine(Engine):
    """Run an exported model with CTranslate2.

    Its search differs from ours: what must not be generated, PAD, BOS and UNK, and EOS before `min_output_len`, is
    taken out before the softmax instead of after it, so that log-probabilities are higher by the share that it had.
    With a beam another hypothesis may come out where one reaches its limit of length unfinished, or where two are
    equally good. The log-probabilities of single tokens are not known.

    On a CPU there is a worker of one thread for each available core; they share the weights and take batch after batch.
    Small matmuls do not split well over threads, so a sentence by itself has one.

    Args:
        path: An exported directory.
        tokenizer: The one in it.
        config: Its settings.
        device: "cpu", "cuda", "cuda:1" …; "auto" takes a GPU where there is one.
        precision: "32", "bf16" or "16": the type of what the quantization leaves in floating point.

    Raises:
        ValueError: If the directory is damaged, or device and precision are not possible here.
    """

    name: ClassVar[str] = "an exported CTranslate2 model"
    fixed: ClassVar[Mapping[str, object]] = {"search": "beam", "beam_groups": 1}

    def __init__(
        self, path: Path | str, tokenizer: Tokenizer, config: ExportedConfig, *, device: str, precision: str
    ) -> None:
        self.tokenizer, self._max_positions = tokenizer, config.max_positions
        pieces = tokenizer.pieces_tgt(range(tokenizer.tgt_vocab_size))
        self._tgt_ids = {piece: token for token, piece in enumerate(pieces)}
        self._forbidden = [[pieces[token]] for token in tokenizer.forbidden_ids]
        name, index = _find_device(device)
        compute_type = _compute_type(config.quantization, precision, name)
        threads = {"inter_threads": available_cores() if name == "cpu" else 1, "intra_threads": 1}
        try:
            self.runtime = ctranslate2.Translator(
                str(path), name, device_index=index, compute_type=compute_type, **threads
            )
        except RuntimeError as error:
            raise ValueError(f"CTranslate2 cannot open {path}: {first_line(error)}") from error

    @property
    def device(self) -> str:
        """Where the model is: "cpu" or "cuda"."""
        return str(self.runtime.device)

    @property
    def precision(self) -> str:
        """Type that CTranslate2 computes in, such as "int8_float32"."""
        return str(self.runtime.compute_type)

    @property
    def threads(self) -> int:
        """CPU threads that translate, one for each worker."""
        return int(self.runtime.num_translators)

    def describe(self) -> str:
        """Describe runtime, device, precision and threads in a line."""
        workers = f"{self.threads} {'worker' if self.threads == 1 else 'workers'} of one thread"
        return f"CTranslate2 {ctranslate2.__version__}, device {self.device}, precision {self.precision}, {workers}"

    def search(self, sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig) -> Found:
        """Search several batches for each worker at a time; arguments and results as in `Engine.search`."""
        lengths = [decode.width * len(ids) for ids in sources]
        for places in by_length(lengths, decode.batch_tokens * _AHEAD * self.threads):
            some = [sources[place] for place in places], [prefixes[place] for place in places]
            yield places, self._search_batches(*some, decode)

    def align(self, pairs: Sequence[EncodedPair]) -> list[ArrayLike]:
        """Return the attention of each pair, while the search is led through the target; without EOS on either side.

        Models exported by older versions give that of one head alone.
        """
        src = [self._pieces(self.tokenizer.pieces_src, ids) for ids, _ in pairs]
        tgt = [self._pieces(self.tokenizer.pieces_tgt, ids) for _, ids in pairs]
        weights: list[ArrayLike] = [np.zeros((0, 0))] * len(pairs)
        places = [place for place in range(len(pairs)) if src[place] and tgt[place]]
        found = self.runtime.translate_batch(
            [src[place] for place in places],
            [tgt[place] for place in places],
            max_batch_size=ALIGNMENT_TOKENS,
            batch_type="tokens",
            beam_size=1,
            max_decoding_length=1 + max(map(len, tgt), default=0),
            max_input_length=0,
            return_attention=True,
        )
        for place, one in zip(places, found, strict=True):
            weights[place] = one.attention[0][: len(tgt[place])]
        return weights

    def _pieces(self, pieces: Callable[[list[int]], list[str]], ids: Sequence[int]) -> list[str]:
        """Return the pieces of ids without EOS, which comes by itself, as far as there are positions for both."""
        end = None if self._max_positions is None else self._max_positions - 1
        return pieces([token for token in ids if token != self.tokenizer.eos_id][:end])

    def _search_batches(
        self, sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig
    ) -> list[list[Hypothesis]]:
        """Search several batches of source ids, longest first, for outputs that begin with prefixes."""
        rules = [output_rules(*ids, decode) for ids in zip(sources, prefixes, strict=True)]
        found = self._run(sources, rules, decode)
        late: dict[int, list[int]] = {}
        for place, (own, hypotheses) in enumerate(zip(rules, found, strict=True)):
            if any(len(hypothesis.token_ids) > own.longest for hypothesis in hypotheses):
                late.setdefault(own.longest, []).append(place)
        for places in late.values():  # with their own limit; up to it the search is the same
            again = self._run([sources[place] for place in places], [rules[place] for place in places], decode)
            for place, hypotheses in zip(places, again, strict=True):
                found[place] = hypotheses
        self._count_prefixes(sources, prefixes, found, decode)
        if decode.length_guard:  # CTranslate2 cannot be made to end an output; finished ones come first
            for hypotheses in found:
                hypotheses.sort(key=lambda hypothesis: hypothesis.token_ids[-1] != self.tokenizer.eos_id)
        return [hypotheses[: decode.num_hypotheses] for hypotheses in found]

    def _run(
        self, sources: Sequence[Ids], rules: Sequence[OutputRules], decode: DecodeConfig
    ) -> list[list[Hypothesis]]:
        """Return all hypotheses of the beam, best first; each batch is searched to the largest of its limits."""
        posted = []
        for part in self._parts(sources, rules, decode):
            posted += self.runtime.translate_batch(
                [self.tokenizer.pieces_src(ids[:-1]) for ids in sources[part]],  # EOS comes by itself
                [self.tokenizer.pieces_tgt(own.prefix_ids) or None for own in rules[part]],
                asynchronous=True,
                beam_size=decode.beam_size,
                num_hypotheses=decode.beam_size,
                length_penalty=decode.length_penalty,
                min_decoding_length=rules[part][0].shortest - 1,  # it does not count EOS
                max_decoding_length=max(own.longest for own in rules[part]),
                no_repeat_ngram_size=_NO_REPEAT if decode.repetition_guard else 0,
                max_input_length=0,
                suppress_sequences=self._forbidden,
                return_end_token=True,
                return_scores=True,
            )
        return [
            [
                self._hypothesis(pieces, score, decode)
                for pieces, score in zip(found.hypotheses, found.scores, strict=True)
            ]
            for found in (waiting.result() for waiting in posted)
        ]

    def _count_prefixes(
        self, sources: Sequence[Ids], prefixes: Sequence[Ids], found: list[list[Hypothesis]], decode: DecodeConfig
    ) -> None:
        """Add the log-probabilities of prefixes, which CTranslate2 leaves out, and bring hypotheses in order again."""
        places = [place for place, ids in enumerate(prefixes) if ids]
        scored = self.runtime.score_batch(
            [self.tokenizer.pieces_src(sources[place][:-1]) for place in places],
            [self.tokenizer.pieces_tgt(prefixes[place]) for place in places],
            max_batch_size=decode.batch_tokens,
            batch_type="tokens",
            max_input_length=0,
        )
        for place, score in zip(places, scored, strict=True):
            added = sum(score.log_probs[: len(prefixes[place])])
            found[place] = sorted(
                (_with_log_prob(one, one.log_prob + added, decode) for one in found[place]), key=lambda one: -one.score
            )

    def _parts(self, sources: Sequence[Ids], rules: Sequence[OutputRules], decode: DecodeConfig) -> Iterator[slice]:
        """Cut the sources into batches, no fewer than there are workers; the outputs of each have one least length."""
        most, start = math.ceil(len(sources) / self.threads), 0
        while start < len(sources):
            rows = min(most, max(1, decode.batch_tokens // (decode.width * len(sources[start]))))
            lengths = [own.shortest for own in rules[start : start + rows]]
            rows = len(list(takewhile(lengths[0].__eq__, lengths)))
            yield slice(start, start + rows)
            start += rows

    def _hypothesis(self, pieces: list[str], score: float, decode: DecodeConfig) -> Hypothesis:
        if math.isnan(score):
            raise ValueError("the model's output is not a number (NaN): use precision=32, or export it anew")
        # an empty source has no pieces, not even the end
        token_ids = tuple(self._tgt_ids[piece] for piece in pieces) or (self.tokenizer.eos_id,)
        return Hypothesis(token_ids, score * len(token_ids) ** decode.length_penalty, score)


def _with_log_prob(found: Hypothesis, log_prob: float, decode: DecodeConfig) -> Hypothesis:
    return Hypothesis(
        found.token_ids, log_prob, normalized_score(log_prob, len(found.token_ids), decode.length_penalty)
    )


def _find_device(name: str) -> tuple[str, int]:
    """Return the kind and the number of a device."""
    gpus = ctranslate2.get_cuda_device_count()
    if name == "auto":
        return ("cuda" if gpus else "cpu"), 0
    kind, _, number = name.partition(":")
    if kind == "cpu" and not number:
        return kind, 0
    if kind == "cuda" and (number or "0").isdigit() and int(number or 0) < gpus:
        return kind, int(number or 0)
    raise ValueError(
        f"device ({name}) cannot be used here: an exported model runs on cpu or one of {gpus} CUDA devices"
    )


def _compute_type(quantization: str, precision: str, device: str) -> str:
    """Return CTranslate2's name of the type: integers of the quantization beside floats of this precision."""
    integers = quantization.partition("_")[0] if quantization.startswith("int") else ""
    name = "_".join(filter(None, (integers, _FLOATS[precision]))) if integers != "int16" else "int16"
    possible = ctranslate2.get_supported_compute_types(device)
    if name not in possible or (integers == "int16" and precision != "32"):
        raise ValueError(
            f"precision={precision} is not possible on {device} for a model exported with quantization={quantization} "
            f"({name}); CTranslate2 has {', '.join(sorted(possible))} here"
        )
    return name
