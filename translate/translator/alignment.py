"""Find the words of two texts that belong together, from the attention weights between their pieces."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from translate.data.tokenizer import Tokenizer

Links = tuple[tuple[int, int], ...]

_SPACE_MARK, _EOS = "\u2581", "</s>"


def word_links(weights: ArrayLike, src_pieces: Sequence[str], tgt_pieces: Sequence[str]) -> Links:
    """Link each target word to the source word that its pieces looked at most.

    The weight between two words is the mean over the target word's pieces of the sum over the source word's pieces.

    Args:
        weights: [T, S]; row t belongs to the step that predicts target piece t.
        src_pieces: S pieces, as SentencePiece writes them.
        tgt_pieces: T pieces.

    Returns:
        (source word, target word), counted from 0 at spaces, in the order of the target; none for EOS.

    >>> weights = [[0.4, 0.3, 0.3], [0.9, 0.1, 0.0]]
    >>> word_links(weights, ["▁a", "▁ca", "t"], ["▁chat", "</s>"])
    ((1, 0),)
    """
    import numpy as np

    src_words, tgt_words = word_numbers(src_pieces), word_numbers(tgt_pieces)
    num_src, num_tgt = (max(words, default=-1) + 1 for words in (src_words, tgt_words))
    if not num_src or not num_tgt:
        return ()
    src_member = np.array(src_words)[:, None] == np.arange(num_src)  # [S, source words]
    tgt_member = np.array(tgt_words)[:, None] == np.arange(num_tgt)  # [T, target words]
    sums = tgt_member.T @ np.asarray(weights) @ src_member  # the mean over pieces has the same maximum
    return tuple((src_word, tgt_word) for tgt_word, src_word in enumerate(sums.argmax(1).tolist()))


def pair_links(weights: ArrayLike, src_ids: Sequence[int], tgt_ids: Sequence[int], tokenizer: Tokenizer) -> Links:
    """Link the words of an encoded pair, whose language codes are no words.

    Args:
        weights: [T, S], of the first T target and the first S source ids, as `Engine.align` gives them.
        src_ids: Source ids, those of language codes first.
        tgt_ids: Target ids.
        tokenizer: The one that made them.
    """
    import numpy as np

    rows = np.asarray(weights)
    first, (num_tgt, num_src) = len(tokenizer.tag_ids), rows.shape
    src_pieces, tgt_pieces = tokenizer.pieces_src(src_ids[first:num_src]), tokenizer.pieces_tgt(tgt_ids[:num_tgt])
    return word_links(rows[:, first:], src_pieces, tgt_pieces)


def word_numbers(pieces: Sequence[str]) -> list[int]:
    """Return the word that each piece belongs to, counted from 0 at spaces; -1 for spaces alone, and for EOS.

    >>> word_numbers(["▁don", "'", "t", "▁", "▁go", "</s>"])
    [0, 0, 0, -1, 1, -1]
    """
    numbers, word, inside = [], -1, False
    for piece in pieces:
        own = -1
        for character in piece if piece != _EOS else "":
            if character == _SPACE_MARK:
                inside = False
                continue
            word, inside = word + (not inside), True
            own = word if own < 0 else own
        numbers.append(own)
    return numbers


def joined_links(text: str, parts: Sequence[tuple[str, str]], links: Mapping[tuple[str, str], Links]) -> Links:
    """Return the links of a text that was translated in parts.

    Args:
        text: The source.
        parts: What it was cut into, in order, each with its translation; joined by spaces, these are that of the text.
        links: Of each part with its translation.

    >>> links = {("a b.", "x y."): ((0, 0), (1, 1)), ("c d.", "z."): ((1, 0),)}
    >>> joined_links("a b. c d.", [("a b.", "x y."), ("c d.", "z.")], links)
    ((0, 0), (1, 1), (3, 2))
    """
    joined: list[tuple[int, int]] = []
    starts = [match.start() for match in re.finditer("[^ ]+", text)]  # of the words
    start, tgt_words = 0, 0
    for part, target in parts:
        start = text.index(part, start)
        src_words = bisect_right(starts, start) - 1  # before the one in which the part begins
        joined += [(src_words + src, tgt_words + tgt) for src, tgt in links[part, target]]
        start, tgt_words = start + len(part), tgt_words + len(re.findall("[^ ]+", target))
    return tuple(joined)


def pharaoh(links: Links) -> str:
    """Write links as text, source word first.

    >>> pharaoh(((1, 0), (0, 1)))
    '1-0 0-1'
    """
    return " ".join(f"{src}-{tgt}" for src, tgt in links)
