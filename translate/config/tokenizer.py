"""Settings of the tokenizer."""

from __future__ import annotations

from dataclasses import dataclass, field

from translate.config.checks import check_at_least, check_choice, check_share


@dataclass
class TokenizerConfig:
    """SentencePiece; keys are explained in conf/tokenizer/bpe.yaml."""

    kind: str = "bpe"
    vocab_size: int = 8000
    joint: bool = True
    sampling: float = 0.0
    character_coverage: float = 1.0
    user_symbols: list[str] = field(default_factory=list)
    path: str | None = None

    def __post_init__(self) -> None:
        check_choice("tokenizer.kind", self.kind, ("bpe", "unigram"))
        check_at_least("tokenizer.vocab_size", self.vocab_size, 300)
        check_share("tokenizer.sampling", self.sampling)
        if not 0.9 <= self.character_coverage <= 1.0:
            raise ValueError(f"tokenizer.character_coverage ({self.character_coverage}) must lie in 0.9 to 1")
