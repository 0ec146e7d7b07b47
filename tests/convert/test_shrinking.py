"""A converted model is trimmed, fine-tuned and distilled through stages, like any model of ours."""

from pathlib import Path

import pytest
import torch

from translate.config.convert import ConvertConfig
from translate.config.data import DataConfig
from translate.config.files import load_config
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.convert.reader import convert
from translate.data.batch import Example, collate
from translate.data.readers import read_table
from translate.train.stages.plan import plan_stages
from translate.train.start import train
from translate.train.weights.trimming import trim_model, used_pieces
from translate.translator.bundle import load_bundle
from translate.translator.translator import Translator

EN = [f"The {thing} is {how}." for thing in ("cat", "old house", "train", "blue shirt") for how in ("new", "here")]
FR = [f"{thing} est {how}." for thing in ("Le chat", "La vieille maison", "Le train", "La chemise") for how in "ab"]


@pytest.fixture(scope="module")
def opus(make_marian, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network with the settings and the vocabulary of opus-mt-en-fr."""
    output = tmp_path_factory.mktemp("shrinking") / "model"
    return convert(ConvertConfig(source=str(make_marian("opus-mt-en-fr")), output=str(output)))


@pytest.mark.slow
def test_trimming_leaves_the_logits_of_the_pieces_that_stay(opus: Path) -> None:
    model, tokenizer, config = load_bundle(opus)
    targets, sources = used_pieces(tokenizer.encode_tgt_batch, FR, 1), used_pieces(tokenizer.encode_src_batch, EN, 1)
    small, smaller, network = trim_model(model, tokenizer, config.model, targets, sources)
    _, kept_src, kept_tgt = tokenizer.trimmed(targets, sources)
    assert len(kept_src) < 4000 > len(kept_tgt)  # of 59,514: single characters and what is used
    assert not network.share_embeddings

    def batch_of(one):
        pairs = zip(one.encode_src_batch(EN), one.encode_tgt_batch(FR), strict=True)
        return collate([Example(*pair) for pair in pairs], pad_id=one.pad_id, bos_id=one.bos_id)

    before, after = batch_of(tokenizer), batch_of(smaller)
    assert [[kept_src[token] for token in row] for row in after.src_ids.tolist()] == before.src_ids.tolist()
    labels, expected = after.labels[after.tgt_mask].tolist(), before.labels[before.tgt_mask].tolist()
    assert [kept_tgt[token] for token in labels] == expected
    with torch.inference_mode():
        logits, fewer = (
            one(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)[batch.tgt_mask]
            for one, batch in ((model, before), (small, after))
        )
    torch.testing.assert_close(fewer, logits[:, kept_tgt], rtol=0, atol=1e-5)
    text = "A zeppelin of café, naïve."
    assert max(smaller.encode_src(text)) < smaller.src_vocab_size
    assert smaller.decode(smaller.encode_tgt(text)) == text  # spelled, not unknown


def settings(tmp_path: Path, stages: dict, **changes: object) -> TrainConfig:
    for name, lines in (("train.en", EN), ("train.fr", FR), ("valid.en", ["A dog."]), ("valid.fr", ["Un chien."])):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    train, valid = ([str(tmp_path / f"{split}.{name}") for name in ("en", "fr")] for split in ("train", "valid"))
    return TrainConfig(
        runs_dir=str(tmp_path / "runs"),
        evaluate=False,
        data=DataConfig(source="files", train=train, valid=valid, test=valid, cache_dir=str(tmp_path / "cache")),
        trainer=TrainerConfig(max_steps=3, max_epochs=None, accelerator="cpu", tensorboard=False, precision="32"),
        stages=stages,
        **changes,
    )


@pytest.mark.slow
def test_stages_trim_fine_tune_and_distil_it(opus: Path, tmp_path: Path) -> None:
    few = {"d_model": 16, "d_ff": 16, "num_heads": 2, "num_encoder_layers": 1, "num_decoder_layers": 1}
    stages = {
        "teacher": {"load": str(opus)},
        "small": {"trim": "teacher", "sources": True},
        "tuned": {"init_from": "{small}", "optim": {"lora_rank": 2, "lr": 1e-2, "warmup_steps": 1}},
        "distilled": {"translate": ["tuned"], "decode": {"beam_size": 1, "max_output_len": 12}},
        "student": {"model": few, "tokenizer": {"vocab_size": 330}, "data.extra": ["{distilled}"]},
    }
    run_dir = train(settings(tmp_path, stages))
    sizes = [Translator.load(path, precision="32").config for path in (opus, run_dir / "small", run_dir / "tuned")]
    assert sizes[0].tgt_vocab_size > 50_000
    assert sizes[1].tgt_vocab_size == sizes[2].tgt_vocab_size < 4_000
    assert sizes[1].src_vocab_size == sizes[2].src_vocab_size < 4_000
    rows = list(read_table(str(run_dir / "distilled/pairs.tsv"), "en", "fr", True))
    assert [row["src"] for row in rows] == EN
    outputs = Translator.load(run_dir / "tuned", precision="32").translate(EN, beam_size=1, max_output_len=12)
    assert [row["tgt"] for row in rows] == [one.text for one in outputs]
    assert load_config(run_dir / "config.yaml", TrainConfig).model.d_model == 16
    assert Translator.load(run_dir).translate(EN[:2])


def test_a_loaded_model_brings_its_languages_and_must_be_there(tmp_path: Path) -> None:
    fixture = Path(__file__).resolve().parents[1] / "fixtures" / "tiny_model"
    stages = {"there": {"load": str(fixture)}, "out": {"translate": ["there"]}, "last": {}}
    there, out, _ = plan_stages(TrainConfig(stages=stages), tmp_path)
    assert (there.directory, there.languages, there.output) == (fixture, ("en", "fr"), fixture)
    assert out.side == "src"
    assert (there.config.model.d_model, there.config.decode.beam_size) == (32, 5)
    for wrong, message in (
        ({"a": {"load": "nowhere"}, "b": {}}, r"stages\.a: no model in nowhere"),
        ({"a": {"load": str(fixture), "seed": 3}, "b": {}}, r"stages\.a: seed does nothing where a model is taken"),
        ({"a": {}, "b": {"load": str(fixture)}}, r"stages\.b: the last stage must"),
        ({"a": {}, "b": {"trim": "a", "sources": 1}}, r"stages\.b: sources \(1\) must be true or false"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            plan_stages(TrainConfig(stages=wrong), tmp_path)
