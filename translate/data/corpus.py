"""Which sentence pairs train, validate and test: the embedded corpus, Multi30k, the hub, the user's own files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain, islice
from pathlib import Path

from translate.common.resources import everyday_dir, topics_dir
from translate.config.data import DataConfig
from translate.config.parts import PartConfig
from translate.data.augment import ADDED
from translate.data.download import MULTI30K_TESTS, download_multi30k
from translate.data.readers import suffix
from translate.data.rst import PlainSource
from translate.data.second_translations import SecondTranslations
from translate.data.sources import TABLES, TEXTS, FileSource, FirstPairs, HubSource, Pair, Source, TermSource

__all__ = ["Corpus", "Pair", "open_corpus"]

_HUB_SPLITS = {"valid": "validation", "test": "test"}
_TOPICS_VALID = "valid.tsv"
_PHRASES = ("interfaces.tsv", "set_phrases.tsv", "single_words.tsv")  # of the topics, a source of their own


class Corpus:
    """Training, validation and test pairs, as they are in their sources: nothing cleaned, nothing dropped."""

    def __init__(
        self,
        train: Source | Mapping[str, Source],
        valid: Source | None,
        tests: Mapping[str, Source | None],
        *,
        holdout: int = DataConfig.holdout,
        max_pairs: int | None = None,
        extra: Sequence[Source] = (),
    ) -> None:
        """Put a corpus together.

        Args:
            train: Training pairs; or several sources of them by name, which then need `valid` and `tests`.
            valid: Validation pairs; None takes the first `holdout` training pairs and keeps them out of training.
            tests: Test sets by name, none needed; one that is None takes the next `holdout` training pairs.
            holdout: Pairs to keep out for each split that is None.
            max_pairs: Train on the first so many pairs only; None takes all.
            extra: More training pairs, such as synthetic ones; `max_pairs` does not count them.
        """
        self._parts = dict(train) if isinstance(train, Mapping) else {"train": train}
        self._valid, self._tests = valid, dict(tests)
        self._max_pairs, self._extra = max_pairs, tuple(extra)
        missing = [*(["valid"] if valid is None else []), *(name for name, test in tests.items() if test is None)]
        # where in the training stream the splits without a separate source lie
        self._held_out = {name: (i * holdout, (i + 1) * holdout) for i, name in enumerate(missing)}

    @property
    def test_names(self) -> tuple[str, ...]:
        """Names that `test` takes."""
        return tuple(self._tests)

    @property
    def train_source(self) -> Source:
        """The one source of training pairs, whole."""
        (source,) = self._parts.values()
        return source

    @property
    def fingerprint(self) -> str:
        """Hash of what the streams here give: files by their contents, hub datasets by their revision."""
        extra = (("extra", source) for source in self._extra)
        sources = [*self._parts.items(), ("valid", self._valid), *self._tests.items(), *extra]
        parts = [(name, source.identity() if source else None) for name, source in sources]
        return hashlib.blake2b(repr((parts, self._held_out, self._max_pairs)).encode(), digest_size=16).hexdigest()

    def streams(self) -> dict[str, Iterator[Pair]]:
        """Return the streams of training pairs by name: "train" or the parts of a mixture, and "extra" if there is any.

        Each raises as `train`.
        """
        if len(self._parts) == 1 and "train" in self._parts:
            streams = {"train": self.train()}
        else:
            streams = {
                name: _not_empty(islice(source.pairs(), self._max_pairs), f"data.parts.{name} has no pairs")
                for name, source in self._parts.items()
            }
        if self._extra:
            pairs = chain.from_iterable(source.pairs() for source in self._extra)
            streams["extra"] = _not_empty(pairs, "data.extra has no pairs")
        return streams

    def train(self) -> Iterator[Pair]:
        """Stream the training pairs, without extra ones.

        Raises:
            ValueError: If there are no pairs, or the source is damaged (see `translate.data.readers`).
        """
        start = max((stop for _, stop in self._held_out.values()), default=0)
        stop = None if self._max_pairs is None else start + self._max_pairs
        hint = f"after the first {start:,}, which validation and test take; lower data.holdout" if start else ""
        pairs = chain.from_iterable(source.pairs() for source in self._parts.values())
        return _not_empty(islice(pairs, start, stop), f"the corpus has no training pairs {hint}".strip())

    def valid(self) -> Iterator[Pair]:
        """Stream the validation pairs; raises as `train`."""
        return self._split("valid", self._valid)

    def test(self, name: str) -> list[Pair]:
        """Return the pairs of one test set.

        Raises:
            ValueError: If there is no test set of that name (with those there are), or as `train`.
        """
        if name not in self._tests:
            raise ValueError(f"no test set {name!r}; there are: {', '.join(self._tests) or 'none'}")
        return list(self._split(name, self._tests[name]))

    def _split(self, name: str, source: Source | None) -> Iterator[Pair]:
        complaint = f"the corpus has no pairs for {name}"
        if source:
            return _not_empty(source.pairs(), complaint)
        start, stop = self._held_out[name]
        given = "data.valid" if name == "valid" else "data.test"
        complaint += f": its first {start:,} are held out for other splits; lower data.holdout, or give {given}"
        return _not_empty(islice(self._parts["train"].pairs(), start, stop), complaint)


def _not_empty(pairs: Iterable[Pair], complaint: str) -> Iterator[Pair]:
    empty = True
    for pair in pairs:
        empty = False
        yield pair
    if empty:
        raise ValueError(complaint)


def open_corpus(config: DataConfig) -> Corpus:
    """Open the corpus that the `data` settings describe.

    Only Multi30k without data.root and hub datasets without data.root touch the network.

    Raises:
        ValueError: If a file or folder is missing, a language is not in the corpus, or a download fails.
    """
    openers = {
        "everyday": _everyday,
        "activities": _activities,
        "topics": _topics,
        "phrases": _phrases,
        "terms": _terms,
        "multi30k": _multi30k,
        "hub": _hub,
        "files": _files,
        "mix": _mix,
    }
    return openers[config.source](config)


def _everyday(config: DataConfig) -> Corpus:
    _check_languages(config, "everyday", ("en", "fr"))
    folder = everyday_dir()
    tests = {"everyday_test": "test", "everyday_unseen": "test_unseen"}
    return _corpus(
        config,
        _aligned(config, folder, "train"),
        _aligned(config, folder, "valid"),
        {name: _aligned(config, folder, stem) for name, stem in tests.items()},
    )


def _activities(config: DataConfig) -> Corpus:
    _check_languages(config, "the corpus of activities", ("en", "fr"))
    return _corpus(config, _aligned(config, everyday_dir(), "activities"), None, {"activities_holdout": None})


def _topics(config: DataConfig) -> Corpus:
    names = sorted(path.name for path in topics_dir().glob("*.tsv"))
    return _topic_files(config, [name for name in names if name not in _PHRASES and not name.startswith("valid")])


def _phrases(config: DataConfig) -> Corpus:
    return _topic_files(config, _PHRASES)


def _terms(config: DataConfig) -> Corpus:
    return _corpus(
        config, TermSource(config.glossary, (config.src_lang, config.tgt_lang)), None, {"terms_holdout": None}
    )


def _topic_files(config: DataConfig, names: Sequence[str]) -> Corpus:
    _check_languages(config, "the corpus of topics", ("en", "fr"))
    train, held_out = (
        FileSource(
            tuple(str(topics_dir() / name) for name in files),
            (config.src_lang, config.tgt_lang),
            True,
            config.cache_dir,
        )
        for files in (names, [_TOPICS_VALID])
    )
    return _corpus(config, train, held_out, {"topics_holdout": None})


def _multi30k(config: DataConfig) -> Corpus:
    if config.root is None:
        _check_languages(config, "Multi30k", ("en", "fr"))
        folder = download_multi30k(Path(config.cache_dir, "multi30k"))
    else:
        folder = _existing_folder(config.root)
    there = [name for name in MULTI30K_TESTS if _find(folder, name, config.src_lang)]
    tests = {name: _aligned(config, folder, name) for name in there}
    return _corpus(config, _aligned(config, folder, "train"), _aligned(config, folder, "val"), tests)


def _hub(config: DataConfig) -> Corpus:
    hub_id = config.hub_id or ""
    of_train = config.hub_split or "train"
    train = _hub_split(config, hub_id, of_train)
    if train is None:
        raise ValueError(f"{config.root or hub_id}: no {of_train} split; the names must start with {of_train}")
    others = {key: split for key, split in _HUB_SPLITS.items() if split != of_train}
    sources = {key: _hub_split(config, hub_id, split) for key, split in others.items()}
    name = hub_id.rpartition("/")[2].replace("-", "_")
    test = sources.get("test")
    return _corpus(config, train, sources.get("valid"), {f"{name}_{'test' if test else 'holdout'}": test})


def _hub_split(config: DataConfig, hub_id: str, split: str) -> Source | None:
    columns = _columns(config)
    if config.root is None:
        where = (hub_id, config.hub_config, config.hub_revision)
        source = HubSource(*where, split, columns, config.streaming, config.cache_dir)
        return source if split in source.splits() else None
    folder = _existing_folder(config.root)
    if config.hub_config and (folder / config.hub_config).is_dir():  # as on the hub: a folder for each configuration
        folder = folder / config.hub_config
    if (folder / split).is_dir():  # and in it one for each split, or files named after their splits
        folder, pattern = folder / split, "*"
    else:
        pattern = f"{split}*"
    files = sorted(str(path) for path in folder.glob(pattern) if suffix(path.name) in TABLES)
    return FileSource(tuple(files), columns, True, config.cache_dir) if files else None


def _files(config: DataConfig) -> Corpus:
    train, valid, test = (_file_source(config, paths) for paths in (config.train, config.valid, config.test))
    assert train is not None  # DataConfig checks it
    name = Path(config.test[0]).name.partition(".")[0] if config.test else "holdout"
    return _corpus(config, train, valid, {name: test})


def _mix(config: DataConfig) -> Corpus:
    parts = {name: _part(config, name, part) for name, part in config.parts.items()}
    valid, test = (_file_source(config, paths) for paths in (config.valid, config.test))
    tests = {Path(config.test[0]).name.partition(".")[0]: test} if config.test else {}
    return _corpus(config, parts, valid, tests)


def _part(config: DataConfig, name: str, part: PartConfig) -> Source:
    """Return the training pairs of one part of a mixture."""
    own = {field.name: getattr(part, field.name) for field in fields(PartConfig)}
    for key in ("weight", "markup", "second_translations", "max_pairs", *ADDED):
        del own[key]
    own["glossary"] = config.glossary if part.source == "terms" else None
    own["root"] = part.root or (config.root if part.source == "files" else None)
    try:
        settings = replace(config, parts={}, valid=[], test=[], extra=[], copies=1, temperature=1.0, **own)
        source = open_corpus(settings).train_source
        if part.second_translations:
            _check_languages(config, "the corpus of second translations", ("en", "fr"))
    except ValueError as error:
        raise ValueError(f"data.parts.{name}: {error}") from error
    source = FirstPairs(source, part.max_pairs) if part.max_pairs else source
    source = PlainSource(source) if part.markup == "rst" else source
    if part.second_translations:
        source = SecondTranslations(f"data.parts.{name}", source, (config.src_lang, config.tgt_lang), config.cache_dir)
    return source


def _file_source(config: DataConfig, paths: list[str]) -> FileSource | None:
    named = bool(config.src_column or config.tgt_column)
    full = tuple(str(Path(config.root or "", path)) for path in paths)
    if config.root is None and (missing := next((path for path in full if not Path(path).is_file()), None)):
        raise ValueError(f"{missing}: no such file; data.root=DIR names another folder that paths begin at")
    if [suffix(path) for path in full] == [f".{config.tgt_lang}", f".{config.src_lang}"]:
        full = full[::-1]  # named by their languages, they need no order
    return FileSource(full, _columns(config), named, config.cache_dir) if full else None


def _corpus(
    config: DataConfig, train: Source | Mapping[str, Source], valid: Source | None, tests: Mapping[str, Source | None]
) -> Corpus:
    extra = [_extra_source(config, path) for path in config.extra]
    return Corpus(train, valid, tests, holdout=config.holdout, max_pairs=config.max_pairs, extra=extra)


def _extra_source(config: DataConfig, path: str) -> FileSource:
    if suffix(path) not in TABLES + TEXTS:
        endings = ", ".join(TEXTS + TABLES)
        raise ValueError(f"data.extra ({path}): each is one file with both sides, whose name ends in {endings}")
    return FileSource((path,), (config.src_lang, config.tgt_lang), cache_dir=config.cache_dir)


def _columns(config: DataConfig) -> tuple[str, str]:
    return config.src_column or config.src_lang, config.tgt_column or config.tgt_lang


def _aligned(config: DataConfig, folder: Path, stem: str) -> FileSource:
    paths = []
    for lang in (config.src_lang, config.tgt_lang):
        path = _find(folder, stem, lang)
        if path is None:
            raise ValueError(f"{folder}: no file {stem}.{lang} or {stem}.{lang}.gz")
        paths.append(str(path))
    return FileSource(tuple(paths), _columns(config), False, config.cache_dir)


def _find(folder: Path, stem: str, lang: str) -> Path | None:
    paths = (folder / f"{stem}.{lang}", folder / f"{stem}.{lang}.gz")
    return next((path for path in paths if path.is_file()), None)


def _existing_folder(root: str) -> Path:
    if not Path(root).is_dir():
        raise ValueError(f"data.root ({root}) is not a folder")
    return Path(root)


def _check_languages(config: DataConfig, name: str, there: tuple[str, ...]) -> None:
    for key in ("src_lang", "tgt_lang"):
        if getattr(config, key) not in there:
            raise ValueError(f"data.{key} ({getattr(config, key)}): {name} is in {' and '.join(there)}")
