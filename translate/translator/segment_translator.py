"""From clean texts to their translations: cut, read in a plain form, looked up, searched for and joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from translate.config.decode import FORMAL, FRENCH, INFORMAL, DecodeConfig
from translate.data.cleaning import clean_text
from translate.data.tokenizer import Tokenizer
from translate.search.guards import Ids, guarded_search
from translate.search.hypothesis import Hypothesis
from translate.translator.beside import Beside
from translate.translator.bundle import BundleConfig
from translate.translator.engines.engine import Engine
from translate.translator.guards.formality import best_place, can_choose, deviates
from translate.translator.guards.forms import Form
from translate.translator.guards.reading import known_label, read_form
from translate.translator.guards.second_reading import is_likelier, second_reading
from translate.translator.memory import as_in, may_be_command, without_mark
from translate.translator.segments import split_paragraph, split_text
from translate.translator.translation import Request, Translation, join_segments

Progress = Callable[[int], object]
Candidate = tuple[Hypothesis, str]  # an output of a search, and its text
_BEAM = 12  # in which nearly every sentence that says tu is found with vous, too


@dataclass(frozen=True)
class SegmentTranslator:
    """Translates clean texts segment by segment, in one direction.

    Args:
        engine: What runs the model.
        tokenizer: The one it was trained with.
        config: Languages and limits.
        beside: What else its model directory holds.
        max_src_len: Longest segment, in tokens with EOS.
    """

    engine: Engine
    tokenizer: Tokenizer
    config: BundleConfig
    beside: Beside
    max_src_len: int

    def translate(self, requests: list[Request], decode: DecodeConfig, progress: Progress | None) -> list[Translation]:
        """Translate clean texts: cut them, look them up, encode the segments, search, decode, join."""
        parts, read = self._split(list(dict.fromkeys(one for one in requests if one.text)), decode)
        forms = {one: form for one, (form, _) in read.items()}
        sources = {one: ids for one, (_, ids) in read.items()}
        known = self._known(forms, decode)
        searched = {one: ids for one, ids in sources.items() if decode.num_hypotheses > 1 or one not in known}
        completed = Counter(parts[one][-1] for one in requests if one.text)  # texts that are done with each segment
        if progress is not None and (done := len(requests) - sum(completed[one] for one in searched)):
            progress(done)  # the empty ones, and what is known
        found = self._search(searched, forms, completed, decode, progress)
        self._read_again(found, sources, forms, decode)
        for segment, best in known.items():
            others = [other for other in found.get(segment, ()) if other[1] != best[1]]
            found[segment] = [best, *others][: decode.num_hypotheses]
        self._ask_for_formality(found, sources, forms, decode)
        translations = {
            one: join_segments([segment.text for segment in own], [found[segment] for segment in own], decode)
            for one, own in parts.items()
        }
        empty = Translation("", 0.0, ())
        return [translations.get(one, empty)._replace(tgt_lang=self.config.tgt_lang) for one in requests]

    def _split(
        self, requests: list[Request], decode: DecodeConfig
    ) -> tuple[dict[Request, list[Request]], dict[Request, tuple[Form, Ids]]]:
        """Return the segments of each text, itself or parts of it, and the form and the source ids of each segment."""
        longest = self.max_src_len
        room = max(2, min(longest, decode.max_output_len * 2 // 3))  # a translation may be longer than its source
        paragraph = min(longest, decode.paragraph_len or longest)

        def within(most: int, prefix: str = "") -> Callable[[str], bool]:
            def fits(text: str) -> bool:
                form = self._form(Request(text, prefix), decode)
                return len(self.tokenizer.encode_src(self._with_terms(form.text, decode))) <= most

            return fits

        def read(segments: list[Request]) -> Iterator[tuple[Request, tuple[Form, Ids]]]:
            forms = [self._form(one, decode) for one in segments]
            ids = self.tokenizer.encode_src_batch([self._with_terms(form.text, decode) for form in forms])
            return zip(segments, zip(forms, ids, strict=True), strict=True)

        sources = dict(read(requests))
        parts = {one: [one] for one in requests}
        for one in [one for one, (_, ids) in sources.items() if len(ids) > (longest if one.prefix else paragraph)]:
            sentences = [one.text] if one.prefix else split_paragraph(one.text, within(paragraph))
            segments = [
                [text] if within(longest, one.prefix)(text) else split_text(text, within(room, one.prefix))
                for text in sentences
            ]
            if len(texts := list(chain.from_iterable(segments))) > 1:
                del sources[one]
                parts[one] = [Request(texts[0], one.prefix), *map(Request, texts[1:])]
                sources.update(read(parts[one]))
        return parts, sources

    def _with_terms(self, text: str, decode: DecodeConfig) -> str:
        """Return a text with the translations of its terms."""
        glossary = self.beside.glossary if decode.glossary else None
        return glossary.annotate(text, self.config.tgt_lang) if glossary else text

    def _form(self, segment: Request, decode: DecodeConfig) -> Form:
        """Return what the model reads of a segment but for terms, and what its translation gets back."""
        form_guard = decode.form_guard and not segment.prefix
        languages = self.config.src_lang, self.config.tgt_lang
        return read_form(segment.text, *languages, form_guard=form_guard, truecaser=self.beside.truecaser)

    def _known(self, forms: Mapping[Request, Form], decode: DecodeConfig) -> dict[Request, Candidate]:
        """Return what the memory has for segments, and the glossary for whole ones, as if the model were sure of it."""
        found: dict[Request, Candidate] = {}
        if not decode.ranks_by_score:
            return found
        tgt_lang = self.config.tgt_lang
        for segment, form in forms.items():
            output = None if segment.prefix else self._look_up(form.text, decode)
            if output is not None and not (tgt_lang == FRENCH and deviates(output, decode.formality)):
                ids = self.tokenizer.encode_tgt(output)
                found[segment] = Hypothesis(tuple(ids), 0.0, 0.0, (0.0,) * len(ids)), form.restore(output, tgt_lang)
        return found

    def _look_up(self, text: str, decode: DecodeConfig) -> str | None:
        """Return what the memory has for a text, or else the glossary, or a label; None if it is not known."""
        tgt_lang, (words, mark) = self.config.tgt_lang, without_mark(text)
        output = self.beside.memory.find(text, tgt_lang) if self.beside.memory and decode.memory else None
        if output is None and self.beside.glossary and decode.glossary and not may_be_command(words, mark):
            term = self.beside.glossary.find(words, tgt_lang)
            output = term and as_in(text, words.lower(), term, tgt_lang)
        if output is None and decode.form_guard:
            return known_label(text, self.config.src_lang, tgt_lang)
        return output

    def _read_again(
        self,
        found: dict[Request, list[Candidate]],
        sources: dict[Request, Ids],
        forms: dict[Request, Form],
        decode: DecodeConfig,
    ) -> None:
        """Search for segments that the model is unsure of in their second reading; replace what that makes likelier."""
        truecaser = self.beside.truecaser
        names = truecaser.words.get(self.config.src_lang) if truecaser else None
        if not names or not decode.form_guard or not decode.ranks_by_score:
            return
        seconds = {
            segment: form
            for segment, own in found.items()
            if not segment.prefix and (form := second_reading(forms[segment], *own[0], names))
        }
        ids = self.tokenizer.encode_src_batch([self._with_terms(form.text, decode) for form in seconds.values()])
        read = dict(zip(seconds, ids, strict=True))
        for segment, own in self._search(read, seconds, Counter(), decode, None).items():
            if is_likelier(own[0][0], found[segment][0][0]):
                found[segment], sources[segment], forms[segment] = own, read[segment], seconds[segment]

    def _ask_for_formality(
        self,
        found: dict[Request, list[Candidate]],
        sources: Mapping[Request, Ids],
        forms: Mapping[Request, Form],
        decode: DecodeConfig,
    ) -> None:
        """Put the best candidate first that says tu or vous as asked for; what deviates is searched again, wider."""
        if decode.formality not in (FORMAL, INFORMAL) or not can_choose(decode, self.config.tgt_lang):
            return
        deviating = [
            segment for segment, own in found.items() if not segment.prefix and deviates(own[0][1], decode.formality)
        ]
        if not deviating:
            return
        width = max(decode.beam_size, _BEAM)
        wide = replace(decode, beam_size=width, num_hypotheses=width, beam_groups=1)
        wider = self._search({segment: sources[segment] for segment in deviating}, forms, Counter(), wide, None)
        for segment in deviating:
            known = {text for _, text in found[segment]}
            own = [*found[segment], *(other for other in wider[segment] if other[1] not in known)]
            place = best_place([text for _, text in own], decode.formality)
            found[segment] = [own[place], *own[:place], *own[place + 1 :]][: decode.num_hypotheses]

    def _search(
        self,
        sources: Mapping[Request, Ids],
        forms: Mapping[Request, Form],
        completed: Counter[Request],
        decode: DecodeConfig,
        progress: Progress | None,
    ) -> dict[Request, list[Candidate]]:
        """Search for the outputs of segments, given their ids; `completed` counts the texts that each is the end of."""
        segments = list(sources)

        def search(sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig) -> list[list[Hypothesis]]:
            found: dict[int, list[Hypothesis]] = {}
            again = decode.repetition_guard or decode.length_guard  # and then its texts have been counted
            for places, hypotheses in self.engine.search(sources, prefixes, decode):
                found.update(zip(places, hypotheses, strict=True))
                if progress is not None and not again:
                    progress(sum(completed[segments[place]] for place in places))
            return [found[place] for place in range(len(sources))]

        prefixes = [self.tokenizer.encode_tgt(segment.prefix)[:-1] if segment.prefix else [] for segment in segments]
        searched = guarded_search(search, list(sources.values()), prefixes, decode, self.tokenizer.eos_id)
        texts = iter(self.tokenizer.decode_batch([one.token_ids for hypotheses in searched for one in hypotheses]))
        tgt_lang = self.config.tgt_lang
        return {
            segment: [(one, forms[segment].restore(clean_text(next(texts)), tgt_lang)) for one in hypotheses]
            for segment, hypotheses in zip(segments, searched, strict=True)
        }
