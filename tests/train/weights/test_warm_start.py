"""A run that starts from another model: its weights, its tokenizer and its network, or a clear refusal."""

import csv
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from translate.config.data import DataConfig
from translate.config.files import load_config
from translate.config.model import ModelConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.train import TrainConfig
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import Transformer, build_model
from translate.train.start import train
from translate.train.weights.checkpoint_io import SafeCheckpointIO
from translate.train.weights.warm_start import inherit_settings, load_start
from translate.translator.bundle import BundleConfig, load_bundle, save_bundle
from translate.translator.translator import Translator

TINY = Path(__file__).resolve().parents[2] / "fixtures" / "tiny_model"


def loss_of(model: Path, config: TrainConfig) -> float:
    """Nats per token of a model directory on the validation pairs, by scoring them."""
    src, tgt = (Path(path).read_text(encoding="utf-8").splitlines() for path in config.data.valid)
    scores = Translator.load(model, device="cpu", precision="32").score(list(zip(src, tgt, strict=True)))
    return -sum(s.log_prob for s in scores) / sum(len(s.tokens) for s in scores)


def validation_loss(run_dir: Path) -> float:
    """Return the figures of the run's only validation."""
    with (run_dir / "metrics.csv").open(newline="") as file:
        (loss,) = [float(row["valid_loss"]) for row in csv.DictReader(file) if row["valid_loss"]]
    return loss


def save_random(directory: Path, network: ModelConfig) -> Transformer:
    """Write a model directory with fresh weights."""
    tokenizer = Tokenizer.load(TINY)
    size = tokenizer.tgt_vocab_size
    model = build_model(network, size, size)
    sizes = {"src_vocab_size": size, "tgt_vocab_size": size}
    config = BundleConfig(src_lang="en", tgt_lang="fr", **sizes, translate_version="1", model=network)
    save_bundle(directory, model, tokenizer, config)
    return model


def test_a_run_starts_from_another_models_weights_and_resumes_without_it(make_config, tmp_path) -> None:
    start = shutil.copytree(TINY, tmp_path / "start/model").parent
    config = make_config(
        optim={"lr": 1e-12},
        max_epochs=None,
        max_steps=1,
        changes={"model": ModelConfig(dropout=0.3), "tokenizer": TokenizerConfig(), "init_from": str(start)},
    )
    run_dir = train(config)
    loss = validation_loss(run_dir)
    assert loss == pytest.approx(loss_of(TINY, config), rel=1e-5)
    saved = load_config(run_dir / "config.yaml", TrainConfig)
    assert saved.init_from == str(start)
    assert (saved.model.d_model, saved.model.num_kv_heads, saved.model.dropout) == (32, 1, 0.3)
    shutil.rmtree(start)
    moved = run_dir.rename(tmp_path / "elsewhere")
    train(replace(saved, resume=str(moved), trainer=replace(saved.trainer, max_steps=2)))
    assert SafeCheckpointIO().load_checkpoint(moved / "checkpoints/last.ckpt")["global_step"] == 2
    assert (moved / "model/tokenizer.model").read_bytes() == (TINY / "tokenizer.model").read_bytes()
    assert loss_of(moved, config) == pytest.approx(loss, rel=1e-5)


def test_a_run_says_how_its_start_translates_otherwise(make_config, tmp_path, capsys) -> None:
    start = shutil.copytree(TINY, tmp_path / "start/model").parent
    changes = {"model": ModelConfig(), "tokenizer": TokenizerConfig(), "init_from": str(start)}
    config = make_config(max_epochs=None, max_steps=1, changes=changes)
    train(config)
    here = f"{start} itself translates with decode.beam_size=5 decode.max_output_len=256, and this run without"
    assert here in "".join(capsys.readouterr())
    train(replace(config, decode=replace(config.decode, beam_size=5, max_output_len=256)))
    assert "itself translates" not in "".join(capsys.readouterr())


def test_language_codes_are_taken_over(tmp_path) -> None:
    tokenizer = Tokenizer.train(["a cat sat"] * 9, ["un chat assis"] * 9, vocab_size=285, languages=["en", "fr"])
    network = ModelConfig(d_model=16, d_ff=16, num_heads=2, num_encoder_layers=1, num_decoder_layers=1)
    config = BundleConfig("en", "fr", 285, 285, "1", tgt_langs=["fr", "en"], model=network)
    save_bundle(tmp_path / "both", build_model(network, 285, 285), tokenizer, config)
    found = inherit_settings(TrainConfig(init_from=str(tmp_path / "both")))
    assert found.data.tgt_langs == ["fr"]
    assert inherit_settings(TrainConfig(init_from=str(TINY))).data.tgt_langs == []


def test_training_with_tags_sees_the_sources_that_its_model_translates(make_config) -> None:
    config = make_config(optim={"lr": 1e-12}, max_epochs=None, max_steps=1, valid_bleu_sentences=2)
    data = replace(config.data, both_directions=True, language_tags=True)
    run_dir = train(replace(config, data=data))
    assert Translator.load(run_dir, device="cpu").config.tgt_langs == ["fr", "en"]
    assert validation_loss(run_dir) == pytest.approx(loss_of(run_dir, config), rel=1e-5)


