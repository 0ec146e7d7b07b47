"""An exported model, run by CTranslate2: the same `translate`, without torch and lightning."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translate.config import DecodeConfig
from translate.data.tokenizer import Tokenizer
from translate.decoding.hypothesis import Hypothesis
from translate.exporting.directory import load_settings
from translate.translator import CrossAttention, Translation, Translator

try:
    import ctranslate2
except ModuleNotFoundError as error:
    if error.name != "ctranslate2":
        raise
    raise ValueError("an exported model needs CTranslate2: pip install 'ctranslate2>=4.5'") from error

if TYPE_CHECKING:
    from translate.alignment import Links
    from translate.pairs import Pair, Score

_FLOATS = {"32": "float32", "bf16": "bfloat16", "16": "float16"}
_FOLLOWED = (  # settings of the search; those not named here must be as they are by default
    *("beam_size", "length_penalty", "num_hypotheses", "min_output_len", "max_output_len", "max_output_ratio"),
    *("mbr", "batch_tokens"),
    *("temperature", "top_k", "top_p", "seed"),  # which say nothing to a beam
)


class ExportedTranslator(Translator):
    """A `Translator` over a directory that `translate.export` wrote; `Translator.load` makes it.

    The search is CTranslate2's: what must not be generated, PAD, BOS and UNK, and EOS before `min_output_len`, is taken
    out before the softmax instead of after it, so that log-probabilities are higher by what it had. With a beam another
    hypothesis may come out where one reaches its limit of length unfinished, or where two are as good as each other.

    Args:
        path: An exported directory.
        device: "cpu", "cuda", "cuda:1" …; "auto" takes a GPU where there is one.
        precision: "32", "bf16" or "16": the type of what the quantization leaves in floating point.

    Raises:
        ValueError: If the directory is damaged, or device and precision are not possible here.
    """

    config: Any

    def __init__(self, path: Path | str, *, device: str = "auto", precision: str = "32") -> None:
        self.config, self.tokenizer = load_settings(path), Tokenizer.load(path)
        pieces = self.tokenizer.pieces_tgt(range(self.tokenizer.tgt_vocab_size))
        self._tgt_ids = {piece: token for token, piece in enumerate(pieces)}
        special = self.tokenizer
        self._forbidden = [[pieces[token]] for token in (special.pad_id, special.bos_id, special.unk_id)]
        name, index = _find_device(device)
        compute_type = _compute_type(self.config.quantization, precision, name)
        try:
            self.engine = ctranslate2.Translator(str(path), name, device_index=index, compute_type=compute_type)
        except RuntimeError as error:
            raise ValueError(f"CTranslate2 cannot open {path}: {str(error).splitlines()[0]}") from error

    @property
    def device(self) -> Any:
        """Where the model is: "cpu" or "cuda"."""
        return self.engine.device

    @property
    def precision(self) -> str:
        """What CTranslate2 computes in, such as "int8_float32"."""
        return str(self.engine.compute_type)

    def describe(self) -> str:
        """Runtime, device and precision in a line."""
        return f"CTranslate2 {ctranslate2.__version__}, device {self.device}, precision {self.precision}"

    def cross_attention(self, src: str, tgt: str) -> CrossAttention:
        """Refused: CTranslate2 does not give the weights of each layer and head."""
        raise ValueError("an exported model gives no attention weights; use the model that it was made from")

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[Links]:
        """Refused, as `cross_attention` is."""
        raise ValueError("an exported model gives no alignments; use the model that it was made from")

    def score(
        self,
        pairs: Sequence[Pair],
        *,
        length_penalty: float | None = None,
        batch_tokens: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> list[Score]:
        """Refused: what scores pairs here needs torch."""
        raise ValueError("an exported model does not score pairs; use the model that it was made from")

    @property
    def _max_positions(self) -> int | None:
        return self.config.num_positions  # type: ignore[no-any-return]

    def _check_positions(self, max_output_len: int) -> None:
        end = self.config.num_positions
        if end is not None and max_output_len > end:
            raise ValueError(f"max_output_len ({max_output_len}) must be at most {end}, the positions exported")

    def _translate(
        self, clean: list[str], decode: DecodeConfig, progress: Callable[[int], object] | None
    ) -> list[Translation]:
        """`translate` for clean texts and complete settings."""
        for field in fields(decode):
            value = getattr(decode, field.name)
            if field.name not in _FOLLOWED and value != getattr(DecodeConfig, field.name):
                raise ValueError(
                    f"{field.name} ({value}) is not possible with an exported model, whose search is CTranslate2's; "
                    "leave it out, or use the model that it was made from"
                )
        if decode.mbr != "none" and find_spec("sacrebleu") is None:
            raise ValueError(f"mbr ({decode.mbr}) measures with sacrebleu, which is not here: pip install sacrebleu")
        return super()._translate(clean, decode, progress)

    def _search(self, sources: list[list[int]], decode: DecodeConfig) -> list[list[Hypothesis]]:
        """Hypotheses for one batch of source ids."""
        limits = [_limit(len(ids), decode) for ids in sources]
        found = self._run(sources, decode, max(limits))
        late: dict[int, list[int]] = {}
        for place, (limit, hypotheses) in enumerate(zip(limits, found, strict=True)):
            if any(len(hypothesis.token_ids) > limit for hypothesis in hypotheses):
                late.setdefault(limit, []).append(place)
        for limit, places in late.items():  # as if the search had known: it differs only from the limit on
            again = self._run([sources[place] for place in places], decode, limit)
            for place, hypotheses in zip(places, again, strict=True):
                found[place] = hypotheses
        return [hypotheses[: decode.num_hypotheses] for hypotheses in found]

    def _run(self, sources: list[list[int]], decode: DecodeConfig, max_output_len: int) -> list[list[Hypothesis]]:
        """All the hypotheses of the beam, best first, for one batch and one limit."""
        results = self.engine.translate_batch(
            [self.tokenizer.pieces_src(ids[:-1]) for ids in sources],  # EOS comes by itself
            beam_size=decode.beam_size,
            num_hypotheses=decode.beam_size,
            length_penalty=decode.length_penalty,
            min_decoding_length=decode.min_output_len - 1,  # it does not count EOS
            max_decoding_length=max_output_len,
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
            for found in results
        ]

    def _hypothesis(self, pieces: list[str], score: float, decode: DecodeConfig) -> Hypothesis:
        if math.isnan(score):
            raise ValueError("the model's output is not a number (NaN): use precision=32, or export it anew")
        token_ids = tuple(self._tgt_ids[piece] for piece in pieces)
        return Hypothesis(token_ids, score * len(token_ids) ** decode.length_penalty, score)


def _limit(src_len: int, decode: DecodeConfig) -> int:
    """Most tokens of an output, EOS counted."""
    limit = decode.max_output_len
    if decode.max_output_ratio:
        limit = min(limit, int(src_len * decode.max_output_ratio) + 10)
    return max(limit, decode.min_output_len)


def _find_device(name: str) -> tuple[str, int]:
    """Kind and number of a device."""
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
    """CTranslate2's name of the arithmetic: the quantization's integers beside floats of this precision."""
    integers = quantization.partition("_")[0] if quantization.startswith("int") else ""
    name = "_".join(filter(None, (integers, _FLOATS[precision]))) if integers != "int16" else "int16"
    possible = ctranslate2.get_supported_compute_types(device)
    if name not in possible or (integers == "int16" and precision != "32"):
        raise ValueError(
            f"precision={precision} is not possible on {device} for a model exported with quantization={quantization} "
            f"({name}); CTranslate2 has {', '.join(sorted(possible))} here"
        )
    return name
