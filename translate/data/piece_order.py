"""The pieces of a serialized SentencePiece model: which are special, and a model with some first and the rest unused.

It is a protocol buffer: fields, each with a number. Field 1 is a piece, in the order of ids, and of a piece field 3 is
its type (https://github.com/google/sentencepiece, src/sentencepiece_model.proto); no more of it is known here.
"""

from collections.abc import Iterator, Sequence

_NORMAL, _UNUSED = b"\x01", b"\x05"  # types of pieces
_TYPE = b"\x18"  # key of field 3, a number
_PIECE = b"\x0a"  # key of field 1, with a length
_FIXED_SIZES = {1: 8, 5: 4}  # of contents, by the low bits of a key


def special_pieces(model: bytes) -> set[int]:
    """Ids of the pieces that no text is made of by chance: control symbols, bytes, those that a user defined."""
    types = [dict(_fields(piece)).get(_TYPE, _NORMAL) for piece in _pieces(model)]
    return {token for token, kind in enumerate(types) if kind != _NORMAL}


def with_pieces_first(model: bytes, kept: Sequence[int]) -> bytes:
    """The model with the pieces `kept` in this order, then all others as unused ones.

    SentencePiece merges by scores and not by ids, also across unused pieces, and then spells those by the pieces that
    they were merged from.
    """
    pieces, first = list(_pieces(model)), set(kept)
    ordered = [pieces[token] for token in kept]
    unused = [piece for token, piece in enumerate(pieces) if token not in first]
    ordered += [piece + _TYPE + _UNUSED for piece in unused]  # of two types the later one holds
    others = [(key, content) for key, content in _fields(model) if key != _PIECE]
    return b"".join(key + _with_length(content) for key, content in [*((_PIECE, piece) for piece in ordered), *others])


def _pieces(model: bytes) -> Iterator[bytes]:
    return (content for key, content in _fields(model) if key == _PIECE)


def _fields(message: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keys and contents; a content without a length is a number of seven bits a byte, or has a fixed size."""
    place = 0
    while place < len(message):
        key, place = _number(message, place)
        kind = key[0] & 7
        if kind == 2:
            length, place = _number(message, place)
            content = message[place : place + _value(length)]
        elif kind == 0:
            content, _ = _number(message, place)
        else:
            content = message[place : place + _FIXED_SIZES[kind]]
        yield key, content
        place += len(content)


def _number(message: bytes, place: int) -> tuple[bytes, int]:
    """The bytes of a number, of which the last is below 128, and where they end."""
    end = place
    while message[end] > 127:
        end += 1
    return message[place : end + 1], end + 1


def _value(number: bytes) -> int:
    return sum((byte & 127) << 7 * place for place, byte in enumerate(number))


def _with_length(content: bytes) -> bytes:
    length, number = len(content), bytearray()
    while length > 127:
        number.append(length & 127 | 128)
        length >>= 7
    return bytes([*number, length]) + content
