"""Engines that translate texts, each by its natural API: ours, CTranslate2, Hugging Face's generate.

An engine imports its libraries when it is opened, so that each process holds one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Protocol

from translate.config.decode import DecodeConfig

OURS, OTHER, CTRANSLATE2, HUGGING_FACE = "translate", "other model", "CTranslate2", "Hugging Face"

_WITHOUT_TORCH, _WITH_TORCH = ("sentencepiece", "numpy"), ("sentencepiece", "torch", "safetensors.torch")
_OUR_BATCH_SIZES = (512, 1024, 2048, 4096, 8192)

_FRAMEWORKS = {
    CTRANSLATE2: ("sentencepiece", "ctranslate2"),
    HUGGING_FACE: (
        "sentencepiece",
        "torch",
        "transformers.models.m2m_100.modeling_m2m_100",
        "transformers.models.marian.modeling_marian",
    ),
}

TRIES = 3  # of each batch size; the fastest of all counts
_BATCH_SIZES = {
    OURS: _OUR_BATCH_SIZES,
    OTHER: _OUR_BATCH_SIZES,
    CTRANSLATE2: (512, 1024, 2048, 4096, 8192),
    HUGGING_FACE: (512, 1024, 2048, 4096),
}


@dataclass(frozen=True)
class EngineSpec:
    """What a process must know to open an engine.

    Attributes:
        name: Of its row.
        kind: `OURS`, `OTHER`, a second model of ours, `CTRANSLATE2` or `HUGGING_FACE`.
        path: Its model directory, with our tokenizer in it.
        precision: Of ours and the other, as `Translator.load` takes it; of CTranslate2 on a GPU its compute type.
        workers: Of CTranslate2: batches that are translated at the same time.
        threads: Of each batch; ours chooses by itself.
        device: "cpu" or "cuda".
    """

    name: str
    kind: str
    path: str
    precision: str = "32"
    workers: int = 1
    threads: int = 1
    device: str = "cpu"


def batch_sizes(kind: str, device: str) -> tuple[int, ...]:
    """Return the limits of tokens in a batch to choose from."""
    sizes = _BATCH_SIZES[kind]
    return sizes if device == "cpu" else tuple(16 * size for size in sizes)


class Engine(Protocol):
    """An opened engine."""

    @property
    def description(self) -> str:
        """Description of the engine."""

    def translate(self, texts: Sequence[str], beam_size: int, batch_size: int) -> tuple[list[str], int]:
        """Translate clean texts; return the translations and their number of target tokens, EOS counted."""


class OurEngine:
    """`Translator.translate`, with the threads and workers that it chooses."""

    def __init__(self, spec: EngineSpec, decode: DecodeConfig) -> None:
        from translate.translator.translator import Translator

        self.translator, self.decode = Translator.load(spec.path, device=spec.device, precision=spec.precision), decode
        self.description = self.translator.describe()
        self.translator.translate([], decode)  # refuses a bad setting

    def translate(self, texts: Sequence[str], beam_size: int, batch_size: int) -> tuple[list[str], int]:
        """Translate, as `Engine.translate` says."""
        decode = replace(self.decode, beam_size=beam_size, batch_tokens=batch_size)
        found = self.translator.translate(texts, decode)
        return [one.text for one in found], sum(len(one.hypotheses[0].token_ids) for one in found)


class CTranslate2Engine:
    """SentencePiece and one `translate_batch` of all texts, which it sorts by length and cuts into batches."""

    def __init__(self, spec: EngineSpec, decode: DecodeConfig) -> None:
        import ctranslate2
        from sentencepiece import SentencePieceProcessor

        self.decode = decode
        files = sorted(Path(spec.path).glob("tokenizer*.model"))  # one for both sides, or source before target
        self.src, self.tgt = (SentencePieceProcessor(model_file=str(file)) for file in (files[0], files[-1]))
        self.end = self.tgt.id_to_piece(self.tgt.eos_id())
        threads = {"inter_threads": spec.workers, "intra_threads": spec.threads}
        kind = "default" if spec.device == "cpu" else spec.precision
        self.engine = ctranslate2.Translator(spec.path, spec.device, compute_type=kind, **threads)
        self.description = ", ".join(f"{name}={value}" for name, value in threads.items())
        self.description += f", compute_type={self.engine.compute_type}"

    def translate(self, texts: Sequence[str], beam_size: int, batch_size: int) -> tuple[list[str], int]:
        """Translate, as `Engine.translate` says."""
        found = self.engine.translate_batch(
            self.src.encode(list(texts), out_type=str),
            max_batch_size=batch_size,
            batch_type="tokens",
            beam_size=beam_size,
            length_penalty=self.decode.length_penalty,
            max_decoding_length=self.decode.max_output_len,
            return_end_token=True,  # it counts in the length that divides scores, as in ours
        )
        pieces = [one.hypotheses[0] for one in found]
        return self.tgt.decode([each[: -(each[-1] == self.end) or None] for each in pieces]), sum(map(len, pieces))


class HuggingFaceEngine:
    """SentencePiece and `generate` of batches of like length, longest first."""

    def __init__(self, spec: EngineSpec, decode: DecodeConfig) -> None:
        import torch

        from translate.benchmark.decode_huggingface import load_peer
        from translate.data.tokenizer import Tokenizer

        torch.set_num_threads(spec.threads)
        dtype = torch.float32 if spec.device == "cpu" else torch.bfloat16
        self.model = load_peer(spec.path).to(spec.device, dtype)
        self.decode, self.tokenizer = decode, Tokenizer.load(spec.path)
        self.description = f"{type(self.model).__name__}, {dtype}, {spec.threads} threads"

    def translate(self, texts: Sequence[str], beam_size: int, batch_size: int) -> tuple[list[str], int]:
        """Translate, as `Engine.translate` says."""
        from translate.benchmark.decode_huggingface import generate

        sources = self.tokenizer.encode_src_batch(list(texts))
        order = sorted(range(len(sources)), key=lambda place: -len(sources[place]))
        outputs: list[list[int]] = [[] for _ in sources]
        while order:
            rows = max(1, batch_size // len(sources[order[0]]))
            batch, order = order[:rows], order[rows:]
            found = generate(self.model, [sources[place] for place in batch], self.decode, beam_size)
            for place, token_ids in zip(batch, found, strict=True):
                outputs[place] = token_ids
        return self.tokenizer.decode_batch(outputs), sum(map(len, outputs))


def import_framework(spec: EngineSpec) -> None:
    """Import what an engine is built on, so that its memory can be told from the engine's."""
    if spec.kind == CTRANSLATE2:
        sys.modules["torch"] = None  # type: ignore[assignment]  # older versions import it where it is; none needs it
    ours = _WITHOUT_TORCH if spec.precision == "int8" else _WITH_TORCH
    for name in _FRAMEWORKS.get(spec.kind, ours):
        import_module(name)


def open_engine(spec: EngineSpec, decode: DecodeConfig) -> Engine:
    """Open an engine.

    Raises:
        ValueError: If it is not possible here.
    """
    kinds: dict[str, Callable[[EngineSpec, DecodeConfig], Engine]] = {
        OURS: OurEngine,
        OTHER: OurEngine,
        CTRANSLATE2: CTranslate2Engine,
        HUGGING_FACE: HuggingFaceEngine,
    }
    return kinds[spec.kind](spec, decode)
