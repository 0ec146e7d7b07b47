"""A lexical shortlist: which tokens a translation may need, by the tokens of its source.

A search that knows them computes the logits of a few thousand tokens and not of the whole vocabulary. Learnt from the
training text by IBM model 1; a model directory holds it in `shortlist.safetensors`.

Source: Brown et al. 1993, "The Mathematics of Statistical Machine Translation" (model 1); Schwenk et al. 2007, Junczys-
Dowmunt et al. 2018, "Marian: Cost-effective High-Quality Neural Machine Translation in C++" (shortlists).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from translate.native.weights import CHECKSUM, checksum, read_arrays

FILE = "shortlist.safetensors"
_Ids = NDArray[np.int64]
_Counts = NDArray[np.float64]

PAIRS = 200_000  # of each direction that are enough to learn from
_LONGEST = 40  # tokens of a side: pairs that are longer are left out, as they make many links and tell little
_ROUNDS = 4  # of expectation maximization
_EACH = 70  # most tokens kept for one of the source
_LEAST = 3e-4  # probability of a token that is kept
_RAREST = 0.5  # expected number of times that it was the translation
_FREQUENT = 500  # tokens of each direction that every search may choose


class Shortlist:
    """Likely target tokens of each source token, and those that are always allowed.

    Args:
        starts: Where the tokens of each source token begin, [V + 1] int64.
        tokens: Of all source tokens, one after the other, ids of the target; int64.
        always: Tokens that any translation may need, [A] int64.
        copies: Whether the tokens of the source may come too: both sides have one vocabulary.
    """

    def __init__(self, starts: _Ids, tokens: _Ids, always: _Ids, *, copies: bool) -> None:
        self._starts, self._tokens, self._always, self._copies = starts, tokens, always, copies
        beyond = [tokens.max(initial=-1) + 1, always.max(initial=-1) + 1, (len(starts) - 1) * copies]
        self._chosen = np.zeros(max(beyond), bool)  # of all tokens those that any search may choose
        self._chosen[always] = True

    @classmethod
    def learn(
        cls,
        directions: Sequence[tuple[Iterable[Sequence[int]], Iterable[Sequence[int]]]],
        src_vocab_size: int,
        tgt_vocab_size: int,
        *,
        special_ids: Sequence[int],
        copies: bool,
    ) -> Shortlist:
        """Learn from the token ids of pairs.

        Args:
            directions: For each direction of the model the sources and the targets, without special tokens.
            src_vocab_size: Source ids.
            tgt_vocab_size: Target ids.
            special_ids: Tokens that are always allowed, EOS among them.
            copies: As of the class.
        """
        links, always = [], [np.array(special_ids, np.int64)]
        for sources, targets in directions:
            pairs = [
                (src, tgt)
                for src, tgt in zip(sources, targets, strict=True)
                if 0 < len(src) <= _LONGEST and 0 < len(tgt) <= _LONGEST
            ]
            if pairs:
                links.append(_likely_links(pairs, tgt_vocab_size))
                counts = np.bincount(np.concatenate([tgt for _, tgt in pairs]), minlength=tgt_vocab_size)
                always.append(np.argsort(-counts, kind="stable")[:_FREQUENT])
        keys = np.unique(np.concatenate(links)) if links else np.empty(0, np.int64)
        starts = np.searchsorted(keys // tgt_vocab_size, np.arange(src_vocab_size + 1))
        return cls(starts, keys % tgt_vocab_size, np.unique(np.concatenate(always)), copies=copies)

    def tokens_for(self, src_ids: _Ids) -> _Ids:
        """Return the tokens that translations of sources [B, S] may need, ascending [K]."""
        chosen = self._chosen.copy()
        if self._copies:
            chosen[src_ids] = True
        for token in set(src_ids.ravel().tolist()):
            chosen[self._tokens[self._starts[token] : self._starts[token + 1]]] = True
        return np.flatnonzero(chosen)

    def save(self, directory: Path) -> None:
        """Write it into a model directory."""
        from safetensors.numpy import save_file

        kind = np.uint16 if self._tokens.max(initial=0) < 2**16 else np.uint32
        arrays = {"starts": self._starts.astype(np.uint32), "tokens": self._tokens.astype(kind), "always": self._always}
        arrays["copies"] = np.array([self._copies])
        save_file(arrays, directory / FILE, metadata={CHECKSUM: checksum(arrays)})

    @classmethod
    def load(cls, directory: Path, src_vocab_size: int, tgt_vocab_size: int) -> Shortlist | None:
        """Read that of a model directory; None if it has none.

        Raises:
            ValueError: If it is damaged or not of this vocabulary; the message names the file.
        """
        path = directory / FILE
        if not path.is_file():
            return None
        arrays = read_arrays(path)
        try:
            starts, tokens, always = (arrays[name].astype(np.int64) for name in ("starts", "tokens", "always"))
            (copies,) = arrays["copies"].ravel().tolist()
        except (KeyError, ValueError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error
        if tokens.ndim != 1 or always.ndim != 1:
            raise ValueError(f"{path} is damaged: its lists of tokens have {tokens.ndim} and {always.ndim} dimensions")
        whole = starts.shape == (src_vocab_size + 1,) and starts[0] == 0 and starts[-1] == len(tokens)
        ids = np.concatenate([tokens, always])
        if not whole or (np.diff(starts) < 0).any() or ids.min(initial=0) < 0 or ids.max(initial=0) >= tgt_vocab_size:
            raise ValueError(f"{path} is not of the model's vocabulary ({src_vocab_size}, {tgt_vocab_size} tokens)")
        return cls(starts, tokens, always, copies=bool(copies))


def _likely_links(pairs: Sequence[tuple[Sequence[int], Sequence[int]]], tgt_vocab_size: int) -> _Ids:
    """Return src * tgt_vocab_size + tgt for the likely translations of each source token, by IBM model 1."""
    src_lens = np.array([len(src) + 1 for src, _ in pairs])  # with the empty word, which has number 0
    tgt_lens = np.array([len(tgt) for _, tgt in pairs])
    sources = np.concatenate([np.concatenate(([0], np.asarray(src) + 1)) for src, _ in pairs])
    targets = np.concatenate([np.asarray(tgt) for _, tgt in pairs])
    candidates = np.repeat(src_lens, tgt_lens)  # how many source tokens each target token may come from
    first = np.cumsum(candidates) - candidates
    begins = np.repeat(np.cumsum(src_lens) - src_lens, tgt_lens)
    places = np.arange(candidates.sum()) - np.repeat(first - begins, candidates)
    links, which = np.unique(sources[places] * tgt_vocab_size + np.repeat(targets, candidates), return_inverse=True)
    which, own_sources = which.astype(np.int32), links // tgt_vocab_size
    probs: _Counts = np.ones(len(links))
    for _ in range(_ROUNDS):
        shares = probs[which]
        shares /= np.repeat(np.add.reduceat(shares, first), candidates)
        counts = np.bincount(which, shares, minlength=len(links))
        probs = counts / np.bincount(own_sources, counts)[own_sources]
    likely = (own_sources > 0) & (probs >= _LEAST) & (counts >= _RAREST)
    links, probs, own_sources = links[likely], probs[likely], own_sources[likely]
    order = np.lexsort((-probs, own_sources))
    links, own_sources = links[order], own_sources[order]
    rank = np.arange(len(links)) - np.searchsorted(own_sources, own_sources)
    kept: _Ids = links[rank < _EACH] - tgt_vocab_size  # the empty word has no number outside
    return kept
