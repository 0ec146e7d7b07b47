"""What happens to sentence pairs before training sees them, every step counted."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from itertools import chain, groupby

from translate.config.data import DataConfig
from translate.data.augment import ADDED, Augmentation, Augmenter
from translate.data.sources import Pair

_SPACES = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]")
# Controls, and format characters that change no glyph. The joiners U+200C and U+200D build emoji and Indic letters, so
# they go only where they join nothing: beside a space or an end.
_CONTROLS = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_LOOSE_JOINERS = re.compile("(?<!\\S)[\u200c\u200d]++|(?<![\u200c\u200d])[\u200c\u200d]++(?!\\S)")
_SURROGATES = re.compile("[\ud800-\udfff]")
_MANY_MARKS = re.compile(r"[^\w\s\x00-\x7f]{100,}")  # of combining marks, none of which is a word character
_SPACE_MARK = "\u2581"  # what SentencePiece writes for a space
_RATIO_FROM = 20  # characters


def _has_controls(text: str) -> bool:
    return any(pattern.search(text) for pattern in (_SPACES, _CONTROLS, _LOOSE_JOINERS))


def clean_text(text: str, *, normalize_unicode: bool = True, remove_control_chars: bool = True) -> str:
    """Make a string clean: one that the tokenizer gives back unchanged and that hides nothing.

    Always: U+2581, which SentencePiece uses for a space, becomes an underscore; half surrogates, which no file can
    hold, become U+FFFD; spaces at both ends go. No-break spaces inside stay, French typography needs them.

    Args:
        text: One sentence.
        normalize_unicode: Bring the text to Unicode NFC.
        remove_control_chars: Turn tabs and line breaks into spaces; remove other control characters, zero-width
            spaces, direction marks, soft hyphens and byte order marks. Joiners inside words and emoji stay.

    >>> clean_text(" cafe\\u0301\\tnoir\\u200b ")
    'café noir'
    """
    text = text.replace(_SPACE_MARK, "_")
    if not text.isprintable():  # as all controls, format characters, half surrogates and spaces but the usual one
        text = _SURROGATES.sub("\ufffd", text)
        if remove_control_chars:
            text = _LOOSE_JOINERS.sub("", _CONTROLS.sub("", _SPACES.sub(" ", text)))
    if normalize_unicode and not text.isascii():
        text = _nfc(text)
    return text.strip()


def _nfc(text: str) -> str:
    """Return the text in Unicode NFC, in linear time whatever it holds."""
    return unicodedata.normalize("NFC", _MANY_MARKS.sub(_sorted_marks, text))


def _sorted_marks(match: re.Match[str]) -> str:
    """Bring the combining marks of a long run into canonical order, for which `normalize` takes quadratic time."""
    characters = "".join(unicodedata.normalize("NFD", character) for character in match[0])
    runs = groupby(characters, key=lambda character: unicodedata.combining(character) > 0)
    return "".join(chain.from_iterable(sorted(run, key=unicodedata.combining) if marks else run for marks, run in runs))


@dataclass(frozen=True)
class CleaningRules:
    """Which steps run; False and 0 switch one off. See `DataConfig`.

    `both_directions` is no step: it makes both sides of a pair a source, which `drop_overlap` heeds.
    """

    normalize_unicode: bool = DataConfig.normalize_unicode
    remove_control_chars: bool = DataConfig.remove_control_chars
    drop_empty: bool = DataConfig.drop_empty
    max_chars: int = DataConfig.max_chars
    max_ratio: float = DataConfig.max_ratio
    drop_duplicates: bool = DataConfig.drop_duplicates
    drop_overlap: bool = DataConfig.drop_overlap
    both_directions: bool = False

    @classmethod
    def of(cls, config: DataConfig) -> CleaningRules:
        """Return the cleaning part of a DataConfig."""
        return cls(**{field.name: getattr(config, field.name) for field in fields(cls)})


_CHANGES = {"normalize_unicode": "changed to Unicode NFC", "remove_control_chars": "control characters removed"}
_DROPS = {
    "drop_empty": "dropped: a side is empty",
    "max_chars": "dropped: a side is over {} characters",
    "max_ratio": "dropped: one side is over {} times the other",
    "drop_duplicates": "dropped: seen before",
    "drop_overlap": "dropped: source is in valid or test",
    "max_len": "dropped: a side is over {} tokens",
}


class CleaningReport:
    """How many pairs each step changed, dropped or added, by split: valid, train or the parts of a mixture, extra."""

    def __init__(self, limits: dict[str, float], counts: dict[str, dict[str, int]] | None = None) -> None:
        """Start at zero, or from the `counts` that `to_dict` gave.

        Args:
            limits: Value of each step's setting, as in CleaningRules; False and 0 mean off.
            counts: {"train": {"read": …, step: …}, "valid": {…}}, and "extra".
        """
        self.limits = limits
        self.counts = counts or {}

    def add(self, split: str, step: str, amount: int = 1) -> None:
        """Count `amount` pairs of `split` at `step`."""
        counts = self.counts.setdefault(split, {})
        counts[step] = counts.get(step, 0) + amount

    def kept(self, split: str) -> int:
        """Count the pairs that passed every step."""
        counts = self.counts.get(split, {})
        added = sum(counts.get(kind, 0) for kind in ADDED)
        return counts.get("read", 0) - sum(counts.get(step, 0) for step in _DROPS) + added

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return limits and counts, `kept` included, as plain values for JSON."""
        kept = {split: {**counts, "kept": self.kept(split)} for split, counts in self.counts.items()}
        return {"limits": dict(self.limits), **{split: dict(values) for split, values in kept.items()}}

    def table(self) -> str:
        """Return an aligned table: a line for each step, a column for each split."""
        splits = [*([split for split in self.counts if split != "valid"] or ["train"]), "valid"]
        rows = [["pairs", *splits], ["read", *(self._cell("read", split) for split in splits)]]
        for step, text in {**_CHANGES, **_DROPS}.items():
            limit = self.limits.get(step, 0)
            cells = [self._cell(step, split) if limit else "off" for split in splits]
            rows.append([text.format(f"{limit:g}" if limit else "…"), *cells])
        for kind, text in ADDED.items():
            if any(kind in counts for counts in self.counts.values()):
                rows.append([f"added: {text}", *(self._cell(kind, split) for split in splits)])
        rows.append(["kept", *(f"{self.kept(split):,}" for split in splits)])
        wide = max(len(row[0]) for row in rows)
        return "\n".join(f"{name:<{wide}}" + "".join(f"  {cell:>12}" for cell in cells) for name, *cells in rows)

    def _cell(self, step: str, split: str) -> str:
        train_only = step in _DROPS and step not in ("drop_empty", "max_len")
        return "-" if train_only and split == "valid" else f"{self.counts.get(split, {}).get(step, 0):,}"


