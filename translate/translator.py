"""Strings in, translations out: the model, its tokenizer and a search behind one class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from translate.bundle import BundleConfig, find_model, load_bundle
from translate.config import DecodeConfig
from translate.data.batch import Example, collate
from translate.data.cleaning import clean_text
from translate.data.tokenizer import Tokenizer
from translate.decoding.beam import BeamSearch
from translate.decoding.hypothesis import Hypothesis, normalized_score
from translate.model.transformer import Transformer
from translate.splitting import split_text

_DTYPES = {"32": torch.float32, "bf16": torch.bfloat16, "16": torch.float16}


class TranslatedHypothesis(NamedTuple):
    """One way to translate a text.

    Attributes:
        text: One line.
        score: log_prob / len(token_ids) ** length_penalty; higher is better.
        log_prob: Sum of the tokens' log-probabilities, natural log.
        token_ids: Target ids, EOS last; for a text translated in pieces, those of all pieces.
    """

    text: str
    score: float
    log_prob: float
    token_ids: tuple[int, ...]


class Translation(NamedTuple):
    """The translation of one text.

    Attributes:
        text: That of the best hypothesis; one line, "" for an empty source.
        score: That of the best hypothesis; 0 for an empty source.
        hypotheses: As many as asked for, best first; none for an empty source.
    """

    text: str
    score: float
    hypotheses: tuple[TranslatedHypothesis, ...]


class CrossAttention(NamedTuple):
    """Where each piece of a translation looked in its source; EOS ends both sides.

    Attributes:
        src_pieces: S pieces.
        tgt_pieces: T pieces.
        weights: [decoder layers, H, T, S]; row t belongs to the step that predicts `tgt_pieces[t]`, and sums to 1.
    """

    src_pieces: list[str]
    tgt_pieces: list[str]
    weights: Tensor


class Translator:
    """Translates with one model.

    Args:
        model: Any mode, device and floating-point type; `translate` runs it in eval mode and leaves it as it was.
        tokenizer: The one the model was trained with.
        config: Languages, limits and the default search settings.
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer, config: BundleConfig) -> None:
        self.model, self.tokenizer, self.config = model, tokenizer, config

    @classmethod
    def load(cls, path: Path | str | None = None, *, device: str = "auto", precision: str = "32") -> Translator:
        """Open a model directory.

        Args:
            path: A model directory or a run directory; None means the newest finished run, `runs/latest`.
            device: "cpu", "cuda", "cuda:1" …; "auto" takes a GPU where there is one.
            precision: "32", "bf16", or "16" (GPU only): the type of weights and matmuls; log-probabilities are always
                float32.

        Raises:
            ValueError: If there is no model, it is damaged, or device and precision are not possible here.
        """
        place = _find_device(device)
        if precision not in _DTYPES:
            raise ValueError(f"precision ({precision}) must be one of {', '.join(_DTYPES)}")
        if precision == "16" and place.type != "cuda":
            raise ValueError(f"precision=16 needs a GPU, not device {place}; use bf16 or 32")
        model, tokenizer, config = load_bundle(find_model(path), place)
        return cls(model.to(_DTYPES[precision]), tokenizer, config)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(self.model.parameters()).device

    @property
    def precision(self) -> str:
        """Type of the model's weights: "32", "bf16" or "16"."""
        dtype = next(self.model.parameters()).dtype
        return next(name for name, known in _DTYPES.items() if known == dtype)

    @property
    def max_src_len(self) -> int:
        """Longest source that is translated in one piece, in tokens with EOS."""
        model = self.config.model
        return min(self.config.max_src_len, model.max_positions if model.positions == "learned" else 2**31)

    def translate(
        self,
        texts: Sequence[str],
        *,
        beam_size: int | None = None,
        length_penalty: float | None = None,
        num_hypotheses: int | None = None,
        min_output_len: int | None = None,
        max_output_len: int | None = None,
        max_output_ratio: float | None = None,
        batch_tokens: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> list[Translation]:
        """Translate texts; each comes out as one line, in the order given, whatever the batches were.

        A text is cleaned as in training (`clean_text`); one that is then empty gives an empty translation without
        touching the model. Equal texts are translated once. A text longer than `max_src_len` tokens is cut at sentence
        ends (see `split_text`), its pieces are translated on their own and joined by spaces: hypothesis number k of
        the text is made of number k of each piece.

        Settings left at None are those of the model directory; they are explained in `BeamSearch`.

        Args:
            texts: Any strings.
            beam_size: Search width; 1 is greedy.
            length_penalty: Exponent of the length that divides log-probabilities.
            num_hypotheses: Hypotheses per text, at most `beam_size`.
            min_output_len: Fewest tokens of an output, EOS counted.
            max_output_len: Most tokens of an output, EOS counted.
            max_output_ratio: Most tokens of an output per source token, beyond the first 10; 0 = off.
            batch_tokens: Limit of sentences * beam_size * longest source in a batch; one sentence is always allowed.
            progress: Called after each batch with the number of texts that it completed.

        Raises:
            ValueError: If a setting is out of its range, or `max_output_len` exceeds the model's learned positions.
        """
        if isinstance(texts, str):
            raise ValueError("texts must be a list of strings, not one string: translate([text])")
        given: dict[str, Any] = {
            "beam_size": beam_size,
            "length_penalty": length_penalty,
            "num_hypotheses": num_hypotheses,
            "min_output_len": min_output_len,
            "max_output_len": max_output_len,
            "max_output_ratio": max_output_ratio,
            "batch_tokens": batch_tokens,
        }
        if beam_size is not None and num_hypotheses is None:  # the directory's own may not fit the new beam
            given["num_hypotheses"] = min(self.config.decode.num_hypotheses, beam_size)
        decode = replace(self.config.decode, **{key: value for key, value in given.items() if value is not None})
        self._check_positions(decode.max_output_len)
        return self._translate([clean_text(text) for text in texts], decode, progress)

    def cross_attention(self, src: str, tgt: str) -> CrossAttention:
        """Cross-attention weights while the model reads `src` and is led through the translation `tgt`."""
        tokenizer = self.tokenizer
        src_ids, tgt_ids = tokenizer.encode_src(clean_text(src)), tokenizer.encode_tgt(clean_text(tgt))
        batch = collate([Example(src_ids, tgt_ids)], pad_id=tokenizer.pad_id, bos_id=tokenizer.bos_id).to(self.device)
        with torch.inference_mode(), _eval_mode(self.model):
            weights = self.model.cross_attention(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
        return CrossAttention(tokenizer.pieces_src(src_ids), tokenizer.pieces_tgt(tgt_ids), torch.cat(weights))

    def _translate(
        self, clean: list[str], decode: DecodeConfig, progress: Callable[[int], object] | None
    ) -> list[Translation]:
        """`translate` for clean texts and complete settings."""
        room = min(self.max_src_len, decode.max_output_len * 2 // 3)  # a translation may be longer than its source
        pieces, ids = self._pieces(dict.fromkeys(text for text in clean if text), max(2, room))
        completes = Counter(pieces[text][-1] for text in clean if text)
        if progress is not None and "" in clean:
            progress(clean.count(""))
        found: dict[str, list[Hypothesis]] = {}
        for batch in _batches(ids, decode):
            found.update(zip(batch, self._search([ids[piece] for piece in batch], decode), strict=True))
            if progress is not None:
                progress(sum(completes[piece] for piece in batch))
        results = {"": Translation("", 0.0, ())}
        for text, parts in pieces.items():
            results[text] = self._join([found[piece] for piece in parts], decode.length_penalty)
        return [results[text] for text in clean]

    def _check_positions(self, max_output_len: int) -> None:
        model = self.config.model
        if model.positions == "learned" and max_output_len > model.max_positions:
            raise ValueError(
                f"max_output_len ({max_output_len}) must be at most {model.max_positions}, "
                "the learned positions of this model (model.max_positions)"
            )

    def _pieces(self, texts: dict[str, None], room: int) -> tuple[dict[str, list[str]], dict[str, list[int]]]:
        """What to translate for each text, itself or pieces of `room` tokens, and the source ids of each piece."""
        encoded = dict(zip(texts, self.tokenizer.encode_src_batch(list(texts)), strict=True))
        pieces = {text: [text] for text in texts}
        for text in [text for text, ids in encoded.items() if len(ids) > self.max_src_len]:
            del encoded[text]
            pieces[text] = split_text(text, lambda piece: len(self.tokenizer.encode_src(piece)) <= room)
            encoded.update(zip(pieces[text], self.tokenizer.encode_src_batch(pieces[text]), strict=True))
        return pieces, encoded

    def _search(self, sources: list[list[int]], decode: DecodeConfig) -> list[list[Hypothesis]]:
        """Hypotheses for one batch of source ids."""
        special = self.tokenizer
        search = BeamSearch(
            bos_id=special.bos_id,
            eos_id=special.eos_id,
            forbidden_ids=(special.pad_id, special.bos_id, special.unk_id),
            beam_size=decode.beam_size,
            length_penalty=decode.length_penalty,
            num_hypotheses=decode.num_hypotheses,
            min_output_len=decode.min_output_len,
            max_output_len=decode.max_output_len,
            max_output_ratio=decode.max_output_ratio,
        )
        src_ids = pad_sequence([torch.tensor(ids) for ids in sources], batch_first=True, padding_value=special.pad_id)
        lengths = torch.tensor([len(ids) for ids in sources])
        src_mask = torch.arange(src_ids.size(1)) < lengths[:, None]  # [B, S]
        with _eval_mode(self.model):
            return search.search(self.model, src_ids.to(self.device), src_mask.to(self.device))

    def _join(self, parts: list[list[Hypothesis]], length_penalty: float) -> Translation:
        """One translation from the hypotheses of a text's pieces."""
        hypotheses = []
        for chosen in zip(*parts, strict=False):  # all have equally many, save where fewer are possible
            token_ids = tuple(token for hypothesis in chosen for token in hypothesis.token_ids)
            log_prob = sum(hypothesis.log_prob for hypothesis in chosen)
            texts = [clean_text(self.tokenizer.decode(hypothesis.token_ids)) for hypothesis in chosen]
            score = normalized_score(log_prob, len(token_ids), length_penalty)
            hypotheses.append(TranslatedHypothesis(" ".join(filter(None, texts)), score, log_prob, token_ids))
        return Translation(hypotheses[0].text, hypotheses[0].score, tuple(hypotheses))


def _batches(ids: dict[str, list[int]], decode: DecodeConfig) -> Iterator[list[str]]:
    """Pieces longest first, so that the first batch shows whether memory suffices, within `batch_tokens`."""
    order = sorted(ids, key=lambda piece: -len(ids[piece]))
    start = 0
    while start < len(order):
        rows = max(1, decode.batch_tokens // (decode.beam_size * len(ids[order[start]])))
        yield order[start : start + rows]
        start += rows


@contextmanager
def _eval_mode(model: Transformer) -> Iterator[None]:
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


def _find_device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device ({name}) cannot be used here: {str(error).splitlines()[0]}") from error
    return device
