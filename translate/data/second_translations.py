"""Second translations of a collection's sentences, written for this project; the collection itself is not in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from translate.common.resources import second_translations_dir
from translate.data.cleaning import clean_text
from translate.data.sources import FileSource, Pair, Source

_KEY = "sentence"  # the column of hashes
_HASH_BYTES = 6


@dataclass(frozen=True)
class SecondTranslations:
    """The sentences of a source, of both its sides, that have a second translation, with that one.

    Their translations lie in `data/second_translations/`, a file for the sentences of each language. A sentence is
    found by its hash (`sentence_hash`), in whatever edition of the collection it stands, and comes once.

    Attributes:
        name: What the source is called in an error.
        source: The pairs of the collection.
        langs: Languages of source and target, "en" and "fr" in either order.
        cache_dir: As that of `FileSource`.

    Source: sequence-level distillation, Kim and Rush 2016 (arXiv:1606.07947), section 3.2.
    """

    name: str
    source: Source
    langs: tuple[str, str]
    cache_dir: str = ".cache"

    def pairs(self) -> Iterator[Pair]:
        """Stream the pairs; raises a ValueError if no sentence has a second translation."""
        of_sources, of_targets = ({row.src: row.tgt for row in table.pairs()} for table in self._tables())
        count = len(of_sources) + len(of_targets)
        for src, tgt in self.source.pairs():
            if translation := of_sources.pop(sentence_hash(src), None):
                yield Pair(src, translation)
            if translation := of_targets.pop(sentence_hash(tgt), None):
                yield Pair(translation, tgt)
        if len(of_sources) + len(of_targets) == count:
            raise ValueError(
                f"{self.name}: none of its sentences has a second translation; those that there are belong to "
                "sentences of Tatoeba (data/second_translations/README.md)"
            )

    def identity(self) -> str:
        """Return a text that changes when the pairs change."""
        return f"second translations {[table.identity() for table in self._tables()]} of {self.source.identity()}"

    def _tables(self) -> list[FileSource]:
        folder, (src_lang, tgt_lang) = second_translations_dir(), self.langs
        sides = ((src_lang, tgt_lang), (tgt_lang, src_lang))
        return [
            FileSource((str(folder / f"{lang}.tsv"),), (_KEY, other), True, self.cache_dir) for lang, other in sides
        ]


def sentence_hash(text: str) -> str:
    """Return the hash by which the second translation of a sentence is found, of the sentence as cleaning leaves it.

    >>> sentence_hash("Go on.")
    'c21817ed1608'
    """
    return hashlib.blake2b(clean_text(text).encode(), digest_size=_HASH_BYTES).hexdigest()
