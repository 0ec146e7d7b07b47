"""Settings of one part of a mixture of corpora."""

from __future__ import annotations

from dataclasses import dataclass

from translate.config.fields import setting


@dataclass
class PartConfig:
    """Settings of one part of a mixture; the first ones are those of the data, for this part alone."""

    source: str = setting(
        "files",
        "Where its pairs come from, as data.source.",
        choices=("everyday", "activities", "topics", "phrases", "terms", "multi30k", "hub", "files"),
    )
    root: str | None = setting(
        None, "Folder that already has its data, as data.root; null = data.root with source=files."
    )
    hub_id: str | None = setting(None, "source=hub: as data.hub_id.")
    hub_config: str | None = setting(None, "source=hub: as data.hub_config.")
    hub_split: str | None = setting(None, "source=hub: as data.hub_split.")
    hub_revision: str | None = setting(None, "source=hub: as data.hub_revision.")
    streaming: bool = setting(False, "source=hub: as data.streaming.")
    train: list[str] = setting([], "source=files: as data.train.")
    src_column: str | None = setting(None, "As data.src_column.")
    tgt_column: str | None = setting(None, "As data.tgt_column.")
    max_pairs: int | None = setting(None, "Take this many pairs from its start; null = all.", at_least=1)
    weight: float = setting(1.0, "How often an epoch holds its pairs, relative to other parts.", above=0)
    markup: str = setting(
        "none",
        "rst: its text is reStructuredText, whose roles, literals and links are reduced to the words that a reader "
        "sees; pairs with code in them are dropped.",
        choices=("none", "rst"),
    )
    second_translations: bool = setting(
        False,
        "true: replaces its pairs by new ones, each of its sentences, of either side, for which "
        "data/second_translations has a translation (sentences of Tatoeba, English and French), with that one. "
        "max_pairs counts the pairs that are read.",
    )
    joined: float = setting(
        0.0,
        "Pairs added for each pair, of 2 to 5 of its pairs one after the other, so that single sentences teach "
        "paragraphs too.",
        at_least=0,
        at_most=1,
    )
    typed: float = setting(
        0.0,
        "Pairs added for each pair, as people type: without the full stop, in lower case, or in capitals, on both "
        "sides; a pair of up to three words in each of these forms, the share `renamed` with made-up names too.",
        at_least=0,
        at_most=1,
    )
    typeset: float = setting(
        0.0,
        "Pairs added for each pair, with the apostrophes, quotation marks and no-break spaces of print, if both sides "
        "have some.",
        at_least=0,
        at_most=1,
    )
    renamed: float = setting(
        0.0,
        "Pairs added for each pair, with made-up names and numbers in place of those that stand on both sides, so that "
        "unknown ones are copied.",
        at_least=0,
        at_most=1,
    )
