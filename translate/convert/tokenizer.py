"""Two SentencePiece models and a vocabulary between them, as Marian has them, as a `Tokenizer`.

Marian's ids are those of its vocabulary, not those of SentencePiece. Each SentencePiece model gets its pieces anew in
the order of the vocabulary, so that its own ids are the vocabulary's; what they segment and how does not change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from translate.data.tokenizer import BEYOND, Tokenizer

PAD, UNK, EOS = "<pad>", "<unk>", "</s>"  # pieces that are no text: filling, whatever is unknown, the end


def make_tokenizer(
    models: tuple[bytes, bytes],
    vocabularies: tuple[Mapping[str, int], Mapping[str, int]],
) -> Tokenizer:
    """Make a tokenizer that gives the ids of vocabularies.

    Args:
        models: SentencePiece models of source and target.
        vocabularies: Ids of the pieces of each; the same object if they share one.

    Raises:
        ValueError: If the ids of a vocabulary are not 0, 1, 2 …, or a special piece is missing.
    """
    return Tokenizer([_renumbered(*pair) for pair in zip(models, vocabularies, strict=True)])


def is_language_tag(piece: str) -> bool:
    """Return whether a piece says into which language to translate, such as `>>fra<<`."""
    return piece.startswith(">>") and piece.endswith("<<") and len(piece) > 4


def marian_tag(piece: str) -> str:
    """Return a piece by Marian's name, which differs where it is a language tag of ours.

    >>> marian_tag("<2fr>"), marian_tag("word")
    ('>>fr<<', 'word')
    """
    return f">>{piece[2:-1]}<<" if piece.startswith("<2") and piece.endswith(">") and piece[2:-1].isalpha() else piece


def _renumbered(model: bytes, vocabulary: Mapping[str, int]) -> bytes:
    """Return a SentencePiece model whose ids are those of a vocabulary.

    Pieces that the model lacks are unused ones. Those that the vocabulary lacks stand behind all others, after a mark,
    since the model still segments with them; `Tokenizer` takes them for the unknown piece.
    """
    from google.protobuf.message import DecodeError
    from sentencepiece.sentencepiece_model_pb2 import ModelProto  # needs protobuf

    whole = all(isinstance(token, int) for token in vocabulary.values())
    order = sorted(vocabulary, key=lambda piece: vocabulary[piece]) if whole else []
    if [vocabulary[piece] for piece in order] != list(range(len(vocabulary))):
        raise ValueError("the vocabulary's ids are not 0, 1, 2 and so on, each once")
    if missing := [piece for piece in (PAD, UNK, EOS) if piece not in vocabulary]:
        raise ValueError(f"the vocabulary lacks {', '.join(missing)}")
    try:
        proto = ModelProto.FromString(model)
    except DecodeError as error:
        raise ValueError("a file of the tokenizer is no SentencePiece model, or a damaged one") from error
    kinds = ModelProto.SentencePiece
    kept = kinds.NORMAL, kinds.USER_DEFINED, kinds.BYTE
    known = {piece.piece: piece for piece in proto.pieces if piece.type in kept}

    def piece(text: str) -> Any:
        if text == UNK:
            return kinds(piece=text, type=kinds.UNKNOWN)
        if text in (PAD, EOS) or is_language_tag(text):
            return kinds(piece=text, type=kinds.CONTROL)
        return known.get(text) or kinds(piece=text, type=kinds.UNUSED)

    pieces = [piece(text) for text in order]
    beyond = [own for text, own in known.items() if text not in vocabulary]
    if beyond:
        pieces += [kinds(piece=BEYOND, type=kinds.UNUSED), *beyond]
    proto.ClearField("pieces")
    proto.pieces.extend(pieces)
    trainer = proto.trainer_spec
    trainer.vocab_size = len(pieces)
    trainer.pad_piece, trainer.bos_piece, trainer.unk_piece, trainer.eos_piece = PAD, PAD, UNK, EOS
    trainer.pad_id = trainer.bos_id = vocabulary[PAD]
    trainer.unk_id, trainer.eos_id = vocabulary[UNK], vocabulary[EOS]
    result: bytes = proto.SerializeToString()
    return result
