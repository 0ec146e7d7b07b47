"""The model directory: settings, tokenizer, weights and a card; all that translation needs, without pickle.

model/config.yaml          BundleConfig
      tokenizer*.model     SentencePiece
      model.safetensors    weights, see `weights.py`; a tied matrix is stored once
      languages.tsv        of a model that translates both ways: what tells its languages apart
      memory.tsv.gz        if it has one: texts whose translation is known, see `memory.py`
      glossary.tsv.gz      if it was trained with one: terms that it reads with their translations, see `Glossary`
      capitals.tsv         of a model that was trained here: words that have capitals, see `truecasing.py`
      shortlist.safetensors  if it was learnt: which tokens a translation may need, see `translate/native/shortlist.py`
      README.md            the model card
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translate.common.files import new_directory, recover_directory, write_text
from translate.common.resources import SHIPPED, models_dir
from translate.config.decode import DecodeConfig
from translate.config.files import load_config, save_config
from translate.config.model import ModelConfig
from translate.translator.beside import NOTHING, Beside
from translate.translator.weights import read_weights, stored_shapes, write_weights

if TYPE_CHECKING:
    import torch

    from translate.data.tokenizer import Tokenizer
    from translate.model.transformer import Transformer
    from translate.native.network import NativeTransformer
    from translate.native.shortlist import Shortlist

LATEST = Path("runs/latest")
_CONFIG, _WEIGHTS, _CARD = "config.yaml", "model.safetensors", "README.md"


@dataclass
class BundleConfig:
    """Settings that a model directory holds.

    Attributes:
        src_lang: Source language code.
        tgt_lang: Target language code.
        src_vocab_size: Source ids; checked against tokenizer and weights.
        tgt_vocab_size: Target ids.
        translate_version: Version that wrote the directory.
        max_src_len: Longest source of training, in tokens with EOS; longer texts are translated in segments.
        tgt_langs: Languages that a language code before the tokens of a source asks for; none in a model without
            language codes. With source and target language it translates in both directions.
        model: The network.
        decode: Search settings used where a call gives none.
        card: More rows of the model card, such as the corpus and scores, by their label.
    """

    src_lang: str
    tgt_lang: str
    src_vocab_size: int
    tgt_vocab_size: int
    translate_version: str
    max_src_len: int = 256
    tgt_langs: list[str] = field(default_factory=list)
    model: ModelConfig = field(default_factory=ModelConfig)
    decode: DecodeConfig = field(default_factory=DecodeConfig)
    card: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.max_src_len < 2:
            raise ValueError(f"max_src_len ({self.max_src_len}) must be at least 2: one token and EOS")

    @property
    def max_positions(self) -> int | None:
        """Most tokens that the model can read or write; None = any number."""
        return self.model.max_positions if self.model.positions == "learned" else None


def save_bundle(
    directory: Path | str,
    model: Transformer,
    tokenizer: Tokenizer,
    config: BundleConfig,
    beside: Beside = NOTHING,
    shortlist: Shortlist | None = None,
    *,
    quantization: str = "float32",
) -> None:
    """Write a model directory; it appears, or replaces an older one, only when it is complete.

    Args:
        directory: Where to write.
        model: The network, float32.
        tokenizer: Its tokenizer.
        config: Its settings.
        beside: What else belongs to it.
        shortlist: Which tokens its translations may need.
        quantization: What its matrices are rounded to, one of `weights.BITS`.

    Raises:
        OSError: If it cannot be written; the message names the directory and what is full.
    """
    with new_directory(Path(directory)) as parts:
        save_config(config, parts / _CONFIG)
        tokenizer.save(parts)
        beside.save(parts)
        if shortlist is not None:
            shortlist.save(parts)
        write_weights(parts / _WEIGHTS, model, quantization)
        for file in parts.glob("*.safetensors"):
            file.chmod((parts / _CONFIG).stat().st_mode)  # safetensors lets only its owner read it
        write_text(parts / _CARD, model_card(config, num_parameters(model)))


def load_bundle(
    directory: Path | str, device: torch.device | str = "cpu"
) -> tuple[Transformer, Tokenizer, BundleConfig]:
    """Read a model directory.

    Returns:
        The model in eval mode on `device`, float32; its tokenizer; its settings.

    Raises:
        ValueError: If a file is missing or damaged, or if files do not fit each other; the message names the file.
    """
    from translate.model.transformer import build_model

    path = Path(directory)
    tokenizer, config = open_bundle(path)
    model = build_model(config.model, config.src_vocab_size, config.tgt_vocab_size, pad_id=tokenizer.pad_id)
    read_weights(path / _WEIGHTS, model)
    return model.to(device).eval(), tokenizer, config


def open_bundle(directory: Path) -> tuple[Tokenizer, BundleConfig]:
    """Read the tokenizer and the settings of a model directory, and check that its weights are of these shapes.

    Only the header of the weights is read, and no network is built, so that settings from elsewhere can make a program
    allocate no more than the weights that come with them; of packed ones a byte holds 8 weights at the most.

    Raises:
        ValueError: As `load_bundle`.
    """
    tokenizer, config = open_settings(directory)
    shapes = stored_shapes(directory / _WEIGHTS)
    with refusing_weights(directory):
        _check_shapes(shapes, config)
    return tokenizer, config


def load_native(directory: Path) -> tuple[NativeTransformer, Tokenizer, BundleConfig] | None:
    """Read a model directory in 8-bit integers, without torch; None if the C kernels cannot run its network here.

    Raises:
        ValueError: As `load_bundle`.
    """
    from translate.native.network import NativeTransformer, runs_natively
    from translate.native.weights import Weights

    tokenizer, config = open_settings(directory)
    if not runs_natively(config.model):
        return None
    weights = Weights.read(directory / _WEIGHTS)
    with refusing_weights(directory):
        network = NativeTransformer(config.model, weights, config.src_vocab_size, config.tgt_vocab_size)
    return network, tokenizer, config


def open_settings(directory: Path) -> tuple[Tokenizer, BundleConfig]:
    """Read the tokenizer and the settings of a model directory.

    Raises:
        ValueError: If a file is missing or damaged, or if the two do not fit each other.
    """
    from translate.data.tokenizer import Tokenizer

    recover_directory(directory)
    for name in (_CONFIG, _WEIGHTS):
        if not (directory / name).is_file():
            raise ValueError(f"{directory / name} is missing; {directory} is not a complete model directory")
    config = load_bundle_config(directory)
    tokenizer = Tokenizer.load(directory)
    for side in ("src", "tgt"):
        pieces, expected = getattr(tokenizer, f"{side}_vocab_size"), getattr(config, f"{side}_vocab_size")
        if pieces != expected:
            raise ValueError(f"{directory / _CONFIG}: {side}_vocab_size is {expected}, the tokenizer's is {pieces}")
    return tokenizer, config


@contextmanager
def refusing_weights(directory: Path) -> Iterator[None]:
    """Say of a ValueError within the block that the weights are not those of the settings."""
    try:
        yield
    except ValueError as error:
        where = directory / _WEIGHTS
        raise ValueError(f"{where} does not hold the weights that {_CONFIG} describes: {error}") from error


def with_tags(tokenizer: Tokenizer, config: BundleConfig) -> Tokenizer:
    """Return the tokenizer as the model's sources need it, see `Tokenizer.tagged`."""
    return tokenizer.tagged(config.tgt_lang) if config.tgt_langs else tokenizer


