"""Strings in, translations out: the model, its tokenizer and a search behind one class.

What needs torch imports it where it runs: an exported model is translated without (see engines/).
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translate.common.cores import available_cores, limit_threads
from translate.common.memory import limit_kernel_caches
from translate.config.decode import PRECISIONS, DecodeConfig
from translate.data.cleaning import clean_text
from translate.data.tokenizer import Tokenizer
from translate.markup.protect import fill_slots, translate_masked
from translate.markup.terminology import Terminology
from translate.search.guards import Ids, guarded_search
from translate.search.hypothesis import Hypothesis
from translate.translator.alignment import Links, joined_links
from translate.translator.bundle import BundleConfig, find_model, load_bundle, num_parameters, with_tags
from translate.translator.engines.directory import exported_format
from translate.translator.parallel import by_length, side_by_side
from translate.translator.segments import split_text
from translate.translator.translation import CrossAttention, Request, TranslatedHypothesis, Translation, join_pieces

if TYPE_CHECKING:
    import torch

    from translate.model.transformer import Transformer
    from translate.translator.scoring import Pair, Score

_DTYPES = {"32": "float32", "bf16": "bfloat16", "16": "float16"}


class Translator:
    """Translates with one model.

    Args:
        model: Any mode, device and floating-point type; `translate` runs it in eval mode and leaves it as it was.
        tokenizer: The one the model was trained with.
        config: Languages, limits and the default search settings.
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer, config: BundleConfig) -> None:
        self.model, self.tokenizer, self.config = model, with_tags(tokenizer, config), config
        self._num_parameters, self._cores = num_parameters(model), available_cores()
        self._step_model: Any = model
        self._int8 = False

    @classmethod
    def load(cls, path: Path | str | None = None, *, device: str = "auto", precision: str = "32") -> Translator:
        """Open a model directory, or one that `translate.export` wrote.

        Args:
            path: A model directory, a run directory or an exported one; None means the newest finished run,
                `runs/latest`.
            device: "cpu", "cuda", "cuda:1" …; "auto" takes a GPU where there is one.
            precision: "32", "bf16", "16" (GPU only) or "int8" (CPU only): the type of weights and matmuls;
                log-probabilities are always float32. "auto" tries which is the fastest here (`fastest`). Of an exported
                model the type of whatever its quantization leaves in floating point; "auto" is "32".

        Raises:
            ValueError: If there is no model, it is damaged, or device and precision are not possible here.
        """
        if precision not in PRECISIONS:
            raise ValueError(f"precision ({precision}) must be one of {', '.join(PRECISIONS)}")
        if path is not None and exported_format(path):
            from translate.translator.engines.exported import open_exported

            return open_exported(path, device=device, precision=precision)
        if precision == "auto":
            from translate.translator.precision import fastest

            return fastest(lambda kind: cls.load(path, device=device, precision=kind))
        place = _find_device(device)
        if place.type == "cpu":
            limit_threads()
        if precision == "16" and place.type != "cuda":
            raise ValueError(f"precision=16 needs a GPU, not device {place}; use bf16 or 32")
        if precision == "int8" and place.type != "cpu":
            raise ValueError(f"precision=int8 is for CPUs, not device {place}; use bf16, 16 or 32")
        if place.type == "cpu" and precision != "32":
            limit_kernel_caches()
        return cls(*load_bundle(find_model(path), place))._to(precision)

    def _to(self, precision: str) -> Translator:
        """Turn weights that are float32 into another precision, as in `load`."""
        import torch

        if precision != "int8":
            self.model.to(getattr(torch, _DTYPES[precision]))
            return self
        from translate.model.int8 import to_int8
        from translate.model.int8_transformer import Int8Transformer, runs_natively

        to_int8(self.model)
        self._int8 = True
        if runs_natively(self.model):
            self._step_model = Int8Transformer(self.model)
        return self

    @classmethod
    def ensemble(cls, members: Sequence[Translator]) -> Translator:
        """One translator of several: a token's probability is the mean of what their models give it.

        Settings that a call does not give are those of the first; sources are cut where the first of them would cut.

        Raises:
            ValueError: If they do not share languages and tokenizer, or one is an exported model.
        """
        from translate.search.ensemble import Ensemble

        first = members[0]
        for number, member in enumerate(members, 1):
            _check_member(first, member, number)
        networks = [member.config.model for member in members]
        shortest = min(members, key=lambda member: member._max_positions or math.inf)
        limit = min(member.max_src_len for member in members)
        config = replace(first.config, model=shortest.config.model, max_src_len=limit)
        model: Any = Ensemble([member.model for member in members], [network.d_model for network in networks])
        together = cls(model, first.tokenizer, config)
        together._int8 = first._int8
        together._num_parameters = sum(member._num_parameters for member in members)
        return together

    def into(self, tgt_lang: str) -> Translator:
        """The same model asked to translate into `tgt_lang`, from the other of its two languages.

        Raises:
            ValueError: If it was not trained for that (data.both_directions with data.language_tags).
        """
        config = self.config
        if tgt_lang == config.tgt_lang:
            return self
        if tgt_lang not in config.tgt_langs:
            back = " and back" if len(config.tgt_langs) > 1 else " only"
            raise ValueError(
                f"tgt_lang ({tgt_lang}): this model translates {config.src_lang} to {config.tgt_lang}{back}"
            )
        other = copy.copy(self)
        other.config = replace(config, src_lang=config.tgt_lang, tgt_lang=tgt_lang)
        other.tokenizer = self.tokenizer.tagged(tgt_lang)
        return other

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(self.model.parameters()).device

    @property
    def precision(self) -> str:
        """Type of the model's weights: "32", "bf16", "16" or "int8"."""
        if self._int8:
            return "int8"
        dtype = str(next(self.model.parameters()).dtype)
        return next(name for name, known in _DTYPES.items() if dtype == f"torch.{known}")

    @property
    def threads(self) -> int:
        """CPU threads that translate: torch's, or fewer where fewer cores are there."""
        import torch

        return min(torch.get_num_threads(), self._cores)

    @property
    def workers(self) -> int:
        """Batches that are translated side by side: on a CPU one for each core."""
        return self.threads if self.device.type == "cpu" else 1

    def describe(self) -> str:
        """Size, device and precision in a line."""
        plan = f", {self.threads} threads, up to {self.workers} batches side by side" if self.workers > 1 else ""
        return f"{self._num_parameters} parameters, device {self.device}, precision {self.precision}{plan}"

    @property
    def max_src_len(self) -> int:
        """Longest source that is translated in one piece, in tokens with EOS."""
        return min(self.config.max_src_len, self._max_positions or self.config.max_src_len)

    @property
    def _max_positions(self) -> int | None:
        """Most tokens that the model can read; None = any number."""
        model = self.config.model
        return model.max_positions if model.positions == "learned" else None

    def translate(
        self,
        texts: Sequence[str],
        *,
        tgt_lang: str | None = None,
        prefixes: Sequence[str | None] | None = None,
        search: str | None = None,
        beam_size: int | None = None,
        beam_groups: int | None = None,
        diversity_penalty: float | None = None,
        length_penalty: float | None = None,
        num_hypotheses: int | None = None,
        min_output_len: int | None = None,
        max_output_len: int | None = None,
        min_output_ratio: float | None = None,
        max_output_ratio: float | None = None,
        repetition_guard: bool | None = None,
        length_guard: bool | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int | None = None,
        mbr: str | None = None,
        batch_tokens: int | None = None,
        alignments: bool = False,
        protect: bool = False,
        terms: Mapping[str, str] | Terminology | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> list[Translation]:
        """Translate texts; each comes out as one line, in the order given, whatever the batches were.

        A text is cleaned as in training (`clean_text`); one that is then empty gives an empty translation without
        touching the model. Equal texts are translated once. A text longer than `max_src_len` tokens is cut at sentence
        ends (see `split_text`), its pieces are translated on their own and joined by spaces: hypothesis number k of
        the text is made of number k of each piece.

        Settings left at None are those of the model directory; they are explained in `BeamSearch`, `Sampling`
        and `StochasticBeam`.

        Args:
            texts: Any strings.
            tgt_lang: Language to translate into, see `into`; None means that of the model directory.
            prefixes: What the translation of each text begins with, and which the search goes on from; None or an empty
                one = anything. Where the clean prefix ends, a word need not: the next token may continue its last word.
                Of a text that is cut it is the beginning of the first piece; an empty text stays empty.
            search: "beam"; "sample" for hypotheses drawn at random; "sample_distinct" for different ones.
            beam_size: Search width; 1 is greedy.
            beam_groups: Groups of the beam that keep clear of each other (`DiverseBeam`), a divisor of `beam_size`.
            diversity_penalty: How much, in nats for each hypothesis of an earlier group that took the same token.
            length_penalty: Exponent of the length that divides log-probabilities.
            num_hypotheses: Hypotheses per text, best score first; at most `beam_size` of a beam.
            min_output_len: Fewest tokens of an output, EOS counted.
            max_output_len: Most tokens of an output, EOS counted.
            min_output_ratio: Fewest tokens of an output per source token; 0 = off.
            max_output_ratio: Most tokens of an output per source token, beyond the first 10; 0 = off.
            repetition_guard: Whether a text is searched again if its best hypothesis says the same again and again
                (`guarded_search`); other texts stay as they are.
            length_guard: The same if it ran to its limit without an end, far longer than its source.
            temperature: Above 1 draws more evenly, below 1 less.
            top_k: Draw from the k most probable tokens; 0 = off.
            top_p: Draw from the most probable tokens that reach this share; 1 = off.
            seed: Of the draws; a text gets the same ones in any batch and order.
            mbr: "chrf" or "bleu" orders the hypotheses by how much of the others they share (`mbr_order`) instead of by
                score, the others weighing by their probability, or equally if drawn by search="sample"; "none" = off.
            batch_tokens: Limit of sentences * hypotheses followed at once * longest source in a batch; one sentence is
                always allowed.
            alignments: Whether to align the words of each hypothesis, see `align`.
            protect: Whether tags, addresses, placeholders and quantities (`find_spans`) come through as they are.
            terms: Source to target; what `Terminology` finds of them is translated so, and never changed. With this or
                `protect` the model reads stand-ins (`mask`); scores and token ids are of its output before what they
                stand for is put back (`fill`).
            progress: Called after each batch with the number of texts that it completed.

        Raises:
            ValueError: If a setting is out of its range, a term is none, `max_output_len` exceeds the model's learned
                positions, or alignments are asked for beside `protect` or `terms`.
        """
        if isinstance(texts, str):
            raise ValueError("texts must be a list of strings, not one string: translate([text])")
        given: dict[str, Any] = {
            "search": search,
            "beam_size": beam_size,
            "beam_groups": beam_groups,
            "diversity_penalty": diversity_penalty,
            "length_penalty": length_penalty,
            "num_hypotheses": num_hypotheses,
            "min_output_len": min_output_len,
            "max_output_len": max_output_len,
            "min_output_ratio": min_output_ratio,
            "max_output_ratio": max_output_ratio,
            "repetition_guard": repetition_guard,
            "length_guard": length_guard,
            "temperature": temperature,
            "top_k": top_k,
            "top_p": top_p,
            "seed": seed,
            "mbr": mbr,
            "batch_tokens": batch_tokens,
        }
        decode = self.config.decode.changed(given)
        self._check_positions(decode.max_output_len)
        asked = self if tgt_lang is None else self.into(tgt_lang)
        if protect or terms:
            if alignments:
                raise ValueError("alignments cannot be had with protect or terms; leave one of them out")
            if prefixes is not None:
                raise ValueError("prefixes cannot be had with protect or terms; leave one of them out")
            terminology = terms if isinstance(terms, Terminology) else Terminology(terms or {})
            return asked._protected(texts, terminology, protect, decode, progress)
        clean = [clean_text(text) for text in texts]
        beginnings = [clean_text(prefix or "") for prefix in ([None] * len(texts) if prefixes is None else prefixes)]
        if len(beginnings) != len(texts):
            raise ValueError(f"prefixes ({len(beginnings)}) must be as many as texts ({len(texts)}), or None")
        translations = asked._translate(list(map(Request, clean, beginnings)), decode, progress)
        return asked._aligned(clean, translations) if alignments else translations

    def score(
        self,
        pairs: Sequence[Pair],
        *,
        length_penalty: float | None = None,
        batch_tokens: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> list[Score]:
        """Log-probabilities of given targets, token by token, by teacher forcing; the batches change nothing.

        Texts are cleaned as in training and end in EOS; a side that is then empty is EOS alone. Target ids, such as
        those of a `TranslatedHypothesis`, are taken as they are: what a search reports is what this gives for its ids,
        while the text alone may be cut into other pieces than the search put it together from. Pairs are read whole,
        whatever their length.

        Args:
            pairs: (source, target), the target a text or token ids.
            length_penalty: Exponent of the length in `Score.score`; None means that of the model directory.
            batch_tokens: Limit of sentences * longest side in a batch; None means that of the model directory.
            progress: Called after each batch with the number of pairs in it.

        Raises:
            ValueError: If a setting is out of its range, a pair is none, or is longer than learned positions.
        """
        from translate.translator.scoring import encode_pairs, score_examples

        decode = self.config.decode.changed({"length_penalty": length_penalty, "batch_tokens": batch_tokens})
        examples = encode_pairs(self.tokenizer, pairs, self._max_positions)
        with _eval_mode(self.model):
            return score_examples(
                self.model,
                self.tokenizer,
                examples,
                device=self.device,
                batch_tokens=decode.batch_tokens,
                length_penalty=decode.length_penalty,
                progress=progress or (lambda pairs: None),
            )

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[Links]:
        """Which source word each target word of a pair belongs to, by the model's cross-attention.

        The words are what spaces separate in the clean texts, counted from 0, and each target word has one link. The
        weights are the mean over the heads of one decoder layer (`ALIGNMENT_LAYER`); where learned positions end, words
        behind them have no links.

        Args:
            pairs: (source, target).

        Returns:
            Links of each pair, (source word, target word), in the order of the target.
        """
        import torch

        from translate.translator.scoring import align_examples, encode_pairs

        end = self._max_positions
        examples = [
            example._replace(src_ids=example.src_ids[:end], tgt_ids=example.tgt_ids[:end])
            for example in encode_pairs(self.tokenizer, pairs, None)
        ]
        with torch.inference_mode(), _eval_mode(self.model):
            return align_examples(self.model, self.tokenizer, examples, self.device)

    def cross_attention(self, src: str, tgt: str) -> CrossAttention:
        """Cross-attention weights while the model reads `src` and is led through the translation `tgt`."""
        import torch

        from translate.data.batch import Example, collate

        tokenizer = self.tokenizer
        src_ids, tgt_ids = tokenizer.encode_src(clean_text(src)), tokenizer.encode_tgt(clean_text(tgt))
        batch = collate([Example(src_ids, tgt_ids)], pad_id=tokenizer.pad_id, bos_id=tokenizer.bos_id).to(self.device)
        with torch.inference_mode(), _eval_mode(self.model):
            weights = self.model.cross_attention(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
        return CrossAttention(tokenizer.pieces_src(src_ids), tokenizer.pieces_tgt(tgt_ids), torch.cat(weights))

    def _translate(
        self, wanted: list[Request], decode: DecodeConfig, progress: Callable[[int], object] | None
    ) -> list[Translation]:
        """`translate` for clean texts and complete settings."""
        room = min(self.max_src_len, decode.max_output_len * 2 // 3)  # a translation may be longer than its source
        pieces, ids = self._pieces(dict.fromkeys(one for one in wanted if one.text), max(2, room))
        completes = Counter(pieces[one][-1] for one in wanted if one.text)
        if progress is not None and len(wanted) > completes.total():
            progress(len(wanted) - completes.total())
        requests = list(ids)

        def search(sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig) -> list[list[Hypothesis]]:
            hypotheses: dict[int, list[Hypothesis]] = {}
            first = not (decode.repetition_guard or decode.length_guard)  # what is searched again counts as done
            for places, some in self._searches(sources, prefixes, decode):
                hypotheses.update(zip(places, some, strict=True))
                if progress is not None and first:
                    progress(sum(completes[requests[place]] for place in places))
            return [hypotheses[place] for place in range(len(sources))]

        prefixes = [self._prefix_ids(piece) for piece in requests]
        hypotheses = guarded_search(search, list(ids.values()), prefixes, decode, self.tokenizer.eos_id)
        found = dict(zip(requests, self._with_texts(hypotheses), strict=True))
        results = {
            one: join_pieces([part.text for part in parts], [found[part] for part in parts], decode)
            for one, parts in pieces.items()
        }
        return [results.get(one, Translation("", 0.0, ())) for one in wanted]

    def _searches(
        self, sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig
    ) -> Iterator[tuple[list[int], list[list[Hypothesis]]]]:
        """Places of the sources of each batch, and their hypotheses."""
        share = math.ceil(len(sources) / self.workers)  # so that all have something to do
        batches = by_length([decode.width * len(ids) for ids in sources], decode.batch_tokens, share)

        def search(places: list[int]) -> list[list[Hypothesis]]:
            return self._search([sources[place] for place in places], [prefixes[place] for place in places], decode)

        with self._ready():
            yield from zip(batches, side_by_side(search, batches, self.workers, self.threads), strict=True)

    def _ready(self) -> AbstractContextManager[None]:
        """For as long as searches run."""
        return _eval_mode(self.model)

    def _prefix_ids(self, piece: Request) -> list[int]:
        return self.tokenizer.encode_tgt(piece.prefix)[:-1] if piece.prefix else []

    def _check_positions(self, max_output_len: int) -> None:
        if self._max_positions is not None and max_output_len > self._max_positions:
            raise ValueError(
                f"max_output_len ({max_output_len}) must be at most {self._max_positions}, "
                "the learned positions of this model (model.max_positions)"
            )

    def _pieces(
        self, wanted: dict[Request, None], room: int
    ) -> tuple[dict[Request, list[Request]], dict[Request, list[int]]]:
        """What to translate for each text, itself or pieces of `room` tokens, and the source ids of each piece."""
        encoded = dict(zip(wanted, self.tokenizer.encode_src_batch([one.text for one in wanted]), strict=True))
        pieces = {one: [one] for one in wanted}
        for one in [one for one, ids in encoded.items() if len(ids) > self.max_src_len]:
            del encoded[one]
            texts = split_text(one.text, lambda piece: len(self.tokenizer.encode_src(piece)) <= room)
            pieces[one] = [Request(texts[0], one.prefix), *map(Request, texts[1:])]
            encoded.update(zip(pieces[one], self.tokenizer.encode_src_batch(texts), strict=True))
        return pieces, encoded

    def _search(self, sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig) -> list[list[Hypothesis]]:
        """Hypotheses for one batch of source ids, which begin with prefixes."""
        import torch

        from translate.search.choose import make_search

        special = self.tokenizer
        search = make_search(
            decode,
            bos_id=special.bos_id,
            eos_id=special.eos_id,
            forbidden_ids=(special.pad_id, special.bos_id, special.unk_id),
        )
        longest = max(map(len, sources))
        src_ids = torch.tensor([[*ids, *[special.pad_id] * (longest - len(ids))] for ids in sources])
        lengths = torch.tensor([len(ids) for ids in sources])
        src_mask = torch.arange(longest) < lengths[:, None]  # [B, S]
        return search.search(self._step_model, src_ids.to(self.device), src_mask.to(self.device), prefixes)

    def _with_texts(self, found: list[list[Hypothesis]]) -> list[list[tuple[Hypothesis, str]]]:
        """The hypotheses of each source with their clean texts."""
        texts = iter(self.tokenizer.decode_batch([one.token_ids for hypotheses in found for one in hypotheses]))
        return [[(one, clean_text(next(texts))) for one in hypotheses] for hypotheses in found]

    def _protected(
        self,
        texts: Sequence[str],
        terminology: Terminology,
        spans: bool,
        decode: DecodeConfig,
        progress: Callable[[int], object] | None,
    ) -> list[Translation]:
        """`_translate` with stand-ins for what must stay, which is put back by the alignment."""

        def translate(clean: list[str], attempt: int) -> list[Translation]:
            return self._translate(list(map(Request, clean)), decode, None if attempt else progress)

        results = translate_masked(texts, terminology, spans=spans, translate=translate)
        places = [place for place, (masked, _) in enumerate(results) if masked.head or masked.slots]
        aligned = self._aligned([results[p][0].text for p in places], [results[p][1] for p in places])
        found = [translation for _, translation in results]
        for place, translation in zip(places, aligned, strict=True):
            found[place] = fill_slots(results[place][0], translation, decode.num_hypotheses)
        return found

    def _aligned(self, texts: list[str], translations: list[Translation]) -> list[Translation]:
        """The same with the alignments of all hypotheses."""
        pairs = list({part: None for one in translations for found in one.hypotheses for part in found.parts})
        links = dict(zip(pairs, self.align(pairs), strict=True))

        def align(text: str, found: TranslatedHypothesis) -> TranslatedHypothesis:
            return found._replace(alignment=joined_links(text, found.parts, links))

        return [
            one._replace(hypotheses=tuple(align(text, found) for found in one.hypotheses))
            for text, one in zip(texts, translations, strict=True)
        ]


def _check_member(first: Translator, member: Translator, number: int) -> None:
    """Whether model `number` of an ensemble fits the first."""
    if type(member) is not Translator:
        raise ValueError(f"model {number} is an exported one; an ensemble needs the models that such are made from")
    languages = [(one.config.src_lang, one.config.tgt_lang) for one in (first, member)]
    if languages[0] != languages[1]:
        (src, tgt), (other_src, other_tgt) = languages
        raise ValueError(f"model {number} translates {other_src} to {other_tgt}, but model 1 {src} to {tgt}")
    if first.config.tgt_langs != member.config.tgt_langs:
        tags, other_tags = (", ".join(one.config.tgt_langs) or "none" for one in (first, member))
        raise ValueError(f"model {number} was trained with the language tags {other_tags}, but model 1 with {tags}")
    if _pieces_of(first.tokenizer) != _pieces_of(member.tokenizer):
        raise ValueError(
            f"model {number} has other pieces in its tokenizer than model 1; an ensemble needs runs that share one: "
            "train with the same tokenizer.path"
        )


def _pieces_of(tokenizer: Tokenizer) -> tuple[list[str], list[str]]:
    src, tgt = range(tokenizer.src_vocab_size), range(tokenizer.tgt_vocab_size)
    return tokenizer.pieces_src(src), tokenizer.pieces_tgt(tgt)


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


def _find_device(name: str) -> torch.device:
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        if device.type not in ("cpu", "cuda"):
            raise ValueError(f"device ({name}) is not supported; give cpu, cuda, cuda:N or auto")
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device ({name}) cannot be used here: {str(error).splitlines()[0]}") from error
    return device
