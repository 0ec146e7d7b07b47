"""Models of `MarianMTModel` become ours: the same logits, ids and translations, in every engine."""

import gzip
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from commands import run_command

from translate.benchmark.decode_huggingface import peer_logits
from translate.config.convert import ConvertConfig
from translate.config.decode import DecodeConfig
from translate.convert.reader import convert
from translate.data.batch import Batch, Example, collate
from translate.data.tokenizer import Tokenizer
from translate.export.writer import save_exported
from translate.search.beam import BeamSearch
from translate.translator.bundle import load_bundle
from translate.translator.translator import Translator

transformers = pytest.importorskip("transformers")
TATOEBA = Path(__file__).resolve().parents[3] / "shared" / "corpora" / "tatoeba"
HARD = (
    "",
    " ",
    "😀 hi",
    "a  b",
    "日本語 test",
    "▁x",
    "naïve cafe\u0301",
    "1,234.5 %",
    "ﬁ",
    "\u200b zero",
    "ＡＢＣ",
    "x" * 300,
)
TEXTS = ("The cat sleeps.", "Where is my brother?", "A man in a blue shirt is standing on a ladder.", "No.")


@pytest.fixture(scope="module")
def converted(small_marian: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model of theirs, and ours."""
    output = tmp_path_factory.mktemp("converted") / "model"
    return small_marian, convert(ConvertConfig(source=str(small_marian), output=str(output)))


def sample(tokenizer: Tokenizer) -> Batch:
    pairs = zip(tokenizer.encode_src_batch(list(TEXTS)), tokenizer.encode_tgt_batch(list(TEXTS)[::-1]), strict=True)
    return collate([Example(*pair) for pair in pairs], pad_id=tokenizer.pad_id, bos_id=tokenizer.bos_id)


def their_logits(directory: Path, batch: Batch) -> torch.Tensor:
    model: Any = transformers.MarianMTModel.from_pretrained(directory).eval()
    return peer_logits(model, batch)[batch.tgt_mask]


def our_logits(directory: Path) -> tuple[torch.Tensor, Batch]:
    model, tokenizer, _ = load_bundle(directory)
    batch = sample(tokenizer)
    with torch.inference_mode():
        found: torch.Tensor = model(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
    return found[batch.tgt_mask], batch


@pytest.mark.slow
def test_logits_are_the_same(converted: tuple[Path, Path]) -> None:
    theirs, ours = converted
    found, batch = our_logits(ours)
    expected = their_logits(theirs, batch)
    assert float(expected.std()) > 0.3
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.slow
def test_searches_find_what_generate_finds(converted: tuple[Path, Path], beam_size: int) -> None:
    model, tokenizer, _ = load_bundle(converted[1])
    batch = sample(tokenizer)
    settings = DecodeConfig(
        beam_size=beam_size, max_output_len=30, max_output_ratio=0, repetition_guard=False, length_guard=False
    )
    search = BeamSearch(
        settings=settings, bos_id=tokenizer.bos_id, eos_id=tokenizer.eos_id, forbidden_ids=tokenizer.forbidden_ids
    )
    peer: Any = transformers.MarianMTModel.from_pretrained(converted[0]).eval()
    more = {"early_stopping": "never", "length_penalty": 1.0} if beam_size > 1 else {}
    with torch.inference_mode():
        found = [list(one[0].token_ids) for one in search.search(model, batch.src_ids, batch.src_mask)]
        theirs = peer.generate(
            input_ids=batch.src_ids,
            attention_mask=batch.src_mask.long(),
            num_beams=beam_size,
            do_sample=False,
            max_new_tokens=30,
            forced_eos_token_id=None,
            **more,
        )
    assert found == [[token for token in row if token != tokenizer.pad_id] for row in theirs[:, 1:].tolist()]


@pytest.mark.parametrize("side", ["src", "tgt"])
@pytest.mark.slow
def test_ids_of_real_lines_are_the_same(converted: tuple[Path, Path], side: str) -> None:
    languages = json.loads((converted[0] / "tokenizer_config.json").read_text(encoding="utf-8"))
    file = TATOEBA / f"test.{languages['source_lang' if side == 'src' else 'target_lang']}.gz"
    if not file.is_file():
        pytest.skip(f"{file} is missing: real sentences")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        texts = [*[line.rstrip("\n") for line in lines][:2000], *HARD]
    tokenizer = Tokenizer.load(converted[1])
    theirs: Any = transformers.AutoTokenizer.from_pretrained(converted[0])
    found = getattr(tokenizer, f"encode_{side}_batch")(texts)
    assert found == [theirs(**{"text" if side == "src" else "text_target": text}).input_ids for text in texts]
    if side == "tgt":
        plain = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        assert tokenizer.decode_batch(found) == [theirs.decode(ids, **plain) for ids in found]


def test_text_never_becomes_a_special_token(converted: tuple[Path, Path]) -> None:
    tokenizer = Tokenizer.load(converted[1])
    ids = tokenizer.encode_src("a </s> <pad> b")
    assert ids.count(tokenizer.eos_id) == 1
    assert tokenizer.pad_id not in ids


@pytest.mark.parametrize("precision", ["32", "bf16", "int8"])
@pytest.mark.slow
def test_every_precision_translates(converted: tuple[Path, Path], precision: str) -> None:
    translator = Translator.load(converted[1], device="cpu", precision=precision)
    found = translator.translate(list(TEXTS), beam_size=2, max_output_len=20)
    exact = Translator.load(converted[1], device="cpu", precision="32")
    best = [one.hypotheses[0] for one in found]
    scores = exact.score([(text, own.token_ids) for text, own in zip(TEXTS, best, strict=True)])
    slack = {"32": 1e-3, "bf16": 0.5, "int8": 0.5}[precision]
    for own, score in zip(best, scores, strict=True):
        assert own.log_prob == pytest.approx(score.log_prob, abs=slack * len(own.token_ids))


@pytest.mark.slow
def test_it_can_be_stored_in_int8_and_exported(converted: tuple[Path, Path], tmp_path: Path) -> None:
    config = ConvertConfig(source=str(converted[0]), output=str(tmp_path / "int8"), quantization="int8")
    size = sum(file.stat().st_size for file in convert(config).glob("*.safetensors"))
    assert size < 0.3 * (converted[1] / "model.safetensors").stat().st_size
    assert Translator.load(tmp_path / "int8").translate(["No."], max_output_len=9)[0].text is not None
    pytest.importorskip("ctranslate2")
    save_exported(tmp_path / "exported", *load_bundle(converted[1]), "float32")
    ours, theirs = (Translator.load(path, device="cpu") for path in (converted[1], tmp_path / "exported"))
    ours = Translator.load(converted[1], device="cpu", precision="32")
    options = {"beam_size": 1, "max_output_len": 20, "repetition_guard": False, "length_guard": False}
    pairs = (engine.translate(list(TEXTS), **options) for engine in (ours, theirs))
    for own, other in zip(*pairs, strict=True):
        assert own.hypotheses[0].token_ids == other.hypotheses[0].token_ids


@pytest.mark.slow
def test_weights_of_the_old_form_are_read_without_their_code(converted: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(converted[0], tmp_path / "old")
    from safetensors.torch import load_file

    torch.save(load_file(tmp_path / "old/model.safetensors"), tmp_path / "old/pytorch_model.bin")
    (tmp_path / "old/model.safetensors").unlink()
    convert(ConvertConfig(source=str(tmp_path / "old"), output=str(tmp_path / "out")))
    torch.testing.assert_close(our_logits(tmp_path / "out")[0], our_logits(converted[1])[0], atol=0, rtol=0)

    class Harm:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "harm",))

    torch.save({"a": Harm()}, tmp_path / "old/pytorch_model.bin")
    with pytest.raises(ValueError, match=r"pytorch_model\.bin holds no weights"):
        convert(ConvertConfig(source=str(tmp_path / "old"), output=str(tmp_path / "out2")))
    assert not (tmp_path / "harm").exists()


def change_json(file: str, **changes: object) -> Any:
    def change(directory: Path) -> None:
        values = json.loads((directory / file).read_text(encoding="utf-8")) | changes
        kept = {name: value for name, value in values.items() if value is not None}
        (directory / file).write_text(json.dumps(kept), encoding="utf-8")

    return change


def remove(file: str) -> Any:
    return lambda directory: (directory / file).unlink()


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (remove("config.json"), "decoder.yml is missing"),
        (remove("model.safetensors"), "neither model.safetensors nor pytorch_model.bin"),
        (lambda directory: (directory / "model.safetensors").write_bytes(b"no"), "safetensors holds no weights"),
        (remove("target.spm"), "lacks target.spm"),
        (remove("vocab.json"), "vocab.json is missing"),
        (remove("tokenizer_config.json"), "does not say its languages: set src_lang and tgt_lang"),
        (change_json("config.json", model_type="bart"), "model_type is 'bart'"),
        (change_json("config.json", activation_function="tanh"), "activation_function is 'tanh'"),
        (change_json("config.json", decoder_ffn_dim=7), "encoder_ffn_dim and decoder_ffn_dim differ"),
        (change_json("config.json", d_model=None), "d_model: None; it must be a whole number above 0"),
        (change_json("config.json", decoder_layers="six"), "decoder_layers: 'six'; it must be a whole number"),
        (change_json("config.json", encoder_layers=3), "the weights lack model.encoder.layers.2"),
        (change_json("config.json", encoder_layers=1), "unexpected weights: model.encoder.layers.1"),
        (
            change_json("config.json", encoder_ffn_dim=80, decoder_ffn_dim=80),
            "size mismatch for model.encoder.layers.0.fc1",
        ),
        (change_json("generation_config.json", eos_token_id=5), "eos_token_id is 5 in config.json"),
        (change_json("vocab.json", a_new_piece=99_999), "ids are not 0, 1, 2"),
        (change_json("vocab.json", a_new_piece="7"), "ids are not 0, 1, 2"),
        (change_json("config.json", activation_function=["swish"]), r"activation_function is \['swish'\]"),
        (change_json("config.json", dropout="0.1"), "dropout: '0.1'; it must be a number"),
        (change_json("generation_config.json", num_beams="4"), "num_beams: '4'; it must be a number"),
        (lambda directory: (directory / "source.spm").write_bytes(b"no"), "no SentencePiece model, or a damaged one"),
        (lambda directory: (directory / "config.json").write_text("{"), "config.json is no JSON"),
    ],
)
@pytest.mark.slow
def test_what_is_damaged_is_named(make_marian: Any, harm: Any, message: str, tmp_path: Path) -> None:
    shutil.copytree(make_marian("opus-mt-en-fr"), tmp_path / "model")
    harm(tmp_path / "model")
    with pytest.raises(ValueError, match=message):
        convert(ConvertConfig(source=str(tmp_path / "model"), output=str(tmp_path / "out")))
    assert not (tmp_path / "out").exists()


def test_what_is_there_stays_unless_it_may_be_replaced(
    converted: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    config = ConvertConfig(source=str(converted[0]), output=str(tmp_path / "mine"))
    with pytest.raises(ValueError, match="is there already"):
        convert(config)
    monkeypatch.chdir(converted[0].parent)
    with pytest.raises(ValueError, match=r"is the model itself: name where .* goes with output=DIR"):
        convert(ConvertConfig(source=converted[0].name))
    with pytest.raises(ValueError, match=r"norm_eps is for Marian's own files, and .* is Hugging Face's"):
        convert(ConvertConfig(source=str(converted[0]), output=str(tmp_path / "out"), norm_eps=1e-6))
    with pytest.raises(ValueError, match="no directory nowhere"):
        convert(ConvertConfig(source="nowhere", output=str(tmp_path / "out")))
    with pytest.raises(ValueError, match="say what to convert: from=PATH"):
        ConvertConfig()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "changes"),
    [("opus-mt-en-fr", {}), ("opus-mt-tc-big-fr-en", {"encoder_layers": 2, "decoder_layers": 2})],
)
def test_logits_of_a_network_of_full_width_are_the_same(
    make_marian: Any, name: str, changes: dict[str, int], tmp_path: Path
) -> None:
    theirs = make_marian(name, changes)
    ours = convert(ConvertConfig(source=str(theirs), output=str(tmp_path / "model")))
    found, batch = our_logits(ours)
    torch.testing.assert_close(found, their_logits(theirs, batch), atol=1e-4, rtol=0)


@pytest.mark.slow
def test_the_command_says_what_it_made_or_what_is_wrong(make_marian: Any, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_command("translate.convert", *arguments, cwd=tmp_path)

    done = run(f"from={make_marian('opus-mt-en-fr')}", "output=out", "quantization=int8")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "converted: out")
    assert (tmp_path / "out/model.safetensors").is_file()
    for arguments, message in (
        (["from=nowhere"], "error: there is no directory nowhere"),
        ([], "error: say what to convert: from=PATH"),
        (["from=out", "output=out"], "error: output (out) is there already"),
    ):
        failed = run(*arguments)
        assert (failed.returncode, failed.stderr.count("\n")) == (2, 1)
        assert failed.stderr.startswith(message)


@pytest.mark.slow
def test_it_can_be_fine_tuned(make_marian: Any, tmp_path: Path) -> None:
    convert(ConvertConfig(source=str(make_marian("opus-mt-en-fr")), output=str(tmp_path / "start")))
    for language in ("en", "fr"):
        lines = "".join(f"{text} {number}\n" for number in range(10) for text in TEXTS)
        (tmp_path / f"train.{language}").write_text(lines, encoding="utf-8")
    settings = ["data=files", f"init_from={tmp_path / 'start'}", "evaluate=false", "run_dir=run"]
    settings += ["data.train=[train.en,train.fr]", "data.holdout=4", "trainer.max_steps=1", "trainer.max_epochs=null"]
    done = run_command("translate.train", *settings, "decode.max_output_len=8", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    model, tokenizer, config = load_bundle(tmp_path / "run/model")
    assert (config.model.activation, config.model.sinusoids, tokenizer.joint) == ("swish", "halves", True)
    start = load_bundle(tmp_path / "start")[0].state_dict()
    moved = [name for name, tensor in model.state_dict().items() if not torch.equal(tensor, start[name])]
    assert "output.bias" in moved
    assert "encoder_layers.0.self_attention.qkv.weight" in moved


@pytest.fixture
def tagged_marian(make_marian: Any, tmp_path: Path) -> Path:
    """A model of several target languages: two of its source pieces are tags."""
    directory = shutil.copytree(make_marian("opus-mt-en-fr"), tmp_path / "tagged")
    vocabulary = json.loads((directory / "vocab.json").read_text(encoding="utf-8"))
    for piece, tag in zip(list(vocabulary)[-3:-1], (">>fra<<", ">>deu<<"), strict=True):
        vocabulary = {tag if one == piece else one: token for one, token in vocabulary.items()}
    (directory / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    return directory


@pytest.mark.slow
def test_tags_of_languages_are_the_languages_of_the_model(tagged_marian: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="set tgt_lang to one of the model's languages: deu, fra"):
        convert(ConvertConfig(source=str(tagged_marian), output=str(tmp_path / "ours")))
    ours = convert(ConvertConfig(source=str(tagged_marian), output=str(tmp_path / "ours"), tgt_lang="fra"))
    _, tokenizer, config = load_bundle(ours)
    assert (config.tgt_lang, config.tgt_langs) == ("fra", ["deu", "fra"])
    peer: Any = transformers.AutoTokenizer.from_pretrained(tagged_marian)
    for language in ("fra", "deu"):
        expected = peer([f">>{language}<< {text}" for text in TEXTS]).input_ids
        assert tokenizer.tagged(language).encode_src_batch(list(TEXTS)) == expected
    translator = Translator.load(ours, device="cpu", precision="32")
    settings = {"beam_size": 1, "max_output_len": 8}
    into = {name: [one.text for one in translator.into(name).translate(TEXTS, **settings)] for name in ("fra", "deu")}
    assert into["fra"] == [one.text for one in translator.translate(TEXTS, **settings)]
    assert into["fra"] != into["deu"]
    with pytest.raises(ValueError, match="spa"):
        translator.into("spa")


def test_a_name_is_fetched_from_the_hub_and_nothing_but_what_is_needed(
    make_marian: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def snapshot_download(name: str, *, allow_patterns: list[str]) -> str:
        asked.append((name, allow_patterns))
        return str(make_marian("opus-mt-en-fr"))

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    monkeypatch.chdir(tmp_path)
    output = convert(ConvertConfig(source="Helsinki-NLP/opus-mt-en-fr"))
    assert output == Path("opus-mt-en-fr")
    assert asked == [("Helsinki-NLP/opus-mt-en-fr", ["*.json", "*.spm", "*.safetensors", "pytorch_model.bin"])]
    assert load_bundle(output)[2].card["converted from"] == "Helsinki-NLP/opus-mt-en-fr"

    def fails(name: str, **_: object) -> str:
        raise OSError("no such model\nand more")

    monkeypatch.setattr("huggingface_hub.snapshot_download", fails)
    with pytest.raises(ValueError, match=r"^a/b is no directory and cannot be fetched: no such model$"):
        convert(ConvertConfig(source="a/b"))