def find_model(path: Path | str | None = None) -> Path:
    """Return the model directory that `path` means: itself, or `model/` in a run directory; None is the newest run.

    "en-fr" is the model that comes with the package, unless a directory of that name holds a model.

    Raises:
        ValueError: If there is no model; the message says how to train one.
    """
    root = LATEST if path is None else Path(path)
    if str(path) == SHIPPED and not any((one / _WEIGHTS).is_file() for one in (root, root / "model")):
        root = models_dir() / SHIPPED
    for candidate in (root, root / "model"):
        recover_directory(candidate)
        if (candidate / _WEIGHTS).is_file():
            return candidate
    if path is None:
        raise ValueError(
            f"there is no trained model yet ({LATEST} does not exist): train one with `python -m translate.train`, "
            "or name one with --model PATH (model=PATH for translate.evaluate)"
        )
    problem = f"neither it nor its model/ holds {_WEIGHTS}" if root.is_dir() else "there is no such directory"
    raise ValueError(f"no model in {root}: {problem}; give a run directory that `python -m translate.train` has made")


def fingerprint(directory: Path) -> str:
    """Return a digest of what shapes the output of a model directory or an exported one: weights, tokenizer, settings.

    The model card does not count, and neither do the name and the place of the directory.
    """
    digest = hashlib.sha256()
    for file in sorted(path for path in directory.iterdir() if path.is_file() and path.name != _CARD):
        with file.open("rb") as contents:
            digest.update(f"{file.name} {hashlib.file_digest(contents, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def num_parameters(model: torch.nn.Module) -> int:
    """Count the parameters of a model; tied ones count once."""
    return sum(parameter.numel() for parameter in model.parameters())


def model_card(config: BundleConfig, parameters: int) -> str:
    """Write the model card, as Markdown."""
    network, decode = config.model, config.decode
    rows: dict[str, object] = {
        "languages": f"{config.src_lang} to {config.tgt_lang}" + (" and back" if len(config.tgt_langs) > 1 else ""),
        "parameters": f"{parameters:,}",
        "layers": f"{network.num_encoder_layers} encoder, {network.num_decoder_layers} decoder",
        "width": f"d_model {network.d_model}, d_ff {network.d_ff}, {network.num_heads} heads",
        "vocabulary": f"{config.src_vocab_size:,} source, {config.tgt_vocab_size:,} target pieces",
        "search": f"beam_size {decode.beam_size}, length_penalty {decode.length_penalty}",
        "longest source of training": f"{config.max_src_len} tokens",
        "translate version": config.translate_version,
        **config.card,
    }
    table = "\n".join(f"| {label} | {str(value).replace('|', chr(92) + '|')} |" for label, value in rows.items())
    return f"""# Translation model, {config.src_lang} to {config.tgt_lang}

| | |
|---|---|
{table}

Translate with it (`DIR` is this directory):

    python -m translate.infer --model DIR "Hello."

or from Python:

    from translate import Translator
    print(Translator.load("DIR").translate(["Hello."])[0].text)

`config.yaml` holds every setting, `model.safetensors` the weights, `tokenizer*.model` SentencePiece. The model knows
what its training data knew: other domains and longer sentences than it was trained on come out worse.
"""


def load_bundle_config(directory: Path) -> BundleConfig:
    """Read the settings of a model directory alone.

    Raises:
        ValueError: If they are missing or damaged, in one line that names the file.
    """
    return load_config(directory / _CONFIG, BundleConfig)


def _check_shapes(shapes: Mapping[str, tuple[int, ...]], config: BundleConfig) -> None:
    """Raise ValueError unless tensors of these shapes, by name, are the weights that the settings describe.

    The layers of a stack are alike, so that a network of one layer each tells their shapes, however many there are.
    """
    from translate.model.transformer import build_outline

    depths = {"encoder_layers": config.model.num_encoder_layers, "decoder_layers": config.model.num_decoder_layers}
    one_layer = replace(config.model, num_encoder_layers=1, num_decoder_layers=1)
    outline = build_outline(one_layer, config.src_vocab_size, config.tgt_vocab_size)
    expected = outline.state_dict(keep_vars=True)
    found: Counter[int] = Counter()  # by weight: a tied one has several names
    for name, shape in shapes.items():
        alike = re.sub(r"^((?:en|de)coder_layers)\.\d+\.", r"\1.0.", name)
        if alike not in expected:
            raise ValueError(f"unexpected weight {name}")
        if shape != expected[alike].shape:
            raise ValueError(f"size mismatch for {name}: {list(shape)}, not {list(expected[alike].shape)}")
        found[id(expected[alike])] += 1
    for name, weight in expected.items():
        depth = depths.get(name.partition(".")[0], 1)
        if missing := max(0, depth - found[id(weight)]):
            raise ValueError(f"missing {name}" + (f", or its like in {missing} of {depth} layers" if depth > 1 else ""))