class Cleaner:
    """Apply the rules to streams of pairs and count what they do.

    Memory does not grow with the corpus: duplicates are found by 64-bit hash in a temporary database on disk.
    """

    def __init__(self, rules: CleaningRules, report: CleaningReport) -> None:
        """Count into `report`."""
        self.rules, self.report = rules, report
        self._held_out: set[int] = set()

    def valid(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield normalized validation pairs; only pairs with an empty side are dropped."""
        for pair in self._normalized(pairs, "valid"):
            self.hold_out(pair)
            if self.rules.drop_empty and not (pair.src and pair.tgt):
                self.report.add("valid", "drop_empty")
            else:
                yield pair

    def hold_out(self, pair: Pair) -> None:
        """Keep pairs with the source of this validation or test pair out of the training pairs that follow.

        The source alone decides: a model that has learned any translation of a test sentence is no longer tested by it.
        With `both_directions` either side of a pair is a source, of the held-out pair as of those to train on.
        """
        self._held_out.update(_hash(self._clean(side)) for side in self._sources(pair))

    def train(
        self, streams: Mapping[str, Iterable[Pair]], augmentations: Mapping[str, Augmentation] | None = None
    ) -> Iterator[Pair]:
        """Yield normalized training pairs that pass every rule; each other one counts at the first rule that it breaks.

        Args:
            streams: Pairs by the name that they are counted under, one stream after the other.
            augmentations: What is added to those that pass, by the same names.
        """
        with closing(sqlite3.connect("")) as seen:  # a file that SQLite makes, spills to and removes by itself
            seen.execute("PRAGMA journal_mode = OFF")
            seen.execute("PRAGMA cache_size = -65536")  # 64 MiB
            seen.execute("CREATE TABLE seen (hash INTEGER PRIMARY KEY)")
            for name, pairs in streams.items():
                augmenter = Augmenter((augmentations or {}).get(name, Augmentation()), name)
                for pair in self._normalized(pairs, name):
                    if step := self._first_broken(pair, seen):
                        self.report.add(name, step)
                        continue
                    yield pair
                    for kind, added in augmenter.more(pair):
                        if not self._is_held_out(added):
                            self.report.add(name, kind)
                            yield added

    def _first_broken(self, pair: Pair, seen: sqlite3.Connection) -> str | None:
        rules = self.rules
        shorter, longer = sorted((len(pair.src), len(pair.tgt)))
        if rules.drop_empty and not shorter:
            return "drop_empty"
        if rules.max_chars and longer > rules.max_chars:
            return "max_chars"
        if rules.max_ratio and longer > _RATIO_FROM and longer > rules.max_ratio * shorter:
            return "max_ratio"
        if self._is_held_out(pair):
            return "drop_overlap"
        if rules.drop_duplicates:
            row = (_hash("\n".join(pair)),)
            if not seen.execute("INSERT OR IGNORE INTO seen VALUES (?)", row).rowcount:
                return "drop_duplicates"
        return None

    def _is_held_out(self, pair: Pair) -> bool:
        return self.rules.drop_overlap and any(_hash(side) in self._held_out for side in self._sources(pair))

    def _sources(self, pair: Pair) -> Sequence[str]:
        return pair if self.rules.both_directions else pair[:1]

    def _normalized(self, pairs: Iterable[Pair], split: str) -> Iterator[Pair]:
        for pair in pairs:
            self.report.add(split, "read")
            clean = Pair(self._clean(pair.src), self._clean(pair.tgt))
            if clean != pair:
                self._count_changes(pair, split)
            yield clean

    def _count_changes(self, pair: Pair, split: str) -> None:
        rules = self.rules
        if rules.remove_control_chars and any(_has_controls(text) for text in pair):
            self.report.add(split, "remove_control_chars")
        if rules.normalize_unicode and any(_nfc(text) != text for text in pair):
            self.report.add(split, "normalize_unicode")

    def _clean(self, text: str) -> str:
        return clean_text(
            text,
            normalize_unicode=self.rules.normalize_unicode,
            remove_control_chars=self.rules.remove_control_chars,
        )


def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