def test_a_stage_that_is_resumed_keeps_the_language_codes_of_its_start(make_config) -> None:
    config = make_config(max_epochs=1)
    tagged = train(replace(config, data=replace(config.data, both_directions=True, language_tags=True)))
    stages = {"only": {"init_from": str(tagged), "tokenizer": {"path": None}, "trainer.max_epochs": 1}}
    run_dir = train(replace(config, name="stages", stages=stages))
    (run_dir / "only/finished").unlink()
    train(replace(config, name="stages", stages=stages, resume=str(run_dir)))
    assert load_config(run_dir / "only/config.yaml", TrainConfig).data.language_tags
    assert Translator.load(run_dir, device="cpu").config.tgt_langs == ["fr"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": ModelConfig(d_model=64)}, r"^model\.d_model \(64\) is 32 in init_from \(.*tiny_model\)"),
        ({"model": ModelConfig(bias=False)}, r"^model\.bias \(false\) is true in init_from"),
        ({"model": ModelConfig(positions="rotary", d_model=32)}, r"^model\.positions \(rotary\) is sinusoidal in"),
        ({"tokenizer": TokenizerConfig(vocab_size=700)}, r"^tokenizer\.vocab_size \(700\) is 600 in init_from"),
        (
            {"tokenizer": TokenizerConfig(path=str(TINY.parent / "everyday_model"))},
            r"^tokenizer\.path \(.*everyday_model\) is not the tokenizer of init_from \(.*tiny_model\); leave it out",
        ),
        ({"init_from": "gone"}, "no model in gone: there is no such directory"),
    ],
)
def test_what_does_not_fit_the_model_is_refused(changes, message) -> None:
    with pytest.raises(ValueError, match=message):
        inherit_settings(TrainConfig(**{"init_from": str(TINY), **changes}))


def test_what_fits_is_accepted_and_dropouts_are_ones_own() -> None:
    same = ModelConfig(d_model=32, d_ff=64, num_encoder_layers=1, attention_dropout=0.2)
    tokenizer = TokenizerConfig(path=str(TINY), sampling=0.1)
    config = inherit_settings(TrainConfig(init_from=str(TINY), model=same, tokenizer=tokenizer))
    assert (config.model.num_heads, config.model.attention_dropout, config.tokenizer.sampling) == (2, 0.2, 0.1)


def test_a_smaller_network_takes_evenly_spaced_layers(tmp_path) -> None:
    deep = save_random(tmp_path / "deep", ModelConfig(d_model=16, d_ff=32, num_heads=2, num_decoder_layers=6))
    wanted = ModelConfig(num_encoder_layers=1, num_decoder_layers=4)
    config = inherit_settings(TrainConfig(init_from=str(tmp_path / "deep"), model=wanted))
    assert (config.model.num_encoder_layers, config.model.num_decoder_layers, config.model.d_model) == (1, 4, 16)
    small = build_model(config.model, deep.output.out_features, deep.output.out_features)
    load_start(small, config.init_from)
    weights = {name: tensor for name, tensor in deep.state_dict().items() if "_layers." not in name}
    for stack, chosen in (("encoder_layers", [0]), ("decoder_layers", [0, 2, 3, 5])):
        for new, old in enumerate(chosen):
            layer = getattr(deep, stack)[old].state_dict()
            weights |= {f"{stack}.{new}.{name}": tensor for name, tensor in layer.items()}
    torch.testing.assert_close(small.state_dict(), weights, rtol=0, atol=0)
    save_random(tmp_path / "shallow", ModelConfig(d_model=16, d_ff=32, num_heads=2, num_decoder_layers=2))
    config = inherit_settings(TrainConfig(init_from=str(tmp_path / "shallow"), model=ModelConfig(num_encoder_layers=2)))
    assert (config.model.num_encoder_layers, config.model.num_decoder_layers) == (2, 2)  # 3 was not asked for
    for given, kept in ((ModelConfig(), (3, 6)), (ModelConfig(num_encoder_layers=2), (2, 3))):
        network = inherit_settings(TrainConfig(init_from=str(tmp_path / "deep"), model=given)).model
        assert (network.num_encoder_layers, network.num_decoder_layers) == kept


