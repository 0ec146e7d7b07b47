"""The model directory: round trip, completeness, and one clear line for whatever is wrong with it."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from omegaconf import OmegaConf
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.data.tokenizer import Tokenizer
from translate.model import transformer
from translate.model.transformer import Transformer, build_model
from translate.native.weights import Weights
from translate.translator.bundle import BundleConfig, find_model, load_bundle, save_bundle
from translate.translator.translator import Translator

EVERYDAY = Path(__file__).parents[1] / "fixtures" / "everyday_model"
NETWORK = ModelConfig(d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1, num_decoder_layers=2)
Parts = tuple[Transformer, Tokenizer, BundleConfig]


@pytest.fixture(scope="module")
def parts() -> Parts:
    tokenizer = Tokenizer.train(["a cat sat", "two dogs"] * 9, ["un chat assis", "deux chiens"] * 9, vocab_size=285)
    size = tokenizer.src_vocab_size
    config = BundleConfig(
        src_lang="en",
        tgt_lang="fr",
        src_vocab_size=size,
        tgt_vocab_size=size,
        translate_version="0.1.0",
        max_src_len=20,
        model=NETWORK,
        decode=DecodeConfig(beam_size=3),
        card={"corpus": "every|day", "BLEU": 81.5},
    )
    torch.manual_seed(0)
    return build_model(NETWORK, size, size).eval(), tokenizer, config


@pytest.fixture
def bundle(parts: Parts, tmp_path: Path) -> Path:
    save_bundle(tmp_path / "model", *parts)
    return tmp_path / "model"


def test_a_bundle_comes_back_as_it_was(parts: Parts, bundle: Path) -> None:
    model, tokenizer, config = load_bundle(bundle)
    assert config == parts[2]
    assert tokenizer.fingerprint == parts[1].fingerprint
    assert not model.training
    expected = parts[0].state_dict()
    assert model.state_dict().keys() == expected.keys()
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, expected[name]), name
    assert model.output.weight is model.src_embedding.tokens.weight


def test_separate_vocabularies_come_back(tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(["a cat sat"] * 9, ["un chat assis ici"] * 9, vocab_size=275, joint=False)
    network = replace(NETWORK, share_embeddings=False, tie_output=False)
    config = BundleConfig("en", "fr", tokenizer.src_vocab_size, tokenizer.tgt_vocab_size, "0.1.0", model=network)
    model = build_model(network, config.src_vocab_size, config.tgt_vocab_size)
    save_bundle(tmp_path / "model", model, tokenizer, config)
    loaded, loaded_tokenizer, _ = load_bundle(tmp_path / "model")
    assert not loaded_tokenizer.joint
    assert torch.equal(loaded.output.weight, model.output.weight)


@pytest.mark.parametrize("precision", ["32", "int8"])
@pytest.mark.parametrize(("quantization", "share"), [("int8", 0.3), ("int6", 0.21)])
def test_a_bundle_in_integers_translates_as_the_rounded_model(
    tmp_path: Path, quantization: str, share: float, precision: str
) -> None:
    save_bundle(tmp_path / "small", *load_bundle(EVERYDAY), quantization=quantization)
    sizes = [(path / "model.safetensors").stat().st_size for path in (EVERYDAY, tmp_path / "small")]
    assert sizes[1] < share * sizes[0]
    small, large = (Translator.load(path, device="cpu", precision=precision) for path in (tmp_path / "small", EVERYDAY))
    texts = ["My brother is reading a book in the garden.", "Where is the doctor?", "The party ends at five o'clock."]
    found, expected = small.translate(texts), large.translate(texts)
    assert [one.text for one in found] == [one.text for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.score == pytest.approx(other.score, abs=0.2)


@pytest.mark.parametrize(("quantization", "largest"), [("int8", 127), ("int6", 31), ("int4", 7)])
def test_weights_in_integers_are_off_by_half_a_step_at_most(
    parts: Parts, tmp_path: Path, quantization: str, largest: int
) -> None:
    save_bundle(tmp_path / "small", *parts, quantization=quantization)
    loaded, _, _ = load_bundle(tmp_path / "small")
    assert loaded.output.weight is loaded.src_embedding.tokens.weight
    for (name, weight), own in zip(parts[0].named_parameters(), loaded.parameters(), strict=True):
        step = weight.abs().amax(dim=-1, keepdim=True) / largest if weight.dim() == 2 else torch.zeros(1)
        assert ((weight - own).abs() <= 0.501 * step + 1e-9).all(), name


@pytest.mark.parametrize("quantization", ["int8", "int6", "int4"])
def test_a_missing_scale_is_one_line(parts: Parts, tmp_path: Path, quantization: str) -> None:
    save_bundle(tmp_path / "small", *parts, quantization=quantization)
    file = tmp_path / "small" / "model.safetensors"
    with safe_open(file, "pt") as stored:
        metadata = stored.metadata()
    weights = load_file(file)
    weights.pop("encoder_layers.0.feed_forward.inner.weight.scale")
    save_file(weights, file, metadata)
    with pytest.raises(ValueError, match=r"is damaged: .*inner\.weight is (in integers|packed) and has no"):
        load_bundle(tmp_path / "small")


def test_files_are_four_and_tied_weights_are_stored_once(parts: Parts, bundle: Path) -> None:
    names = {path.name for path in bundle.iterdir()}
    assert names == {"config.yaml", "tokenizer.model", "model.safetensors", "README.md"}
    with safe_open(bundle / "model.safetensors", "pt") as weights:
        tables = [name for name in weights.keys() if weights.get_slice(name).get_shape()[0] == parts[2].src_vocab_size]  # noqa: SIM118
    assert len(tables) == 1
    assert len({path.stat().st_mode for path in bundle.iterdir()}) == 1  # whoever may read one may read all


def test_card_names_languages_data_scores_and_use(bundle: Path) -> None:
    card = (bundle / "README.md").read_text(encoding="utf-8")
    for part in ("en to fr", r"every\|day", "| BLEU | 81.5 |", "translate.infer --model", "Translator.load"):
        assert part in card


def test_saving_replaces_an_older_bundle_and_a_failure_leaves_it(
    parts: Parts, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer, config = parts
    save_bundle(bundle, model, tokenizer, replace(config, max_src_len=30))
    assert load_bundle(bundle)[2].max_src_len == 30
    monkeypatch.setattr(Tokenizer, "save", lambda self, directory: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save_bundle(bundle, model, tokenizer, replace(config, max_src_len=40))
    assert load_bundle(bundle)[2].max_src_len == 30
    assert [path.name for path in bundle.parent.iterdir()] == ["model"]


def test_a_bundle_that_does_not_fit_is_named_and_the_older_one_stays(parts: Parts, bundle: Path, small_files) -> None:
    _, tokenizer, config = parts
    size = config.src_vocab_size
    large = build_model(replace(NETWORK, d_ff=4096), size, size)
    small_files(300_000)
    with pytest.raises(OSError, match="File too large") as error:
        save_bundle(bundle, large, tokenizer, replace(config, max_src_len=40))
    assert error.value.filename == str(bundle)
    assert load_bundle(bundle)[2].max_src_len == 20
    assert [path.name for path in bundle.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("find", [find_model, load_bundle], ids=["of a run", "itself"])
def test_a_model_whose_replacement_was_killed_midway_is_found(bundle: Path, find: Callable[[Path], object]) -> None:
    bundle.rename(bundle.with_name(".model.old"))  # between the two renames
    find(bundle.parent if find is find_model else bundle)
    assert load_bundle(bundle)[2].max_src_len == 20
    assert [path.name for path in bundle.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("name", ["config.yaml", "model.safetensors", "tokenizer.model"])
def test_a_missing_file_is_named(bundle: Path, name: str) -> None:
    (bundle / name).unlink()
    with pytest.raises(ValueError, match=name):
        load_bundle(bundle)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("max_src_len: 20", "max_src_length: 20", r"config\.yaml: .*max_src_length"),
        ("d_model: 16", "d_model: wide", r"config\.yaml: .*wide"),
        ("d_model: 16", "d_model: 15", r"config\.yaml: .*model\.d_model \(15\)"),
        ("tgt_lang: fr\n", "", r"config\.yaml: .*tgt_lang"),
        ("src_lang: en", "src_lang: [en", r"config\.yaml: "),
        ("src_vocab_size: 285", "src_vocab_size: 300", r"config\.yaml: src_vocab_size is 300, the tokenizer's is 285"),
        (
            "d_ff: 32",
            "d_ff: 64",
            r"model\.safetensors does not hold the weights that config\.yaml describes: .*size mismatch",
        ),
        (
            "num_decoder_layers: 2",
            "num_decoder_layers: 3",
            r"model\.safetensors does not hold .* missing decoder_layers.*in 1 of 3 layers",
        ),
        ("num_decoder_layers: 2", "num_decoder_layers: 1", r"model\.safetensors does not hold .*[Uu]nexpected"),
        ("bias: true", "bias: false", r"model\.safetensors does not hold .* unexpected weight .*bias"),
    ],
)
def test_a_config_that_does_not_fit_is_one_line_naming_the_file(bundle: Path, old: str, new: str, message: str) -> None:
    text = (bundle / "config.yaml").read_text(encoding="utf-8")
    assert old in text
    (bundle / "config.yaml").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message) as error:
        load_bundle(bundle)
    assert "\n" not in str(error.value)


HUGE = 4 * 10**9


@pytest.mark.parametrize(
    "changes",
    [
        {"num_encoder_layers": HUGE},
        {"num_decoder_layers": HUGE},
        {"d_model": HUGE},
        {"d_model": 10**40},
        {"d_ff": HUGE},
        {"num_heads": HUGE, "head_dim": 8},
        {"head_dim": HUGE},
        {"positions": "learned", "max_positions": HUGE},
        {"positions": "rotary", "head_dim": HUGE},
        {"attention": "mla", "kv_latent_dim": HUGE},
        {"attention": "talking_heads", "num_heads": HUGE, "head_dim": 8},
    ],
)
def test_settings_beyond_the_weights_allocate_nothing(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object]
) -> None:
    def build_on_meta(config: ModelConfig, *args: int, **more: int) -> Transformer:
        assert torch.get_default_device().type == "meta", "a network was built from settings that do not fit"
        assert config.num_encoder_layers == config.num_decoder_layers == 1
        return build_model(config, *args, **more)

    monkeypatch.setattr(transformer, "build_model", build_on_meta)
    config = OmegaConf.load(bundle / "config.yaml")
    config.model.update(changes)
    OmegaConf.save(config, bundle / "config.yaml")
    with pytest.raises(ValueError, match=r"model\.safetensors does not hold the weights that config\.yaml") as error:
        load_bundle(bundle)
    assert "\n" not in str(error.value)


@pytest.mark.slow  # a fresh process
def test_checking_weights_does_not_load_what_only_compilers_need() -> None:
    code = (
        "import sys, translate.model.transformer\n"
        "from translate.translator.bundle import load_bundle\n"
        "before = set(sys.modules)\n"
        "load_bundle(sys.argv[1])\n"
        "heavy = ('sympy', 'torch._refs', 'torch._decomp')\n"
        "new = {name for name in set(sys.modules) - before if name.startswith(heavy)}\n"
        "assert not new, new"
    )
    model = Path(__file__).parents[1] / "fixtures" / "everyday_model"
    subprocess.run([sys.executable, "-c", code, str(model)], check=True)


@pytest.mark.parametrize("quantization", ["float32", "int8", "int6", "int4"])
def test_a_changed_bit_is_found(parts: Parts, tmp_path: Path, quantization: str) -> None:
    save_bundle(tmp_path, *parts, quantization=quantization)
    weights = tmp_path / "model.safetensors"
    contents = bytearray(weights.read_bytes())
    contents[-5] ^= 1
    weights.write_bytes(contents)
    for read in (load_bundle, lambda model: Weights.read(model / "model.safetensors")):
        with pytest.raises(ValueError, match=r"model\.safetensors is damaged: its checksum is not [0-9a-f]{8}; copy"):
            read(tmp_path)


@pytest.mark.parametrize("quantization", ["int8", "int6"])
def test_weights_in_integers_without_a_checksum_are_refused(parts: Parts, tmp_path: Path, quantization: str) -> None:
    save_bundle(tmp_path, *parts, quantization=quantization)
    weights = tmp_path / "model.safetensors"
    contents = weights.read_bytes()
    assert contents.count(b"crc32") == 1
    weights.write_bytes(contents.replace(b"crc32", b"crc33"))
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged: weights in integers have a checksum"):
        Weights.read(weights)


def test_damaged_weights_are_named(bundle: Path) -> None:
    weights = bundle / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged"):
        load_bundle(bundle)


def test_a_model_is_found_by_its_directory_its_run_or_as_the_newest(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = bundle.parent
    (run / "config.yaml").write_text("a run's own settings")
    assert find_model(bundle) == bundle
    assert find_model(run) == bundle
    monkeypatch.chdir(run)
    with pytest.raises(ValueError, match=r"no trained model yet .*python -m translate\.train"):
        find_model()
    (run / "runs").mkdir()
    (run / "runs" / "latest").symlink_to(run)
    assert find_model().resolve() == bundle.resolve()


def test_a_path_without_a_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no model in .*model\.safetensors"):
        find_model(tmp_path)
    with pytest.raises(ValueError, match="there is no such directory"):
        find_model(tmp_path / "nowhere")


def test_a_weight_too_many_or_of_another_name_is_named(bundle: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(bundle, other)
    weights = load_file(other / "model.safetensors")
    save_file(weights | {"surprise": torch.zeros(1)}, other / "model.safetensors")
    with pytest.raises(ValueError, match="unexpected weight surprise"):
        load_bundle(other)
