"""Settings of the tokenizer."""

from __future__ import annotations

from dataclasses import dataclass

from translate.config.fields import check_settings, setting


@dataclass
class TokenizerConfig:
    """Settings of the SentencePiece tokenizer.

    Ids are always 0 padding, 1 unknown, 2 BOS, 3 EOS; characters outside the vocabulary become UTF-8 bytes, so that
    nothing is unknown.
    """

    kind: str = setting(
        "bpe",
        "bpe merges frequent pairs; unigram keeps the pieces that explain the text best (Kudo 2018).",
        choices=("bpe", "unigram"),
    )
    vocab_size: int = setting(
        8000,
        "Pieces of a vocabulary, with the 4 special ids and 256 bytes. A small corpus limits it, as the error says.",
        at_least=300,
    )
    joint: bool = setting(
        True, "true: one vocabulary for both languages; false: one for each, needs model.share_embeddings=false."
    )
    sampling: float = setting(
        0.0,
        "Draw other segmentations of the training sentences in every epoch; 0 = off, 0.1 is usual. bpe: share of the "
        "merges left out (BPE-dropout); unigram: smoothing, smaller varies more. Sampled sentences are longer: "
        "batches grow beyond data.batch_tokens, with 0.1 by about 40 % (bpe) or 90 % (unigram).",
        at_least=0,
        below=1,
    )
    character_coverage: float = setting(
        1.0,
        "Share of the characters of the text that get pieces; below 1 is for languages with thousands of characters.",
        at_least=0.9,
        at_most=1,
    )
    user_symbols: list[str] = setting([], "Strings that are always one piece, such as ['<br>'], without spaces.")
    path: str | None = setting(
        None,
        "Folder of a trained tokenizer (tokenizer.model), or a SentencePiece model file with our special ids, to use "
        "instead of training one; of the settings above only sampling then has an effect, and joint must fit it. null "
        "= train on the training pairs, those of data.extra included.",
    )

    def __post_init__(self) -> None:
        check_settings("tokenizer", self)
