"""Settings of the network."""

from __future__ import annotations

from dataclasses import dataclass

from translate.config.checks import check_at_least, check_choice, check_share

# what two passes through the network draw differently; of `layer_drop` both see the same draws
DROPOUTS = ("dropout", "attention_dropout", "activation_dropout", "embedding_dropout", "word_dropout")


@dataclass
class ModelConfig:
    """The network; keys are explained in conf/model/small.yaml."""

    d_model: int = 256
    d_ff: int = 1024
    num_heads: int = 4
    head_dim: int | None = None
    attention: str | None = None
    encoder_attention: str | None = None
    decoder_attention: str | None = None
    cross_attention: str | None = None
    num_kv_heads: int | None = None
    kv_latent_dim: int | None = None
    num_encoder_layers: int = 3
    num_decoder_layers: int = 3
    norm_first: bool = True
    norm: str = "layernorm"
    activation: str = "relu"
    positions: str = "sinusoidal"
    max_positions: int = 1024
    share_embeddings: bool = True
    tie_output: bool = True
    bias: bool = True
    dropout: float = 0.1
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0
    embedding_dropout: float = 0.1
    word_dropout: float = 0.0
    layer_drop: float = 0.0

    def __post_init__(self) -> None:
        for name in ("d_model", "d_ff", "num_heads", "num_encoder_layers", "num_decoder_layers", "max_positions"):
            check_at_least(f"model.{name}", getattr(self, name), 1)
        for name in ("head_dim", "num_kv_heads", "kv_latent_dim"):
            check_at_least(f"model.{name}", getattr(self, name), 1)
        if self.head_dim is None and self.d_model % self.num_heads:
            raise ValueError(
                f"model.d_model ({self.d_model}) must be divisible by model.num_heads ({self.num_heads}); "
                "set model.head_dim to choose another width"
            )
        self._check_attention()
        check_choice("model.norm", self.norm, ("layernorm", "rmsnorm"))
        check_choice("model.activation", self.activation, ("relu", "gelu", "swiglu"))
        check_choice("model.positions", self.positions, ("sinusoidal", "learned", "rotary"))
        for name in (*DROPOUTS, "layer_drop"):
            check_share(f"model.{name}", getattr(self, name))
        head_dim = self.head_dim or self.d_model // self.num_heads
        divisor = 4 if "mla" in self.attention_kinds[:2] else 2  # a latent's rotary key is half as wide as a head
        if self.positions == "rotary" and head_dim % divisor:
            raise ValueError(
                f"model.positions=rotary needs a head_dim that {divisor} divides, not {head_dim}; "
                "change model.num_heads or model.head_dim"
            )

    @property
    def shared_attention(self) -> str:
        """The kind that `attention` names, also where it is left out."""
        return self.attention or ("mha" if self.num_kv_heads is None else "gqa")

    @property
    def attention_kinds(self) -> tuple[str, str, str]:
        """Kind of the encoder's self-attention, of the decoder's, and of cross-attention."""
        shared = self.shared_attention
        return self.encoder_attention or shared, self.decoder_attention or shared, self.cross_attention or shared

    def _check_attention(self) -> None:
        for name in ("attention", "encoder_attention", "decoder_attention", "cross_attention"):
            if getattr(self, name) is not None:
                check_choice(f"model.{name}", getattr(self, name), ("mha", "gqa", "mqa", "mla", "talking_heads"))
        kinds = self.attention_kinds
        if self.num_kv_heads is not None and "gqa" not in kinds:
            raise ValueError(f"model.num_kv_heads ({self.num_kv_heads}) needs model.attention=gqa; mqa always has 1")
        if self.kv_latent_dim is not None and "mla" not in kinds:
            raise ValueError(f"model.kv_latent_dim ({self.kv_latent_dim}) needs model.attention=mla")
        if self.num_kv_heads is not None and self.num_heads % self.num_kv_heads:
            raise ValueError(f"model.num_kv_heads ({self.num_kv_heads}) must divide model.num_heads ({self.num_heads})")
        if "gqa" in kinds and self.num_kv_heads is None and self.num_heads % 2:
            raise ValueError(
                f"model.attention=gqa pairs query heads, and model.num_heads ({self.num_heads}) is odd; "
                "set model.num_kv_heads to a divisor of it"
            )