@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_a_deeper_network_begins_as_the_same_function(tmp_path, activation: str) -> None:
    settings = ModelConfig(d_model=16, d_ff=32, num_heads=2, num_encoder_layers=3, num_decoder_layers=1, num_kv_heads=1)
    start = save_random(tmp_path / "start", replace(settings, activation=activation)).eval()
    with torch.no_grad():
        for name, parameter in start.named_parameters():
            if name.endswith("bias"):  # fresh ones are zero
                parameter.normal_(generator=torch.Generator().manual_seed(1))
    _, tokenizer, bundle = load_bundle(tmp_path / "start")
    save_bundle(tmp_path / "start", start, tokenizer, bundle)
    wanted = ModelConfig(num_encoder_layers=5, num_decoder_layers=2)
    config = inherit_settings(TrainConfig(init_from=str(tmp_path / "start"), model=wanted))
    assert (config.model.num_encoder_layers, config.model.num_decoder_layers) == (5, 2)
    deep = build_model(config.model, start.output.out_features, start.output.out_features).eval()
    load_start(deep, config.init_from)
    random = torch.Generator().manual_seed(0)
    ids = torch.randint(4, start.output.out_features, (3, 7), generator=random)
    mask = torch.ones(3, 7, dtype=torch.bool)
    torch.testing.assert_close(deep(ids, ids, mask, mask), start(ids, ids, mask, mask), rtol=0, atol=1e-5)
    first, new, second = deep.encoder_layers[:3]
    torch.testing.assert_close(new.self_attention.qkv.weight, first.self_attention.qkv.weight, rtol=0, atol=0)
    torch.testing.assert_close(second.state_dict(), start.encoder_layers[1].state_dict(), rtol=0, atol=0)
    assert not new.self_attention.out.weight.any()
    deep.train()(ids, ids, mask, mask).logsumexp(-1).sum().backward()
    assert all(layer.feed_forward.outer.weight.grad.any() for layer in deep.encoder_layers)  # all of them learn


def test_layers_are_added_to_a_network_with_norms_before_them_alone(tmp_path) -> None:
    save_random(tmp_path, ModelConfig(d_model=16, d_ff=32, num_heads=2, norm_first=False))
    deeper = ModelConfig(num_decoder_layers=7)
    with pytest.raises(ValueError, match=r"^model\.num_decoder_layers \(7\) is 3 in init_from .*norm_first=false"):
        inherit_settings(TrainConfig(init_from=str(tmp_path), model=deeper))


@pytest.mark.parametrize(
    ("settings", "groups"),
    [({"attention": "mqa"}, [1, 1, 1]), ({"num_kv_heads": 2}, [2, 2, 2]), ({"cross_attention": "mqa"}, [4, 4, 1])],
    ids=str,
)
def test_fewer_key_and_value_heads_are_the_means_of_those_they_replace(settings, groups, tmp_path) -> None:
    many = save_random(tmp_path, ModelConfig(d_model=32, d_ff=32, num_heads=4, num_encoder_layers=2))
    config = inherit_settings(TrainConfig(init_from=str(tmp_path), model=ModelConfig(**settings)))
    few = build_model(config.model, many.output.out_features, many.output.out_features)
    load_start(few, config.init_from)
    places = ("encoder_layers.1.self_attention", "decoder_layers.2.self_attention", "decoder_layers.0.cross_attention")
    for place, count in zip(places, groups, strict=True):
        theirs, ours = (model.get_submodule(f"{place}.qkv") for model in (many, few))
        for part in ("weight", "bias"):
            old, new = getattr(theirs, part).split(32), getattr(ours, part).split([32, 8 * count, 8 * count])
            torch.testing.assert_close(new[0], old[0], rtol=0, atol=0)
            for merged, heads in zip(new[1:], old[1:], strict=True):
                for group, members in zip(merged.split(8), heads.split(32 // count), strict=True):
                    torch.testing.assert_close(group, torch.stack(members.split(8)).mean(dim=0))


@pytest.mark.parametrize(
    ("there", "here", "message"),
    [
        ({}, "mla", r"^model\.attention \(mla\) is null in init_from .*leave it out$"),
        ({"cross_attention": "mqa"}, "gqa", r"^model\.attention \(gqa\) is null in init_from"),
        ({"attention": "mla"}, "mqa", r"^model\.attention \(mqa\) is mla in init_from"),
        ({"attention": "talking_heads"}, "mqa", r"^model\.attention \(mqa\) is talking_heads in init_from"),
    ],
    ids=str,
)
def test_other_attention_than_of_merged_heads_is_refused(there, here, message, tmp_path) -> None:
    save_random(tmp_path, ModelConfig(d_model=32, d_ff=32, num_heads=4, num_encoder_layers=1, **there))
    with pytest.raises(ValueError, match=message):
        inherit_settings(TrainConfig(init_from=str(tmp_path), model=ModelConfig(attention=here)))


def test_the_other_direction_needs_two_sides_that_are_alike(tmp_path) -> None:
    other_way = TrainConfig(data=DataConfig(src_lang="fr"), init_from=str(TINY))
    assert inherit_settings(other_way).data.tgt_lang == "en"
    _, tokenizer, config = load_bundle(TINY)
    apart = replace(config, model=replace(config.model, share_embeddings=False))
    network = build_model(apart.model, config.src_vocab_size, config.tgt_vocab_size)
    save_bundle(tmp_path / "model", network, tokenizer, apart)
    with pytest.raises(ValueError, match="translates en to fr with other embeddings for each side; the other"):
        inherit_settings(replace(other_way, init_from=str(tmp_path)))
