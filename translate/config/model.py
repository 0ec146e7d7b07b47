"""Settings of the network."""

from __future__ import annotations

import math
from dataclasses import dataclass

from translate.config.fields import check_settings, setting

ATTENTIONS = ("mha", "gqa", "mqa", "mla", "talking_heads")

# what two passes through the network draw differently; of `layer_drop` both see the same draws
DROPOUTS = ("dropout", "attention_dropout", "activation_dropout", "embedding_dropout", "word_dropout")


@dataclass
class ModelConfig:
    """Settings of the network."""

    d_model: int = setting(256, "Width of every layer; divisible by num_heads unless head_dim is set.", at_least=1)
    d_ff: int = setting(1024, "Inner width of the feed-forward layers.", at_least=1)
    num_heads: int = setting(4, "Query heads of each attention.", at_least=1)
    head_dim: int | None = setting(None, "Width of a head; null = d_model / num_heads.", at_least=1)
    attention: str | None = setting(
        None,
        "Kind of all attention: mha (multi-head), gqa (grouped-query: groups of query heads share keys and values), "
        "mqa (multi-query: all query heads share them), mla (latent: keys and values come from one small vector per "
        "token) or talking_heads (heads are mixed before and after the softmax); null = gqa where num_kv_heads is "
        "set, else mha.",
        choices=ATTENTIONS,
    )
    encoder_attention: str | None = setting(
        None, "Kind of the encoder's self-attention; null = as attention.", choices=ATTENTIONS
    )
    decoder_attention: str | None = setting(
        None, "Kind of the decoder's self-attention; null = as attention.", choices=ATTENTIONS
    )
    cross_attention: str | None = setting(
        None, "Kind of the decoder's attention to the source; null = as attention.", choices=ATTENTIONS
    )
    num_kv_heads: int | None = setting(
        None, "With gqa: key and value heads, a divisor of num_heads; null = num_heads / 2.", at_least=1
    )
    kv_latent_dim: int | None = setting(
        None, "With mla: width of the latent vector that is cached per token; null = d_model / 2.", at_least=1
    )
    num_encoder_layers: int = setting(3, "Number of encoder layers.", at_least=1)
    num_decoder_layers: int = setting(3, "Number of decoder layers.", at_least=1)
    norm_first: bool = setting(
        True, "true: normalize before each sub-layer (trains stably); false: after it (Vaswani et al. 2017)."
    )
    norm: str = setting("layernorm", "Kind of normalization.", choices=("layernorm", "rmsnorm"))
    norm_eps: float | None = setting(
        None, "Added to the variance in norms; null = 1e-5 (layernorm), 1e-6 (rmsnorm).", above=0
    )
    activation: str = setting(
        "relu",
        "Activation of the feed-forward layers; swish is x * sigmoid(x), swiglu gates it by a third linear map.",
        choices=("relu", "gelu", "swish", "swiglu"),
    )
    positions: str = setting(
        "sinusoidal",
        "How positions are encoded; learned ones end at max_positions.",
        choices=("sinusoidal", "learned", "rotary"),
    )
    sinusoids: str = setting(
        "interleaved",
        "Table of positions=sinusoidal: interleaved sines and cosines (Vaswani et al. 2017); halves: all sines, then "
        "all cosines (Hugging Face's MarianMTModel); marian: halves with wavelengths a little longer (Marian itself).",
        choices=("interleaved", "halves", "marian"),
    )
    scale_embeddings: bool = setting(True, "Whether embeddings are multiplied by the square root of d_model.")
    max_positions: int = setting(1024, "Longest sentence, in tokens, with positions=learned.", at_least=1)
    share_embeddings: bool = setting(True, "Use one embedding for source and target; needs tokenizer.joint.")
    tie_output: bool = setting(True, "Use the target embedding as the output projection.")
    bias: bool = setting(True, "Whether linear maps have a bias.")
    output_bias: bool = setting(False, "Whether the output projection has a bias.")
    dropout: float = setting(0.1, "Share of each sub-layer's output that is zeroed in training.", at_least=0, below=1)
    attention_dropout: float = setting(
        0.0, "Share of the attention weights that is zeroed in training.", at_least=0, below=1
    )
    activation_dropout: float = setting(
        0.0, "Share of the feed-forward layers' inner activations that is zeroed in training.", at_least=0, below=1
    )
    embedding_dropout: float = setting(
        0.1, "Share of the embedded input that is zeroed in training.", at_least=0, below=1
    )
    word_dropout: float = setting(
        0.0,
        "Share of source and target tokens whose whole embedding is zeroed in training; their positions stay and the "
        "other embeddings are not scaled (Sennrich and Zhang 2019).",
        at_least=0,
        below=1,
    )
    layer_drop: float = setting(
        0.0,
        "Probability of skipping each layer in training, drawn for each batch (for each worker's part of it); "
        "translation uses all layers (LayerDrop, Fan et al. 2020). Not with trainer.strategy=fsdp.",
        at_least=0,
        below=1,
    )

    def __post_init__(self) -> None:
        check_settings("model", self)
        if self.head_dim is None and self.d_model % self.num_heads:
            raise ValueError(
                f"model.d_model ({self.d_model}) must be divisible by model.num_heads ({self.num_heads}); "
                "set model.head_dim to choose another width"
            )
        self._check_heads()
        head_dim = self.width_of_heads
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

    @property
    def norm_epsilon(self) -> float:
        """What norms add to the variance."""
        return self.norm_eps or {"layernorm": 1e-5, "rmsnorm": 1e-6}[self.norm]

    @property
    def embedding_scale(self) -> float:
        """By what embeddings are multiplied."""
        return math.sqrt(self.d_model) if self.scale_embeddings else 1.0

    @property
    def width_of_heads(self) -> int:
        """Width of a head."""
        return self.head_dim or self.d_model // self.num_heads

    def kv_heads(self, kind: str) -> int:
        """Return the key and value heads of an attention of a kind; a latent's are all."""
        grouped = {"gqa": self.num_kv_heads or self.num_heads // 2, "mqa": 1}
        return grouped.get(kind, self.num_heads)

    def _check_heads(self) -> None:
        """Raise ValueError if the numbers of heads do not fit the kinds of attention."""
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
