"""SentencePiece as this project uses it: fixed special ids, nothing unknown, and decoding that undoes encoding."""

from __future__ import annotations

import copy
import hashlib
import io
import re
import threading
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path

import sentencepiece as spm

from translate.common.files import atomic_write
from translate.config.tokenizer import TokenizerConfig

PAD_ID, UNK_ID, BOS_ID, EOS_ID = 0, 1, 2, 3  # of the tokenizers that are trained here
BEYOND = "<beyond>"  # in a converted model all pieces behind this one stand for the unknown one
_FEW = 40  # texts that are done before SentencePiece has started the threads that it starts for a list
_MAX_TRAINING_SENTENCES = 2_000_000  # drawn from the whole text; SentencePiece holds them, about 350 bytes each
_JOINT_FILES = ("tokenizer.model",)
_SEPARATE_FILES = ("tokenizer.src.model", "tokenizer.tgt.model")


class Tokenizer:
    """One SentencePiece model for both sides (joint) or one for each.

    Attributes:
        src_vocab_size: Number of source ids.
        tgt_vocab_size: Number of target ids.
        pad_id: Fills rows up.
        unk_id: Stands for what the vocabulary lacks.
        bos_id: First input of the decoder; a converted model may have padding there.
        eos_id: Ends a sentence.
        forbidden_ids: What no translation may have.

    The special ids of a tokenizer that is trained here are 0 padding, 1 unknown, 2 BOS, 3 EOS. It segments text as it
    is (identity normalization), and what the vocabulary lacks becomes UTF-8 bytes, so `decode(encode(text)) == text`
    for every clean string: one that `translate.data.cleaning.clean_text` returns unchanged. The one character that
    this needs gone from the text is U+2581, which SentencePiece writes for a space. A converted one may do otherwise.

    >>> tokenizer = Tokenizer.train(["a cat sat"] * 9, ["un chat assis"] * 9, vocab_size=290)
    >>> ids = tokenizer.encode_tgt("un chat 😀")
    >>> ids[-1] == tokenizer.eos_id, tokenizer.decode(ids)
    (True, 'un chat 😀')
    """

    def __init__(self, models: Sequence[bytes]) -> None:
        """Make a tokenizer of one serialized SentencePiece model (joint) or two (source, target)."""
        self._models = tuple(models)
        self._processors = tuple(_processor(model) for model in models)
        self._src, self._tgt = self._processors[0], self._processors[-1]
        self.src_vocab_size, self.tgt_vocab_size = map(_num_used, (self._src, self._tgt))
        self._special = _special_ids(self._processors)
        self.pad_id, self.unk_id, self.bos_id, self.eos_id = self._special
        forbidden = (self.pad_id, self.bos_id, *([self.unk_id] if _spells_all(self._tgt) else []))
        self.forbidden_ids = tuple(dict.fromkeys(forbidden))
        self.tag_ids: tuple[int, ...] = ()  # what every source begins with

    @staticmethod
    def train(
        lines_src: Iterable[str],
        lines_tgt: Iterable[str],
        *,
        kind: str = TokenizerConfig.kind,
        vocab_size: int = TokenizerConfig.vocab_size,
        joint: bool = TokenizerConfig.joint,
        character_coverage: float = TokenizerConfig.character_coverage,
        user_symbols: Sequence[str] = (),
        languages: Sequence[str] = (),
        directory: Path | str | None = None,
    ) -> Tokenizer:
        """Learn the pieces from clean text; the same lines give the same model.

        Args:
            lines_src: Source sentences; streamed, never held by us. SentencePiece draws at most 2 million of
                them from the whole text.
            lines_tgt: Target sentences.
            kind: "bpe" or "unigram".
            vocab_size: Pieces per model, the 4 special ids and 256 bytes included.
            joint: One model for both sides, else one each.
            character_coverage: Share of the characters of the text that get their own piece; the rest become bytes.
            user_symbols: Strings that are always one piece, such as "<br>".
            languages: Codes that `tagged` is to know. Their tags are control symbols: no text ever becomes one.
            directory: Where to save the result; None saves nothing.

        Raises:
            ValueError: If the text is too small for `vocab_size` (the message states the largest possible), if
                `vocab_size` is too small for the characters of the text, or if a user symbol cannot be used.
        """
        for symbol in user_symbols:
            if not symbol or re.search(r"\s|\u2581", symbol):
                raise ValueError(f"tokenizer.user_symbols: {symbol!r} is empty or contains a space; use one without")
            if symbol in map(language_tag, languages):
                raise ValueError(f"tokenizer.user_symbols: {symbol} is a tag of data.language_tags; leave it out")
        corpora = [chain(lines_src, lines_tgt)] if joint else [lines_src, lines_tgt]
        symbols = user_symbols, [language_tag(language) for language in languages]
        models = [_train_model(lines, kind, vocab_size, character_coverage, *symbols) for lines in corpora]
        tokenizer = Tokenizer(models)
        if directory is not None:
            tokenizer.save(directory)
        return tokenizer

    @staticmethod
    def load(directory: Path | str) -> Tokenizer:
        """Read the tokenizer that `save` wrote, or one SentencePiece `.model` file.

        Raises:
            ValueError: If there is no tokenizer, or it is damaged or lacks a special id; the message names the path.
        """
        path = Path(directory)
        for names in ((), _JOINT_FILES, _SEPARATE_FILES):
            files = [path / name for name in names] or [path]
            if all(file.is_file() for file in files):
                try:
                    return Tokenizer([file.read_bytes() for file in files])
                except ValueError as error:
                    raise ValueError(f"{path}: {error}") from error
        raise ValueError(f"no tokenizer in {path}: neither {_JOINT_FILES[0]} nor {' and '.join(_SEPARATE_FILES)}")

    def save(self, directory: Path | str) -> None:
        """Write `tokenizer.model`, or `tokenizer.src.model` and `tokenizer.tgt.model`, into `directory`."""
        for name, model in zip(_JOINT_FILES if len(self._models) == 1 else _SEPARATE_FILES, self._models, strict=True):
            with atomic_write(Path(directory, name)) as file:
                file.write(model)

    def tagged(self, language: str) -> Tokenizer:
        """Return the same tokenizer with sources that begin with the code of the language to translate into.

        Raises:
            ValueError: If it has no such tag.

        Source: Johnson et al. 2017 (arXiv:1611.04558).
        """
        tags = language_tag(language), f">>{language}<<"  # the second one is Marian's
        token_ids = [token for tag in tags if self._src.is_control(token := self._src.piece_to_id(tag))]
        if not token_ids:
            raise ValueError(
                f"the tokenizer has no tag {tags[0]}; train one with data.language_tags=true for this language"
            )
        result = copy.copy(self)
        result.tag_ids = (token_ids[0],)
        return result

    @property
    def models(self) -> tuple[bytes, bytes]:
        """The serialized SentencePiece models of source and target; the same one if they share it."""
        return self._models[0], self._models[-1]

    @cached_property
    def joint(self) -> bool:
        """Whether both sides share one vocabulary; in a converted model each has a SentencePiece model for it."""
        if len(self._models) == 1 or self.src_vocab_size != self.tgt_vocab_size:
            return len(self._models) == 1
        return all(self._src.id_to_piece(token) == self._tgt.id_to_piece(token) for token in range(self.src_vocab_size))

    @property
    def fingerprint(self) -> str:
        """Hash of the models; equal fingerprints give equal ids."""
        digest = hashlib.blake2b(digest_size=16)
        for model in self._models:
            digest.update(hashlib.blake2b(model).digest())
        return digest.hexdigest()

    def trimmed(
        self, used_tgt: Collection[int], used_src: Collection[int] | None = None
    ) -> tuple[Tokenizer, list[int], list[int]]:
        """Return a tokenizer with fewer pieces, and the present ids of its source and of its target pieces.

        Args:
            used_tgt: Target ids that stay; single characters and special pieces do so anyway.
            used_src: Source ids that stay; None means all.
        """
        sources = range(self.src_vocab_size) if used_src is None else used_src
        (src, kept_src), (tgt, kept_tgt) = (
            _trimmed(model, set(used), size, self._special)
            for model, used, size in zip(
                self.models, (sources, used_tgt), (self.src_vocab_size, self.tgt_vocab_size), strict=True
            )
        )
        return Tokenizer([src, tgt]), kept_src, kept_tgt

    def encode_src(self, text: str) -> list[int]:
        """Return the ids of one source sentence, EOS appended, after the language code of a `tagged` tokenizer."""
        return self.encode_src_batch([text])[0]

    def lacks(self, text: str) -> bool:
        """Return whether a source text has characters without a piece, which are bytes or unknown to the model."""
        ids = self._src.encode(text)
        return any(token == self.unk_id or token >= self.src_vocab_size or self._src.is_byte(token) for token in ids)

    def barely_knows(self, text: str) -> bool:
        """Return whether a source text has a letter that no piece holds beside another one, in either case.

        Such letters were rare in the text that the tokenizer learnt from, and a model knows hardly more of them than of
        those without a piece.
        """
        letters = {letter for letter in text.lower() if letter != letter.upper()}
        return not letters <= self._usual_letters

    @cached_property
    def _usual_letters(self) -> frozenset[str]:
        pieces = map(self._src.id_to_piece, range(self._src.get_piece_size()))
        words = (piece.replace("\u2581", "").lower() for piece in pieces)
        return frozenset(letter for word in words if len(word) > 1 for letter in word)

    def encode_tgt(self, text: str) -> list[int]:
        """Return the ids of one target sentence, EOS appended, no BOS."""
        return self.encode_tgt_batch([text])[0]

    def encode_src_batch(self, texts: list[str], *, sampling: float = 0.0, seed: int = 0) -> list[list[int]]:
        """Return the ids of source sentences, as `encode_src` gives them.

        Args:
            texts: Clean sentences.
            sampling: 0 gives the best segmentation; above 0 draws one at random: the share of BPE merges left out
                (BPE-dropout, Provilkov et al. 2020), or the smoothing alpha of unigram sampling (Kudo 2018).
            seed: The same seed, texts and sampling give the same segmentations.
        """
        encoded = _encode(self._src, texts, sampling, seed, self.src_vocab_size)
        return [[*self.tag_ids, *ids] for ids in encoded] if self.tag_ids else encoded

    def encode_tgt_batch(self, texts: list[str], *, sampling: float = 0.0, seed: int = 0) -> list[list[int]]:
        """Return the ids of target sentences, EOS appended, no BOS; arguments as in `encode_src_batch`."""
        return _encode(self._tgt, texts, sampling, seed, self.tgt_vocab_size)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of target ids; padding, unknown pieces, BOS and EOS are left out wherever they stand."""
        return self.decode_batch([ids])[0]

    def decode_batch(self, batch: Sequence[Sequence[int]]) -> list[str]:
        """Return the texts of target ids, as `decode` gives them."""
        rows = [[int(token) for token in ids if token not in self._special] for ids in batch]
        return [self._tgt.decode(ids) for ids in rows] if len(rows) < _FEW else list(self._tgt.decode(rows))

    def pieces_src(self, ids: Sequence[int]) -> list[str]:
        """Return source pieces as SentencePiece writes them, one for each id."""
        return [self._src.id_to_piece(int(token)) for token in ids]

    def pieces_tgt(self, ids: Sequence[int]) -> list[str]:
        """Return target pieces as SentencePiece writes them, one for each id."""
        return [self._tgt.id_to_piece(int(token)) for token in ids]


def language_tag(language: str) -> str:
    """Return the piece that asks for a translation into a language.

    >>> language_tag("fr")
    '<2fr>'
    """
    return f"<2{language}>"


def _processor(model: bytes) -> spm.SentencePieceProcessor:
    if not model:
        raise ValueError("not a SentencePiece model: the file is empty")  # SentencePiece would take it and crash later
    try:
        processor = spm.SentencePieceProcessor(model_proto=model)
    except RuntimeError as error:
        raise ValueError(f"not a SentencePiece model: {str(error).strip()}") from error
    return processor


def _special_ids(processors: Sequence[spm.SentencePieceProcessor]) -> tuple[int, int, int, int]:
    """Return the ids of padding, the unknown piece, BOS and EOS, which source and target have in common."""
    found = [(one.pad_id(), one.unk_id(), one.bos_id(), one.eos_id()) for one in processors]
    ids: tuple[int, int, int, int] = found[0]
    if min(ids) < 0 or len(set(ids)) < len(ids) - (ids[0] == ids[2]):
        raise ValueError(
            f"the tokenizer's pad, unk, bos, eos ids are {ids}; each must be there (0, 1, 2, 3 when trained here)"
        )
    if any(ids != others for others in found):
        raise ValueError(f"the special ids of source and target tokenizer differ: {found[0]} and {found[-1]}")
    return ids


def _trimmed(model: bytes, used: set[int], size: int, special: Collection[int]) -> tuple[bytes, list[int]]:
    """Return a SentencePiece model with fewer pieces, and their ids in `model`, those of `special` first.

    The others stay in the model behind all these, as unused pieces: SentencePiece still merges across them, and then
    spells them by what they were merged from.
    """
    from sentencepiece.sentencepiece_model_pb2 import ModelProto  # needs protobuf, which the runtime does without

    proto, kinds = ModelProto.FromString(model), ModelProto.SentencePiece
    text = (kinds.NORMAL, kinds.UNUSED)
    stays = [
        token in used or piece.type not in text or (piece.type == kinds.NORMAL and len(piece.piece) == 1)
        for token, piece in enumerate(proto.pieces)
    ]
    first = sorted(set(special))
    kept = [*first, *(token for token in range(size) if stays[token] and token not in special)]
    gone = set(range(len(stays))).difference(kept)
    others = [piece for token, piece in enumerate(proto.pieces) if token in gone and piece.piece != BEYOND]
    for piece in others:
        piece.type = kinds.UNUSED
    pieces = [*(proto.pieces[token] for token in kept), kinds(piece=BEYOND, type=kinds.UNUSED), *others]
    smaller = ModelProto(pieces=pieces)
    proto.ClearField("pieces")
    smaller.MergeFrom(proto)
    return smaller.SerializeToString(), kept


def _num_used(processor: spm.SentencePieceProcessor) -> int:
    """Count the ids of a model; unused pieces with the highest ids do not count, nor does what is behind `BEYOND`."""
    size = int(processor.get_piece_size())
    mark = int(processor.piece_to_id(BEYOND))
    if mark != processor.unk_id():
        return mark
    while processor.is_unused(size - 1):
        size -= 1
    return size


def _encode(
    processor: spm.SentencePieceProcessor, texts: list[str], sampling: float, seed: int, size: int
) -> list[list[int]]:
    encoded = _segment(processor, texts, sampling, seed)
    if _spells_all(processor):
        return encoded
    for place, ids in enumerate(encoded):
        if max(ids) >= size or processor.unk_id() in ids:
            pieces = [processor.id_to_piece(token) for token in ids[:-1]]
            if not sampling:
                pieces = processor.encode(texts[place], out_type=str)  # the unknown ones as they stand in the text
            encoded[place] = [*(_token_of(processor, piece, size) for piece in pieces), ids[-1]]
    return encoded


def _spells_all(processor: spm.SentencePieceProcessor) -> bool:
    """Return whether the pieces of a model spell all bytes, so that nothing is unknown."""
    return bool(processor.is_byte(processor.piece_to_id("<0x0A>")))


def _token_of(processor: spm.SentencePieceProcessor, piece: str, size: int) -> int:
    """Return the id of a piece: of one that SentencePiece does not know by itself, too, if the vocabulary has it."""
    token = int(processor.piece_to_id(piece))
    return token if token < size and not processor.is_control(token) else int(processor.unk_id())


def _segment(processor: spm.SentencePieceProcessor, texts: list[str], sampling: float, seed: int) -> list[list[int]]:
    if not sampling:
        if len(texts) < _FEW:
            return [processor.encode(text, add_eos=True) for text in texts]
        encoded: list[list[int]] = processor.encode(texts, add_eos=True)
        return encoded
    result: list[list[int]] = []

    def sample() -> None:
        spm.set_random_generator_seed(seed % 2**32)
        result.extend(
            processor.encode(texts, add_eos=True, enable_sampling=True, alpha=sampling, nbest_size=-1, num_threads=1)
        )

    # The generator belongs to the thread and some versions seed it only on first use there: a new thread, a new start.
    thread = threading.Thread(target=sample)
    thread.start()
    thread.join()
    return result


def _train_model(
    lines: Iterable[str],
    kind: str,
    vocab_size: int,
    character_coverage: float,
    user_symbols: Sequence[str],
    control_symbols: Sequence[str],
) -> bytes:
    model = io.BytesIO()
    try:
        spm.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            model_type=kind,
            vocab_size=vocab_size,
            character_coverage=character_coverage,
            user_defined_symbols=list(user_symbols),
            control_symbols=list(control_symbols),
            byte_fallback=True,
            normalization_rule_name="identity",
            add_dummy_prefix=True,
            remove_extra_whitespaces=False,
            pad_id=PAD_ID,
            unk_id=UNK_ID,
            bos_id=BOS_ID,
            eos_id=EOS_ID,
            input_sentence_size=_MAX_TRAINING_SENTENCES,
            shuffle_input_sentence=True,
            max_sentence_length=65_536,  # bytes; longer lines are left out
            num_threads=2,  # fixed: the unigram trainer's sums depend on it
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        raise ValueError(_explain(str(error), vocab_size)) from error
    return model.getvalue()


def _explain(message: str, vocab_size: int) -> str:
    """Return SentencePiece's error in one line that says what to change."""
    if match := re.search(r"set it to a value <= (\d+)", message):
        return (
            f"tokenizer.vocab_size ({vocab_size}) is too large for this text; "
            f"the largest possible is {match[1]}: set tokenizer.vocab_size={match[1]} or less"
        )
    if match := re.search(r"smaller than required_chars\. \d+ vs (\d+)", message):
        return (
            f"tokenizer.vocab_size ({vocab_size}) has no room for the characters of this text; "
            f"set it above {match[1]} or lower tokenizer.character_coverage"
        )
    if "sentences_.empty()" in message:
        return "there is no text to train the tokenizer on; check data.train"
    return f"SentencePiece could not train the tokenizer: {message}"
