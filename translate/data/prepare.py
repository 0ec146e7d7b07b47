"""From a corpus to token ids in three steps, each done once and kept in the cache: clean text, tokenizer, ids."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from tqdm import tqdm

from translate.common.files import write_text
from translate.config.tokenizer import TokenizerConfig
from translate.data.augment import RECIPE, Augmentation
from translate.data.cleaning import Cleaner, CleaningReport, CleaningRules
from translate.data.corpus import Corpus
from translate.data.sources import Pair
from translate.data.token_cache import Rows, RowWriter, cache_key, new_entry
from translate.data.tokenizer import Tokenizer

_CHUNK = 10_000  # pairs cleaned or encoded at a time
_SPLITS = ("train", "valid")
_SIDES = ("src", "tgt")
T = TypeVar("T")


@dataclass(frozen=True)
class TextStore:
    """Cleaned pairs of a corpus.

    Attributes:
        key: Name of the cache entry; equal keys, equal pairs.
        rows: Texts by name: "train.src", "train.tgt", "valid.src", "valid.tgt".
        counts: What cleaning counted, as CleaningReport takes it.
    """

    key: str
    rows: dict[str, Rows]
    counts: dict[str, dict[str, int]]

    @property
    def sizes(self) -> dict[str, int]:
        """Return how many training pairs are of each stream (`Corpus.streams`), which stand one after the other."""
        report = CleaningReport({}, self.counts)
        return {name: report.kept(name) for name in self.counts if name != "valid"}

    def pair(self, split: str, index: int) -> Pair:
        """Return one cleaned pair."""
        return Pair(self.rows[f"{split}.src"].text(index), self.rows[f"{split}.tgt"].text(index))


@dataclass(frozen=True)
class TokenStore:
    """Token ids of the pairs that are short enough.

    Attributes:
        rows: Ids by name, EOS last: "train.src", "train.tgt", "valid.src", "valid.tgt".
        text_rows: For each training pair its row in the TextStore, [pairs].
        dropped: Pairs over `max_len`, of "valid" and of each stream of training pairs.
        sizes: How many training pairs are of each stream, which stand one after the other.
    """

    rows: dict[str, Rows]
    text_rows: Rows
    dropped: dict[str, int]
    sizes: dict[str, int]


def cached_text(
    corpus: Corpus, rules: CleaningRules, cache_dir: Path, augmentations: Mapping[str, Augmentation] | None = None
) -> TextStore:
    """Return the cleaned pairs of a corpus, read and cleaned only if the cache lacks them.

    Args:
        corpus: The corpus.
        rules: How it is cleaned.
        cache_dir: Folder of the cache.
        augmentations: Pairs that are added to each part of a mixture, by its name.

    Raises:
        ValueError: If the corpus is empty or damaged, or if no training or validation pair is left.
    """
    key = cache_key("text", corpus.fingerprint, rules, *([RECIPE, dict(augmentations)] if augmentations else []))
    entry = cache_dir / "text" / key
    with new_entry(entry) as folder:
        if folder is not None:
            report = CleaningReport(asdict(rules))
            cleaner = Cleaner(rules, report)
            _write_texts(folder, "valid", cleaner.valid(corpus.valid()))
            for name in corpus.test_names:
                for pair in corpus.test(name):
                    cleaner.hold_out(pair)
            _write_texts(folder, "train", cleaner.train(corpus.streams(), augmentations))
            for split in report.counts:
                _check_some_left(report, split)
            write_text(folder / "counts.json", json.dumps(report.counts))
    counts = json.loads((entry / "counts.json").read_text())
    return TextStore(key, _open_rows(entry), counts)


def cached_tokenizer(
    text: TextStore,
    config: TokenizerConfig,
    cache_dir: Path,
    languages: Sequence[str] = (),
    targets: Sequence[str] = (),
) -> Tokenizer:
    """Return the tokenizer of `config.path`, or one trained on the training pairs if the cache lacks it.

    Args:
        text: The pairs.
        config: Path, or kind and size.
        cache_dir: Folder of the cache.
        languages: A trained one gets tags of these.
        targets: That of a path must have tags of these.

    Raises:
        ValueError: If it cannot be trained, or is not `config.joint`, or lacks a tag of `targets`.
    """
    if config.path is not None:
        tokenizer = Tokenizer.load(config.path)
        if tokenizer.joint != config.joint:
            kind = "joint" if tokenizer.joint else "one per side"
            raise ValueError(
                f"tokenizer.path ({config.path}) is {kind}; set tokenizer.joint={str(tokenizer.joint).lower()}"
            )
        for language in targets:
            tokenizer.tagged(language)  # refuses one without
        return tokenizer
    settings: tuple[object, ...]
    settings = (config.kind, config.vocab_size, config.joint, config.character_coverage, list(config.user_symbols))
    settings += (list(languages),) if languages else ()
    entry = cache_dir / "tokenizers" / cache_key("tokenizer", text.key, settings)
    with new_entry(entry) as folder:
        if folder is not None:
            Tokenizer.train(
                text.rows["train.src"].texts(),
                text.rows["train.tgt"].texts(),
                kind=config.kind,
                vocab_size=config.vocab_size,
                joint=config.joint,
                character_coverage=config.character_coverage,
                user_symbols=config.user_symbols,
                languages=languages,
                directory=folder,
            )
    return Tokenizer.load(entry)


def cached_tokens(text: TextStore, tokenizer: Tokenizer, max_len: int, cache_dir: Path) -> TokenStore:
    """Return the token ids of all pairs with at most `max_len` tokens a side, encoded if the cache lacks them.

    Raises:
        ValueError: If every training or every validation pair is longer.
    """
    entry = cache_dir / "tokens" / cache_key("tokens", text.key, tokenizer.fingerprint, max_len)
    with new_entry(entry) as folder:
        if folder is not None:
            dropped = {split: _write_tokens(folder, split, text, tokenizer, max_len) for split in _SPLITS}
            write_text(folder / "dropped.json", json.dumps(dropped))
    dropped = json.loads((entry / "dropped.json").read_text())
    rows, text_rows = _open_rows(entry), Rows(entry, "train.text_rows")
    sizes: dict[str, int] = {}
    end = 0  # in the text store
    for name, size in text.sizes.items():
        end += size
        kept = bisect_left(range(len(text_rows)), end, key=lambda row: int(text_rows[row][0])) - sum(sizes.values())
        sizes[name] = kept
    by_stream = {name: text.sizes[name] - kept for name, kept in sizes.items()}
    return TokenStore(rows, text_rows, {"valid": dropped["valid"], **by_stream}, sizes)


def _write_texts(folder: Path, split: str, pairs: Iterable[Pair]) -> None:
    with ExitStack() as stack:
        writers = [stack.enter_context(RowWriter(folder, f"{split}.{side}", np.uint8)) for side in _SIDES]
        bar = stack.enter_context(tqdm(desc=f"cleaning {split}", unit=" pairs", unit_scale=True))
        for chunk in _chunks(pairs):
            for writer, texts in zip(writers, zip(*chunk, strict=True), strict=True):
                writer.extend_texts(texts)
            bar.update(len(chunk))


def _write_tokens(folder: Path, split: str, text: TextStore, tokenizer: Tokenizer, max_len: int) -> int:
    """Encode one split; returns how many pairs were too long."""
    sizes = (tokenizer.src_vocab_size, tokenizer.tgt_vocab_size)
    encoders = (tokenizer.encode_src_batch, tokenizer.encode_tgt_batch)
    rows = [text.rows[f"{split}.{side}"] for side in _SIDES]
    total, done, kept_total = len(rows[0]), 0, 0
    with ExitStack() as stack:
        src, tgt = (
            stack.enter_context(RowWriter(folder, f"{split}.{side}", np.uint16 if size <= 2**16 else np.int32))
            for side, size in zip(_SIDES, sizes, strict=True)
        )
        text_rows = stack.enter_context(RowWriter(folder, f"{split}.text_rows", np.int64))
        bar = stack.enter_context(tqdm(desc=f"encoding {split}", unit=" pairs", unit_scale=True, total=total))
        for chunk in _chunks(zip(*(side.texts() for side in rows), strict=True)):
            src_ids, tgt_ids = (
                encode(list(texts)) for texts, encode in zip(zip(*chunk, strict=True), encoders, strict=True)
            )
            kept = [i for i in range(len(chunk)) if max(len(src_ids[i]), len(tgt_ids[i])) <= max_len]
            src.extend(src_ids[i] for i in kept)
            tgt.extend(tgt_ids[i] for i in kept)
            text_rows.extend([[done + i] for i in kept])
            done += len(chunk)
            kept_total += len(kept)
            bar.update(len(chunk))
    if not kept_total:
        raise ValueError(f"every {split} pair is longer than data.max_len ({max_len} tokens); raise it")
    return total - kept_total


def _check_some_left(report: CleaningReport, split: str) -> None:
    if not report.kept(split):
        counts = report.counts[split]
        reasons = ", ".join(f"{step} {count:,}" for step, count in counts.items() if step != "read")
        raise ValueError(f"cleaning left none of {counts['read']:,} {split} pairs ({reasons}); see the data settings")


def _open_rows(entry: Path) -> dict[str, Rows]:
    names = [f"{split}.{side}" for split in _SPLITS for side in _SIDES]
    return {name: Rows(entry, name) for name in names}


def _chunks(items: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk
