"""Settings of the data: where pairs come from, how they are cleaned and batched."""

from __future__ import annotations

from dataclasses import dataclass, replace

from translate.config.fields import check_settings, setting
from translate.config.parts import PartConfig

_USED_BY = {  # settings of some data sources only
    "root": ("multi30k", "hub", "files", "mix"),
    "train": ("files",),
    "valid": ("files", "mix"),
    "test": ("files", "mix"),
    "parts": ("mix",),
    "hub_id": ("hub",),
    "hub_config": ("hub",),
    "hub_split": ("hub",),
    "hub_revision": ("hub",),
    "streaming": ("hub",),
    "src_column": ("hub", "files"),
    "tgt_column": ("hub", "files"),
}


@dataclass
class DataConfig:
    """Settings of the data: where pairs come from, how they are cleaned and batched."""

    source: str = setting(
        "everyday",
        "Where pairs come from: everyday (embedded), activities, topics, phrases and terms (embedded too, for "
        "parts of a mixture: 4,000 pairs of who does what, pairs of many topics, set phrases and single words, the "
        "terms of data.glossary), multi30k, hub (a dataset on the hub), files, or mix (several of them, see parts).",
        choices=("everyday", "activities", "topics", "phrases", "terms", "multi30k", "hub", "files", "mix"),
    )
    src_lang: str = setting("en", "Language to translate from; in other sources also a file ending, a column or a key.")
    tgt_lang: str = setting(
        "fr", "Language to translate into; src_lang=fr alone turns the direction around, and this becomes en."
    )
    root: str | None = setting(
        None,
        "Folder that already has the data: multi30k (train.en.gz, val.en.gz, …, gz or plain), hub (parquet or arrow "
        "files named train-*, validation-*, test-*), files (what relative paths start from). null = download, or "
        "start from the working directory.",
    )
    hub_id: str | None = setting(None, "source=hub: name of a dataset on the hub, such as Helsinki-NLP/opus-100.")
    hub_config: str | None = setting(None, "source=hub: configuration of the dataset, such as en-fr; null = none.")
    hub_split: str | None = setting(None, "source=hub: split that is trained on; null = train.")
    hub_revision: str | None = setting(
        None,
        "source=hub: branch or commit of the dataset; null = the newest. refs/convert/parquet is the hub's own copy of "
        "a dataset that comes as a script, with a folder for each configuration.",
    )
    streaming: bool = setting(
        False,
        "source=hub: true reads over the network in each pass over the text and stores no copy of the dataset; false "
        "stores it under cache_dir first.",
    )
    train: list[str] = setting(
        [],
        "source=files: [train.en,train.fr], two line-aligned text files, source first unless their endings are the "
        "two languages, or [pairs.tsv], one file with both sides: .tsv .csv .jsonl .json (JSON lines) .parquet "
        ".arrow. Text may end in .gz.",
    )
    valid: list[str] = setting([], "Validation pairs, like train; [] = holdout pairs from the start of train.")
    test: list[str] = setting([], "Test pairs, like train; [] = holdout pairs from the start of train.")
    parts: dict[str, PartConfig] = setting(
        {},
        "source=mix: {name: {source: …, train: …, weight: …, markup: …, joined: …, typed: …}}, the corpora that are "
        "trained on. Each is cleaned and counted by itself; validation and test sets are those of data.valid and "
        "data.test. See translate/config/parts.py.",
    )
    temperature: float = setting(
        1.0,
        "source=mix: how much large parts give way to small ones; an epoch's share of a part goes with (its pairs * "
        "weight) ** (1 / temperature), and each pair comes at least once. 1 = in proportion.",
        at_least=1,
    )
    extra: list[str] = setting(
        [],
        "Further training pairs for every source, such as translations by other models (Nguyen et al. 2020, "
        "arXiv:1911.01986) or back-translations (Sennrich et al. 2016, arXiv:1511.06709): files with both sides as in "
        "train, whose columns the two languages name (a TSV of two columns may lack a header). They follow the "
        "source's own pairs through the same cleaning; the tokenizer learns from them too; max_pairs does not count "
        "them. Validation and test sets stay as they are.",
    )
    copies: int = setting(
        1,
        "How often an epoch holds the source's own pairs; above 1 needs extra, which it holds once.",
        at_least=1,
    )
    both_directions: bool = setting(
        False,
        "An epoch holds every pair in both directions, so that it is twice as long (BiT, Ding et al. 2021, "
        "arXiv:2109.07780: for the first third of the steps, then a run in one direction with init_from). Needs "
        "tokenizer.joint; drop_overlap then looks at both sides.",
    )
    language_tags: bool = setting(
        False,
        "Every source begins with the code of the language to translate into, such as <2fr> (Johnson et al. 2017, "
        "arXiv:1611.04558); with both_directions one model then serves both, see --to of translate.infer. The codes "
        "are control symbols of the tokenizer, which a tokenizer.path must have too. A code counts in max_len.",
    )
    unaccented: float = setting(
        0.0,
        "Share of training sources that are read without their accents, drawn anew in each epoch, as people type on "
        "keyboards that have none; targets keep theirs.",
        at_least=0,
        at_most=1,
    )
    glossed: float = setting(
        0.0,
        "Share of training sources, drawn anew in each epoch, with the translations of their terms beside these, of "
        "terms of data.glossary whose translation the target has (Dinu et al. 2019, arXiv:1906.01105). The model "
        "then uses them, its directory gets the glossary, and the terms of all that it translates are looked up in it.",
        at_least=0,
        at_most=1,
    )
    glossary: str | None = setting(
        None,
        "Glossary of data.glossed, a .tsv or .tsv.gz: the two languages in the first line, then =, > (not back) or < "
        "(back alone), a term and its translation in each line; null = the English-French one of the project.",
    )
    src_column: str | None = setting(
        None,
        "Column of the source in a file with both sides; null = src_lang. A TSV of two columns without these names in "
        "its first line, and with null here, has no header: source, then target.",
    )
    tgt_column: str | None = setting(None, "Column of the target; null = tgt_lang.")
    holdout: int = setting(
        1000, "Pairs taken out of train for each split that the source lacks (source=hub, files).", at_least=1
    )
    max_pairs: int | None = setting(
        None,
        "Train on this many pairs from the start of the source, and of each part of a mixture; null = all.",
        at_least=1,
    )
    normalize_unicode: bool = setting(True, "Cleaning, step 1: Unicode NFC, so that é is one character.")
    remove_control_chars: bool = setting(
        True,
        "Cleaning, step 2: tabs and line breaks become spaces, zero-width and direction characters go; joiners within "
        "emoji and words stay.",
    )
    drop_empty: bool = setting(True, "Cleaning, step 3: drop pairs with an empty side.")
    max_chars: int = setting(
        1000, "Cleaning, step 4: drop training pairs with a side of more characters; 0 = no limit.", at_least=0
    )
    max_ratio: float = setting(
        4.0,
        "Cleaning, step 5: drop training pairs with one side so many times longer than the other, in characters, "
        "where the longer has over 20; at least 1, 0 = no limit.",
        at_least=0,
    )
    drop_duplicates: bool = setting(True, "Cleaning, step 7: drop training pairs seen before, both sides equal.")
    drop_overlap: bool = setting(
        True,
        "Cleaning, step 6: drop training pairs whose source is a source of validation or a test set, whatever its "
        "translation; with both_directions also those with a sentence of these sets, source or target, on either "
        "side.",
    )
    batch_tokens: int = setting(
        4096, "Limit of sentences * longest side of a batch, in tokens, padding included; at least max_len."
    )
    max_len: int = setting(
        256,
        "Cleaning, step 8: drop training pairs with a side of more tokens, EOS included; at most batch_tokens. Longer "
        "validation pairs count for BLEU but not for the loss.",
        at_least=2,
    )
    cache_dir: str = setting(
        ".cache", "Folder for downloads, cleaned text, tokenizers and token ids; it may be deleted at any time."
    )

    def __post_init__(self) -> None:
        check_settings("data", self)
        if self.src_lang == self.tgt_lang == "fr":  # src_lang=fr alone turns the direction around
            self.tgt_lang = "en"
        for name, sources in _USED_BY.items():
            if getattr(self, name) and self.source not in sources:
                raise ValueError(
                    f"data.{name} does nothing with data={self.source}; it needs data={' or '.join(sources)}"
                )
        if self.src_lang == self.tgt_lang:
            raise ValueError(f"data.src_lang and data.tgt_lang are both {self.src_lang}; they must differ")
        if self.source == "files" and not self.train:
            raise ValueError("data=files needs data.train, for example data.train=[train.en,train.fr] or [pairs.tsv]")
        if self.source == "hub" and not self.hub_id:
            raise ValueError("data.source=hub needs data.hub_id, the name of a dataset on the hub")
        if self.source == "mix" and not (self.parts and self.valid):
            raise ValueError("data.source=mix needs data.parts, the corpora by name, and data.valid")
        for name, part in self.parts.items():
            check_settings(f"data.parts.{name}", part)
            if part.markup == "rst" and not self.drop_empty:
                raise ValueError(
                    f"data.drop_empty=false would keep the pairs with code, which data.parts.{name}.markup=rst "
                    "empties; leave it out"
                )
        if taken := sorted({"train", "valid", "extra", "limits"} & self.parts.keys()):
            raise ValueError(f"data.parts.{taken[0]}: the name {taken[0]} has a meaning of its own; choose another")
        if self.temperature != 1 and self.source != "mix":
            raise ValueError(f"data.temperature ({self.temperature}) does nothing without data.source=mix")
        for name in ("train", "valid", "test"):
            if len(getattr(self, name)) > 2:
                raise ValueError(f"data.{name} takes one file with both sides or two line-aligned files")
        if self.copies > 1 and not self.extra:
            raise ValueError(
                f"data.copies ({self.copies}) weighs the source's own pairs against those of data.extra, and there are "
                "none; leave it out or train for more epochs"
            )
        read = {self.source, *(part.source for part in self.parts.values())}
        if self.glossary is not None and not self.glossed and "terms" not in read:
            raise ValueError(
                f"data.glossary ({self.glossary}) is for sources with terms, and none are to have any; set data.glossed"
            )
        if 0 < self.max_ratio < 1:
            raise ValueError(f"data.max_ratio ({self.max_ratio}) must be at least 1, or 0 for no limit")
        if self.batch_tokens < self.max_len:
            raise ValueError(
                f"data.batch_tokens ({self.batch_tokens}) must be at least data.max_len ({self.max_len}), "
                "or the longest sentence fits no batch"
            )

    @property
    def own(self) -> DataConfig:
        """The same settings without extra pairs, which validation and test sets do not have."""
        return replace(self, extra=[], copies=1)

    @property
    def tgt_langs(self) -> list[str]:
        """Languages that sources ask for by a language code; none without codes."""
        languages = [self.tgt_lang, self.src_lang] if self.both_directions else [self.tgt_lang]
        return languages if self.language_tags else []
