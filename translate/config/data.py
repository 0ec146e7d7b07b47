"""Settings of the data: where pairs come from, how they are cleaned and batched."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from translate.config.checks import check_at_least, check_choice

_USED_BY = {  # settings of some data sources only
    "root": ("multi30k", "hub", "files"),
    "train": ("files",),
    "valid": ("files",),
    "test": ("files",),
    "hub_id": ("hub",),
    "hub_config": ("hub",),
    "streaming": ("hub",),
    "src_column": ("hub", "files"),
    "tgt_column": ("hub", "files"),
}


@dataclass
class DataConfig:
    """Where pairs come from, how they are cleaned and batched; keys are explained in conf/data/everyday.yaml."""

    source: str = "everyday"
    src_lang: str = "en"
    tgt_lang: str = "fr"
    root: str | None = None
    hub_id: str | None = None
    hub_config: str | None = None
    streaming: bool = False
    train: list[str] = field(default_factory=list)
    valid: list[str] = field(default_factory=list)
    test: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    copies: int = 1
    both_directions: bool = False
    language_tags: bool = False
    src_column: str | None = None
    tgt_column: str | None = None
    holdout: int = 1000
    max_pairs: int | None = None
    normalize_unicode: bool = True
    remove_control_chars: bool = True
    drop_empty: bool = True
    max_chars: int = 1000
    max_ratio: float = 4.0
    drop_duplicates: bool = True
    drop_overlap: bool = True
    batch_tokens: int = 4096
    max_len: int = 256
    cache_dir: str = ".cache"

    def __post_init__(self) -> None:
        check_choice("data.source", self.source, ("everyday", "multi30k", "hub", "files"))
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
        for name in ("train", "valid", "test"):
            if len(getattr(self, name)) > 2:
                raise ValueError(f"data.{name} takes one file with both sides or two line-aligned files")
        check_at_least("data.copies", self.copies, 1)
        if self.copies > 1 and not self.extra:
            raise ValueError(
                f"data.copies ({self.copies}) weighs the source's own pairs against those of data.extra, and there are "
                "none; leave it out or train for more epochs"
            )
        check_at_least("data.holdout", self.holdout, 1)
        check_at_least("data.max_pairs", self.max_pairs, 1)
        check_at_least("data.max_chars", self.max_chars, 0)
        if self.max_ratio != 0:
            check_at_least("data.max_ratio", self.max_ratio, 1.0)
        check_at_least("data.max_len", self.max_len, 2)
        if self.batch_tokens < self.max_len:
            raise ValueError(
                f"data.batch_tokens ({self.batch_tokens}) must be at least data.max_len ({self.max_len}), "
                "or the longest sentence fits no batch"
            )

    @property
    def own(self) -> DataConfig:
        """The same without extra pairs: what validation and the tests are, whatever was trained on."""
        return replace(self, extra=[], copies=1)

    @property
    def tgt_langs(self) -> list[str]:
        """Languages that sources ask for by their tags; none without tags."""
        languages = [self.tgt_lang, self.src_lang] if self.both_directions else [self.tgt_lang]
        return languages if self.language_tags else []
